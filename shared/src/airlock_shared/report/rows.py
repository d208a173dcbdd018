"""The rows that a report is made of: plain JSON values, not yet escaped. The page escapes what it shows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from airlock_shared.plan.model import CUSTOM, Limits, Plan, Step
from airlock_shared.text.safe import flags
from airlock_shared.units import CODE, GWEI, NATIVE, PERCENT, code_letters, code_rows, span_text, to_human, utc_text

if TYPE_CHECKING:
    from airlock_shared.checks.judge import Examined
    from airlock_shared.documents.requests import Answer
    from airlock_shared.documents.transcript import Entry


Row = dict[str, Any]
PageRow = SimpleNamespace
"""A row as the page reads it: its members, and those of each row in it, are attributes."""

UNWITNESSED = "No roles: nothing was witnessed"
"""What a report says instead of Complete when its plan names no roles."""


def report_text(value: Row) -> bytes:
    """Return the bytes of ``report.json``: its SHA-256 is the report's fingerprint."""
    return json.dumps(value, indent=1).encode() + b"\n"


def page_row(text: bytes) -> PageRow:
    """Return a row that was written by :func:`report_text`, to show it."""
    row: PageRow = json.loads(text, object_hook=lambda members: PageRow(**members))
    return row


def machine_name(half: str) -> str:
    """Return what people call a machine, by the name of its half."""
    return "air-gapped" if half == "offline" else half


def headline(missing: Sequence[str]) -> str:
    """Return the first word of a report: Complete, INCOMPLETE, or that nobody watched and nothing else is missing."""
    if not missing:
        return "Complete"
    return UNWITNESSED if missing == [UNWITNESSED] else "INCOMPLETE"


def named_rows(values: Mapping[str, str]) -> list[Row]:
    """Return the rows of a table with two columns."""
    return [{"name": name, "value": value} for name, value in values.items()]


def moment(at_ms: int | None) -> Row | None:
    """Return a time for machines and for people; None for none."""
    return None if at_ms is None else {"ms": at_ms, "utc": utc_text(at_ms)}


def plain_text(value: object) -> str:
    """Return a JSON value as text: a text as it is, a list as its members with commas, anything else as JSON."""
    if isinstance(value, list):
        return ", ".join(plain_text(member) for member in value) or "none"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def read_warnings(disagreements: Iterable[str], warnings: Iterable[str]) -> list[str]:
    """Return a sentence for each thing of a read that is in the way of the step."""
    return [*(f"the sources disagree on the {text}" for text in disagreements), *warnings]


def limit_rows(plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield the name of each limit of a plan for what the builder chooses, and what it is; none that no step can use."""
    limits, actions = plan.limits, [step.action for step in plan.steps.values()]
    slips = any(action.name == CUSTOM or action.parameter("slippagePercent") for action in actions)
    calls = any(action.name == CUSTOM or action.call for action in actions)
    spans = {"deadline at most": limits.deadline_at_most_ms, "remaining at least": limits.remaining_at_least_ms}
    for name, span_ms in spans.items():
        if span_ms is not None:
            yield name, span_text(span_ms // 1000)
    for name, raw, unit, used in (
        ("slippage at most", limits.slippage_at_most_raw, PERCENT, slips),
        ("max fee at most", limits.max_fee_at_most_wei, GWEI, calls),
        ("native fee at most", limits.native_fee_at_most_wei, NATIVE, calls),
    ):
        if raw is not None and used:
            yield name, f"{to_human(raw, unit)} {unit.name}"


def code_notes(code: bytes) -> Iterator[str]:
    """Yield what people compare beside a referral code, then warnings of what they may miss."""
    yield from code_rows(code)
    yield from (f"WARNING: {flag}" for flag in flags(code_letters(code)))


def value_notes(step: Step, name: str, limits: Limits) -> Iterator[str]:
    """Yield what people compare beside a value of a plan's step."""
    raw, parameter, most_ms = step.raw(name), step.action.parameter(name), limits.deadline_at_most_ms
    if name == "deadlineMs" and isinstance(raw, int) and most_ms is not None:
        yield f"within the limit from {utc_text(raw - most_ms)} on"
    if parameter and parameter.unit is CODE and isinstance(raw, bytes):
        yield from code_notes(raw)


# ---- judged ---------------------------------------------------------------------------------------------------------
# A request examined again, for the report: what every piece of it is made from.


SIGN_BEGUN = "sign-begun"
"""The transcript's event with which a signing begins."""


class Judged(NamedTuple):
    """One request with its verdicts, its answer, and what the transcript says of its end."""

    examined: Examined
    answer: Answer | None
    entry: Entry | None

    @property
    def digest(self) -> str:
        """Return what is signed as 0x-hex; empty when the payload could not be hashed."""
        return "0x" + self.examined.digest.hex() if self.examined.digest else ""

    @property
    def signed(self) -> Answer | None:
        """Return the answer to it when it was signed."""
        return self.answer if self.answer and self.answer.result == "signed" else None
