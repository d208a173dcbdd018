"""``prepare`` and ``build``: from a plan to a requests document, every payload checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from airlock_online.builder import BuilderClient
from airlock_online.clock import now_ms
from airlock_online.http import Http
from airlock_online.prepare import Prepared, prepare_step
from airlock_online.state import State
from airlock_shared.actions import ACTIONS
from airlock_shared.checks.case import Situation
from airlock_shared.checks.nonces import NonceLedger
from airlock_shared.checks.run import refused
from airlock_shared.command import INPUT, json_option, say, show, show_json
from airlock_shared.errors import PlanError, Refusal, ServiceError, UsageError
from airlock_shared.files import read_input, require_new, write_new
from airlock_shared.listing import fingerprint_lines
from airlock_shared.plan import Limits, Plan, Signer, Step, parse_plan
from airlock_shared.plan_values import read_values
from airlock_shared.requests import Header, parse_requests, write_requests
from airlock_shared.text import safe
from airlock_shared.words import spoken


@click.command("prepare")
@click.argument("plan_file", metavar="PLAN", type=INPUT)
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="The requests to write.")
@click.option("--even-if-not-ready", is_flag=True, help="Build although the builder calls itself not ready.")
@json_option
@click.pass_obj
def PREPARE(state: State, plan_file: Path, output: Path, even_if_not_ready: bool, as_json: bool) -> None:  # noqa: N802
    """Build every step of the plan in PLAN, check each payload as the offline machine will, and write the requests.

    A payload that a check refuses is not written: exit code 3 and the check's id say why.
    """
    require_new(output)
    plan = parse_plan(read_input(plan_file))
    deployment = state.require_deployment(plan.deployment)
    prepared: list[Prepared] = []
    ledger = NonceLedger()
    with Http() as http:
        builder = BuilderClient(deployment.base_urls["builder"], http)
        _require_ready(builder, even_if_not_ready)
        for number, step in enumerate(plan.steps.values(), start=1):
            say(f"[{number}/{len(plan.steps)}] building {step.id} ({step.action.name})")
            situation = Situation(plan, deployment, now_ms())
            prepared.append(_accepted(prepare_step(step, situation, builder, state.config(), ledger)))
    header = Header(
        ceremony=plan.id,
        plan=plan.fingerprint,
        deployment=deployment.fingerprint,
        deployment_name=deployment.name,
        rehearsal=deployment.rehearsal,
        transcript_head=state.transcript.head(),
        created_ms=now_ms(),
    )
    data = write_requests(header, [item.request for item in prepared])
    requests_fingerprint = parse_requests(data)[2]
    state.keep_requests(requests_fingerprint, data)
    write_new(output, data)
    facts = {"ceremony": plan.id, "plan": plan.fingerprint, "requests": requests_fingerprint}
    state.transcript.record("prepared", facts, now_ms())
    _report(prepared, plan, requests_fingerprint, output, as_json)


def _require_ready(builder: BuilderClient, even_if_not_ready: bool) -> None:
    readiness = builder.ready()
    if not readiness.ready and not even_if_not_ready:
        components = safe(str(readiness.components), limit=400)
        raise ServiceError(f"the builder is not ready: {components}", status=503, do="wait, then prepare again")


def _accepted(prepared: Prepared) -> Prepared:
    for verdict in refused(prepared.verdicts):
        if verdict.result == "refused":
            refusal = Refusal(
                verdict.check,
                f"step {prepared.request.step}: {verdict.what}",
                got=str(verdict.got)[:400],
                expected=str(verdict.expected)[:400],
                do="nothing was written; compare the payload with the plan, and find out who altered it",
            )
            refusal.where = verdict.where
            raise refusal
    return prepared


def _report(prepared: list[Prepared], plan: Plan, requests_fingerprint: str, output: Path, as_json: bool) -> None:
    if as_json:
        steps = [{"step": p.request.step, "checks": sum(v.result == "pass" for v in p.verdicts)} for p in prepared]
        words = spoken(requests_fingerprint)
        show_json(
            {"ok": True, "file": str(output), "fingerprint": requests_fingerprint, "words": words, "steps": steps}
        )
        return
    for item in prepared:
        passed = sum(v.result == "pass" for v in item.verdicts)
        order = f", order type {item.request.order_type}" if item.request.order_type is not None else ""
        show(f"  {item.request.step:<24} {passed} checks passed, goes to the {item.request.route}{order}")
    for line in fingerprint_lines("plan", plan.fingerprint):
        show(line)
    for line in fingerprint_lines("requests", requests_fingerprint):
        show(line)
    say(f"Wrote {output}")
    say("Carry it to the offline machine, and compare the requests fingerprint there.")


@click.command("build")
@click.argument("action_name", metavar="ACTION", type=click.Choice(list(ACTIONS)))
@click.argument("values", metavar="[NAME=VALUE]...", nargs=-1)
@click.option("--deployment", "deployment_name", required=True, help="The fetched deployment to build on.")
@json_option
@click.pass_obj
def BUILD(  # noqa: N802
    state: State, action_name: str, values: tuple[str, ...], deployment_name: str, as_json: bool
) -> None:
    r"""Build one action from NAME=VALUE fields, show the payload and run the checks; nothing is written.

    The signer is taken to be the trader. To sign, write a plan.

    \b
    Example:
      airlock-online build twap-cancel trader=0x… twapId=7 --deployment mainnet
    """
    deployment = state.require_deployment(deployment_name)
    step = _one_step(action_name, values)
    limits = Limits(deployment.intent_deadline_ms, slippage_at_most_raw=100 * 10**10, remaining_at_least_ms=0)
    plan = Plan(
        "build", "one action", deployment.name, (), limits, {step.signer.name: step.signer}, {step.id: step}, ""
    )
    with Http() as http:
        builder = BuilderClient(deployment.base_urls["builder"], http)
        prepared = prepare_step(step, Situation(plan, deployment, now_ms()), builder, state.config(), NonceLedger())
    wrong = [v for v in prepared.verdicts if v.result == "refused"]
    if as_json:
        show_json(prepared.request.as_json() | {"refused": [v.check for v in wrong]})
    else:
        show(_payload_text(prepared.request.payload))
        show(
            f"checks: {len(prepared.verdicts) - len(wrong)} not refused; digest {safe(prepared.request.payload['digest'])}"
        )
    _accepted(prepared)


def _one_step(action_name: str, values: tuple[str, ...]) -> Step:
    action = ACTIONS[action_name]
    fields: dict[str, Any] = {}
    for text in values:
        name, equals, value = text.partition("=")
        if not equals or action.parameter(name) is None or name in fields:
            raise PlanError(
                "PLAN-FIELD",
                "not a field of this action, or twice",
                got=name,
                expected=str([p.name for p in action.parameters]),
            )
        fields[name] = value
    read = read_values(action, fields, action_name)
    owner = next((read[name].raw for name in ("trader", "referee", "referrer") if name in read), None)  # type: ignore[union-attr]
    if not isinstance(owner, bytes):
        raise UsageError(f"{action_name} names no account", do="give trader=0x…")
    return Step(action_name, action, Signer("trader", owner, "m/44'/60'/0'/0/0"), read)


def _payload_text(payload: dict[str, Any]) -> str:
    lines = [f"{safe(payload['primaryType'])} under {safe(str(payload['domain']), limit=400)}"]
    lines += [f"  {safe(name):<20} {safe(str(value), limit=400)}" for name, value in payload["message"].items()]
    return "\n".join(lines)
