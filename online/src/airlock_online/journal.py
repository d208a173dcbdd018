"""The journal: what was sent, what is known of it, and the guarantee that nothing is sent twice.

Every change is one transaction, on the disk when the call returns. Which state may follow which is decided by
``journal_schema.TRANSITIONS`` inside the statement itself, so that two processes, or two machines on one database, cannot
both claim a digest.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self

from sqlalchemy import Connection, Engine, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from airlock_online.database import JournalError, open_engine, wrapped
from airlock_online.journal_schema import EVENTS, SUBMISSIONS, Record, Submission, before, submission_of
from airlock_online.lifecycle import Anomaly, OrderEvent, State

__all__ = ["Journal", "JournalError", "Record", "Submission", "open_journal"]

_APPEND_ATTEMPTS = 5


class Journal:
    """A journal. Use it as a context manager, or close it; every method may raise ``JournalError``."""

    def __init__(self, engine: Engine, clock_ms: Callable[[], int]) -> None:
        self._engine = engine
        self._clock_ms = clock_ms

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    # ---- states ---------------------------------------------------------------------------------------------------

    def prepare(self, record: Record) -> Submission:
        """Write a submission down as PREPARED, or return the one that is there already, unchanged."""
        now = self._clock_ms()
        row = {**record._asdict(), "state": State.PREPARED.value, "created_ms": now, "updated_ms": now}
        try:
            with wrapped("written"), self._engine.begin() as connection:
                connection.execute(insert(SUBMISSIONS).values(**row))
        except JournalError as error:
            if not isinstance(error.__cause__, IntegrityError):
                raise
        return self.get(record.digest)

    def claim(self, digest: str, *, url: str = "", body_sha256: str = "") -> bool:
        """Move to SENDING and return True, for exactly one caller; False when it has been sent, or is being sent.

        This is one conditional statement. Whoever gets True may send once; what is sent is written with it.
        """
        sent = {name: value for name, value in (("url", url), ("body_sha256", body_sha256)) if value}
        with wrapped("written"), self._engine.begin() as connection:
            return self._move(connection, digest, State.SENDING, note="", code="", **sent)

    def move(self, digest: str, to: State, *, note: str | None = None, code: str | None = None) -> bool:
        """Move to a state, and return whether the state that it was in allows that."""
        told = {name: value for name, value in (("note", note), ("code", code)) if value is not None}
        with wrapped("written"), self._engine.begin() as connection:
            return self._move(connection, digest, to, **told)

    def annotate(self, digest: str, note: str) -> None:
        """Replace the note, whatever the state."""
        with wrapped("written"), self._engine.begin() as connection:
            self._set(connection, digest, note=note)

    def _move(self, connection: Connection, digest: str, to: State, **values: Any) -> bool:
        allowed = [state.value for state in before(to)]
        done = connection.execute(
            update(SUBMISSIONS)
            .where(SUBMISSIONS.c.digest == digest, SUBMISSIONS.c.state.in_(allowed))
            .values(state=to.value, updated_ms=self._clock_ms(), **_storable(values))
        )
        return done.rowcount == 1

    def _set(self, connection: Connection, digest: str, **values: Any) -> None:
        connection.execute(
            update(SUBMISSIONS)
            .where(SUBMISSIONS.c.digest == digest)
            .values(updated_ms=self._clock_ms(), **_storable(values))
        )

    # ---- events ---------------------------------------------------------------------------------------------------

    def record(
        self,
        digest: str,
        event: OrderEvent,
        *,
        tracking_id: str = "",
        path: Sequence[State] = (),
        code: str = "",
        note: str = "",
    ) -> bool:
        """Write an event, the tracking id and the states that it leads through, at once; return whether the event is new.

        A state that cannot be entered from where the submission is, is passed over: the first terminal state stays.
        """
        return self._append(digest, event, "event", tracking_id, path, {"code": code, "note": note})

    def record_anomaly(self, digest: str, anomaly: Anomaly) -> bool:
        """Write an anomaly once; return whether it is new."""
        seen = {"seq": anomaly.event.seq, "type": anomaly.event.type, "payload": anomaly.event.payload}
        return self._append(digest, OrderEvent(None, anomaly.kind, seen), "anomaly", "", (), {})

    def _append(
        self, digest: str, event: OrderEvent, kind: str, tracking_id: str, path: Sequence[State], told: dict[str, str]
    ) -> bool:
        for _ in range(_APPEND_ATTEMPTS):  # another process may take the same ordinal, where writers do not queue
            try:
                with wrapped("written"), self._engine.begin() as connection:
                    fresh = self._insert(connection, digest, event, kind)
                    if tracking_id:
                        self._keep_tracking_id(connection, digest, tracking_id)
                    if fresh and event.seq is not None:
                        self._raise_last_seq(connection, digest, event.seq)
                    for state in path:
                        self._move(connection, digest, state, **told)
                    return fresh
            except JournalError as error:
                if not isinstance(error.__cause__, IntegrityError):
                    raise
                clash = error
        raise clash

    def _insert(self, connection: Connection, digest: str, event: OrderEvent, kind: str) -> bool:
        payload = json.dumps(event.payload, separators=(",", ":"), sort_keys=True)
        mine = EVENTS.c.digest == digest
        same = (
            (EVENTS.c.kind == kind, EVENTS.c.type == event.type, EVENTS.c.payload == payload, EVENTS.c.seq.is_(None))
            if event.seq is None
            else (EVENTS.c.seq == event.seq,)
        )
        if connection.execute(select(EVENTS.c.ordinal).where(mine, *same)).first():
            return False
        last = connection.scalar(select(func.max(EVENTS.c.ordinal)).where(mine))
        connection.execute(
            insert(EVENTS).values(
                digest=digest,
                ordinal=0 if last is None else last + 1,
                kind=kind,
                seq=event.seq,
                type=event.type,
                payload=payload,
                at_ms=event.at_ms,
                received_ms=self._clock_ms(),
            )
        )
        return True

    def _keep_tracking_id(self, connection: Connection, digest: str, tracking_id: str) -> None:
        connection.execute(
            update(SUBMISSIONS)
            .where(SUBMISSIONS.c.digest == digest, SUBMISSIONS.c.tracking_id == "")
            .values(tracking_id=tracking_id)
        )

    def _raise_last_seq(self, connection: Connection, digest: str, seq: int) -> None:
        connection.execute(
            update(SUBMISSIONS)
            .where(SUBMISSIONS.c.digest == digest, func.coalesce(SUBMISSIONS.c.last_seq, -1) < seq)
            .values(last_seq=seq)
        )

    # ---- reading --------------------------------------------------------------------------------------------------

    def find(self, digest: str) -> Submission | None:
        """Return the submission of a digest, or None."""
        with wrapped("read"), self._engine.begin() as connection:
            row = connection.execute(select(SUBMISSIONS).where(SUBMISSIONS.c.digest == digest)).mappings().first()
        return submission_of(row) if row else None

    def get(self, digest: str) -> Submission:
        """Return the submission of a digest. Raises ``JournalError`` when there is none."""
        found = self.find(digest)
        if found is None:
            raise JournalError(
                f"the journal knows nothing of {digest}", do="check the digest, and which journal this is"
            )
        return found

    def submissions(self, ceremony: str | None = None) -> list[Submission]:
        """Return the submissions, of one ceremony or all, oldest first."""
        query = select(SUBMISSIONS).order_by(SUBMISSIONS.c.created_ms, SUBMISSIONS.c.digest)
        if ceremony is not None:
            query = query.where(SUBMISSIONS.c.ceremony == ceremony)
        with wrapped("read"), self._engine.begin() as connection:
            return [submission_of(row) for row in connection.execute(query).mappings()]

    def events(self, digest: str) -> list[OrderEvent]:
        """Return a submission's events in the order in which they came."""
        return [event for kind, event in self._rows(digest) if kind == "event"]

    def anomalies(self, digest: str) -> list[str]:
        """Return the kinds of a submission's anomalies, each once, in the order in which they were seen."""
        return list(dict.fromkeys(event.type for kind, event in self._rows(digest) if kind == "anomaly"))

    def _rows(self, digest: str) -> list[tuple[str, OrderEvent]]:
        query = select(EVENTS).where(EVENTS.c.digest == digest).order_by(EVENTS.c.ordinal)
        with wrapped("read"), self._engine.begin() as connection:
            rows = connection.execute(query).mappings().all()
        return [
            (row["kind"], OrderEvent(row["seq"], row["type"], json.loads(row["payload"]), row["at_ms"])) for row in rows
        ]


def open_journal(where: str, clock_ms: Callable[[], int]) -> Journal:
    """Open the journal at a file name, or at a database URL. Raises ``JournalError``."""
    return Journal(open_engine(where), clock_ms)


def _storable(values: dict[str, Any]) -> dict[str, Any]:
    """Return values whose texts every database can hold: no lone surrogate, which JSON can smuggle in, and no NUL."""
    return {
        name: value.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0") if type(value) is str else value
        for name, value in values.items()
    }
