"""The ways in which the services can be told to misbehave: one table, a name and a sentence each."""

from __future__ import annotations

import re
from typing import NamedTuple

from airlock_shared.errors import UsageError

SERVICES = ("builder", "batched", "relayer", "twap", "core")
"""The services, by path prefix; a fault of the table ``EVERYWHERE`` may be confined to one: ``http-500@batched``."""

MAX_ATTEMPTS = 5
"""How many attempts an order gets before it ends with ``ATTEMPTS_EXHAUSTED``."""

IN_PAYLOADS = {
    "digest-flipped": "The builder's digest differs in its last bit from the digest of the payload.",
    "types-renamed": "The last member of the struct has another name; digest and message agree with it.",
    "types-reordered": "The last two members of the struct are swapped in types; the digest agrees with it.",
    "domain-crossed": "A trading intent gets the referral domain and a referral intent the trading domain.",
    "wrong-chain": "The domain names another development chain; the digest agrees with it.",
    "message-altered": "A value of the message is not the one asked for; digest and encodedIntent agree with it.",
    "encoded-altered": "encodedIntent holds another value than the message, which the digest does not show.",
    "delegate-order": "encodedIntent of a DelegateReq is in the order it is hashed in, not in its ABI order.",
}
IN_EXECUTION = {
    "attempts-fail": f"attempts-fail-N: N attempts fail before the order is registered; with {MAX_ATTEMPTS} none is left.",
    "unknown-event": "An informational event of an unknown type comes before the order is registered.",
    "cancel-fill": "The protocol declines the fill whatever the price is (MarketOrderCanceled).",
    "fail-terminal": "A registered order ends with Error TX_NOT_EXECUTED; a relayed intent is reverted.",
    "enqueue-failed-no-id": "An accepted order ends at once with Error ENQUEUE_FAILED, without id and not persisted.",
    "stream-timeout": "The stream's lifetime cap is reached right after MarketOrderAccepted; the order goes on.",
    "duplicate-replay": "Every event is delivered twice, in the stream and in the replay, and afterSeq is ignored.",
    "empty-events": "The status endpoint knows the order and has no events for it.",
    "status-404-once": "The first status request for an order is answered with 404.",
    "drop-before-accepted": "An order, intent or trigger is processed, and the connection is cut after the reply's headers.",
    "drop-after-accepted": "The connection is cut after MarketOrderAccepted; the order goes on.",
    "drop-mid-frame": "The connection is cut in the middle of the frame with seq 1; the order goes on.",
}
EVERYWHERE = {
    "http-500": "Every request is answered with 500, unprocessed.",
    "http-429": "Every request is answered with 429 and Retry-After: 1, unprocessed.",
    "http-503": "Every request is answered with 503, unprocessed; /ready has its breakdown.",
    "not-json": "Every request is answered with 200 and a page of HTML, unprocessed.",
    "huge-body": "Every request is answered with 200 and 32 MiB of JSON, unprocessed.",
    "silent": "No answer ever comes; a market order is processed, its stream opens and stays mute, without keep-alive.",
    "slow": "Every answer is late, and event streams dribble out in small pieces.",
}
FAULTS = IN_PAYLOADS | IN_EXECUTION | EVERYWHERE
"""Every fault's name, and what it does."""


class Faults(NamedTuple):
    """The faults in force: names of the table, with their service or count, e.g. ``attempts-fail-2``."""

    names: frozenset[str] = frozenset()

    @classmethod
    def of(cls, *names: str) -> Faults:
        """Return these faults. Raises ``UsageError`` for a name that is not in the table."""
        for name in names:
            _check(name)
        return cls(frozenset(names))

    def has(self, name: str, service: str = "") -> bool:
        """Tell whether a fault is in force, for everything or for this service."""
        return name in self.names or (bool(service) and f"{name}@{service}" in self.names)

    @property
    def failing_attempts(self) -> int:
        """How many attempts of an order fail."""
        return max((int(n.rpartition("-")[2]) for n in self.names if n.startswith("attempts-fail-")), default=0)


def _check(name: str) -> None:
    base, at, service = name.partition("@")
    counted = re.fullmatch(r"attempts-fail-[0-9]{1,3}", name, re.ASCII)
    confined = not at or (base in EVERYWHERE and service in SERVICES)
    if not counted and (base not in FAULTS or base == "attempts-fail" or not confined):
        known = ", ".join(n + "-N" * (n == "attempts-fail") for n in FAULTS)
        raise UsageError(f"no fault is called {name!r}", do=f"use one of: {known}")
