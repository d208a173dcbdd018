"""The ways in which the services can be told to misbehave: one table, a name, a sentence and the places of each.

A fault is given as ``name``, for every place it has, or as ``name@service`` for one alone. One takes a value:
``attempts-fail=3``.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from airlock_shared.errors import UsageError

SERVICES = ("builder", "batched", "relayer", "twap", "core", "rpc")
"""The services, by path prefix."""

PLACES = (*SERVICES, "relay")
"""Where a fault can be: a service, or the builder's ``/v2/relay``, which is not meant when ``builder`` is."""

MAX_ATTEMPTS = 5
"""How many attempts an order gets before it ends with ``ATTEMPTS_EXHAUSTED``."""

_CHAIN = ("relay", "rpc")
_EFFECTS = tuple(place for place in PLACES if place != "builder")


class Fault(NamedTuple):
    """What a fault does, where it can be, and the form of its value (empty: it takes none)."""

    does: str
    where: tuple[str, ...]
    value: str = ""


def _payload(sentence: str) -> Fault:
    return Fault(sentence, ("builder",))


IN_PAYLOADS = {
    "digest-flipped": _payload("The builder's digest differs in its last bit from the digest of the payload."),
    "types-renamed": _payload("The last member of the struct has another name; digest and message agree with it."),
    "types-reordered": _payload("The last two members of the struct are swapped in types; the digest agrees with it."),
    "domain-crossed": _payload("A trading intent gets the referral domain and a referral intent the trading domain."),
    "wrong-chain": _payload("The domain, or the transaction, names another development chain; the digest agrees."),
    "message-altered": _payload("A value is not the one asked for; digest, encodedIntent and calldata agree with it."),
    "encoded-altered": _payload("encodedIntent holds another value than the message, which the digest does not show."),
}
IN_EXECUTION = {
    "attempts-fail": Fault(
        f"N attempts (attempts-fail=N) fail before the order is registered; with {MAX_ATTEMPTS} none is left.",
        ("batched",), "[0-9]{1,3}",
    ),
    "unknown-event": Fault("An informational event of an unknown type comes before the order is registered.", ("batched",)),
    "cancel-fill": Fault("The protocol declines the fill at any price.", ("batched", *_CHAIN)),
    "fail-terminal": Fault(
        "A registered order ends with Error TX_NOT_EXECUTED; a relayed intent or a transaction is reverted.",
        ("batched", "relayer", *_CHAIN),
    ),
    "enqueue-failed-no-id": Fault(
        "An accepted order ends at once with Error ENQUEUE_FAILED, without id and not persisted.", ("batched",)
    ),
    "stream-timeout": Fault(
        "The stream's lifetime cap is reached right after MarketOrderAccepted; the order continues.", ("batched",)
    ),
    "duplicate-replay": Fault(
        "Every event is delivered twice, in the stream and in the replay, and afterSeq is ignored.", ("batched",)
    ),
    "empty-events": Fault("The status endpoint knows the order and has no events for it.", ("batched",)),
    "status-404-once": Fault("The first status request for an order is answered with 404.", ("batched",)),
    "no-keep-alive": Fault("An event stream has no comments, neither at its start nor while nothing happens.", ("batched",)),
    "drop-after-accepted": Fault("The connection is cut after MarketOrderAccepted; the order continues.", ("batched",)),
    "drop-mid-frame": Fault("The connection is cut within the frame with seq 1; the order continues.", ("batched",)),
    "drop-before-accepted": Fault(
        "What was sent takes effect, and the connection is cut after the reply's headers.", _EFFECTS
    ),
    "http-500-after": Fault("What was sent takes effect, and is answered with 500.", _EFFECTS),
    "wrong-hash": Fault("The hash of the transaction in the reply is not the transaction's.", ("twap", *_CHAIN)),
}  # fmt: skip
EVERYWHERE = {
    "http-500": Fault("Every request is answered with 500, unprocessed.", PLACES),
    "http-429": Fault("Every request is answered with 429 and Retry-After: 1, unprocessed.", PLACES),
    "http-503": Fault("Every request is answered with 503, unprocessed; /ready has its breakdown.", PLACES),
    "not-json": Fault("Every request is answered with 200 and a page of HTML, unprocessed.", PLACES),
    "huge-body": Fault("Every request is answered with 200 and 32 MiB of JSON, unprocessed.", PLACES),
    "silent": Fault(
        "No answer ever comes; a market order is processed, its stream opens but sends nothing, not even keep-alive.",
        PLACES,
    ),
    "slow": Fault("Every answer is late, and event streams come in small pieces.", PLACES),
}
FAULTS = IN_PAYLOADS | IN_EXECUTION | EVERYWHERE
"""Every fault by its name."""


_ATTEMPTS = re.compile("attempts-fail=([0-9]+)", re.ASCII)


class Faults(NamedTuple):
    """The faults in force, as they were given: ``slow``, ``http-500@batched``, ``attempts-fail=2``."""

    names: frozenset[str] = frozenset()

    @classmethod
    def of(cls, *names: str) -> Faults:
        """Return these faults. Raises ``UsageError`` for a name, a value or a place that is not in the table."""
        for name in names:
            _check(name)
        return cls(frozenset(names))

    def has(self, name: str, service: str) -> bool:
        """Tell whether a fault is in force at a place."""
        return name in self.names or f"{name}@{service}" in self.names

    @property
    def failing_attempts(self) -> int:
        """How many attempts of an order fail."""
        return max((int(found[1]) for name in self.names if (found := _ATTEMPTS.match(name))), default=0)


def _check(given: str) -> None:
    name, at, place = given.partition("@")
    name, equals, value = name.partition("=")
    fault = FAULTS.get(name)
    if fault is None:
        forms = ", ".join(known + ("=VALUE" if row.value else "") for known, row in FAULTS.items())
        raise UsageError(f"no fault is called {name!r}", do=f"use one of: {forms}")
    if bool(fault.value) != bool(equals) or not re.fullmatch(fault.value, value, re.ASCII):
        form = f"{name}=VALUE with a value like {fault.value}" if fault.value else f"{name} without a value"
        raise UsageError(f"the fault {given!r} has another form", do=f"give it as {form}")
    if at and place not in fault.where:
        raise UsageError(f"the fault {name} cannot be at {place!r}", do=f"use one of: {', '.join(fault.where)}")
