"""``prepare``: from a plan to a requests document, every payload checked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from airlock_online.cli.connections import connections
from airlock_online.cli.prepare_steps import FeeOptions, fee_options, filled_lines, prepare_plan, read_fee_options
from airlock_online.clients.builder import BuilderClient, builder_of
from airlock_online.clients.http import Http
from airlock_online.clients.rpc import RpcClient
from airlock_online.clock import now_ms
from airlock_online.config import OnlineConfig
from airlock_online.delivery.deliveries import without_address
from airlock_online.home import OnlineHome, last_outcomes
from airlock_online.journal.order_states import DONE
from airlock_online.preparing.deployment_fetch import decisive_differences
from airlock_online.preparing.kept_payloads import KeptPayloads, replaced_lines
from airlock_online.preparing.patience import pace_lines
from airlock_online.preparing.prepare import Prepared, Sources, extra_lines, nonce_lines
from airlock_online.preparing.referral_warnings import in_the_way, wish_of
from airlock_online.readback.referral_codes import disagreements, read_referral, seen_lines, settled_facts
from airlock_shared.ceremony.sections import no_on_record, without_others
from airlock_shared.checks.document import part_of
from airlock_shared.checks.judge import Known, judge_header
from airlock_shared.checks.model import Situation
from airlock_shared.checks.not_judged import NotJudged
from airlock_shared.cli.ceremony.by_screens import show_by_screens
from airlock_shared.cli.comparison_lines import code_lines
from airlock_shared.cli.qr.documents import outgoing
from airlock_shared.cli.qr.file_or_qr import qr_option, require_output
from airlock_shared.cli.terminal import (
    INPUT,
    PATH_TYPE,
    ask_yes,
    at_a_terminal,
    json_option,
    led,
    rows,
    say,
    say_all,
    show,
    show_all,
    show_json,
)
from airlock_shared.documents.deployment import Deployment
from airlock_shared.documents.requests import Header, parse_requests, write_requests
from airlock_shared.errors import ServiceError, UsageError
from airlock_shared.host.files import read_input, write_new
from airlock_shared.plan.model import Plan, Step, part_lines
from airlock_shared.plan.toml_positions import parse_written_plan
from airlock_shared.text.safe import fingerprint_lines, safe, spoken
from airlock_shared.units import code_text
from airlock_shared.wire.strict_json import JsonObject

_RANGE = re.compile(r"([1-9][0-9]{0,4})(?:-([1-9][0-9]{0,4}))?", re.ASCII)


@click.command("prepare")
@click.argument("plan_file", metavar="PLAN", type=INPUT)
@click.option("-o", "--output", type=PATH_TYPE, help="The requests to write.")
@qr_option
@click.option("--even-if-not-ready", is_flag=True, help="Build even if the builder says that it is not ready.")
@click.option("--signer", default="", metavar="NAME", help="Only the steps that this signer of the plan signs.")
@click.option("--steps", "steps_range", default="", metavar="N-M", help="Build and keep these steps alone, by number.")
@fee_options
@json_option
@click.pass_obj
def prepare(
    home: OnlineHome,
    /,
    plan_file: Path,
    output: Path | None,
    qr: bool,
    even_if_not_ready: bool,
    signer: str,
    steps_range: str,
    as_json: bool,
    **fee_values: Any,
) -> None:
    r"""Build every step of the plan in PLAN, check each payload as the air-gapped machine will, and write the requests.

    A payload that a check refuses is not written: exit code 3 and the check's id say why. A transaction's nonce, gas
    and fees come from the node, within the plan's max_fee_gwei_at_most. With --qr, the requests are shown as QR codes.

    Each payload that passes is kept until the requests are written. After a failure or Ctrl-C, the same command asks
    for the rest alone. A service that is busy is waited for while the deadlines allow it; otherwise the exit code is 8.

    With --signer, the document holds only that signer's steps and says so: use it when a step can be built only after
    another custodian's step is on the chain. Referral codes are read first; a warning says what is in the way.

    With --steps, only these steps are built and kept, and no file is written: so a long plan is built in parts. `plan
    show` has the numbers. The command without --steps then builds the rest and writes the requests.

    \b
    Example:
      airlock-online prepare plan.toml -o requests.json
    """
    if steps_range and (output is not None or qr or signer):
        raise UsageError(
            "--steps writes no file: it builds payloads and keeps them", do="give it without -o, --qr and --signer"
        )
    if not steps_range:
        require_output(output, qr=qr)
    plan = parse_written_plan(read_input(plan_file))
    steps = _range(plan, steps_range) if steps_range else _part(plan, signer)
    deployment = home.require_deployment(plan.deployment)
    given = read_fee_options(fee_values)
    with asked_venue(home, plan, steps, deployment, given, even_if_not_ready=even_if_not_ready) as sources:
        payloads = KeptPayloads(home.folder, plan.fingerprint, deployment.fingerprint)
        with payloads.alone():
            prepared = prepare_plan(plan, deployment, sources, payloads, steps)
            if steps_range:
                _tell_kept(plan, steps, payloads, as_json=as_json)
                return
            keep(home, plan, deployment, prepared, payloads, output, as_json, qr=qr, signer=signer)
            payloads.forget(*steps)


def _part(plan: Plan, signer: str) -> list[str]:
    """Return the steps to prepare. Raises ``UsageError`` for a signer who signs none."""
    steps = part_of(plan, signer)
    if not steps:
        names = ", ".join(dict.fromkeys(step.signer.name for step in plan.steps.values()))
        raise UsageError(f"no step of the plan is signed by {safe(signer, limit=80)!r}", do=f"name one of: {names}")
    return steps


def _range(plan: Plan, text: str) -> list[str]:
    """Return the ids of a range of steps, ``3-17`` or ``3``, counted from 1. Raises ``UsageError``."""
    match, every = _RANGE.fullmatch(text), list(plan.steps)
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not 0 < first <= last <= len(every):
        raise UsageError(
            f"{text!r} is no range of the plan's steps", do=f"give one number or two, of 1 to {len(every)}: 2 or 1-2"
        )
    return every[first - 1 : last]


def _tell_kept(plan: Plan, steps: Sequence[str], payloads: KeptPayloads, *, as_json: bool) -> None:
    """Say which steps are kept now, and how many of the plan are not."""
    missing = [step for step in plan.steps if payloads.find(step) is None]
    if as_json:
        show_json({"ok": True, "kept": list(steps), "missing": missing})
        return
    say(f"The payloads of {len(steps)} steps passed every check that this machine makes, and are kept.")
    if missing:
        say(f"Not kept yet: {len(missing)} of {len(plan.steps)} steps, the first of them {missing[0]}.")
    say("To build the rest and write the requests: airlock-online prepare PLAN -o FILE")


def keep(
    home: OnlineHome,
    plan: Plan,
    deployment: Deployment,
    prepared: list[Prepared],
    payloads: KeptPayloads,
    output: Path | None,
    as_json: bool,
    *,
    qr: bool = False,
    signer: str = "",
) -> None:
    """Write the requests document, keep a copy for submitting, record it, say what is in it, and show it by QR codes.

    ``signer`` names whose part of the plan was prepared; empty for the whole.
    """
    header = Header(
        ceremony=plan.id,
        plan=plan.fingerprint,
        deployment=deployment.fingerprint,
        deployment_name=deployment.name,
        rehearsal=deployment.rehearsal,
        transcript_head=home.transcript.head(),
        created_ms=now_ms(),
        signer=signer,
        signing_heads=home.signing_heads(),
    )
    for route, option in without_address([item.request.route for item in prepared], deployment).items():
        say(
            f"WARNING: the deployment has no address for the {route}: signatures can be exported, but not submitted. "
            f"If you want to submit, fetch the deployment again with {option} URL before anybody signs."
        )
    data = write_requests(header, [item.request for item in prepared])
    with payloads.joined(*(item.request.step for item in prepared)):
        requests_fingerprint = parse_requests(data)[2]
    kept = home.keep_requests(requests_fingerprint, data)
    if output is not None:
        write_new(output, data)
    facts: dict[str, object] = {"ceremony": plan.id, "plan": plan.fingerprint, "requests": requests_fingerprint}
    part = {"signer": signer} if signer else {}
    extra = {item.request.step: extra_of(item)[1:] for item in prepared if item.extra}
    home.transcript.record("prepared", facts | part | ({"extra_members": extra} if extra else {}), now_ms())
    file = output or kept
    unjudged = NotJudged()
    unjudged.of_document(judge_header(header, Situation(plan, deployment, header.created_ms), Known()))
    structs, expected = deployment.structs, home.config().speech.replies["builder"]["extra_members"]
    for item in prepared:
        unjudged.of_item(item.verdicts)
        replaced = replaced_lines(home, plan.steps[item.request.step], item.request, structs)
        say_all((*replaced, *extra_of(item, expected)))
    if as_json:
        told = {
            "not_judged": unjudged.as_json(),
            "file": str(file),
            "fingerprint": requests_fingerprint,
            "words": spoken(requests_fingerprint),
            "steps": [_step_as_json(item) for item in prepared],
        }
        codes = outgoing(home.folder, data, as_json=True) if qr else {}
        show_json({"ok": True} | codes | part | told)
        return
    if not led():  # where it is led, the other machine reviews them
        _report(prepared, plan, requests_fingerprint)
    say_all(part_lines(plan, signer))
    if not led():  # there the signing machine judges them next, and the words come next
        say_all(unjudged.lines())
        say(f"Wrote {safe(str(file))}")
        say("Carry it to the air-gapped machine, and compare the requests fingerprint there:")
        say(f"  airlock-offline verify {safe(file.name)} --plan PLAN")
    if qr:
        outgoing(home.folder, data, as_json=False)


def extra_of(item: Prepared, expected: Sequence[str] = ()) -> list[str]:
    """Return what the builder sent beside an item's payload, as lines; none for what is expected there."""
    told = {name: value for name, value in item.extra.items() if name not in expected}
    return extra_lines(item.request.step, told)


