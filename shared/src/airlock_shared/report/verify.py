"""A report made, and a report verified: everything is computed again from the artefacts and compared.

Nothing in the report is believed. Its folder must hold the artefacts that it names and no others, ``report.json`` must be
what the artefacts give, field by field, and ``report.html`` what that gives, byte by byte.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from airlock_shared.documents.deployment import parse_deployment
from airlock_shared.documents.requests import parse_requests
from airlock_shared.errors import DocumentError
from airlock_shared.plan.toml_positions import parse_written_plan
from airlock_shared.report.evidence.artefacts import (
    DEPLOYMENT_FILE,
    FILES,
    PLAN_FILE,
    REQUESTS_FILE,
    REQUIRED,
    SCREENS,
    SIGNATURES_FILE,
    TIMELINE,
    TRANSCRIPTS,
    Evidence,
    Requests,
)
from airlock_shared.report.evidence.redaction import Answers, parse_withheld, with_bytes
from airlock_shared.report.evidence.timeline import (
    Screens,
    parse_screens,
    parse_timeline,
    parse_transcript,
    write_screens,
)
from airlock_shared.report.model import artefact_rows, report_of
from airlock_shared.report.page.page import report_page
from airlock_shared.report.rows import Judged, Row, report_text
from airlock_shared.wire.strict_json import parse_json

# ---- compare --------------------------------------------------------------------------------------------------------
# Two JSON values compared field by field: the place of the first difference, and what is there.


_SHOWN = 200


class Difference(NamedTuple):
    """Where two values differ, such as ``steps[0].request.decided[2].raw``, and what each has there."""

    where: str
    got: str
    expected: str


_NOTHING = object()
"""What stands at a place that only the other value has."""


def first_difference(got: Any, expected: Any, where: str = "") -> Difference | None:
    """Return the first difference, or None. Types count: 1, 1.0 and true are three values; the order of members does not."""
    if type(got) is type(expected) is dict:
        both = {name: (got.get(name, _NOTHING), expected.get(name, _NOTHING)) for name in (*expected, *got)}
        pairs = {f"{where}.{name}" if where else name: pair for name, pair in both.items()}
    elif type(got) is type(expected) is list:
        items = zip_longest(got, expected, fillvalue=_NOTHING)
        pairs = {f"{where}[{position}]": pair for position, pair in enumerate(items)}
    elif type(got) is not type(expected) or got != expected:
        return Difference(where, _text(got), _text(expected))
    else:
        return None
    found = (first_difference(*pair, place) for place, pair in pairs.items())
    return next(filter(None, found), None)


def _text(value: Any) -> str:
    return "nothing" if value is _NOTHING else json.dumps(value, ensure_ascii=True)[:_SHOWN]


# ---- reading --------------------------------------------------------------------------------------------------------
# The artefacts of a ceremony read strictly, each by the reader of its kind.


def read_evidence(files: Mapping[str, bytes]) -> Evidence:
    """Read every artefact, by its name in ``FILES``.

    Raises ``DocumentError("REPORT-ARTEFACT")`` for one that is missing or unknown, ``PlanError``, or another
    ``DocumentError`` or ``Refusal`` of the artefact that is damaged.
    """
    for name in REQUIRED:
        if name not in files:
            raise DocumentError(
                "REPORT-ARTEFACT", f"the artefact {name} is missing", do="find the folder as it was made"
            )
    if unknown := sorted(set(files) - set(FILES)):
        raise DocumentError("REPORT-ARTEFACT", "a file that is no artefact", got=unknown[0][:80])
    return Evidence(
        half="online" if TIMELINE in files else "offline",
        files={name: files[name] for name in FILES if name in files},
        plan=parse_written_plan(files[PLAN_FILE]),
        deployment=parse_deployment(files[DEPLOYMENT_FILE]),
        requests=Requests(*parse_requests(files[REQUESTS_FILE])) if REQUESTS_FILE in files else Requests(),
        answers=parse_withheld(files[SIGNATURES_FILE]) if SIGNATURES_FILE in files else Answers(),
        screens=parse_screens(files[SCREENS]) if SCREENS in files else Screens(),
        transcripts={half: parse_transcript(files[name]) for half, name in TRANSCRIPTS.items() if name in files},
        timeline=parse_timeline(files[TIMELINE]) if TIMELINE in files else {},
    )


# ---- verify ---------------------------------------------------------------------------------------------------------


_DO = "do not rely on this report: make it again from the artefacts, or find the folder as it was made"

ScreensOf = Callable[[Evidence, str], Screens]
"""How the offline half computes the Ledger's pages for a model; the online half cannot."""


