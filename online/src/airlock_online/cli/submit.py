"""``submit``, ``follow`` and ``status``: delivering once, and finding out what became of it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import click

from airlock_online.clock import now_ms
from airlock_online.deliver import follow, submit
from airlock_online.http import Http
from airlock_online.journal import open_journal
from airlock_online.lifecycle import FINAL, OrderEvent, Outcome, error_of
from airlock_online.outbox import delivery_of, match
from airlock_online.prepare import nonce_reader
from airlock_online.routes.delivery import World
from airlock_online.state import State
from airlock_shared.command import INPUT, explain, finish, json_option, say, show, show_json, worst
from airlock_shared.errors import AirlockError, ExitCode, UsageError
from airlock_shared.files import read_input
from airlock_shared.requests import parse_requests
from airlock_shared.signatures import parse_signatures
from airlock_shared.text import safe
from airlock_shared.units import PRICE, USDC, to_human, utc_text

_patience = click.option("--patience", type=click.IntRange(0, 86_400), default=120, show_default=True,
                         help="For how many seconds to poll before giving up for now.")  # fmt: skip


@contextmanager
def _world(state: State, patience_s: int, as_json: bool) -> Iterator[World]:
    def on_event(event: OrderEvent) -> None:
        if as_json:
            show(
                json.dumps(
                    {"event": event.type, "seq": event.seq, "at_ms": event.at_ms, "payload": dict(event.payload)}
                )
            )
        else:
            show(f"    {utc_text(event.at_ms or now_ms())}  {_seq(event)}  {safe(event.type)}")
            for line in _told(event):
                show(line)

    config = state.config()
    with Http() as http, open_journal(state.journal_url(), now_ms) as journal:
        nonce_used = nonce_reader(state.deployments(), http, config)
        yield World(journal, http, now_ms, time.sleep, on_event, say, nonce_used, float(patience_s), config.relayer)


def _seq(event: OrderEvent) -> str:
    return f"{event.seq:>3}" if event.seq is not None else "  -"


_TOLD = {"trackingId": None, "id": None, "code": None, "attempt": None, "orderId": None, "transactionHash": None,
         "price": PRICE, "usdcSentToTrader": USDC}  # fmt: skip
"""The members of an event that decide or identify, with the unit of those that are raw amounts."""


def _told(event: OrderEvent) -> list[str]:
    """Return what an event says, for a person, a line a member."""
    lines = []
    for name, unit in _TOLD.items():
        if name in event.payload:
            value = safe(str(event.payload[name]), limit=80)
            human = f"{to_human(int(value), unit)} {unit.name}, raw " if unit and value.isdecimal() else ""
            lines.append(f"      {name} {human}{value}")
    return lines


@click.command("submit")
@click.argument("file", type=INPUT)
@click.option("--requests", "requests_file", type=INPUT, help="The requests answered, if not prepared on this machine.")
@_patience
@json_option
@click.pass_obj
def SUBMIT(state: State, file: Path, requests_file: Path | None, patience: int, as_json: bool) -> None:  # noqa: N802
    """Deliver the signatures in FILE, each once, and follow what becomes of them.

    The journal has each before a byte is sent. What was submitted before is not sent again but followed; when the
    outcome cannot be known yet, the exit code is 9 and `airlock-online follow` goes on.
    """
    answer, signed, signatures_fingerprint = parse_signatures(read_input(file))
    if requests_file is not None:
        header, items, fingerprint = parse_requests(read_input(requests_file))
    else:
        header, items, fingerprint = state.require_requests(answer.requests)
    deployment = state.require_deployment(header.deployment_name)
    if deployment.fingerprint != header.deployment:
        raise UsageError("the deployment changed since these requests were prepared", do="prepare and sign again")
    pairs = match(answer, signed, header, items, fingerprint)
    facts = {"ceremony": header.ceremony, "requests": fingerprint, "signatures": signatures_fingerprint}
    state.transcript.record("submit-begun", {**facts, "offline_transcript_head": answer.transcript_head}, now_ms())
    codes: list[ExitCode] = []
    with _world(state, patience, as_json) as world:
        for request, signature in pairs:
            say(f"step {request.step} ({safe(request.action)}), to the {safe(request.route)}")
            if signature.result != "signed":
                say(f"    not signed: {signature.result} ({safe(signature.why, limit=200)}); nothing to submit")
                codes.append(ExitCode.REFUSED if signature.result == "refused" else ExitCode.DECLINED)
                continue
            delivery = delivery_of(request, signature, header, deployment)
            codes.append(_told_outcome(state, request.step, partial(submit, delivery, world), as_json))
    finish(worst(codes))


def _told_outcome(state: State, step: str, run: Callable[[], Outcome], as_json: bool) -> ExitCode:
    """Run a submission or a following, say what became of it, record it, and return its exit code."""
    try:
        outcome = run()
    except AirlockError as error:
        say(explain(error))
        state.transcript.record("outcome", {"step": step, "error": error.what}, now_ms())
        return error.exit_code
    error_found = error_of(outcome)
    facts = {"step": step, "digest": outcome.digest, "state": outcome.state.value, "code": outcome.code}
    state.transcript.record("outcome", facts, now_ms())
    if as_json:
        show_json({"step": step, "digest": outcome.digest, "state": outcome.state.value, "reason": outcome.reason})
    else:
        show(
            f"    outcome: {outcome.state.value}" + (f" ({safe(outcome.reason, limit=300)})" if outcome.reason else "")
        )
    for anomaly in outcome.anomalies:
        say(f"    ANOMALY: {safe(anomaly, limit=300)}")
    if error_found is not None:
        say(explain(error_found))
        return error_found.exit_code
    return ExitCode.DONE


@click.command("follow")
@click.argument("digest", required=False)
@_patience
@json_option
@click.pass_obj
def FOLLOW(state: State, digest: str | None, patience: int, as_json: bool) -> None:  # noqa: N802
    """Go on following DIGEST, or everything whose outcome is not known yet. Nothing is sent."""
    codes = []
    with _world(state, patience, as_json) as world:
        open_ones = [s.record for s in world.journal.submissions() if s.state not in FINAL]
        chosen = [r for r in open_ones if digest in (None, r.digest)]
        if digest is not None and not chosen:
            known = world.journal.get(digest)
            show(f"{digest}  {known.state.value}")
            return
        for record in chosen:
            say(f"step {record.step} of {record.ceremony}, {record.digest}")
            codes.append(_told_outcome(state, record.step, partial(follow, record.digest, world), as_json))
    if not chosen:
        say("Everything that was submitted has its outcome; nothing to follow.")
    finish(worst(codes))


@click.command("status")
@json_option
@click.pass_obj
def STATUS(state: State, as_json: bool) -> None:  # noqa: N802
    """List what was submitted from this machine and what became of it."""
    with open_journal(state.journal_url(), now_ms) as journal:
        rows = journal.submissions()
    if as_json:
        show_json([{**row.record._asdict(), "state": row.state.value, "code": row.code} for row in rows])
        return
    for row in rows:
        show(f"{row.record.ceremony:<20} {row.record.step:<20} {row.state.value:<16} {row.record.digest}")
    if not rows:
        say("Nothing was submitted from this machine yet.")