@contextmanager
def asked_venue(
    home: OnlineHome,
    plan: Plan,
    steps: Sequence[str],
    deployment: Deployment,
    fees: FeeOptions,
    *,
    even_if_not_ready: bool = False,
) -> Iterator[Sources]:
    """Yield what steps are prepared with, after people were told how the venue is, and what is known of these steps.

    What is pinned goes on being used where the venue's meta document says otherwise now: people are warned. Raises
    ``ServiceError`` when the builder calls itself not ready.
    """
    config, chosen = home.config(fees.rpc), [plan.steps[step] for step in steps]
    with connections(home) as http:
        gas_and_fees = fees.gas_and_fees(chosen, config, deployment, http)
        builder = builder_of(deployment, http, config)
        readiness = builder.ready()
        if not readiness.ready and not even_if_not_ready:
            components = safe(str(readiness.components), limit=400)
            raise ServiceError(f"the builder is not ready: {components}", status=503, do="wait, then prepare again")
        changes = decisive_differences(builder.meta().data, deployment, config.speech.replies)
        for change in changes:
            say(f"WARNING: the venue now says of {change.where}: {change.now}; pinned is {change.pinned}")
        if changes:
            say("The pinned values are used. Ask the venue why, and run: airlock-online meta")
            _agree_to_warning(home, plan)
        _look_before(home, plan, chosen, builder, deployment, config, http)
        lines = [
            *_done_lines(home, plan, chosen),
            *(nonce_lines(chosen, RpcClient(config.rpc.url, http)) if config.rpc.url else ()),
            *pace_lines(chosen, Situation(plan, deployment, now_ms()), config.speech.limits["builder"]),
        ]
        say_all(lines)
        if any(line.startswith("WARNING: ") for line in lines):
            _agree_to_warning(home, plan)
        yield Sources(builder, gas_and_fees)