Judge = Callable[[Evidence], Sequence[Judged]]
"""What judges the requests again: :func:`airlock_shared.report.reexamined.judge`, given by the command."""


class MadeReport(NamedTuple):
    """A report: its value, and the files of its folder apart from the artefacts."""

    value: Row
    json: bytes
    html: bytes


class Verified(NamedTuple):
    """A report that is what its artefacts give, and what could not be computed again: a sentence for each."""

    value: Row
    open: list[str]


def report_of_artefacts(files: Mapping[str, bytes], judge: Judge) -> MadeReport:
    """Return the report of artefacts, by name. Raises as ``read_evidence``, ``judge`` and ``report_of``."""
    return _made(read_evidence(files), judge)


def _made(evidence: Evidence, judge: Judge) -> MadeReport:
    text = report_text(report_of(evidence, judge(evidence)))
    value = parse_json(text, max_bytes=len(text))  # as it will be read
    return MadeReport(value, text, report_page(value))


def verify_report(
    report: bytes,
    html: bytes,
    files: Mapping[str, bytes],
    judge: Judge,
    *,
    signatures: bytes | None = None,
    screens_of: ScreensOf | None = None,
) -> Verified:
    """Verify a report against its artefacts; with ``signatures``, the whole document, every signer is recovered again.

    Raises ``DocumentError`` with ``REPORT-ARTEFACT``, ``REPORT-FIELD`` or ``REPORT-PAGE`` naming the first difference, or
    what the artefacts themselves are refused with.
    """
    told = parse_json(report, max_bytes=len(report))  # who reads the file bounds it
    listed = told.get("artefacts") if type(told) is dict else None
    if found := first_difference(listed, artefact_rows(files), "artefacts"):
        raise _differs("REPORT-ARTEFACT", "the artefacts are not those that the report names", found)
    evidence = read_evidence(files)
    whole = evidence
    if signatures is not None and evidence.answers.fingerprint:
        whole = evidence._replace(answers=with_bytes(evidence.answers, files[SIGNATURES_FILE], signatures))
        judge(whole)
    made = _made(evidence, judge)
    if found := first_difference(told, made.value):
        raise _differs("REPORT-FIELD", "report.json does not match its artefacts", found)
    if report != made.json:
        place = Difference("", "the same values in another spelling", "the spelling of `report make`")
        raise _differs("REPORT-FIELD", "report.json was written again", place)
    if html != made.html:
        raise _differs("REPORT-PAGE", "report.html is not the page of this report", _first_byte(html, made.html))
    return Verified(made.value, _open(whole, screens_of))


def _differs(check: str, what: str, difference: Difference) -> DocumentError:
    error = DocumentError(check, what, got=difference.got, expected=difference.expected, do=_DO)
    error.where = difference.where
    return error


def _first_byte(got: bytes, expected: bytes) -> Difference:
    unlike = (n for n, (one, other) in enumerate(zip(got, expected, strict=False)) if one != other)
    at = next(unlike, min(len(got), len(expected)))
    return Difference(f"byte {at}", ascii(got[at : at + 40]), ascii(expected[at : at + 40]))


def _open(evidence: Evidence, screens_of: ScreensOf | None) -> list[str]:
    """Return what was not computed again. Raises ``DocumentError("REPORT-ARTEFACT")`` for pages that are others."""
    told = []
    if withheld := ", ".join(evidence.answers.withheld()):
        told.append(f"the signatures of {withheld} are withheld: give the signatures document with --signatures")
    if not evidence.screens.requests:
        return told
    if screens_of is None:
        told.append("the Ledger's pages are those that the air-gapped machine computed: verify them there")
    else:
        again = write_screens(screens_of(evidence, evidence.screens.model))
        if again != evidence.files[SCREENS]:
            place = _first_byte(evidence.files[SCREENS], again)._replace(where=SCREENS)
            raise _differs("REPORT-ARTEFACT", "the Ledger's pages are not those of these requests", place)
    return told
