"""The batched market's status endpoint: the persisted history of an order, which has the last word on how it ended.

An end counts when all that is told of the order agrees with what was signed: it was asked for by the order's id. The whole
history is asked for whenever a seq is missing below the last one, and now and then, so that no end stays hidden behind a
wrong seq. Source: the specification,
"GET {batched_market_url}/tracking-id/{trackingId}/status".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from airlock_online.clients.http import json_of, unexpected
from airlock_online.clients.urls import join, segment
from airlock_online.delivery.order_events import StatusReply, from_status
from airlock_online.delivery.routes.context import DeliveryContext
from airlock_online.delivery.routes.polling import POLL_S, PollAnswer, until_final
from airlock_online.delivery.routes.tracker import Tracker
from airlock_online.journal.order_states import Anomaly, OrderEvent, terminal_state
from airlock_online.speech.sections import MARKET, STATUS
from airlock_shared.errors import ServiceError
from airlock_shared.text.safe import safe

WHOLE_EVERY = 5  # polls
CHECKS_AT_MOST = 3  # of an end that the stream has told, before its word is taken because nobody contradicts it


class OrderStatus:
    """One order's persisted history, read until it ends."""

    def __init__(self, base_url: str, tracker: Tracker, context: DeliveryContext) -> None:
        self._base_url, self._tracker, self._context = base_url, tracker, context
        self._asked = 0
        self.question = f"the market: the status of {safe(tracker.tracking_id)}"

    def follow(self) -> str:
        """Poll until the order has ended. Return why that stopped, empty when it has."""
        return until_final(self.question, self._poll, self._context)

    def check(self, told: Sequence[OrderEvent]) -> str:
        """Compare the end that the stream told with the persisted history, and poll where that has no end yet.

        ``told`` is that event and what came behind it. Where the history cannot be asked, the stream's word is taken.
        """
        for turn in range(CHECKS_AT_MOST):
            if turn:
                self._context.sleep(POLL_S)
            try:
                answer = self._ask(whole=True)
            except ServiceError as error:
                self._context.on_asked(self.question, error.what)
                continue
            self._context.on_asked(self.question, answer)
            return self._compared(told)
        for event in told:
            self._tracker.take(event)
        return ""

    def _compared(self, told: Sequence[OrderEvent]) -> str:
        ended = self._tracker.order.terminal
        if ended is not None:
            if terminal_state(ended) is not terminal_state(told[0]):
                self._tracker.odd(Anomaly("history-contradicts", told[0]))
            for event in told[1:]:
                self._tracker.take(event)
            return ""
        self._context.on_notice(
            f"the stream told {safe(told[0].type, limit=100)}; the persisted history has no end yet"
        )
        reason = self.follow()
        return f"the stream told {told[0].type}, and the persisted history does not say so; {reason}" if reason else ""

    def _poll(self) -> PollAnswer:
        self._asked += 1
        whole = not self._tracker.order.whole or self._asked % WHOLE_EVERY == 0
        return PollAnswer(self._ask(whole=whole), self._tracker.order.terminal is not None)

    def _ask(self, *, whole: bool) -> str:
        """Ask once, take what is new, and return it for a person. Raises ``ServiceError``."""
        reply = self._read(whole=whole)
        self._tracker.take_all(reply.events)
        if whole and self._tracker.order.events and not self._tracker.order.whole:
            last = OrderEvent(None, "gap", {"below": self._tracker.order.last_seq})
            self._tracker.odd(Anomaly("seq-gap", last))
        return _in_words(reply)

    def _read(self, *, whole: bool) -> StatusReply:
        tracking_id, last_seq = self._tracker.tracking_id, self._tracker.order.last_seq
        query = {} if whole or last_seq is None else {"afterSeq": last_seq}
        found = read_history(self._base_url, tracking_id, query, self._context)
        for why in found.unreadable:
            self._tracker.odd(Anomaly("unreadable-entry", OrderEvent(None, "entry", {"why": why})))
        if found.left_out:
            self._tracker.odd(Anomaly("too-many-events", OrderEvent(None, "more", {"left_out": found.left_out})))
        return found


def read_history(base_url: str, tracking_id: str, query: Mapping[str, int], context: DeliveryContext) -> StatusReply:
    """Return what the market tells of an order's history, asked for by its id. Raises ``ServiceError``."""
    url = join(base_url, context.speech.paths[MARKET + STATUS].replace("{id}", segment(tracking_id)))
    reply = context.http.poll(url, query)
    if reply.status != 200:
        raise unexpected(reply, f"the status answered {reply.status}")
    return from_status(json_of(reply, url), tracking_id)


def _in_words(reply: StatusReply) -> str:
    more = f", {len(reply.unreadable)} that cannot be read" if reply.unreadable else ""
    more += f", {reply.left_out} more that are not kept" if reply.left_out else ""
    if not reply.events:
        return f"no new event{more}"
    return f"{len(reply.events)} events, the last {safe(reply.events[-1].type, limit=100)}{more}"
