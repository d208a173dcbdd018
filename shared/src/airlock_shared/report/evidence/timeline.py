"""What the online machine's journal says of a ceremony, as JSON lines: a line a submission, then a line an event of it.

The online half writes it; the transcript of that machine has its SHA-256. Times are unix ms.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from airlock_shared.documents.transcript import SENDING, Entry, read_entries
from airlock_shared.errors import DocumentError
from airlock_shared.wire.strict_json import (
    A_FINGERPRINT,
    STEP_ID,
    Form,
    JsonObject,
    Kinds,
    parse_json,
    read_list,
    read_members,
    read_some,
    require_format,
    to_json,
)

EXPORTED = "timeline-exported"
"""The transcript's event: ``{"ceremony", "requests", "sha256"}``."""

UNUSABLE_ID, NOTE_KIND = "unusable-id", "note"
ROW_KINDS = ("event", "anomaly", "rejected", UNUSABLE_ID, NOTE_KIND)
"""What a service told, what was wrong with it, its refusals, an id that cannot be asked for, and what a person said."""

_MAX_LINE_BYTES = 1 << 20
_SUBMISSION = {
    "kind": str, "digest": str, "step": str, "route": str, "method": str, "state": str, "meaning": str, "final": bool,
    "done": bool, "tracking_id": str, "transaction_hash": str, "entity_id": str, "code": str, "note": str,
    "created_ms": int, "updated_ms": int,
}  # fmt: skip
_EVENT = {"kind": str, "digest": str, "type": str, "payload": dict}
_NUMBERS = {"seq": int, "at_ms": int, "received_ms": int}


class Sent(NamedTuple):
    """A submission, and its events in the order in which they came; both as they were written."""

    row: JsonObject
    events: list[JsonObject]


def parse_timeline(data: bytes) -> dict[str, Sent]:
    """Return what was submitted, by digest, oldest first.

    Raises ``DocumentError``: an event belongs to a submission before it.
    """
    sent: dict[str, Sent] = {}
    for number, line in enumerate(data.splitlines(), start=1):
        value = parse_json(line, max_bytes=_MAX_LINE_BYTES)
        where = f"line {number}"
        kind = value.get("kind") if type(value) is dict else None
        if kind == "submission":
            read_members(value, where, _SUBMISSION)
            if value["digest"] in sent:
                raise DocumentError("DOC-FIELD", f"{where} of the timeline is about a submission that is there already")
            sent[value["digest"]] = Sent(value, [])
        elif kind in ROW_KINDS:
            read_members(value, where, _EVENT, _NUMBERS)
            if value["digest"] not in sent:
                raise DocumentError("DOC-FIELD", f"{where} of the timeline is about nothing before it")
            sent[value["digest"]].events.append(value)
        else:
            raise DocumentError("DOC-FIELD", f"{where} of the timeline is of no known kind", got=repr(kind)[:60])
    return sent


# ---- transcript entries ---------------------------------------------------------------------------------------------
# A transcript as a report reads it: the chain holds, and every entry that the report looks into has its form.
# The transcript of the other machine is input like any other.


REFERRAL_READ = "referral-read"
"""The online transcript's event: ``ceremony``, ``plan``, ``step``, ``code`` (0x-hex), ``seen``, and two lists of texts."""

_BYTES_32 = Form(re.compile(r"0x[0-9a-f]{64}", re.ASCII), "32 bytes in hex")
_FORMS: dict[str, Kinds] = {
    "clock-stated": {"uncertainty_s": int, "stated_ms": int},
    "clock-contradicted": {"stated_ms": int},
    SENDING: {"digest": str, "claim": int},
    "outcome": {"digest": str},
    "exported": {"digests": list},
    **{event: {"step": str, "digest": str} for event in ("signing", "signed", "signed-late", "not-signed")},
    REFERRAL_READ: {"code": _BYTES_32, "seen": list, "disagreements": list, "warnings": list},
}
_OF_OUTCOME: Kinds = {"read_back": list, "claim": int}
_PROMISE: Kinds = {"what": str, "promised": str, "found": str}
_SOURCES_AT_MOST = 20


def parse_transcript(text: bytes) -> list[Entry]:
    """Return the entries. Raises ``DocumentError``: ``DOC-CHAIN`` where the chain breaks, ``DOC-FIELD`` and the like."""
    entries = read_entries(text.splitlines())
    for entry in entries:
        data, where = entry.data, f"transcript entry {entry.seq}"
        read_some(data, where, _FORMS.get(entry.event, {}))
        if entry.event == "outcome":
            read_some(data, where, {name: kind for name, kind in _OF_OUTCOME.items() if name in data})
            for promise in data.get("read_back", ()):
                read_some(promise, f"{where}.read_back", _PROMISE)
                if type(promise.get("kept")) not in (bool, type(None)):
                    raise DocumentError("DOC-FIELD", f"{where}.read_back does not say whether a promise was kept")
        if entry.event == REFERRAL_READ:
            for seen in read_list(data["seen"], where, _SOURCES_AT_MOST):
                read_some(seen, f"{where}.seen", {"source": str})
                if seen.get("adopted") is not None:
                    read_some(seen, f"{where}.seen", {"adopted": _BYTES_32})
    return entries


