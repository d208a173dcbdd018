"""The journal: what was sent, what is known of it, and the guarantee that nothing is sent twice.

Every change is one transaction. A state, a tracking id or an entity id is on the disk when the call returns; an event that
changes none of them outlives this process, and after a power cut the service tells it again. Which state may follow which
is decided by ``schema.TRANSITIONS`` inside the statement itself, so that two processes, or two machines on one
database, cannot both claim a digest.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, Self

from sqlalchemy import Connection, Engine, Select, StaticPool, create_engine, func, insert, select, true
from sqlalchemy.exc import IntegrityError

from airlock_online.journal.engine import (
    EVENT,
    READING,
    STATE,
    JournalError,
    bounded,
    journal_errors,
    open_engine,
)
from airlock_online.journal.events import (
    ANOMALY,
    NOTE,
    OF_ORDER,
    REJECTED,
    insert_event,
    move_row,
    read_rows,
    storable,
)
from airlock_online.journal.order_states import ANOMALIES, CONTRADICTIONS, Anomaly, OrderEvent, OrderState
from airlock_online.journal.schema import (
    COPIED_DO,
    EVENTS,
    LEASE_MS,
    RESTORED,
    SUBMISSIONS,
    TABLES,
    Identity,
    Record,
    Submission,
    database_now_ms,
    holder,
    is_forgotten,
    is_gone,
    let_go,
    new_token,
    row_of,
    shown_holder,
    submission_of,
)
from airlock_shared.report.facts import proves
from airlock_shared.text.safe import safe

__all__ = ["Journal", "JournalError", "Record", "Submission", "open_journal"]

_LOST_ATTEMPTS = 3  # at reading whether a claim is there whose commit was not answered
_UNUSABLE_AT_MOST = 20

Alone = Callable[[Record, Sequence[Submission]], None]
"""Looks at a record and its rivals, as :meth:`Journal.rivals` gives them; raises when it must not be sent beside."""


class Journal:
    """A journal, for any number of threads. Use it as a context manager, or close it.

    Every method may raise ``JournalError``.
    """

    def __init__(self, engine: Engine, clock_ms: Callable[[], int], identity: Identity = Identity("", "")) -> None:  # noqa: B008
        self._engine = engine
        self.journal_id, self._copied = identity
        # Threads wait here in turn; in SQLite itself they would ask again and again.
        self._turn = threading.Lock() if engine.dialect.name == "sqlite" else nullcontext()
        self._clock_ms = clock_ms

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    @contextmanager
    def _writing(self, access: str = STATE) -> Iterator[Connection]:
        with journal_errors("written"), self._turn, bounded(self._engine, access) as connection:
            yield connection

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with journal_errors("read"), bounded(self._engine, READING) as connection:
            yield connection

    # ---- states ---------------------------------------------------------------------------------------------------

    def prepare(self, record: Record) -> Submission:
        """Write a submission down as PREPARED, or return the one that is there already, unchanged."""
        now = self._clock_ms()
        row = {**record._asdict(), "state": OrderState.PREPARED.value, "created_ms": now, "updated_ms": now}
        try:
            with self._writing() as connection:
                connection.execute(insert(SUBMISSIONS).values(**row))
        except JournalError as error:
            if not isinstance(error.__cause__, IntegrityError):
                raise
        return self.get(record.digest)

    def claim(self, digest: str, alone: Alone | None = None, **sent: str | int | None) -> str:
        """Move to SENDING and return the claim's token, for exactly one caller; empty when it was sent or is being sent.

        This is one conditional statement. Whoever gets the token may send once; ``sent`` is what is sent and where,
        members of ``Record``, written with it. The caller calls ``schema.let_go`` when it sends no more. When the answer
        of the commit is lost, the row itself says whose claim it is. Raises ``JournalError``, also for a copy of a journal.

        ``alone`` looks at the rivals in the same transaction, in which nobody else claims for the step: what it raises, it
        raises before anything is claimed.
        """
        self._require_original()
        token = new_token()
        held = False
        try:
            with self._writing() as connection:
                self._require_alone(connection, digest, alone)
                claim = {
                    "note": "",
                    "code": "",
                    "claims": SUBMISSIONS.c.claims + 1,
                    "claim_token": token,
                    "claim_holder": holder(),
                    "claim_until_ms": database_now_ms(connection) + LEASE_MS,
                }
                held = move_row(connection, digest, OrderState.SENDING, self._clock_ms(), claim | sent)
        except JournalError:
            held = self._is_claimed(digest, token)
            if not held:
                raise
        finally:
            if not held:
                let_go(token)
        return token if held else ""

    def _require_original(self) -> None:
        """Raise ``JournalError`` for a copy: neither it nor another sender may send what the original may have sent."""
        if self._copied:
            raise JournalError(self._copied, do=COPIED_DO)

    def _is_claimed(self, digest: str, token: str) -> bool:
        """Tell whether a claim is there whose commit was not answered; False when that cannot be read either."""
        for attempt in range(_LOST_ATTEMPTS):
            time.sleep(attempt)
            try:
                known = self.find(digest)
            except JournalError:
                continue
            return known is not None and known.claim_token == token
        return False

    def presume(self, digest: str) -> bool:
        """Move from SENDING to PRESUMED_UNKNOWN when the holder of the claim is gone or its lease is over."""
        known = self.get(digest)
        gone = is_gone(known.claim_holder, known.claim_token)
        note = f"{shown_holder(known.claim_holder)} stopped while it was sending, or its claim ran out"
        with self._writing() as connection:
            over = true() if gone else SUBMISSIONS.c.claim_until_ms < database_now_ms(connection)
            over &= SUBMISSIONS.c.claim_token == known.claim_token
            return move_row(
                connection, digest, OrderState.PRESUMED_UNKNOWN, self._clock_ms(), {"note": note}, only=over
            )

    def export(self, digest: str, alone: Alone | None = None, **given: str | int | None) -> bool:
        """Move to EXPORTED; True when that is its state now, so that a package that was lost can be written again.

        ``alone`` is as for :meth:`claim`, and is not asked about what is exported already. ``given`` is what is handed on,
        members of ``Record``.
        """
        self._require_original()
        with self._writing() as connection:
            known = _known(connection, digest)
            if known is not None and known.state is not OrderState.EXPORTED:
                self._require_alone(connection, digest, alone)
            told = given | {"method": "export", "note": "", "code": ""}
            if move_row(connection, digest, OrderState.EXPORTED, self._clock_ms(), told):
                return True
            known = _known(connection, digest)
            return known is not None and known.state is OrderState.EXPORTED

    def _require_alone(self, connection: Connection, digest: str, alone: Alone | None) -> None:
        """Have ``alone`` look at a submission's rivals, while no other claim for its step begins or ends."""
        known = _known(connection, digest)
        if alone is None or known is None:
            return
        record = known.record
        step = (SUBMISSIONS.c.ceremony == record.ceremony) & (SUBMISSIONS.c.step == record.step)
        # SQLite's writers queue; another database locks the step's rows, always in one order, and reads them afterwards
        connection.execute(select(SUBMISSIONS.c.digest).where(step).order_by(SUBMISSIONS.c.digest).with_for_update())
        alone(record, self._rivals(connection, record))

    def move(
        self,
        digest: str,
        to: OrderState,
        *,
        note: str | None = None,
        code: str | None = None,
        token: str = "",
        claims: int | None = None,
        keep_note: bool = False,
        proved: bool = False,
    ) -> bool:
        """Move to a state, and return whether the state that it was in, the claim's token, or a proof allows that.

        With ``claims``, only while so many sendings were begun: what was looked at before the last one says nothing of it.
        With ``keep_note``, the note stays where the move is not allowed. ``proved``: by the operator's node.
        """
        told = {name: value for name, value in (("note", note), ("code", code)) if value is not None}
        only = None if claims is None else SUBMISSIONS.c.claims == claims
        with self._writing() as connection:
            now = self._clock_ms()
            return move_row(
                connection, digest, to, now, told, token=token, only=only, keep_note=keep_note, proved=proved
            )

    def recall(self, begun: Mapping[str, int]) -> list[str]:
        """Make UNKNOWN what a transcript knows as sent and the journal as unsent; return the digests that it has not at all.

        ``begun`` are the numbers of its last sendings, read before the journal: a claim is here before its mark is there.
        """
        rows = {known.record.digest: known for known in self.submissions()}
        for digest, known in rows.items():
            if is_forgotten(known, begun.get(digest, 0)):
                self.move(digest, OrderState.UNKNOWN, note=RESTORED, claims=known.claims)
        return [digest for digest in begun if digest not in rows]

    def tell(self, digest: str, state: OrderState) -> None:
        """Write down which state a person was told."""
        with self._writing(EVENT) as connection:
            connection.execute(row_of(digest).values(told=state.value))

    def keep_unusable(self, digest: str, given: str) -> None:
        """Keep an id that a service gave and that cannot be used, as it came; the newest ``_UNUSABLE_AT_MOST`` at most."""
        with self._writing() as connection:
            known = _known(connection, digest)
            ids = [text for text in (known.unusable_ids if known else ()) if text != given]
            text = storable({"unusable_ids": json.dumps([*ids, given][-_UNUSABLE_AT_MOST:])})
            connection.execute(row_of(digest).values(**text))

    # ---- events ---------------------------------------------------------------------------------------------------

    def record(
        self,
        digest: str,
        event: OrderEvent,
        *,
        kind: str = OF_ORDER,
        tracking_id: str = "",
        entity_id: str = "",
        path: Sequence[OrderState] = (),
        code: str = "",
        note: str = "",
        readable_again: bool = False,
    ) -> bool:
        """Write an event, the ids and the states that it leads through, at once; return whether the event is new.

        ``kind`` is the row's, where it is no event of the order.

        A state that cannot be entered from where the submission is, is passed over: the first terminal state stays, but
        for what the operator's node proves.
        ``readable_again``: the service tells this event again when asked, so nothing waits for the disk.
        """
        with self._writing(EVENT if readable_again else STATE) as connection:
            now, told = self._clock_ms(), {"code": code, "note": note}
            fresh = insert_event(connection, digest, event, kind, now)
            self._keep_id(connection, digest, "tracking_id", tracking_id)
            self._keep_id(connection, digest, "entity_id", entity_id)
            for state in path:
                move_row(connection, digest, state, now, told, proved=proves(event.type, event.payload))
            return fresh

    def record_anomaly(self, digest: str, anomaly: Anomaly, given_id: str) -> bool:
        """Write an anomaly once, with the id that a person gave where it came by that; return whether it is new."""
        seen = {"seq": anomaly.event.seq, "type": anomaly.event.type, "payload": anomaly.event.payload}
        more = {"why": anomaly.why, "given": given_id}
        seen |= {name: value for name, value in more.items() if value}
        return self.record(digest, OrderEvent(None, anomaly.kind, seen), kind=ANOMALY, readable_again=True)

    def reject(self, digest: str, status: int, reason: str, code: str = "", *, token: str = "") -> bool:
        """Move to REJECTED and write down why, at once; the reason stays when the digest is sent again.

        Return whether the state allowed it; when it does not, the reason is kept all the same.
        """
        with self._writing() as connection:
            attempt = 1 + len(read_rows(connection, digest, REJECTED))
            payload = {"attempt": attempt, "status": status, "code": code, "reason": reason}
            insert_event(connection, digest, OrderEvent(None, REJECTED, payload), REJECTED, self._clock_ms())
            told, now = {"note": reason, "code": code}, self._clock_ms()
            return move_row(connection, digest, OrderState.REJECTED, now, told, token=token, keep_note=True)

    def name(self, digest: str, tracking_id: str) -> None:
        """Keep the tracking id of an order that has none yet, where no event brings it."""
        with self._writing() as connection:
            self._keep_id(connection, digest, "tracking_id", tracking_id)

    def _keep_id(self, connection: Connection, digest: str, name: str, value: str) -> None:
        if value:
            connection.execute(row_of(digest).where(SUBMISSIONS.c[name] == "").values(storable({name: value})))

    # ---- reading --------------------------------------------------------------------------------------------------

    def find(self, digest: str) -> Submission | None:
        """Return the submission of a digest, or None."""
        with self._reading() as connection:
            return _known(connection, digest) if digest.isprintable() else None  # no database holds half a letter

    def get(self, digest: str) -> Submission:
        """Return the submission of a digest. Raises ``JournalError`` when there is none."""
        found = self.find(digest)
        if found is None:
            raise JournalError(
                f"the journal knows nothing of {safe(digest, limit=80)}",
                do="check the digest, and which journal this is",
            )
        return found

    def submissions(self, ceremony: str | None = None) -> list[Submission]:
        """Return the submissions, of one ceremony or all, oldest first."""
        query = select(SUBMISSIONS).order_by(SUBMISSIONS.c.created_ms, SUBMISSIONS.c.digest)
        if ceremony is not None:
            query = query.where(SUBMISSIONS.c.ceremony == ceremony)
        with self._reading() as connection:
            return _submissions(connection, query)

    def namesake(self, digest: str, name: str, value: str) -> str:
        """Return the other submission to the same service that has this ``tracking_id`` or ``entity_id``; empty for none."""
        of, record = SUBMISSIONS.c, self.get(digest).record
        same = (of.route == record.route) & (of.url == record.url) & (of[name] == value) & (of.digest != digest)
        with self._reading() as connection:
            return connection.scalar(select(of.digest).where(same).limit(1)) or ""

    def rivals(self, record: Record) -> list[Submission]:
        """Return the submissions over other digests for the same step of the ceremony, or with the signer's same nonce."""
        with self._reading() as connection:
            return self._rivals(connection, record)

    def _rivals(self, connection: Connection, record: Record) -> list[Submission]:
        of = SUBMISSIONS.c
        same_step = (of.ceremony == record.ceremony) & (of.step == record.step)
        same_nonce = (func.lower(of.signer) == record.signer.lower()) & (of.nonce == record.nonce)
        query = select(SUBMISSIONS).where(of.digest != record.digest, same_step | same_nonce).order_by(of.created_ms)
        return _submissions(connection, query)

    def events(self, digest: str) -> list[OrderEvent]:
        """Return a submission's events in the order in which they came."""
        return self._rows(digest, OF_ORDER)

    def anomalies(self, digest: str) -> list[str]:
        """Return the kinds of a submission's anomalies, each once, in the order in which they were seen."""
        return list(dict.fromkeys(event.type for event in self._rows(digest, ANOMALY)))

    def contradictions(self, digest: str) -> list[OrderEvent]:
        """Return the anomalies that tell of another order; ``given`` in the payload is a person's id by which one came."""
        return [event for event in self._rows(digest, ANOMALY) if event.type in CONTRADICTIONS]

    def contradiction(self, digest: str) -> str:
        """Return what first told of another order than the signed one, safe to show; empty where nothing did."""
        told = sorted(self.contradictions(digest), key=lambda event: "why" not in event.payload)
        for first in told[:1]:
            why = f": {first.payload['type']}: {first.payload['why']}" if "why" in first.payload else ""
            return ANOMALIES[first.type] + safe(why, limit=300)
        return ""

    def note(self, digest: str, text: str, by: str) -> None:
        """Write down what a person says of a submission: it changes no state."""
        said = OrderEvent(None, "Note", {"text": text, "by": by}, self._clock_ms())
        self.record(digest, said, kind=NOTE)

    def notes(self, digest: str) -> list[OrderEvent]:
        """Return what people said of a submission: ``text`` and ``by`` as payload."""
        return self._rows(digest, NOTE)

    def noted(self) -> set[str]:
        """Return the digests of the submissions of which people said something."""
        with self._reading() as connection:
            return set(connection.scalars(select(EVENTS.c.digest).where(EVENTS.c.kind == NOTE).distinct()))

    def rejections(self, digest: str) -> list[OrderEvent]:
        """Return each refusal before it was taken: ``attempt``, ``status``, ``code`` and ``reason`` as payload."""
        return self._rows(digest, REJECTED)

    def came(self, digest: str, kind: str) -> list[tuple[OrderEvent, int]]:
        """Return each row of a kind, in the order in which they came, and when it came to this machine."""
        with self._reading() as connection:
            return read_rows(connection, digest, kind)

    def _rows(self, digest: str, kind: str) -> list[OrderEvent]:
        return [event for event, _ in self.came(digest, kind)]


def _submissions(connection: Connection, query: Select[Any]) -> list[Submission]:
    return [submission_of(row) for row in connection.execute(query).mappings()]


def _known(connection: Connection, digest: str) -> Submission | None:
    return next(iter(_submissions(connection, select(SUBMISSIONS).where(SUBMISSIONS.c.digest == digest))), None)


def open_journal(where: str, clock_ms: Callable[[], int], *, make: bool = True, own: bool = False) -> Journal:
    """Open the journal at an absolute file name, or at a database URL; only with ``make``, to send, is one made.

    Without, nothing is in it where none is at its ``own`` place yet; where a person named the place, it must be there.
    Raises ``JournalError``.
    """
    if own and not make:
        try:
            os.lstat(where)
        except FileNotFoundError:
            empty = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
            TABLES.create_all(empty)
            return Journal(empty, clock_ms)
        except OSError as error:
            raise JournalError(f"{safe(where)}: {error.strerror}", do="check the folder and its permissions") from error
    engine, identity = open_engine(where, make=make)
    return Journal(engine, clock_ms, identity)
