"""An expectation and what was found: one thing that a signature was to bring about, for people and for the transcript."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from airlock_online.clients.builder import BuilderClient
from airlock_online.clients.echo import named
from airlock_online.config import OnlineConfig
from airlock_online.journal.order_states import OrderEvent
from airlock_shared.catalogue.intents import CATALOGUE, Intent
from airlock_shared.catalogue.kinds import value_of
from airlock_shared.cli.console import rows
from airlock_shared.documents.requests import Request
from airlock_shared.errors import ServiceError

if TYPE_CHECKING:
    from airlock_online.readback.contract_views import DelegationRead
    from airlock_online.readback.referral_lookup import ReferralFacts


class Expectation(NamedTuple):
    """One thing promised, and what was found in its place. ``kept`` is None when that could not be told.

    The texts hold nothing of a service that is not escaped already.
    """

    what: str
    promised: str
    found: str
    kept: bool | None


BY_THE_CHAIN = ", by the chain"
"""After what an expectation is about, where the operator's node was asked, and not the builder."""

ChainRead = Callable[[bytes, str], "ReferralFacts"]
"""Reads from the chain what is known of a referral code and of a trader (empty: of none)."""


class Read(NamedTuple):
    """The data of a read, or the ``ServiceError`` in its place. ``names``: its reply names what was asked for."""

    data: Any
    names: bool

    def judged(self, expectations: list[Expectation]) -> list[Expectation]:
        """Return expectations that were judged by this read: by one that names nothing they are told, and stay open."""
        if self.names:
            return expectations
        word = "by the service's word, which names nothing: "
        return [each._replace(found=f"{word}{each.found}", kept=None) for each in expectations]


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
    delegation_on_chain: DelegationRead | None = None

    def signed(self, kind: str) -> Any:
        """Return what was signed as the leaf of this kind, as the payload has it; None where there is none."""
        payload = self.request.payload
        return value_of(self.structs[payload["primaryType"]].fields, payload["message"], kind)

    def ask_about(self, read: str, fields: Mapping[str, str]) -> Read:
        """Return a read by the builder, and whether its reply names what was asked for."""
        data = self.builder.read_or_error(read, fields)
        return read_of(data, named(data, **fields), ", ".join(fields))

    def last(self, kind: str) -> OrderEvent | None:
        """Return the last event of a type, or None."""
        return next((event for event in reversed(self.events) if event.type == kind), None)


def read_of(data: Any, names: bool | None, asked: str) -> Read:
    """Return a read whose reply names what was ``asked``; one that names something else is the ``ServiceError`` of it."""
    if type(data) is dict and names is False:
        return Read(ServiceError(f"the reply is not about the {asked} that was asked for"), names=False)
    return Read(data, names is True)


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
    return [line for each in expectations for line in (*rows("    read back: ", each.what), *_compared(each))]


def kept_lines(expectations: Iterable[Expectation]) -> list[str]:
    """Return the same for who agrees to it: each thing once, and what was found as promised on one line."""
    lines: list[str] = []
    for what, about in groupby(expectations, lambda each: each.what):
        lines += rows("    read back: ", what)
        for each in about:
            alike = each.kept and each.found == each.promised
            lines += rows("      as promised  ", each.found) if alike else _compared(each)
    return lines


def _compared(expectation: Expectation) -> Iterator[str]:
    verdict = {True: "yes", False: "NO: this is not what was promised", None: "not known"}[expectation.kept]
    yield from rows("      promised  ", expectation.promised)
    yield from rows("      found     ", expectation.found)
    yield f"      kept      {verdict}"
