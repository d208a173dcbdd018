"""The journal's events as rows: each once, in the order in which they came, with anomalies and rejections beside them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, Connection, Insert, and_, bindparam, case, func, insert, or_, select, true, update

from airlock_online.journal.order_states import OrderEvent, OrderState
from airlock_online.journal.schema import BY_ITS_HOLDER, EVENTS, LEASE_MS, SUBMISSIONS, before, database_now_ms, holder
from airlock_online.secrets import redact

OF_ORDER, ANOMALY, REJECTED, NOTE = "event", "anomaly", "rejected", "note"
"""The kinds of row."""


def _insert_once(same: ColumnElement[bool]) -> Insert:
    """Return the statement that writes a row behind those of its digest, unless ``same`` finds it among them."""
    known = (
        select(func.max(EVENTS.c.ordinal).label("last"), func.max(case((same, 1), else_=0)).label("twins"))
        .where(EVENTS.c.digest == bindparam("digest"))
        .subquery()
    )
    given: dict[str, ColumnElement[Any]] = {c.name: bindparam(c.name, type_=c.type) for c in EVENTS.c}
    row = given | {"ordinal": func.coalesce(known.c.last + 1, 0)}
    behind = select(*row.values()).where(func.coalesce(known.c.twins, 0) == 0)
    # Without the option, SQLAlchemy forgets the row count of an insert on PostgreSQL.
    return insert(EVENTS).from_select(list(row), behind).execution_options(preserve_rowcount=True)


# Built once: to build a statement takes longer than to execute it, and an event is shown only when it is written.
_BY_SEQ = _insert_once(EVENTS.c.seq == bindparam("seq"))
_BY_CONTENT = _insert_once(
    EVENTS.c.seq.is_(None)
    & (EVENTS.c.kind == bindparam("kind"))
    & (EVENTS.c.type == bindparam("type"))
    & (EVENTS.c.payload == bindparam("payload"))
)
_RAISE = (
    update(SUBMISSIONS)
    .where(SUBMISSIONS.c.digest == bindparam("of"), func.coalesce(SUBMISSIONS.c.last_seq, -1) < bindparam("seq"))
    .values(last_seq=bindparam("seq"))
)
_READ = (
    select(EVENTS.c.seq, EVENTS.c.type, EVENTS.c.payload, EVENTS.c.at_ms)
    .where(EVENTS.c.digest == bindparam("digest"), EVENTS.c.kind == bindparam("kind"))
    .order_by(EVENTS.c.ordinal)
)


def insert_event(connection: Connection, digest: str, event: OrderEvent, kind: str, now_ms: int) -> bool:
    """Write an event behind those that are there, and return True; False when it is one of them.

    An event with a seq is told apart by it, any other row by its content.
    """
    row = {
        "digest": digest,
        "kind": kind,
        "seq": event.seq,
        "type": event.type,
        "payload": redact(json.dumps(event.payload, separators=(",", ":"), sort_keys=True)),
        "at_ms": event.at_ms,
        "received_ms": now_ms,
    }
    done = connection.execute(_BY_CONTENT if event.seq is None else _BY_SEQ, row)
    return done.rowcount == 1


def raise_last_seq(connection: Connection, digest: str, seq: int) -> None:
    """Keep the highest seq of a submission's events."""
    connection.execute(_RAISE, {"of": digest, "seq": seq})


def count_rejections(connection: Connection, digest: str) -> int:
    """Return how often a digest was refused before it was taken."""
    rejected = select(func.count()).where(EVENTS.c.digest == digest, EVENTS.c.kind == REJECTED)
    return connection.scalar(rejected) or 0


def read_events(connection: Connection, digest: str, kind: str) -> list[OrderEvent]:
    """Return the rows of one kind, in the order in which they came."""
    rows = connection.execute(_READ, {"digest": digest, "kind": kind})
    return [OrderEvent(seq, type_, json.loads(payload), at_ms) for seq, type_, payload, at_ms in rows]


def storable(values: dict[str, Any]) -> dict[str, Any]:
    """Return values whose texts every database can hold, without what is secret in them.

    No lone surrogate, which JSON can smuggle in, and no NUL.
    """
    return {name: _storable_text(value) if type(value) is str else value for name, value in values.items()}


def _storable_text(text: str) -> str:
    return redact(text.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0"))


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
) -> bool:
    """Move to a state when the row's own state allows it, and ``only`` under a condition; return whether it did.

    With its ``token``, the holder of the claim may do what others may not once they have presumed something; and nobody with
    a token that is not the row's own un-sends it.
    """
    allowed: ColumnElement[bool] = SUBMISSIONS.c.state.in_([state.value for state in before(to)])
    by_holder = [state.value for state, later in BY_ITS_HOLDER.items() if to in later]
    if token and by_holder:
        allowed = and_(or_(allowed, SUBMISSIONS.c.state.in_(by_holder)), SUBMISSIONS.c.claim_token == token)
    done = connection.execute(
        update(SUBMISSIONS)
        .where(SUBMISSIONS.c.digest == digest, allowed, true() if only is None else only)
        .values(state=to.value, updated_ms=now_ms, **storable(dict(values)))
    )
    return done.rowcount == 1


def claimed_with(connection: Connection, token: str, now_ms: int) -> dict[str, Any]:
    """Return what a claim writes beside the state."""
    return {
        "note": "",
        "code": "",
        "claims": SUBMISSIONS.c.claims + 1,
        "claim_token": token,
        "claim_holder": holder(),
        "claim_until_ms": database_now_ms(connection.dialect.name, now_ms) + LEASE_MS,
    }


def claim_is_over(connection: Connection, token: str, now_ms: int, *, gone: bool) -> ColumnElement[bool]:
    """Return the condition that the claim of this token is still the row's, and its lease is over or its holder is gone."""
    until = func.coalesce(SUBMISSIONS.c.claim_until_ms, SUBMISSIONS.c.updated_ms + LEASE_MS)
    over = true() if gone else until < database_now_ms(connection.dialect.name, now_ms)
    return and_(SUBMISSIONS.c.claim_token == token, over)
