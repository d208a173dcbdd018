"""A desk for tests of deliveries: a journal, connections, a clock that only sleeping moves, and what was shown."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from coincurve import PrivateKey

from airlock_online.clients.http import Http, Timeouts
from airlock_online.delivery.routes.context import Delivery, DeliveryContext, NonceRead
from airlock_online.journal.journal import Journal, open_journal
from airlock_online.journal.order_states import OrderEvent

NOW = 1_790_000_000_000
TRADER_KEY = PrivateKey.from_hex("ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80")  # "test … junk", 0


class Desk:
    """What one machine has; ``events`` and ``notices`` are what a person saw."""

    def __init__(
        self, journal: Journal, http: Http, *, now_ms: int = NOW, nap: Callable[[float], None] | None = None
    ) -> None:
        self.now_ms = now_ms
        self.events: list[OrderEvent] = []
        self.notices: list[str] = []
        self.naps: list[float] = []
        self._nap = nap
        self.world = DeliveryContext(
            journal=journal,
            http=http,
            clock_ms=lambda: self.now_ms,
            sleep=self._sleep,
            on_event=self.events.append,
            on_notice=self.notices.append,
            patience_s=60,
        )

    def _sleep(self, seconds: float) -> None:
        self.naps.append(seconds)
        self.now_ms += int(seconds * 1000)
        if self._nap:
            self._nap(seconds)

    @property
    def types(self) -> list[str]:
        return [event.type for event in self.events]

    def reading(self, nonce_used: NonceRead) -> DeliveryContext:
        return self.world._replace(nonce_used=nonce_used)


@contextmanager
def delivering_machine(
    path: Path | str, *, now_ms: int = NOW, silence_s: float = 5, nap: Callable[[float], None] | None = None
) -> Iterator[Desk]:
    with open_journal(str(path), lambda: now_ms) as journal, Http(Timeouts(stream_silence=silence_s)) as http:
        yield Desk(journal, http, now_ms=now_ms, nap=nap)


def unsent(base_url: str = "https://market.example", **changes: object) -> Delivery:
    """Return a delivery whose forms are right and whose contents nobody checks."""
    return Delivery(
        digest="0x" + "ab" * 32,
        step="open-eth",
        ceremony="2026-12",
        primary_type="OpenTradeReq",
        route="batched-market",
        base_url=base_url,
        order_type=0,
        encoded_intent="0x" + "00" * 32,
        signature="0x" + "5a" * 64 + "1b",
        signer="0x" + "11" * 20,
        contract="0x" + "22" * 20,
        nonce="12345",
        deadline_ms=NOW + 600_000,
        chain_id=84532,
    )._replace(**changes)  # type: ignore[arg-type]
