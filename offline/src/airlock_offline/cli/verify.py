"""``verify``: every check over a requests document, item by item, without a device."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import click

from airlock_offline.clock import now_ms, uptime
from airlock_offline.home import OfflineHome
from airlock_offline.ledger.app_faults import EXPECTED, faults_of
from airlock_offline.signing.device_pages import typed_data_of
from airlock_shared.ceremony.sections import people_of
from airlock_shared.checks.case import READ, Check, Finding, IntentCase, Situation, Verdict
from airlock_shared.checks.catalogue import CHECKS
from airlock_shared.checks.clock import clock_of
from airlock_shared.checks.document import own_record
from airlock_shared.checks.judge import Examined, Known, judge_header, judge_item, judge_steps
from airlock_shared.checks.nonces import nonces_of
from airlock_shared.checks.verdicts import NotJudged, Verdicts
from airlock_shared.cli.console import INPUT, finish, json_option, rows, say, show, show_json, show_row
from airlock_shared.cli.document_lines import fingerprint_lines, part_lines
from airlock_shared.cli.qr.options import qr_option, restart_option
from airlock_shared.documents.deployment import parse_deployment
from airlock_shared.documents.requests import FORMAT, Request, parse_requests
from airlock_shared.documents.signatures import Signed, parse_signatures
from airlock_shared.documents.transcript import proved
from airlock_shared.errors import DocumentError, ExitCode
from airlock_shared.host.files import read_input
from airlock_shared.plan.model import Plan
from airlock_shared.plan.reader import parse_plan
from airlock_shared.text.fingerprint_words import spoken
from airlock_shared.text.safe import hanging, safe, safe_again


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
    data = _scanned(state, source, restart=restart) if qr else read_input(source)
    header, items, fingerprint = parse_requests(data)
    if deployment_file is not None:
        deployment = parse_deployment(read_input(deployment_file))
    else:
        deployment = state.require_pinned(header.deployment_name)
    answers = _answers(items, signatures_file)
    entries = state.transcript.entries()
    clock = clock_of(entries, now_ms(), uptime())
    situation = Situation(plan, state.with_struct_pins(deployment), clock.now_ms, clock.uncertainty_ms or 0)
    known = Known(
        clock,
        nonces_of(entries),
        proved(entries) if entries else None,
        own_record(entries) if entries else None,
        people_of(entries, plan) if entries else None,
    )
    judged = JudgedRequests(
        judge_header(header, situation, known),
        [(item.step, _judged(judge_item(item, situation, known, answers.get(item.step)))) for item in items],
        judge_steps([item.step for item in items], situation, header.signer),
    )
    report = _report_json if as_json else _report_text
    report(judged, plan, header.signer, fingerprint)


def _judged(examined: Examined) -> Verdicts:
    """Return the verdicts on an item, and that on the Ledger's app where it is known to sign another digest."""
    case, verdicts = examined.case, examined.verdicts
    if not isinstance(case, IntentCase) or case.step.signer.show != "fields":
        return verdicts
    faults = faults_of(typed_data_of(case))
    return verdicts.also(_LEDGER.verdict(Finding(False, "; ".join(faults), EXPECTED))) if faults else verdicts


_LEDGER = Check("DIGEST-LEDGER", READ, lambda _: None, CHECKS["DIGEST-LEDGER"])
"""Of the Ledger's app, and so of this machine alone: its verdict is made here."""


class JudgedRequests(NamedTuple):
    """The verdicts on the document, on each item beside its step, and on the items' order."""

    header: Verdicts
    items: list[tuple[str, Verdicts]]
    steps: Verdicts

    def all(self) -> list[Verdicts]:
        """Return the verdicts of the document, of its items and of their order."""
        return [self.header, *(verdicts for _, verdicts in self.items), self.steps]

    def not_judged(self) -> NotJudged:
        """Return what this machine could not judge."""
        unjudged = NotJudged()
        unjudged.of_document(self.header)
        for _, verdicts in self.items:
            unjudged.of_item(verdicts)
        return unjudged


def _scanned(state: OfflineHome, source: Path, *, restart: bool) -> bytes:
    """Return the document that a camera or pictures show."""
    from airlock_shared.cli.qr.file_or_light import incoming

    return incoming(state.home, source, FORMAT, "verify", known=state.pins, qr=True, restart=restart)


def _answers(items: Sequence[Request], signatures_file: Path | None) -> dict[str, Signed]:
    """Return the signatures by their steps. Raises ``DocumentError("DOC-COUNT")`` for those of another document."""
    if signatures_file is None:
        return {}
    _, answers, _ = parse_signatures(read_input(signatures_file))
    if [answer.step for answer in answers] != [item.step for item in items]:
        raise DocumentError(
            "DOC-COUNT", "the signatures are not those of the requests", do="give the signatures of this document"
        )
    return {answer.step: answer for answer in answers if answer.result == "signed"}


def _report_text(judged: JudgedRequests, plan: Plan, part: str, fingerprint: str) -> None:
    for verdict in judged.header.refused():
        show(_line("document", verdict))
    for step, verdicts in judged.items:
        stopped = verdicts.refused()
        word = "REFUSED" if stopped else "pass   "
        show_row(f"{word}  {safe(step)}: {verdicts.passed()} checks passed, {len(stopped)} refused")
        for verdict in stopped:
            show(_line(f"  {safe(step)}", verdict))
    for verdict in judged.steps.refused():
        show(_line("document", verdict))
    for line in part_lines(plan, part):
        say(line)
    for line in judged.not_judged().lines():
        say("\n".join(hanging(safe_again(line))))
    wrong = sum(len(verdicts.refused()) for verdicts in judged.all())
    say(f"items {len(judged.items)}, refusals {wrong}")
    for line in fingerprint_lines("requests", fingerprint):
        say(line)
    finish(ExitCode.REFUSED if wrong else ExitCode.DONE)


def _line(place: str, verdict: Verdict) -> str:
    where = f" at {verdict.where}" if verdict.where else ""
    lines = list(hanging(safe_again(f"{place}: {verdict.check}{where}: {verdict.what}", limit=600)))
    lines += rows("    got:      ", str(verdict.got), limit=300)
    lines += rows("    expected: ", str(verdict.expected), limit=300)
    lines += rows("    do:       ", verdict.do)
    return "\n".join(lines)


def _report_json(judged: JudgedRequests, _plan: Plan, part: str, fingerprint: str) -> None:
    ok = not any(verdicts.hinder() for verdicts in judged.all())
    show_json(
        {
            "document": _rows(judged.header),
            "items": [
                {"step": step, "ok": not verdicts.hinder(), "checks": _rows(verdicts)}
                for step, verdicts in judged.items
            ],
            "steps": _rows(judged.steps)[0],
            "not_judged": judged.not_judged().as_json(),
            "signer": part,
            "fingerprint": fingerprint,
            "words": spoken(fingerprint),
            "ok": ok,
        }
    )
    finish(ExitCode.DONE if ok else ExitCode.REFUSED)


def _rows(verdicts: Verdicts) -> list[dict[str, object]]:
    """Return every verdict as the result holds it."""
    return list(map(_row, verdicts.all()))


def _row(verdict: Verdict) -> dict[str, object]:
    row: dict[str, object] = {"check": verdict.check, "result": verdict.result}
    for name, value in (("got", verdict.got), ("expected", verdict.expected)):
        row[name] = value if type(value) in _JSON_TYPES else str(value)
    return row | ({"where": verdict.where, "what": verdict.what} if verdict.what else {})


_JSON_TYPES = frozenset((str, int, float, bool, type(None), dict, list))
