"""The journal's events as rows: each once, in the order in which they came, with anomalies and rejections beside them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, case, func, insert, or_, select, true

from airlock_online.journal.order_states import FINAL, MAX_EVENTS, OrderEvent, OrderState
from airlock_online.journal.schema import (
    BY_ITS_HOLDER,
    EVENTS,
    SUBMISSIONS,
    before,
    row_of,
)
from airlock_online.secrets import redact, redact_document
from airlock_shared.errors import DocumentError
from airlock_shared.wire.strict_json import MAX_DEPTH, JsonObject, parse_json

OF_ORDER, ANOMALY, REJECTED, NOTE = "event", "anomaly", "rejected", "note"
"""The kinds of row."""
_TEXT_AT_MOST = 16 << 10  # of an event's payload in bytes, of a note in letters: real ones have a thousand
_ANOMALIES_AT_MOST = 2 * MAX_EVENTS  # beside the events of an order: a hostile service has no end of them


def insert_event(connection: Connection, digest: str, event: OrderEvent, kind: str, now_ms: int) -> bool:
    """Write an event behind those that are there, and return True; False when it is one of them.

    An event with a seq is told apart by it, any other row by its content. Writers of one submission queue: SQLite's at its
    door, another database's for the submission's row.
    """
    connection.execute(select(SUBMISSIONS.c.digest).where(SUBMISSIONS.c.digest == digest).with_for_update())
    row: JsonObject = {
        "kind": kind,
        "seq": event.seq,
        "type": event.type,
        "payload": _storable_payload(event.payload),
    }
    telling = row if event.seq is None else ("seq",)
    same = and_(*(EVENTS.c[name] == row[name] for name in telling))
    known = select(func.max(EVENTS.c.ordinal), func.max(case((same, 1), else_=0))).where(EVENTS.c.digest == digest)
    last, twin = connection.execute(known).one()
    if twin or (kind == ANOMALY and (last or 0) >= _ANOMALIES_AT_MOST):
        return False
    row |= {"at_ms": event.at_ms, "received_ms": now_ms, "ordinal": 0 if last is None else last + 1}
    connection.execute(insert(EVENTS).values(digest=digest, **row))
    return True


def read_rows(connection: Connection, digest: str, kind: str) -> list[tuple[OrderEvent, int]]:
    """Return the rows of one kind, in the order in which they came, and when each came to this machine."""
    of = EVENTS.c
    rows = select(EVENTS).where(of.digest == digest, of.kind == kind).order_by(of.ordinal)
    return [
        (OrderEvent(row.seq, row.type, json.loads(row.payload), row.at_ms), row.received_ms)
        for row in connection.execute(rows)
    ]


def storable(values: JsonObject) -> JsonObject:
    """Return values whose texts every database can hold, without what is secret in them.

    No lone surrogate, which JSON can smuggle in, and no NUL.
    """
    return {name: _storable_text(value) if type(value) is str else value for name, value in values.items()}


def _storable_payload(payload: Mapping[str, Any]) -> str:
    """Return a payload as JSON that a report can read, without what is secret in it; of any other, its text, cut."""
    text = json.dumps(redact_document(payload), separators=(",", ":"), sort_keys=True)
    try:
        parse_json(text.encode(), max_bytes=_TEXT_AT_MOST, max_depth=MAX_DEPTH - 1)  # it stands in a row
    except DocumentError:
        text = json.dumps({"value": text[:_TEXT_AT_MOST]})
    return text


def _storable_text(text: str) -> str:
    return redact(text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0"))[:_TEXT_AT_MOST]


# ---- moves ----------------------------------------------------------------------------------------------------------
# Changing a row: one conditional statement, by the table of transitions and by whose claim it is.


def move_row(
    connection: Connection,
    digest: str,
    to: OrderState,
    now_ms: int,
    values: Mapping[str, Any],
    *,
    token: str = "",
    only: ColumnElement[bool] | None = None,
    keep_note: bool = False,
    proved: bool = False,
) -> bool:
    """Move to a state when the row's own state allows it, and ``only`` under a condition; return whether it did.

    With its ``token``, the holder of the claim may do what others may not once they have presumed something; and nobody with
    a token that is not the row's own un-sends it. With ``keep_note``, the note of ``values`` stays where it does not move.
    An end that the operator's node has ``proved`` takes the place of another end.
    """
    told = storable({"updated_ms": now_ms, **values})
    earlier = [*before(to), *(FINAL - {to} if proved and to in FINAL else ())]
    allowed: ColumnElement[bool] = SUBMISSIONS.c.state.in_([state.value for state in earlier])
    by_holder = [state.value for state, later in BY_ITS_HOLDER.items() if to in later]
    if token and by_holder:
        allowed = and_(or_(allowed, SUBMISSIONS.c.state.in_(by_holder)), SUBMISSIONS.c.claim_token == token)
    change = row_of(digest).where(allowed, true() if only is None else only)
    done = connection.execute(change.values(state=to.value, **told))
    if keep_note and not done.rowcount:
        kept = {name: told[name] for name in ("updated_ms", "note")}
        connection.execute(row_of(digest).values(kept))
    return done.rowcount == 1
