"""The journal's events as rows: each once, in the order in which they came, with anomalies and rejections beside them."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Connection, case, func, insert, select, update

from airlock_online.journal_schema import EVENTS, SUBMISSIONS
from airlock_online.lifecycle import OrderEvent

OF_ORDER, ANOMALY, REJECTED = "event", "anomaly", "rejected"
"""The kinds of row."""


def insert_event(connection: Connection, digest: str, event: OrderEvent, kind: str, now_ms: int) -> bool:
    """Write an event behind those that are there, and return True; False when it is one of them.

    An event with a seq is told apart by it, any other row by its content.
    """
    payload = json.dumps(event.payload, separators=(",", ":"), sort_keys=True)
    of_content = (EVENTS.c.kind == kind) & (EVENTS.c.type == event.type) & (EVENTS.c.payload == payload)
    same = (of_content & EVENTS.c.seq.is_(None)) if event.seq is None else EVENTS.c.seq == event.seq
    last, twins = connection.execute(
        select(func.max(EVENTS.c.ordinal), func.max(case((same, 1), else_=0))).where(EVENTS.c.digest == digest)
    ).one()
    if twins:
        return False
    connection.execute(
        insert(EVENTS).values(
            digest=digest,
            ordinal=0 if last is None else last + 1,
            kind=kind,
            seq=event.seq,
            type=event.type,
            payload=payload,
            at_ms=event.at_ms,
            received_ms=now_ms,
        )
    )
    return True


def raise_last_seq(connection: Connection, digest: str, seq: int) -> None:
    """Keep the highest seq of a submission's events."""
    connection.execute(
        update(SUBMISSIONS)
        .where(SUBMISSIONS.c.digest == digest, func.coalesce(SUBMISSIONS.c.last_seq, -1) < seq)
        .values(last_seq=seq)
    )


def count_rejections(connection: Connection, digest: str) -> int:
    """Return how often a digest was refused before it was taken."""
    rejected = select(func.count()).where(EVENTS.c.digest == digest, EVENTS.c.kind == REJECTED)
    return connection.scalar(rejected) or 0


def read_events(connection: Connection, digest: str, kind: str) -> list[OrderEvent]:
    """Return the rows of one kind, in the order in which they came."""
    query = select(EVENTS).where(EVENTS.c.digest == digest, EVENTS.c.kind == kind).order_by(EVENTS.c.ordinal)
    rows = connection.execute(query).mappings().all()
    return [OrderEvent(row["seq"], row["type"], json.loads(row["payload"]), row["at_ms"]) for row in rows]


def storable(values: dict[str, Any]) -> dict[str, Any]:
    """Return values whose texts every database can hold: no lone surrogate, which JSON can smuggle in, and no NUL."""
    return {
        name: value.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0") if type(value) is str else value
        for name, value in values.items()
    }
