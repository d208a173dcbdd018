"""``verify``: every check over a requests document, item by item, without a device."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from airlock_offline.home import OfflineHome, now_ms, uptime
from airlock_offline.ledger.typed_data import EXPECTED, type_faults
from airlock_shared.ceremony.sections import people_of
from airlock_shared.checks.catalogue import CHECKS_BY_ID
from airlock_shared.checks.document import own_record
from airlock_shared.checks.intent import typed_data_of
from airlock_shared.checks.judge import Examined, Known, Verdicts, judge_header, judge_item, judge_steps
from airlock_shared.checks.model import READ, Check, Finding, IntentCase, Situation, Verdict
from airlock_shared.checks.nonces import nonces_of
from airlock_shared.checks.not_judged import NotJudged
from airlock_shared.checks.times import clock_of
from airlock_shared.cli.qr.file_or_qr import incoming, qr_option, restart_option
from airlock_shared.cli.terminal import (
    INPUT,
    PATH_TYPE,
    finish,
    json_option,
    plan_option,
    rows,
    say,
    say_all,
    show,
    show_all,
    show_json,
)
from airlock_shared.documents.deployment import parse_deployment
from airlock_shared.documents.requests import REQUESTS_FORMAT, Answer, Request, parse_requests, parse_signatures
from airlock_shared.documents.transcript import proved
from airlock_shared.errors import DocumentError, ExitCode
from airlock_shared.host.files import read_input
from airlock_shared.plan.model import part_lines
from airlock_shared.plan.toml_positions import parse_written_plan
from airlock_shared.text.safe import fingerprint_lines, hanging, safe, safe_again, spoken


@click.command("verify")
@click.argument("source", type=PATH_TYPE)
@plan_option
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
    plan = parse_written_plan(read_input(plan_file))
    data = incoming(state.home, source, REQUESTS_FORMAT, "verify", known=state.pins, qr=qr, restart=restart)
    header, items, fingerprint = parse_requests(data)
    if deployment_file is not None:
        deployment = parse_deployment(read_input(deployment_file))
    else:
        deployment = state.require_pinned(header.deployment_name)
    answers = _answers(items, signatures_file)
    entries = state.transcript.entries()
    clock = clock_of(entries, now_ms(), uptime())
    situation = Situation(plan, deployment, clock.now_ms, clock.uncertainty_ms or 0)
    known = Known(
        clock,
        nonces_of(entries),
        proved(entries) if entries else None,
        own_record(entries) if entries else None,
        people_of(entries, plan) if entries else None,
    )
    whole = judge_header(header, situation, known)
    judged = [(item.step, _judged(judge_item(item, situation, known, answers.get(item.step)))) for item in items]
    order = judge_steps([item.step for item in items], situation, header.signer)
    everything = [whole, *(verdicts for _, verdicts in judged), order]
    unjudged = NotJudged()
    unjudged.of_document(whole)
    for _, verdicts in judged:
        unjudged.of_item(verdicts)
    if as_json:
        ok = not any(verdicts.blocking() for verdicts in everything)
        told = [{"step": step, "ok": not each.blocking(), "checks": _rows(each)} for step, each in judged]
        show_json(
            {
                "document": _rows(whole),
                "items": told,
                "steps": _rows(order)[0],
                "not_judged": unjudged.as_json(),
                "signer": header.signer,
                "fingerprint": fingerprint,
                "words": spoken(fingerprint),
                "ok": ok,
            }
        )
        finish(ExitCode.DONE if ok else ExitCode.REFUSED)
        return
    _show_refused("document", whole)
    for step, verdicts in judged:
        stopped = len(verdicts.refused())
        show(
            f"{'REFUSED' if stopped else 'pass   '}  {safe(step)}: {verdicts.passed()} checks passed, {stopped} refused"
        )
        _show_refused(f"  {safe(step)}", verdicts)
    _show_refused("document", order)
    say_all(part_lines(plan, header.signer))
    for line in unjudged.lines():
        say_all(hanging(safe_again(line)))
    wrong = sum(len(verdicts.refused()) for verdicts in everything)
    signed = f", signed {len(answers)}" if signatures_file else ""
    say(f"items {len(items)}, refusals {wrong}{signed}")
    say_all(fingerprint_lines("requests", fingerprint))
    finish(ExitCode.REFUSED if wrong else ExitCode.DONE)


def _judged(examined: Examined) -> Verdicts:
    """Return the verdicts on an item, and that on the Ledger's app where it is known to sign another digest."""
    case, verdicts = examined.case, examined.verdicts
    if not isinstance(case, IntentCase) or case.step.signer.show != "fields":
        return verdicts
    structs, primary, *_ = typed_data_of(case)
    faults = type_faults(structs, primary)
    return verdicts.also(_LEDGER.verdict(Finding(False, "; ".join(faults), EXPECTED))) if faults else verdicts


_LEDGER = Check("DIGEST-LEDGER", READ, lambda _: None, CHECKS_BY_ID["DIGEST-LEDGER"])
"""Of the Ledger's app, and so of this machine alone: its verdict is made here."""


def _answers(items: Sequence[Request], signatures_file: Path | None) -> dict[str, Answer]:
    """Return the signatures by their steps. Raises ``DocumentError("DOC-COUNT")`` for those of another document."""
    if signatures_file is None:
        return {}
    _, answers, _ = parse_signatures(read_input(signatures_file))
    if [answer.step for answer in answers] != [item.step for item in items]:
        raise DocumentError(
            "DOC-COUNT", "the signatures are not those of the requests", do="give the signatures of this document"
        )
    return {answer.step: answer for answer in answers if answer.result == "signed"}


def _show_refused(place: str, verdicts: Verdicts) -> None:
    for verdict in verdicts.refused():
        where = f" at {verdict.where}" if verdict.where else ""
        show_all(hanging(safe_again(f"{place}: {verdict.check}{where}: {verdict.what}", limit=600)))
        show_all(rows("    got:      ", str(verdict.got), limit=300))
        show_all(rows("    expected: ", str(verdict.expected), limit=300))
        show_all(rows("    do:       ", verdict.do))


def _rows(verdicts: Verdicts) -> list[dict[str, object]]:
    """Return every verdict as the result holds it."""
    return list(map(_row, verdicts.found))


def _row(verdict: Verdict) -> dict[str, object]:
    row: dict[str, object] = {"check": verdict.check, "result": verdict.result}
    for name, value in (("got", verdict.got), ("expected", verdict.expected)):
        row[name] = value if type(value) in _JSON_TYPES else str(value)
    return row | ({"where": verdict.where, "what": verdict.what} if verdict.what else {})


_JSON_TYPES = frozenset((str, int, float, bool, type(None), dict, list))
