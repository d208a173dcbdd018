"""``verify``: every check over a requests document, item by item, without a device."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import click

from airlock_offline.clock import now_ms
from airlock_offline.preflight.stated_time import uncertainty_ms
from airlock_offline.state import State
from airlock_shared.checks.batch import examine_header, examine_steps, part_of
from airlock_shared.checks.case import Case, Situation, Verdict
from airlock_shared.checks.catalogue import CHECKS
from airlock_shared.checks.examine import examine, examine_nonces, refused
from airlock_shared.checks.nonces import NonceLedger, ledger_of
from airlock_shared.cli.comparison_lines import fingerprint_lines, part_lines
from airlock_shared.cli.console import INPUT, error_as_json, explain, finish, json_option, rows, say, show
from airlock_shared.cli.qr.options import qr_option, restart_option
from airlock_shared.documents import requests, signatures
from airlock_shared.documents.deployment import parse_deployment
from airlock_shared.errors import AirlockError, DocumentError, ExitCode
from airlock_shared.host.files import open_input, read_input
from airlock_shared.plan.model import parse_plan
from airlock_shared.text.fingerprint_words import spoken
from airlock_shared.text.safe import safe, safe_again
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
    state: State,
    source: Path,
    plan_file: Path,
    signatures_file: Path | None,
    deployment_file: Path | None,
    qr: bool,
    restart: bool,
    as_json: bool,
) -> None:
    r"""Run every check over the requests document SOURCE and print a verdict per item.

    Exit codes: 0 all passed, 3 something was refused, 4 the document is damaged.

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
            deployment = parse_deployment(read_input(deployment_file))
        else:
            deployment = state.require_pinned(header.deployment_name)
        signed: BatchReader | None = None
        if signatures_file is not None:
            signed_source = files.enter_context(open_input(signatures_file))
            signed = BatchReader(signed_source, format_name=signatures.FORMAT, list_name=signatures.LIST)
            signatures.read_header(signed.header)
        entries = state.transcript.entries()
        situation = Situation(plan, deployment, now_ms(), clock_uncertainty_ms=uncertainty_ms(entries, now_ms()) or 0)
        situation = situation._replace(structs=state.structs(deployment.name))
        header_verdicts = examine_header(header, situation)
        report = _report_json if as_json else _report_text
        report(reader, signed, situation, ledger_of(entries), header_verdicts)


def _opened(state: State, source: Path, *, restart: bool) -> BinaryIO:
    """Return the document that a camera or pictures show."""
    from airlock_shared.cli.qr.documents import incoming

    return BytesIO(incoming(state.home, source, requests.FORMAT, "verify", qr=True, restart=restart))


def _items(
    reader: BatchReader, signed: BatchReader | None, situation: Situation, ledger: NonceLedger
) -> Iterator[tuple[str, list[Verdict]]]:
    """Yield each item's step and verdicts; with signatures, the two documents are read side by side."""
    answers = iter(signed) if signed is not None else None
    for number, item in enumerate(reader, start=1):
        request = requests.read_item(item, f"item {number}")
        answer = None
        if answers is not None:
            answer = signatures.read_item(next(answers, None), f"signature {number}")
            if answer.step != request.step:
                raise DocumentError("DOC-COUNT", "the signatures are not those of the requests", got=answer.step,
                                    expected=request.step, do="give the signatures of this document")  # fmt: skip
            answer = answer if answer.result == "signed" else None
        case = Case(request, situation, answer)
        yield request.step, examine(case) + examine_nonces(case, ledger)
    if answers is not None:
        for _ in answers:
            raise DocumentError("DOC-COUNT", "there are more signatures than requests", do="check which file this is")


def _report_text(
    reader: BatchReader,
    signed: BatchReader | None,
    situation: Situation,
    ledger: NonceLedger,
    header_verdicts: list[Verdict],
) -> None:
    steps, wrong = [], len(refused(header_verdicts))
    for verdict in refused(header_verdicts):
        show(_line("document", verdict))
    for step, verdicts in _items(reader, signed, situation, ledger):
        steps.append(step)
        stopped = [v for v in verdicts if v.result == "refused"]
        wrong += len(stopped)
        passed = [v.result for v in verdicts].count("pass")
        word = "REFUSED" if stopped else "pass   "
        show(f"{word}  {safe(step)}: {passed} checks passed, {len(stopped)} refused")
        for verdict in stopped:
            show(_line(f"  {safe(step)}", verdict))
    order = examine_steps(steps, part_of(situation.plan, _part(reader)))
    if order.result == "refused":
        wrong += 1
        show(_line("document", order))
    for line in part_lines(situation.plan, _part(reader)):
        say(line)
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
    lines += rows("    do:       ", CHECKS[verdict.check].do)
    return "\n".join(lines)


def _report_json(
    reader: BatchReader,
    signed: BatchReader | None,
    situation: Situation,
    ledger: NonceLedger,
    header_verdicts: list[Verdict],
) -> None:
    """Write one JSON document piece by piece, so that a long batch is never in memory.

    Where the requests break inside, the same document ends with the ``error`` that every other command's would hold.
    """
    steps: list[str] = []
    ok = not refused(header_verdicts)
    show(f'{{"document": {json.dumps([_row(v) for v in header_verdicts])},\n"items": [')
    try:
        for step, verdicts in _items(reader, signed, situation, ledger):
            item_ok = not refused(verdicts)
            ok = ok and item_ok
            row = {"step": step, "ok": item_ok, "checks": [_row(v) for v in verdicts]}
            show(("," if steps else "") + json.dumps(row))
            steps.append(step)
    except AirlockError as error:
        say(explain(error))
        show("],\n" + json.dumps(error_as_json(error))[1:])
        finish(error.exit_code)
    part = _part(reader)
    order = examine_steps(steps, part_of(situation.plan, part))
    ok = ok and order.result == "pass"
    end = {
        "steps": _row(order),
        "signer": part,
        "fingerprint": reader.fingerprint,
        "words": spoken(reader.fingerprint),
        "ok": ok,
    }
    show("],\n" + json.dumps(end)[1:])
    finish(ExitCode.DONE if ok else ExitCode.REFUSED)


def _row(verdict: Verdict) -> dict[str, Any]:
    row: dict[str, Any] = {"check": verdict.check, "result": verdict.result}
    row |= {"got": _plain(verdict.got), "expected": _plain(verdict.expected)}
    return row | ({"where": verdict.where, "what": verdict.what} if verdict.result == "refused" else {})


def _plain(value: object) -> object:
    return value if isinstance(value, (str, int, float, bool, list, dict)) or value is None else str(value)
