"""What is delivered, and what a delivery touches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Semaphore
from typing import TYPE_CHECKING, NamedTuple

from airlock_online.speech.sections import SHIPPED, Speech

if TYPE_CHECKING:
    from airlock_online.clients.http import Http
    from airlock_online.clients.rpc import RpcClient
    from airlock_online.delivery.before_sending import SendingMarks
    from airlock_online.journal.journal import Journal
    from airlock_online.journal.order_states import OrderEvent
    from airlock_online.journal.schema import Record
    from airlock_shared.catalogue.intents import Intent


STREAMS, OTHERS = 10, 30

NonceRead = Callable[["Record", str], bool | None]
"""Whether the nonce of a submission is used by an account; None when that cannot be told."""


class Found(NamedTuple):
    """One thing that a submission was to bring about, and what is found: ``kept`` is None when that cannot be told."""

    what: str
    found: str
    kept: bool | None


class Delivery(NamedTuple):
    """A signed intent or transaction on its way. Hashes, addresses and bytes as 0x-hex, ``deadline_ms`` in unix ms or None.

    ``trader`` is the account that it speaks for; empty means the signer. ``order_type`` and ``eip7702``, the text of a JSON
    object that is passed on byte for byte, belong to the batched market; ``replaces`` to the core API.

    Of a transaction, ``primary_type`` is the function called, ``digest`` the hash that was signed, ``encoded_intent`` the
    bytes under it, ``contract`` its ``to``, ``nonce`` the account's, and ``raw_transaction`` what is sent. ``chain_id``
    is the pinned deployment's, for which it was signed; ``requests`` and ``deployment`` are fingerprints. ``intent`` is
    the struct at this venue, None for the shipped one; ``signed`` is the journal's.
    """

    digest: str
    step: str
    ceremony: str
    primary_type: str
    route: str
    base_url: str
    order_type: int | None
    encoded_intent: str
    signature: str
    signer: str
    contract: str
    nonce: str
    deadline_ms: int | None
    chain_id: int
    trader: str = ""
    eip7702: str = ""
    raw_transaction: str = ""
    replaces: str = ""
    requests: str = ""
    deployment: str = ""
    intent: Intent | None = None
    signed: str = "{}"

    def __repr__(self) -> str:
        """Name the delivery without its signature: until it is submitted, that is a secret."""
        return f"Delivery({self.digest}, {self.primary_type}, {self.route})"


def _nothing(*_: object) -> None:
    return None


def _no_contracts(_: Record) -> frozenset[str]:
    return frozenset()


def _not_here(_: Record) -> str:
    return ""


class Parcel(NamedTuple):
    """The one request: its method, its address, and the exact bytes of its body."""

    method: str
    url: str
    body: bytes


class DeliveryContext(NamedTuple):
    """What a delivery touches. ``on_event`` gets each new event once, after the journal has it; ``on_notice`` the talk.

    ``on_answered`` is called when the POST has its answer, or will have none: what comes then is reading. ``streams`` and
    ``others`` are how many orders read a stream at once, and ask other services what became of them. ``on_asked`` gets each
    question that was put to a service while following, and its answer, safe to show. ``patience_s`` is for how long the
    status is polled before the command gives up for now. ``node`` is the operator's own; a block is confirmed when the
    node calls it ``confirmed_by``, else when it is ``confirmations`` deep. ``encoded`` tells an intent's encoding in hex
    without 0x, recomputed from the request that is kept here, empty without it. ``contracts_of`` tells the venue's
    contracts, lower-case. ``look`` reads back, for a digest, what was promised; None when there is nothing to read from.
    ``marks`` are the transcript's of what was begun to be sent.
    """

    journal: Journal
    http: Http
    clock_ms: Callable[[], int]
    sleep: Callable[[float], None]
    on_event: Callable[[OrderEvent], None] = _nothing
    on_notice: Callable[[str], None] = _nothing
    nonce_used: NonceRead | None = None
    patience_s: float = 120.0
    speech: Speech = SHIPPED
    on_answered: Callable[[], None] = _nothing
    on_asked: Callable[[str, str], None] = _nothing
    streams: Semaphore = Semaphore(STREAMS)
    others: Semaphore = Semaphore(OTHERS)
    node: RpcClient | None = None
    confirmations: int = 12
    confirmed_by: str = "finalized"
    encoded: Callable[[Record], str] = _not_here
    contracts_of: Callable[[Record], frozenset[str]] = _no_contracts
    look: Callable[[str], Sequence[Found]] | None = None
    marks: SendingMarks | None = None
