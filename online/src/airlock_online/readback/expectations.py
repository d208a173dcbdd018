"""An expectation and what was found: one thing that a signature was to bring about, for people and for the transcript."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from airlock_online.clients.builder import BuilderClient
from airlock_online.clients.echo import named
from airlock_online.config import OnlineConfig
from airlock_online.journal.order_states import OrderEvent
from airlock_online.readback.referral_lookup import ReferralFacts
from airlock_online.readback.trade_tuple import whole
from airlock_shared.catalogue.intents import CATALOGUE, Intent
from airlock_shared.catalogue.kinds import OPENED, OPENED_MS, value_of
from airlock_shared.cli.console import rows
from airlock_shared.documents.requests import Request
from airlock_shared.errors import ServiceError


class Expectation(NamedTuple):
    """One thing promised, and what was found in its place. ``kept`` is None when that could not be told.

    The texts hold nothing of a service that is not escaped already.
    """

    what: str
    promised: str
    found: str
    kept: bool | None


ChainRead = Callable[[bytes, str], ReferralFacts]
"""Reads from the chain what is known of a referral code and of a trader (empty: of none)."""


class Scene(NamedTuple):
    """What an expectation is judged by: the request, what the services told of it, and builder and chain to read from.

    ``structs`` are the venue's.
    """

    request: Request
    events: Sequence[OrderEvent]
    builder: BuilderClient
    config: OnlineConfig
    now_ms: int
    chain: ChainRead | None = None
    structs: Mapping[str, Intent] = CATALOGUE

    def signed(self, *kinds: str) -> Any:
        """Return what was signed as a leaf of one of these kinds, as the payload has it; None where there is none."""
        return value_of(
            self.structs[self.request.payload["primaryType"]].fields, self.request.payload["message"], *kinds
        )

    def opened_s(self) -> int | None:
        """Return when the position was opened to which the intent is bound (unix seconds)."""
        opened_ms = whole(self.signed(OPENED_MS))
        return whole(self.signed(OPENED)) if opened_ms is None else opened_ms // 1000

    def ask_about(self, read: str, fields: Mapping[str, str]) -> Any:
        """Return a read's data when it names what was asked for; else the ``ServiceError`` that says what it names."""
        found = self.builder.read_or_error(read, fields)
        if isinstance(found, ServiceError) or type(found) is not dict or named(found, **fields) is True:
            return found
        return ServiceError(f"the reply is not about {', '.join(fields)} that were asked for, or does not name them")

    def last(self, kind: str) -> OrderEvent | None:
        """Return the last event of a type, or None."""
        return next((event for event in reversed(self.events) if event.type == kind), None)


ReadBack = dict[str, Callable[[Scene], list[Expectation]]]
"""What reads back, by the action that it is about: each module of this package has the table of its own actions."""


def untold(what: str, promised: str, why: object) -> Expectation:
    """Return an expectation of which nothing can be told; ``why`` is a reason, or the error of the read."""
    found = f"cannot be read: {why.what}" if isinstance(why, ServiceError) else str(why)
    return Expectation(what, promised, found, None)


def unreadable(what: str, promised: str, read: object) -> Expectation:
    """Return an expectation whose read failed, or answered in a shape that is not known."""
    return untold(what, promised, read if isinstance(read, ServiceError) else "the answer has an unknown shape")


def expectation_lines(expectations: Iterable[Expectation]) -> list[str]:
    """Return expectations against what was found, in lines of 80 columns."""
    lines: list[str] = []
    for expectation in expectations:
        verdict = {True: "yes", False: "NO: this is not what was promised", None: "not known"}[expectation.kept]
        lines += rows("    read back: ", expectation.what)
        lines += rows("      promised  ", expectation.promised)
        lines += rows("      found     ", expectation.found)
        lines += [f"      kept      {verdict}"]
    return lines
