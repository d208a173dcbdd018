"""``venue check``: a venue's files tried against its builder, each read and each build; nothing is sent or written."""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from airlock_online.cli.connections import connections
from airlock_online.cli.deployment import fetch_document
from airlock_online.cli.doctor import PATIENCE, service_lines
from airlock_online.cli.prepare_steps import accepted, payload_lines
from airlock_online.clients.builder import NO_SUCH_READ, BuilderClient
from airlock_online.clients.builder_reads import entries, nonce_flag, question_of
from airlock_online.clients.reply_values import delegation_read, value_at
from airlock_online.clock import now_ms
from airlock_online.home import OnlineHome
from airlock_online.preparing.gas_and_fees import LEAST_GAS, ByHand, GasAndFees
from airlock_online.preparing.prepare import Sources, build_name, prepare_step
from airlock_online.preparing.venue_profile import MAX_PROFILE_BYTES, add_venue_profile, require_deliverable
from airlock_online.readback.referral_codes import from_builder
from airlock_online.speech.forms import read_services
from airlock_online.speech.sections import SHIPPED
from airlock_shared.checks.model import Situation
from airlock_shared.checks.nonces import UsedNonces
from airlock_shared.cli.machine import finish_doctor
from airlock_shared.cli.terminal import FOLDER_TYPE, json_option
from airlock_shared.documents.deployment import TEST_ACCOUNTS, Deployment, read_deployment
from airlock_shared.errors import AirlockError, ExitCode, ServiceError, UsageError
from airlock_shared.host.files import LOOK, Observed, read_input
from airlock_shared.host.machine import fault
from airlock_shared.plan.model import Plan, Step
from airlock_shared.plan.toml_positions import parse_written_plan
from airlock_shared.units import code_bytes
from airlock_shared.venue.actions import ACTIONS
from airlock_shared.venue.calls import CALLS
from airlock_shared.venue.profile_words import profile_words
from airlock_shared.venue.structs import AUTHORIZATION, BUILDER, CATALOGUE
from airlock_shared.wire.strict_json import JsonObject

_SERVICES, PROFILE, PLANS = "services.toml", "venue.json", "*.plan.toml"
_MISTAKE = re.compile(r"\. (?=line |\[|structs\.|calls\.)")
"""Where the next mistake begins in what is told of a file, or of what a venue tells of itself."""


@click.group("venue")
def venue() -> None:
    """Try a venue's files against its services."""


@venue.command("check")
@click.argument("folder", type=FOLDER_TYPE)
@click.argument("url")
@json_option
@click.pass_obj
def check(home: OnlineHome, folder: Path, url: str, as_json: bool) -> None:
    r"""Try every read and build of the files in FOLDER against the builder at URL; send and write nothing.

    The files are services.toml, venue.json and example plans, *.plan.toml. Each step of a plan is built and judged as by
    `prepare`, and what would be signed is shown; nonce, gas and fees of a transaction are stand-ins. Nothing is kept, and
    no other command believes it. Exit code 0: all is understood. Else the worst of its lines: 2 or 4 for a file, 3 for what
    a check refuses, 8 for the venue.

    \b
    Example:
      airlock-online venue check my-venue https://venue.example/builder
    """
    lines: list[Observed] = []
    paths = [path for path in sorted(folder.glob("*")) if path.name in (_SERVICES, PROFILE) or path.match(PLANS)]
    if not paths:
        raise UsageError(f"none of {_SERVICES}, {PROFILE} and {PLANS} is in the folder", do="write one of them")
    files = {path.name: _try(lines, "files", path.name, _file, path) for path in paths}
    if None not in files.values():  # else the venue would be asked for what nobody meant
        speech, signed = files.pop(_SERVICES, SHIPPED), files.pop(PROFILE, {})
        with connections(home, PATIENCE) as http:
            client = BuilderClient(url, http, speech)
            if deployment := _try(lines, "venue", "meta, pairs", _deployment, client, signed):
                lines += service_lines(deployment, http, time.time())
                _ask(lines, deployment, client, files)
    finish_doctor(lines, as_json=as_json)