def stated_uncertainty_ms(entries: Sequence[Entry]) -> int:
    """Return by how much a clock may be wrong, as a person stated it last; 0 where nobody did."""
    stated = [int(entry.data["uncertainty_s"]) for entry in entries if entry.event == "clock-stated"]
    return 1000 * stated[-1] if stated else 0


def is_contradicted(entries: Iterable[Entry]) -> bool:
    """Tell whether a watch has contradicted a clock since a person stated it last."""
    said = [entry.event for entry in entries if entry.event in ("clock-stated", "clock-contradicted")]
    return said[-1:] == ["clock-contradicted"]


_UNSENT = ("PREPARED", "REJECTED")
_BEYOND = 1 << 63  # every number of a claim


class Begun(NamedTuple):
    """The last sending of a digest that was begun: its number, and when (unix ms); None for what was only exported."""

    number: int
    at_ms: int | None


def begun_recorded(entries: Iterable[Entry]) -> dict[str, Begun]:
    """Return what an online transcript has as begun, by digest, leaving out what was surely unsent since.

    A sending's number is at least its claim's, and higher than each before. What was exported is beyond every claim.
    """
    number, perhaps, at_ms = Counter[str](), dict[str, int](), dict[str, int]()
    for entry in entries:
        data = entry.data
        if entry.event == SENDING:
            digest, claim = data["digest"], data["claim"]
            number[digest] = max(number[digest] + 1, claim)
            perhaps[digest] = max(perhaps.get(digest, 0), claim)
            at_ms[digest] = entry.at_ms
        elif entry.event == "exported":
            exported = dict.fromkeys(map(str, data["digests"]), _BEYOND)
            number.update(exported)
            perhaps.update(exported)
        elif entry.event == "outcome" and (state := data.get("state")) is not None:
            digest, ended = data["digest"], data.get("claim", 0)
            if state not in _UNSENT:
                perhaps.setdefault(digest, 1)
            elif perhaps.get(digest, 0) <= ended:  # one terminal may tell it late, when another one's has begun
                perhaps.pop(digest, None)
                at_ms.pop(digest, None)
    return {digest: Begun(max(number[digest], 1), at_ms.get(digest)) for digest in perhaps}


# ---- screens --------------------------------------------------------------------------------------------------------
# The pages of the Ledger as a document (``airlock/screens@1``): computed by the offline half, for the report of
# either. ``{"format", "model", "requests", "steps"}``; a step has its id, its digest and its pages, each a list of
# lines.


_FORMAT = "airlock/screens@1"
_MODEL = Form(re.compile(r"[a-z0-9]{1,20}", re.ASCII), "a model's name")
_SCREENS: Kinds = {"format": str, "model": _MODEL, "requests": A_FINGERPRINT, "steps": list}
_SHOWN: Kinds = {"step": STEP_ID, "digest": _BYTES_32, "pages": list}
_MANY = 20_000

_Page = list[str]


class ShownPages(NamedTuple):
    """The pages for one step."""

    step: str
    digest: str
    pages: list[_Page]


class Screens(NamedTuple):
    """The pages on a Ledger's ``model`` for the requests of this fingerprint; without a document all of it is empty."""

    model: str = ""
    requests: str = ""
    steps: tuple[ShownPages, ...] = ()

    def of(self, digest: str) -> list[_Page]:
        """Return the pages of what has this digest; none when it is not there."""
        return next((shown.pages for shown in self.steps if shown.digest == digest), [])


def write_screens(screens: Screens) -> bytes:
    """Return the document's file form."""
    steps = [shown._asdict() for shown in screens.steps]
    return to_json({"format": _FORMAT, "model": screens.model, "requests": screens.requests, "steps": steps})


def parse_screens(data: bytes) -> Screens:
    """Read the document. Raises ``DocumentError``."""
    value = parse_json(data)
    require_format(value, _FORMAT, "not a document of screens")
    read_members(value, "screens", _SCREENS)
    rows = read_list(value["steps"], "screens.steps", _MANY)
    steps = (_read(row, f"screens.steps[{position}]") for position, row in enumerate(rows))
    return Screens(value["model"], value["requests"], tuple(steps))


def _read(row: object, where: str) -> ShownPages:
    shown = ShownPages(**read_members(row, where, _SHOWN))
    for number, page in enumerate(read_list(shown.pages, f"{where}.pages", _MANY)):
        for line in read_list(page, f"{where}.pages[{number}]", _MANY):
            if type(line) is not str:
                raise DocumentError("DOC-FIELD", f"a line of {where}.pages[{number}] is no text")
    return shown
