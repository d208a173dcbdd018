"""``verify``: every check over a requests document, item by item, without a device."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import click

from airlock_offline.clock import now_ms, uptime
from airlock_offline.home import OfflineHome
from airlock_shared.catalogue.venue import with_venue
from airlock_shared.checks.case import Check, Found, Situation, Verdict, verdict_of
from airlock_shared.checks.clock import clock_of
from airlock_shared.checks.document import own_record
from airlock_shared.checks.judge import Known, judge_header, judge_item, judge_steps
from airlock_shared.checks.nonces import nonces_of
from airlock_shared.checks.verdicts import NotJudged, Verdicts
from airlock_shared.cli.console import INPUT, error_as_json, explain, finish, json_option, rows, say, show, show_row
from airlock_shared.cli.document_lines import fingerprint_lines, part_lines
from airlock_shared.cli.qr.options import qr_option, restart_option
from airlock_shared.documents import requests
from airlock_shared.documents.deployment import parse_deployment
from airlock_shared.documents.transcript import proved
from airlock_shared.errors import AirlockError, DocumentError, ExitCode
from airlock_shared.host.files import open_input, read_input
from airlock_shared.plan.reader import parse_plan
from airlock_shared.text.fingerprint_words import spoken
from airlock_shared.text.safe import WIDTH, safe, safe_again, wrapped
from airlock_shared.wire.stream import BatchReader


@click.command("verify")
@click.argument("source", type=click.Path(path_type=Path))
@click.option("--plan", "plan_file", type=INPUT, required=True, help="The ceremony plan.")
@click.option("--signatures", "signatures_file", type=INPUT, help="Also check and recover these signatures.")
@click.option("--deployment", "deployment_file", type=INPUT, help="Judge against this deployment, not the pinned one.")
@qr_option
@restart_option
@json_option
@click.pass_obj
def verify(
    state: OfflineHome,
    source: Path,
    plan_file: Path,
    signatures_file: Path | None,
    deployment_file: Path | None,
    qr: bool,
    restart: bool,
    as_json: bool,
) -> None:
    r"""Run every check over the requests document SOURCE and print a verdict per item.

    Some things this machine cannot judge, such as the clock before a person states the time. They are listed as not
    judged; sign refuses them. Exit codes: 0 nothing was refused, 3 something was refused, 4 the document is damaged.

    \b
    Example:
      airlock-offline verify requests.json --plan plan.toml
    """
    plan = parse_plan(read_input(plan_file))
    with ExitStack() as files:
        document = files.enter_context(_opened(state, source, restart=restart) if qr else open_input(source))
        reader = BatchReader(document, format_name=requests.FORMAT, list_name=requests.LIST)
        header = requests.read_header(reader.header)
        if deployment_file is not None:
            deployment = with_venue(parse_deployment(read_input(deployment_file)))
        else:
            deployment = state.require_pinned(header.deployment_name)
        signed: BatchReader | None = None
        if signatures_file is not None:
            from airlock_shared.documents import signatures

            signed_source = files.enter_context(open_input(signatures_file))
            signed = BatchReader(signed_source, format_name=signatures.FORMAT, list_name=signatures.LIST)
            signatures.read_header(signed.header)
        entries = state.transcript.entries()
        clock = clock_of(entries, now_ms(), uptime())
        situation = Situation(
            plan, deployment, clock.now_ms, clock.uncertainty_ms or 0, state.custom_structs(deployment)
        )
        proofs, own, people = None, None, None
        if entries:
            from airlock_shared.ceremony.sections import people_of

            proofs, own, people = proved(entries), own_record(entries), people_of(entries, plan)
        known = Known(clock, nonces_of(entries), proofs, own, people)
        report = _report_json if as_json else _report_text
        report(reader, signed, situation, known, judge_header(header, situation, known))


def _opened(state: OfflineHome, source: Path, *, restart: bool) -> BinaryIO:
    """Return the document that a camera or pictures show."""
    from airlock_shared.cli.qr.file_or_light import incoming

    return BytesIO(incoming(state.home, source, requests.FORMAT, "verify", known=state.pins, qr=True, restart=restart))


def _items(
    reader: BatchReader, signed: BatchReader | None, situation: Situation, known: Known
) -> Iterator[tuple[str, Verdicts]]:
    """Yield each item's step and verdicts; with signatures, the two documents are read side by side."""
    answers = iter(signed) if signed is not None else None
    if answers is not None:
        from airlock_shared.documents import signatures
    for number, item in enumerate(reader, start=1):
        request = requests.read_item(item, f"item {number}")
        answer = None
        if answers is not None:
            answer = signatures.read_item(next(answers, None), f"signature {number}")
            if answer.step != request.step:
                raise DocumentError("DOC-COUNT", "the signatures are not those of the requests", got=answer.step,
                                    expected=request.step, do="give the signatures of this document")  # fmt: skip
            answer = answer if answer.result == "signed" else None
        yield request.step, judge_item(request, situation, known, answer).verdicts
    if answers is not None:
        for _ in answers:
            raise DocumentError("DOC-COUNT", "there are more signatures than requests", do="check which file this is")