def _try(lines: list[Observed], group: str, what: str, attempt: Callable[..., Any], *given: object) -> Any:
    """Return what an attempt finds, after a line that shows it where it is a text; None after a line for each mistake."""
    try:
        found = attempt(*given)
        lines.append(Observed(group, what, found if type(found) is str else "understood"))
    except AirlockError as error:
        if error.exit_code is ExitCode.REFUSED:
            error.do = f"it is not what {_SERVICES}, {PROFILE} and the plan say: correct them, or ask the venue"
        lines += [fault(group, what, each, "", error.exit_code) for each in _MISTAKE.split(str(error))]
        return None
    return found


def _file(path: Path) -> Any:
    """Return a file read by the reader of its kind: how services speak, what is signed, or a plan."""
    if path.name == _SERVICES:
        return read_services(path)
    data = read_input(path, max_bytes=MAX_PROFILE_BYTES)
    return add_venue_profile({}, data, path.name) if path.name == PROFILE else parse_written_plan(data)


def _deployment(client: BuilderClient, signed: JsonObject) -> Deployment:
    found = read_deployment(fetch_document(client, "venue", {BUILDER.url_key: client.base_url})[0] | signed)
    require_deliverable(found, client.speech)
    return found


def _ask(
    lines: list[Observed],
    deployment: Deployment,
    client: BuilderClient,
    plans: Mapping[str, Plan],
) -> None:
    """Say what is signed, try the reads and each step of the plans, and say what was not tried."""
    paths, built = client.speech.paths, {AUTHORIZATION}
    lines += [
        Observed("what is signed", "differs", line) for line in profile_words(deployment.structs, deployment.calls)
    ]
    for name in ("nonce", "delegation", "positions", "referral"):
        if paths[name]:
            _try(lines, "reads", name, _read, name, client)
        else:
            lines.append(
                Observed("reads", name, NO_SUCH_READ.format(name), LOOK, "what needs it is not told by this venue")
            )
    for file, plan in plans.items():
        used = UsedNonces(knows_signed=False)
        filled: dict[bytes, GasAndFees] = defaultdict(lambda: GasAndFees(ByHand(0, LEAST_GAS, 1, 0), None))
        for step in [step for step in plan.steps.values() if step.action.name != AUTHORIZATION]:  # nobody builds that
            built.add(build_name(step))
            sources = Sources(client, filled[step.signer.address])
            _try(lines, file, step.id, _built, step, Situation(plan, deployment, now_ms()), sources, used)
    own = (deployment.structs.keys() | deployment.calls.keys()) - CATALOGUE.keys() - CALLS.keys()
    if rest := [f"{name} ({paths.get(name) or 'no path is known'})" for name in (*ACTIONS, *own) if name not in built]:
        do = f"no {PLANS} has a step of these: write one; what has no path needs one in {_SERVICES}, [paths]"
        lines.append(Observed("builds", "not tried", ", ".join(rest), LOOK, do))


def _read(name: str, client: BuilderClient) -> str:
    """Return what a read tells of accounts that everybody knows. Raises ``ServiceError`` when it does not tell."""
    (trader, delegate), speech = TEST_ACCOUNTS[:2], client.speech
    if name == "referral":
        found: object = from_builder(client, code_bytes("AIRLOCK")).exists
    elif name == "nonce":
        found = nonce_flag(client.read(name, question_of(trader, "1", "trading", speech)), speech.replies[name])
    elif name == "positions":
        found = entries(client.read(name, {"trader": trader}), "trades")
    else:
        reply = client.read(name, {"trader": trader, "delegate": delegate})
        found = value_at(delegation_read(reply, speech.replies[name]), "isEnabled")
    if found is None:
        do = f"where it is, [replies.{name}]" if name in speech.replies else f'that there is none: [paths] {name} = ""'
        raise ServiceError(f"{speech.paths[name]} does not tell what is asked", do=f"say in {_SERVICES} {do}")
    return str(found)


def _built(step: Step, situation: Situation, sources: Sources, used: UsedNonces) -> str:
    """Return what would be signed for a step. Raises as ``prepare_step`` and ``accepted``."""
    prepared = accepted(prepare_step(step, situation, sources, used))
    return "; ".join(" ".join(line.split()) for line in payload_lines(prepared, situation.deployment.calls))
