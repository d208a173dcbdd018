"""``call``: any path of the builder, with fields as given; the answer shown, or taken as a plan step's payload."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import click

from airlock_online.cli.connections import connections
from airlock_online.cli.prepare import asked_venue, keep
from airlock_online.cli.prepare_steps import FeeOptions, fee_options, fields_of, prepare_plan, read_fee_options
from airlock_online.clients.builder import BuilderClient, Method
from airlock_online.clock import now_ms
from airlock_online.home import OnlineHome
from airlock_online.preparing.kept_payloads import KeptPayloads
from airlock_online.preparing.prepare import BuildRequest, fields_to_send, is_built, request_members
from airlock_online.speech.sections import Speech
from airlock_shared.checks.model import Situation
from airlock_shared.cli.qr.file_or_qr import require_output
from airlock_shared.cli.terminal import INPUT, PATH_TYPE, json_option, say, show_json
from airlock_shared.errors import PlanError, UsageError
from airlock_shared.host.files import read_input
from airlock_shared.plan.model import Plan, Step
from airlock_shared.plan.toml_positions import parse_written_plan
from airlock_shared.text.safe import safe
from airlock_shared.units import UNIX_MS, UNIX_S, looks_like_seconds

TIMES = {"deadlineMs": UNIX_MS, "expirySeconds": UNIX_S}
"""The fields that are times, with their unit (specification, "Limits", row "time units")."""


@click.command("call")
@click.argument("method", type=click.Choice(["GET", "POST"], case_sensitive=False))
@click.argument("path")
@click.argument("values", metavar="[NAME=VALUE]...", nargs=-1)
@click.option("--deployment", "name", help="The fetched deployment to ask (default: the only one, or the plan's).")
@click.option("--plan", "plan_file", type=INPUT, help="Use the answer as the payload of a step of this plan.")
@click.option("--step", "step_id", help="The step, by its id.")
@click.option("-o", "--output", type=PATH_TYPE, help="The requests to write.")
@fee_options
@json_option
@click.pass_obj
def call(
    home: OnlineHome,
    /,
    method: Method,
    path: str,
    values: tuple[str, ...],
    name: str | None,
    plan_file: Path | None,
    step_id: str | None,
    output: Path | None,
    as_json: bool,
    **fee_values: Any,
) -> None:
    r"""Ask the builder for any PATH with the given fields, and print its answer.

    With --plan and --step the answer becomes that step's payload. The fields of the plan and of the command line are
    sent, and every check runs. Without -o the payload is kept for `prepare`. With -o the other steps are built as by
    `prepare`, and the requests are written. A signed transaction is never sent this way.

    \b
    Examples:
      airlock-online call GET /v2/lp/vaults
      airlock-online call POST /v2/trade/open --plan PLAN --step open-btc
      airlock-online call POST /v2/trade/open --plan PLAN --step open-btc -o FILE
    """
    require_sends_nothing(method, path, *sending_paths(home.config().speech))
    asked = BuildRequest(path, fields_of(values), method)
    require_units(asked.fields)
    fees = read_fee_options(fee_values)
    if plan_file is not None and step_id is not None:
        _take(home, asked, parse_written_plan(read_input(plan_file)), step_id, name, output, fees, as_json)
        return
    if plan_file is not None or step_id is not None or output is not None:
        raise UsageError("--plan and --step belong together, and -o is for them", do="give both, or none of the three")
    if fees.given:
        raise UsageError("nonce, gas and fees are for a plan's step", do="give --plan and --step with them")
    with connections(home) as http:
        builder = BuilderClient(home.choose_deployment(name).base_urls["builder"], http)
        data = builder.ask(path, asked.fields, method=method)
    show_json({"ok": True, "data": data} if as_json else data)


def _take(
    home: OnlineHome,
    asked: BuildRequest,
    plan: Plan,
    step_id: str,
    name: str | None,
    output: Path | None,
    fees: FeeOptions,
    as_json: bool,
) -> None:
    """Take the answer to an ask as the payload of a plan's step: keep it, or write the requests of the whole plan."""
    if output is not None:
        require_output(output)
    if step_id not in plan.steps:
        raise PlanError("PLAN-STEP", "not a step of the plan", got=safe(step_id, limit=80), expected=[*plan.steps])
    if name is not None and name != plan.deployment:
        raise UsageError(f"the plan is for the deployment {plan.deployment}", do="leave --deployment out")
    step, deployment = plan.steps[step_id], home.require_deployment(plan.deployment)
    sent = fields_to_send(step, Situation(plan, deployment, now_ms())) | asked.fields
    steps = [step.id] if output is None else list(plan.steps)
    payloads = KeptPayloads(home.folder, plan.fingerprint, deployment.fingerprint)
    with asked_venue(home, plan, steps, deployment, fees) as sources, payloads.alone():
        speech = sources.builder.speech
        request = asked._replace(fields=sent, members=request_members(step, speech))
        prepared = prepare_plan(plan, deployment, sources, payloads, steps, {step.id: request})
        if output is None:
            _tell_kept(plan, step, payloads, speech, as_json=as_json)
        else:
            keep(home, plan, deployment, prepared, payloads, output, as_json)
            payloads.forget(*steps)


def _tell_kept(plan: Plan, step: Step, payloads: KeptPayloads, speech: Speech, *, as_json: bool) -> None:
    """Say that a step's payload is kept, and which steps still need a call of their own."""
    missing = [
        other.id for other in plan.steps.values() if not is_built(other, speech) and payloads.find(other.id) is None
    ]
    if as_json:
        show_json({"ok": True, "kept": step.id, "missing": missing})
        return
    say(f"The payload of {step.id} passed every check that this machine makes, and is kept.")
    if missing:
        say(f"These steps need a call of their own, too: {', '.join(missing)}")
    else:
        say("Then write the requests: airlock-online prepare PLAN -o FILE")


def sending_paths(speech: Speech) -> Iterator[str]:
    """Yield each path at which a signature is sent, as a pattern: of every body that is known."""
    for name in speech.bodies.keys() & speech.paths.keys():
        yield re.sub(r"\{\w+\}", "[^/]+", speech.paths[name].rpartition(" ")[2])


def require_sends_nothing(method: Method, path: str, *sent: str) -> None:
    """Raise ``UsageError`` for a call that would send a signature, past the journal that keeps it single.

    ``sent`` are patterns of where signatures go; the builder's own address may have a part of such a path in it.
    """
    plain = unquote(unquote(path)).rstrip("/")
    if method == "POST" and re.search(f"(?i:/relay|{'|'.join(sent)})$", plain):
        raise UsageError(
            "call does not send a signed transaction: the journal would have no record of it",
            do="run: airlock-online submit FILE",
        )


def require_units(fields: Mapping[str, str]) -> None:
    """Raise ``UsageError`` for a time whose magnitude is that of the other unit."""
    for name, unit in TIMES.items():
        value = fields.get(name, "")
        if value.isascii() and value.isdecimal() and looks_like_seconds(int(value[:40])) != (unit is UNIX_S):
            other = UNIX_MS if unit is UNIX_S else UNIX_S
            raise UsageError(
                f"{name} is a time in {unit.name}, and {value[:40]} looks like {other.name}",
                do=f"give it in {unit.name}",
            )
