"""The services that take one POST, give an id, and are asked by it what became of it: what they share, in one place.

What differs is a row for each of them (:class:`Posted`): what an answer says, what is asked about, and what ends it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from airlock_online.clients.http import Reply
from airlock_online.clients.urls import join, segment
from airlock_online.delivery.routes.context import Delivery, DeliveryContext
from airlock_online.delivery.routes.polling import PollAnswer, until_final
from airlock_online.delivery.routes.posting import Parcel, Taken, post_once, told_by
from airlock_online.delivery.routes.struct import request_of
from airlock_online.delivery.routes.tracker import Tracker
from airlock_online.journal.schema import Record, Submission
from airlock_online.speech.sections import STATUS
from airlock_shared.text.safe import safe


class Told(NamedTuple):
    """A status read: the members of its reply, what their places begin with, where the venue has what, and the id asked."""

    data: dict[str, Any]
    within: str
    places: Mapping[str, Any]
    asked: str


class Posted(NamedTuple):
    """A route to such a service, called ``who``.

    ``taken`` reads the answer to the POST. ``about`` is the id that is asked about, empty for nothing to ask; ``question``
    and ``notice`` have a place for it. ``answer`` reads a status, and writes down what ends it.
    """

    route: str
    who: str
    taken: Callable[[Delivery, Reply, str, DeliveryContext], Taken]
    about: Callable[[Record, Tracker, DeliveryContext], str] = lambda *_: ""
    question: str = ""
    notice: str = ""
    answer: Callable[[Told, Record, Tracker, DeliveryContext], PollAnswer] = lambda *_: PollAnswer("", final=True)
    statuses: tuple[int, ...] = (200, 201, 202)

    def parcel(self, delivery: Delivery, context: DeliveryContext) -> Parcel:
        """Return the request that the services file's body makes of a delivery."""
        return request_of(self.route, delivery, context)

    def send(self, delivery: Delivery, parcel: Parcel, tracker: Tracker, context: DeliveryContext) -> str:
        """POST once, then poll. Return why it stopped, empty when the submission is final."""
        busy = context.speech.replies[self.route].get("busy", "")
        taken = post_once(
            parcel, lambda reply: self.taken(delivery, reply, parcel.url, context), tracker, context, busy=busy
        )
        if taken is None:
            return ""
        taken.write(tracker)
        return self._poll(context.journal.get(delivery.digest).record, tracker, context)

    def follow(self, known: Submission, tracker: Tracker, context: DeliveryContext) -> str:
        """Poll the service, if there is an id to ask for, whether or not the POST was answered."""
        if about := self.about(known.record, tracker, context):
            context.on_notice(self.notice.format(safe(about)))
        return self._poll(known.record, tracker, context)

    def _poll(self, record: Record, tracker: Tracker, context: DeliveryContext) -> str:
        if not (about := self.about(record, tracker, context)):
            return ""
        if not context.speech.paths[self.route + STATUS]:
            return f"{self.who} has taken the cancellation, and no read of it is known: its nonce tells the rest"

        def ask() -> PollAnswer:
            return self.answer(self.status(record, about, context), record, tracker, context)

        return until_final(f"{self.who}: {self.question.format(safe(about))}", ask, context)

    def status(self, record: Record, asked: str, context: DeliveryContext) -> Told:
        """Return what the service says of an id. Raises ``ServiceError``."""
        url = join(record.url, context.speech.paths[self.route + STATUS].replace("{id}", segment(asked)))
        data, within = told_by(self.who, url, context.http.poll(url, {}), self.statuses)
        return Told(data, within, context.speech.reply(self.route, record.primary_type), asked)
