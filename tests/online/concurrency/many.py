"""Many orders of the batched market, each with a digest of its own."""

from __future__ import annotations

from airlock_online.delivery.routes.context import Delivery
from online.delivering_machine import unsent


def orders(base_url: str, count: int) -> list[Delivery]:
    return [
        unsent(base_url, digest=f"0x{n:064x}", step=f"step-{n}", encoded_intent=f"0x{n:064x}", nonce=str(n))
        for n in range(1, count + 1)
    ]
