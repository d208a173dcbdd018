"""A report made, and a report verified: everything is computed again from the artefacts and compared.

Nothing in the report is believed. Its folder must hold the artefacts that it names and no others, ``report.json`` must be
what the artefacts give, field by field, and ``report.html`` what that gives, byte by byte.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from airlock_shared.errors import DocumentError
from airlock_shared.report.compare import Difference, first_difference
from airlock_shared.report.evidence.artefacts import SCREENS, SIGNATURES, Evidence
from airlock_shared.report.evidence.reading import read_evidence
from airlock_shared.report.evidence.redaction import with_bytes, withheld_steps
from airlock_shared.report.evidence.screens import Screens, write_screens
from airlock_shared.report.judged import Judged
from airlock_shared.report.model import artefact_rows, report_of
from airlock_shared.report.page.page import page
from airlock_shared.report.rows import Row, report_text
from airlock_shared.wire.codec import parse_json

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
    open: tuple[str, ...]


def make(files: Mapping[str, bytes], judge: Judge) -> MadeReport:
    """Return the report of artefacts, by name. Raises as ``read_evidence``, ``judge`` and ``report_of``."""
    return _made(read_evidence(files), judge)


def _made(evidence: Evidence, judge: Judge) -> MadeReport:
    text = report_text(report_of(evidence, judge(evidence)))
    value = parse_json(text)  # as it will be read
    return MadeReport(value, text, page(value))


def verify(
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
    told = parse_json(report)
    listed = told.get("artefacts") if type(told) is dict else None
    if found := first_difference(listed, artefact_rows(files), "artefacts"):
        raise _differs("REPORT-ARTEFACT", "the artefacts are not those that the report names", found)
    evidence = read_evidence(files)
    whole = evidence.answers
    if signatures is not None and whole is not None:
        whole = with_bytes(whole, files[SIGNATURES], signatures)
        judge(evidence._replace(answers=whole))
    made = _made(evidence, judge)
    if found := first_difference(told, made.value):
        raise _differs("REPORT-FIELD", "report.json does not match its artefacts", found)
    if report != made.json:
        place = Difference("", "the same values in another spelling", "the spelling of `report make`")
        raise _differs("REPORT-FIELD", "report.json was written again", place)
    if html != made.html:
        raise _differs("REPORT-PAGE", "report.html is not the page of this report", _first_byte(html, made.html))
    return Verified(made.value, tuple(_open(evidence._replace(answers=whole), screens_of)))


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
    if evidence.answers is not None and (withheld := withheld_steps(evidence.answers)):
        steps = ", ".join(withheld)
        told.append(f"the signatures of {steps} are withheld: give the signatures document with --signatures")
    if evidence.screens is None:
        return told
    if screens_of is None:
        told.append("the Ledger's pages are those that the offline machine computed: verify them there")
    else:
        again = write_screens(screens_of(evidence, evidence.screens.model))
        if again != evidence.files[SCREENS]:
            place = _first_byte(evidence.files[SCREENS], again)._replace(where=SCREENS)
            raise _differs("REPORT-ARTEFACT", "the Ledger's pages are not those of these requests", place)
    return told