def _report_text(
    reader: BatchReader, signed: BatchReader | None, situation: Situation, known: Known, header: Verdicts
) -> None:
    steps, wrong = [], len(header.refused())
    unjudged = NotJudged()
    unjudged.of_document(header)
    for verdict in header.refused():
        show(_line("document", verdict))
    for step, verdicts in _items(reader, signed, situation, known):
        steps.append(step)
        passed, others = verdicts.tally()
        stopped = verdicts.refused() if others else []
        wrong += len(stopped)
        word = "REFUSED" if stopped else "pass   "
        show_row(f"{word}  {safe(step)}: {passed} checks passed, {len(stopped)} refused")
        if others:
            unjudged.of_item(verdicts)
        for verdict in stopped:
            show(_line(f"  {safe(step)}", verdict))
    for verdict in judge_steps(steps, situation, _part(reader)).refused():
        wrong += 1
        show(_line("document", verdict))
    for line in part_lines(situation.plan, _part(reader)):
        say(line)
    for line in unjudged.lines():
        first, *rest = wrapped(safe_again(line), WIDTH - 2)
        say("\n".join([first, *(f"  {row}" for row in rest)]))
    say(f"items {len(steps)}, refusals {wrong}")
    for line in fingerprint_lines("requests", reader.fingerprint):
        say(line)
    finish(ExitCode.REFUSED if wrong else ExitCode.DONE)


def _part(reader: BatchReader) -> str:
    """Return the name of the signer whose part of the plan the document is; empty for the whole plan."""
    return requests.read_header(reader.header).signer


def _line(place: str, verdict: Verdict) -> str:
    where = f" at {verdict.where}" if verdict.where else ""
    lines = [safe_again(f"{place}: {verdict.check}{where}: {verdict.what}", limit=600)]
    lines += rows("    got:      ", str(verdict.got), limit=300)
    lines += rows("    expected: ", str(verdict.expected), limit=300)
    lines += rows("    do:       ", verdict.do)
    return "\n".join(lines)


def _report_json(
    reader: BatchReader, signed: BatchReader | None, situation: Situation, known: Known, header: Verdicts
) -> None:
    """Write one JSON document piece by piece, so that a long batch is never in memory.

    Where the requests break inside, the same document ends with the ``error`` that every other command's would hold.
    """
    steps: list[str] = []
    ok, unjudged = not header.hinder(), NotJudged()
    unjudged.of_document(header)
    show(f'{{"document": {json.dumps(_rows(header))},\n"items": [')
    try:
        for step, verdicts in _items(reader, signed, situation, known):
            item_ok = not verdicts.hinder()
            unjudged.of_item(verdicts)
            ok = ok and item_ok
            row = {"step": step, "ok": item_ok, "checks": _rows(verdicts)}
            sys.stdout.write(("," if steps else "") + json.dumps(row) + "\n")
            steps.append(step)
    except AirlockError as error:
        say(explain(error))
        show("],\n" + json.dumps(error_as_json(error))[1:])
        finish(error.exit_code)
    part = _part(reader)
    order = judge_steps(steps, situation, part)
    ok = ok and not order.hinder()
    end = {
        "steps": _rows(order)[0],
        "not_judged": unjudged.as_json(),
        "signer": part,
        "fingerprint": reader.fingerprint,
        "words": spoken(reader.fingerprint),
        "ok": ok,
    }
    show("],\n" + json.dumps(end)[1:])
    finish(ExitCode.DONE if ok else ExitCode.REFUSED)


def _rows(verdicts: Verdicts) -> list[dict[str, object]]:
    """Return every verdict as the result holds it."""
    return list(map(_row, verdicts.checks, verdicts.findings))


def _row(check: Check, finding: Found | None) -> dict[str, object]:
    if finding is not None and finding[0]:  # nearly all are: they need no verdict in between
        got, expected = finding[1], finding[2]
        got = got() if callable(got) else got
        expected = expected() if callable(expected) else expected
        got = got if type(got) in _JSON_TYPES else str(got)
        expected = expected if type(expected) in _JSON_TYPES else str(expected)
        return {"check": check[0], "result": "pass", "got": got, "expected": expected}
    if finding is None:
        return {"check": check[0], "result": "not-applicable", "got": "", "expected": ""}
    verdict = verdict_of(check, finding)
    row: dict[str, object] = {"check": verdict.check, "result": verdict.result}
    for name, value in (("got", verdict.got), ("expected", verdict.expected)):
        row[name] = value if type(value) in _JSON_TYPES else str(value)
    return row | ({"where": verdict.where, "what": verdict.what} if verdict.what else {})


_JSON_TYPES = frozenset((str, int, float, bool, type(None), dict, list))
