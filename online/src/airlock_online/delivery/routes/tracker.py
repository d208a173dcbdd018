"""One submission while it is sent and followed: each event is in the journal before it is shown to anybody."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from airlock_online.delivery.chain_evidence import used_at_the_node
from airlock_online.delivery.routes.context import DeliveryContext
from airlock_online.journal.order_states import (
    ANOMALIES,
    INITIATIONS,
    Anomaly,
    KnownOrder,
    OrderEvent,
    OrderState,
    is_of,
    merge,
)
from airlock_online.journal.schema import Submission, let_go
from airlock_shared.text.safe import safe

_MAX_GIVEN = 300


class SubmissionProgress(NamedTuple):
    """What is told of a submission that was accepted: an event, the ids with it, the end if it is one, and what is odd.

    ``code`` and ``note`` are the end's.
    """

    event: OrderEvent
    tracking_id: str = ""
    entity_id: str = ""
    end: OrderState | None = None
    code: str = ""
    note: str = ""
    odd: Anomaly | None = None


class Tracker:
    """A submission, kept equal to the journal. ``token`` is the claim's, empty where it is only followed.

    ``accepted`` is whether the service is known to have taken it; ``record`` is what was written down of it, and ``context``
    what it touches. ``known`` is its row as it has just been read. ``given_id`` is a tracking id that a person gave,
    where none is known: it is written down with the first event that agrees with what was signed.
    """

    def __init__(self, known: Submission, context: DeliveryContext, given_id: str = "") -> None:
        self.record = known.record
        self.digest = digest = known.record.digest
        self.token = ""
        self.context = context
        self.tracking_id = known.tracking_id or given_id
        self._is_named = bool(known.tracking_id)
        contradicted = any("given" not in told.payload for told in context.journal.contradictions(digest))
        self.order = KnownOrder(json.loads(known.record.signed), self.tracking_id, contradicted=contradicted)
        self.accepted = known.state is OrderState.ACCEPTED
        for event in context.journal.events(digest):
            self.order = merge(self.order, event).order

    def take(self, event: OrderEvent) -> None:
        """Merge an event of the batched market: write what is new, name what is odd, then show it.

        Where the operator's node has the nonce as used, a failure of an order never called initiated does not count.
        """
        if other := self._namesake(event):
            self.order = self.order._replace(contradicted=True)
            self.odd(Anomaly("other-tracking-id", event, f"trackingId is that of {other}"))
            return
        merged = merge(self.order, event)
        fails = merged.order.state is OrderState.FAILED and not self.order.terminal
        begun = any(told.type in INITIATIONS for told in self.order.events)
        if fails and not begun and used_at_the_node(self.record, self.context):
            self.odd(Anomaly("failed-and-executed", event))
            self.adopt(event)
            return
        self.order = merged.order
        if not event.tracking_id and event.payload.get("trackingId") is not None:
            self.keep_unusable(given_id("trackingId", event.payload["trackingId"]))
        if not merged.fresh and is_of(event, self.order):
            self.adopt(event)
        if merged.fresh:
            end = merged.order.state if merged.order.terminal is event else None
            message = event.payload.get("message")
            note = message if end and type(message) is str else ""
            self.write(
                SubmissionProgress(event, merged.order.tracking_id, end=end, code=event.code if end else "", note=note),
                readable_again=self.accepted and bool(self.tracking_id) and event.seq is not None,
            )
        for anomaly in merged.anomalies:
            self.odd(anomaly)

    def take_all(self, events: Sequence[OrderEvent]) -> None:
        """Take a reply's events. None of them ends the order where one, before or behind it, tells of another order."""
        order = self.order
        for event in events:
            order = merge(order, event).order
        self.order = self.order._replace(contradicted=order.contradicted)
        for event in events:
            self.take(event)

    def adopt(self, event: OrderEvent) -> None:
        """Keep the tracking id that an event carries which is not taken, where none is known yet."""
        if event.tracking_id and not self.tracking_id and not self._namesake(event):
            self.tracking_id, self._is_named = event.tracking_id, True
            self.order = self.order._replace(tracking_id=event.tracking_id)
            self.context.journal.name(self.digest, event.tracking_id)

    def _namesake(self, event: OrderEvent) -> str:
        """Return the other order that has the id which an event gives to this one, empty for none: one of them is lost."""
        if self._is_named or not event.tracking_id:
            return ""
        return self.context.journal.namesake(self.digest, "tracking_id", event.tracking_id)

    def write(self, told: SubmissionProgress, *, readable_again: bool = False) -> None:
        """Make what is told durable: the event, the ids, that it was accepted, the end; then show the event if it is new.

        ``readable_again`` is for an event that can be read again by the tracking id: it survives the death of the process,
        and after a power cut it comes once more.
        """
        new_id = "" if self._is_named else told.tracking_id
        self.tracking_id = self.tracking_id or told.tracking_id
        self._is_named = self._is_named or bool(new_id)
        path = [] if self.accepted else [OrderState.ACCEPTED]
        path += [told.end] if told.end else []
        fresh = self.context.journal.record(
            self.digest,
            told.event,
            tracking_id=new_id,
            entity_id=told.entity_id,
            path=path,
            code=told.code,
            note=told.note,
            readable_again=readable_again,
        )
        self.accepted = True
        self._answered()
        if fresh:
            self.context.on_event(told.event)
        if told.odd is not None:
            self.odd(told.odd)

    def odd(self, anomaly: Anomaly) -> None:
        """Write an anomaly down, and name it when it is new."""
        given_id = "" if self._is_named else self.tracking_id
        if self.context.journal.record_anomaly(self.digest, anomaly, given_id):
            event = safe(f"{anomaly.event.type}: {anomaly.why}" if anomaly.why else anomaly.event.type, limit=300)
            self.context.on_notice(f"{anomaly.kind}: {ANOMALIES[anomaly.kind]} ({event})")

    def keep_unusable(self, given: str) -> None:
        """Keep an id that a service gave and that cannot be asked for, and say so."""
        self.context.journal.keep_unusable(self.digest, given)
        self.context.on_notice(f"an id that cannot be asked for was given, and is kept: {given}")

    def settle(self, state: OrderState, note: str) -> None:
        """Move to a state that no event brings. Where it is too late for that, the note alone is kept."""
        self.context.journal.move(self.digest, state, note=note, token=self.token, keep_note=True)
        self._answered()

    def reject(self, status: int, reason: str, code: str = "") -> None:
        """Write down that it was refused before it was taken, and why."""
        self.context.journal.reject(self.digest, status, reason, code, token=self.token)
        self._answered()

    def _answered(self) -> None:
        """Say that the journal has what became of the sending, and that the next one may begin."""
        let_go(self.token)
        self.context.on_answered()


def given_id(name: str, value: object) -> str:
    """Return an id as the journal keeps it: its member's name, and the JSON of what came, safe to show."""
    return f"{name}: {safe(json.dumps(value), limit=_MAX_GIVEN)}"