def _done_lines(home: OnlineHome, plan: Plan, steps: Sequence[Step]) -> Iterator[str]:
    """Yield a warning for each of these steps that was carried out, as was told: ``check_alone`` refuses to send it anew."""
    anew = {step.id for step in steps if not step.replaced_digest}
    for end in last_outcomes(without_others(home.transcript.entries(), plan.id)).values():
        if end.get("state") in DONE and end["step"] in anew:
            yield f"WARNING: step {end['step']} is {end['state']}. A new signature is not sent: answer no at its review."


def _agree_to_warning(home: OnlineHome, plan: Plan) -> None:
    """Where people are led, ask them for ``Yes`` to what they were warned of, before anything is built."""
    if led() and at_a_terminal():
        with no_on_record(home.transcript, plan, "", "facilitator", now_ms):
            ask_yes("There is a WARNING above. Prepare all the same?", piped=False)


def _look_before(
    home: OnlineHome,
    plan: Plan,
    steps: Sequence[Step],
    builder: BuilderClient,
    deployment: Deployment,
    config: OnlineConfig,
    http: Http,
) -> None:
    """Tell and record what is known of the codes that these steps are about, and warn of what is in the way."""
    for step in steps:
        wish = wish_of(step)
        if wish is None:
            continue
        seen = read_referral(builder, deployment, config, http, wish.code, wish.trader)
        apart, warnings = disagreements(seen), in_the_way(wish, settled_facts(seen), plan)
        first_lines = [f"step {step.id}: referral code {safe(code_text(wish.code))}"]
        first_lines += [*code_lines(wish.code, "    "), *seen_lines(seen, wish.trader, "    ")]
        for warning in (*(f"the two disagree on the {text}" for text in apart), *warnings):
            first_lines += rows("    WARNING: ", warning)
        warned = bool(apart or warnings)
        show_by_screens(first_lines, stays=warned)  # before anything has a deadline
        facts = {"ceremony": plan.id, "plan": plan.fingerprint, "step": step.id, "code": "0x" + wish.code.hex()}
        told = {"seen": [one.as_json() for one in seen], "disagreements": apart, "warnings": warnings}
        home.transcript.record("referral-read", facts | told, now_ms())
        if warned:
            _agree_to_warning(home, plan)


def _step_as_json(item: Prepared) -> JsonObject:
    told = {"step": item.request.step, "checks": item.verdicts.passed()}
    return told | ({"extra_members": dict(item.extra)} if item.extra else {})


def _report(prepared: list[Prepared], plan: Plan, requests_fingerprint: str) -> None:
    for item in prepared:
        order = f", order type {item.request.order_type}" if item.request.order_type is not None else ""
        show(f"  {item.request.step:<24} {item.verdicts.passed()} checks passed")
        show(f"    goes to the {item.request.route}{order}")
        for line in filled_lines(item.request.transaction):
            show(f"    {line}")
    show_all(fingerprint_lines("plan", plan.fingerprint))
    show_all(fingerprint_lines("requests", requests_fingerprint))
