"""Asking again and again, within the operator's patience. Only reads are repeated."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import NamedTuple

from airlock_online.delivery.routes.context import DeliveryContext
from airlock_shared.errors import ServiceError

POLL_S = 1.5  # the specification asks for about 1 to 2 s
MISSING_AT_MOST = 8  # a 404 just after acceptance may come before the service has stored the order


class PollAnswer(NamedTuple):
    """What a service answered, for a person, and whether that is the end.

    ``odd``: it says what is not understood. ``enough``: it will say no more, and what it says ends nothing.
    """

    told: str
    final: bool
    odd: bool = False
    enough: bool = False


def until_final(question: str, ask: Callable[[], PollAnswer], context: DeliveryContext) -> str:
    """Call ``ask`` until its answer is final or the patience is over; return why it stopped, empty when it is final.

    A failure to read decides nothing: it is asked again, except when the service keeps saying that it knows of no such id.
    """
    until_ms = context.clock_ms() + int(context.patience_s * 1000)
    failure, missing, odd, wait_s = "", 0, "", POLL_S
    for turn in range(1 + ceil(context.patience_s / POLL_S)):
        if turn:
            context.sleep(wait_s)
            wait_s = POLL_S
        try:
            answer = ask()
            context.on_asked(question, answer.told)
            if answer.final:
                return ""
            if answer.enough:
                return answer.told
            if answer.odd and answer.told != odd:
                context.on_notice(f"{question}: {answer.told}; it decides nothing")
            odd = answer.told if answer.odd else ""
            failure, missing = "", 0
        except ServiceError as error:
            context.on_asked(question, error.what)
            failure = error.what
            missing = missing + 1 if error.status == 404 else 0
            wait_s = max(POLL_S, error.retry_after_s or 0)
        if missing > MISSING_AT_MOST:
            return "the service does not know its own id"
        if context.clock_ms() + (wait_s - POLL_S) * 1000 >= until_ms:
            break
    waited = f"no final answer within {context.patience_s:g} s"
    last = failure or odd
    return f"{waited}; the last answer: {last}" if last else waited
