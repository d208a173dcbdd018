"""What is delivered, and what a delivery touches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Semaphore
from typing import TYPE_CHECKING, NamedTuple

from airlock_online.journal.order_states import OrderEvent
from airlock_online.journal.schema import Record
from airlock_online.speech.sections import SHIPPED, Speech

if TYPE_CHECKING:
    from airlock_online.clients.http import Http
    from airlock_online.clients.rpc import RpcClient
    from airlock_online.delivery.submit import SendingMarks
    from airlock_online.journal.journal import Journal
    from airlock_shared.venue.structs import Intent


STREAMS, OTHERS = 10, 30

NonceRead = Callable[["Record", str], bool | None]
"""Whether the nonce of a submission is used by an account; None when that cannot be told."""


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
    contracts, lower-case. ``read_back`` reads back, for a digest, what was promised: each, and what is found.
    ``transcript_marks`` are the transcript's of what was begun to be sent.
    """

    journal: Journal
    http: Http
    clock_ms: Callable[[], int]
    sleep: Callable[[float], None]
    on_event: Callable[[OrderEvent], None] = lambda _: None
    on_notice: Callable[[str], None] = lambda _: None
    nonce_used: NonceRead | None = None
    patience_s: float = 120.0
    speech: Speech = SHIPPED
    on_answered: Callable[[], None] = lambda: None
    on_asked: Callable[[str, str], None] = lambda *_: None
    streams: Semaphore = Semaphore(STREAMS)
    others: Semaphore = Semaphore(OTHERS)
    node: RpcClient | None = None
    confirmations: int = 12
    confirmed_by: str = "finalized"
    encoded: Callable[[Record], str] = lambda _: ""
    contracts_of: Callable[[Record], frozenset[str]] = lambda _: frozenset()
    read_back: Callable[[str], Sequence[tuple[str, str]]] = lambda _: ()
    transcript_marks: SendingMarks | None = None
