"""What is delivered, and the world in which it is delivered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from airlock_online.http import Http
from airlock_online.journal import Journal
from airlock_online.lifecycle import OrderEvent

NonceRead = Callable[[str, str, int], bool | None]
"""``(contract, account, nonce)`` to whether the chain has seen the nonce used; None when it cannot be told."""


class Delivery(NamedTuple):
    """A signed intent on its way. Hashes, addresses and bytes as 0x-hex, ``deadline_ms`` in unix ms or None.

    ``trader`` is the account that the intent speaks for; empty means the signer. ``order_type`` and ``eip7702`` belong to
    the batched market.
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
    trader: str = ""
    eip7702: Mapping[str, Any] | None = None

    def __repr__(self) -> str:
        """Name the delivery without its signature: until it is submitted, that is a secret."""
        return f"Delivery({self.digest}, {self.primary_type}, {self.route})"


class RelayerTemplate(NamedTuple):
    """The relayer's endpoint, which no specification documents. ``body`` maps its members to a delivery's fields."""

    submit_path: str = "/intents"
    status_path: str = "/intents/{id}"
    body: Mapping[str, str] = {
        "primaryType": "primary_type",
        "userIntent": "encoded_intent",
        "userSignature": "signature",
    }


def _nothing(_: object) -> None:
    return None


class World(NamedTuple):
    """What a delivery touches. ``on_event`` gets each new event once, after the journal has it; ``on_notice`` the talk.

    ``patience_s`` is for how long the status is polled before the command gives up for now.
    """

    journal: Journal
    http: Http
    clock_ms: Callable[[], int]
    sleep: Callable[[float], None]
    on_event: Callable[[OrderEvent], None] = _nothing
    on_notice: Callable[[str], None] = _nothing
    nonce_used: NonceRead | None = None
    patience_s: float = 120.0
    relayer: RelayerTemplate = RelayerTemplate()
