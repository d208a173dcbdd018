"""The routes by which signed things reach a venue's services, with the endpoints of each: the one table of them.

A route's requests are made by a module of ``airlock_online.delivery.routes``, and the documentation lists the endpoints. A
new route is a name in ``airlock_shared.venue.structs``, a row here, that module, and the struct that names it. Source: the
specification, "Other execution services referenced".
"""

from __future__ import annotations

from typing import NamedTuple

from airlock_shared.venue.structs import (
    BATCHED_MARKET,
    CORE_API,
    RELAY,
    RELAYER,
    RPC,
    SERVICES,
    TWAP,
    Service,
)


class Endpoint(NamedTuple):
    """An endpoint of a route: the path as documented, what it is for, and the command that uses it."""

    method: str
    path: str
    what: str
    command: str


class Route(NamedTuple):
    """A way that signed things go. ``name`` stands in requests and in the journal; ``takes`` is what goes by it.

    ``own`` names the members of a delivery that belong to this route alone.
    """

    name: str
    service: Service
    takes: str
    endpoints: tuple[Endpoint, ...]
    own: frozenset[str] = frozenset()


INTENT, TRANSACTION = "intent", "transaction"
"""What a route takes."""

_ROUTES = (
    Route(
        BATCHED_MARKET, SERVICES["batched"], INTENT,
        (
            Endpoint("POST", "/market/execute-batched", "opens, closes and increases", "submit"),
            Endpoint("GET", "/tracking-id/{trackingId}/status", "an order's events again", "follow"),
        ),
        own=frozenset({"eip7702"}),
    ),
    Route(
        RELAYER, SERVICES["relayer"], INTENT,
        (
            Endpoint("POST", "/intents", "delegate and referral intents", "submit"),
            Endpoint("GET", "/intents/{id}", "the outcome of one", "follow"),
        ),
    ),
    Route(
        CORE_API, SERVICES["core"], INTENT,
        (
            Endpoint("POST", "/price-triggers", "store a trigger", "submit"),
            Endpoint("PUT", "/price-triggers/{entityId}", "replace a trigger; it gets a new id", "submit"),
        ),
        own=frozenset({"replaces"}),
    ),
    Route(
        TWAP, SERVICES["twap"], INTENT,
        (Endpoint("POST", "/twaps/cancel", "a signed cancellation", "submit"),),
    ),
    Route(
        RELAY, SERVICES["builder"], TRANSACTION,
        (
            Endpoint("POST", "/v2/relay", "send a signed transaction", "submit"),
            Endpoint("GET", "/v2/relay/{hash}", "the outcome of a relayed transaction", "relay"),
        ),
    ),
    Route(
        RPC, SERVICES["rpc"], TRANSACTION,
        (Endpoint("POST", "eth_sendRawTransaction", "send a signed transaction, once", "submit"),),
    ),
)  # fmt: skip

ROUTES = {route.name: route for route in _ROUTES}
"""By name."""

OF_TRANSACTIONS = frozenset(name for name, route in ROUTES.items() if route.takes == TRANSACTION)
"""The routes of a signed transaction: the operator chooses, and the chain takes it once whichever it is."""
