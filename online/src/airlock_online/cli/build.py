"""``build``: one action, built and checked, without a plan file; nothing is written."""

from __future__ import annotations

from typing import Any

import click

from airlock_online.cli.connections import connections
from airlock_online.cli.prepare_steps import accepted, fee_options, fields_of, payload_lines, read_fee_options
from airlock_online.clients.builder import builder_of
from airlock_online.clock import now_ms
from airlock_online.home import OnlineHome
from airlock_online.preparing.prepare import Sources, prepare_step
from airlock_shared.checks.model import Situation
from airlock_shared.checks.nonces import UsedNonces
from airlock_shared.cli.terminal import json_option, show, show_all, show_json
from airlock_shared.errors import PlanError, UsageError
from airlock_shared.plan.model import Exact, Limits, Plan, Signer, Step
from airlock_shared.plan.values import read_values
from airlock_shared.units import PERCENT, UNLIMITED, to_raw
from airlock_shared.venue.actions import ACTIONS
from airlock_shared.venue.structs import AUTHORIZATION

ACCOUNTS = ("trader", "referee", "referrer", "caller")
"""The fields that name the account which an action speaks for."""


@click.command("build")
@click.argument("action_name", metavar="ACTION", type=click.Choice([name for name in ACTIONS if name != AUTHORIZATION]))
@click.argument("values", metavar="[NAME=VALUE]...", nargs=-1)
@click.option("--deployment", "name", help="The fetched deployment to build on (default: the only one).")
@fee_options
@json_option
@click.pass_obj
def build(
    home: OnlineHome, /, action_name: str, values: tuple[str, ...], name: str | None, as_json: bool, **fee_values: Any
) -> None:
    r"""Build one action from NAME=VALUE fields, show the payload and run the checks; nothing is written.

    The account itself counts as the signer. To sign, write a plan.

    \b
    Example:
      airlock-online build twap-cancel trader=0x… twapId=7
    """
    deployment = home.choose_deployment(name)
    step = one_step(action_name, values)
    limits = Limits(
        deployment.intent_deadline_ms,
        to_raw("100", PERCENT),
        max_fee_at_most_wei=UNLIMITED,
        native_fee_at_most_wei=UNLIMITED,
        remaining_at_least_ms=0,
    )
    signers = {step.signer.name: step.signer}
    plan = Plan("build", "one action", deployment.name, (), limits, signers, {step.id: step}, "")
    fees = read_fee_options(fee_values)
    config = home.config(fees.rpc)
    with connections(home) as http:
        gas_and_fees = fees.gas_and_fees([step], config, deployment, http)
        sources = Sources(builder_of(deployment, http, config), gas_and_fees)
        prepared = prepare_step(step, Situation(plan, deployment, now_ms()), sources, UsedNonces(knows_signed=False))
    wrong = prepared.verdicts.refused()
    if as_json and not wrong:
        show_json({"ok": True} | prepared.request.as_json())
    elif not as_json:
        show_all(payload_lines(prepared, deployment.calls))
        show(f"checks: {len(prepared.verdicts.found) - len(wrong)} not refused, {len(wrong)} refused")
    accepted(prepared)


def one_step(action_name: str, values: tuple[str, ...]) -> Step:
    """Return the step that NAME=VALUE words describe. Raises ``PlanError``, or ``UsageError`` when it names no account."""
    action = ACTIONS[action_name]
    fields = fields_of(values)
    for name in fields:
        if action.parameter(name) is None:
            names = str([parameter.name for parameter in action.parameters])
            raise PlanError("PLAN-FIELD", "not a field of this action", got=name, expected=names)
    read = read_values(action, dict(fields), action_name)
    account = next((read[name] for name in ACCOUNTS if name in read), None)
    if not isinstance(account, Exact) or not isinstance(account.raw, bytes):
        raise UsageError(f"{action_name} has no account", do=f"give one of {', '.join(ACCOUNTS)}, as in trader=0x…")
    return Step(action_name, action, Signer("account", account.raw, "m/44'/60'/0'/0/0"), read)
