"""The services of a venue, and the routes by which signed things reach them: the one table of both.

A deployment has the services' addresses, a request names the route of what is signed, the online half has a module a
route (``airlock_online.delivery.routes``), and the documentation lists the endpoints. A new route is a row here, that
module, and the struct that names it. Source: the specification, "What the service does" and "Other execution services
referenced".
"""

from __future__ import annotations

from typing import NamedTuple


class Service(NamedTuple):
    """A service. ``name`` is how pages, error codes and the rehearsal's faults call it.

    ``url_key`` is its address's name in a deployment document; ``asked_for`` is what ``deployment fetch`` asks for, empty
    where it asks for nothing.
    """

    name: str
    url_key: str
    title: str
    asked_for: str = ""

    @property
    def option(self) -> str:
        """The option of ``deployment fetch`` that gives its address."""
        return f"--{self.url_key.replace('_', '-')}"


class Endpoint(NamedTuple):
    """An endpoint of a route: the path as documented, what it is for, and the command that uses it."""

    method: str
    path: str
    what: str
    command: str


class Route(NamedTuple):
    """A way that signed things go. ``name`` stands in requests and in the journal; ``takes`` is what goes by it.

    ``pinnable`` tells whether a struct that an operator pinned may go by it. ``own`` names the members of a delivery that
    belong to this route alone.
    """

    name: str
    service: Service
    takes: str
    endpoints: tuple[Endpoint, ...]
    pinnable: bool = False
    own: frozenset[str] = frozenset()


INTENT, TRANSACTION = "intent", "transaction"
"""What a route takes."""

AUTHORIZATION = "authorization"
"""The action of an item that is neither: an EIP-7702 authorization, which goes within its order's request."""

BUILDER = Service("builder", "builder", "The builder", "Base URL of the builder service.")
_MARKET = Service("batched", "batched_market", "The batched market", "Base URL of the batched-market service.")
_RELAYER = Service(
    "relayer",
    "relayer",
    "The relayer, whose paths and body are configuration, because no specification documents them",
    "Base URL of the relayer.",
)
_TWAP = Service("twap", "twap", "The TWAP service", "Base URL of the TWAP service.")
_CORE = Service("core", "core_api", "The core API", "Base URL of the core API.")
_NODE = Service(
    "rpc",
    "rpc",
    "The operator's own node, by JSON-RPC 2.0; nothing needs it where nonce, gas and fees are given by hand",
)

SERVICES = {service.name: service for service in (BUILDER, _MARKET, _RELAYER, _TWAP, _CORE, _NODE)}
"""By name, in the order in which they are asked for."""

BATCHED_MARKET, RELAYER, CORE_API, TWAP, RELAY, RPC = "batched-market", "relayer", "core-api", "twap", "relay", "rpc"
"""The routes' names."""

_ROUTES = (
    Route(
        BATCHED_MARKET, _MARKET, INTENT,
        (
            Endpoint("POST", "/market/execute-batched", "opens, closes and increases", "submit"),
            Endpoint("GET", "/tracking-id/{trackingId}/status", "an order's events again", "follow"),
        ),
        own=frozenset({"eip7702"}),
    ),
    Route(
        RELAYER, _RELAYER, INTENT,
        (
            Endpoint("POST", "/intents", "delegate and referral intents", "submit"),
            Endpoint("GET", "/intents/{id}", "the outcome of one", "follow"),
        ),
        pinnable=True,
    ),
    Route(
        CORE_API, _CORE, INTENT,
        (
            Endpoint("POST", "/price-triggers", "store a trigger", "submit"),
            Endpoint("PUT", "/price-triggers/{entityId}", "replace a trigger; it gets a new id", "submit"),
        ),
        pinnable=True, own=frozenset({"replaces"}),
    ),
    Route(
        TWAP, _TWAP, INTENT,
        (Endpoint("POST", "/twaps/cancel", "a signed cancellation", "submit"),),
        pinnable=True,
    ),
    Route(
        RELAY, BUILDER, TRANSACTION,
        (
            Endpoint("POST", "/v2/relay", "send a signed transaction", "submit"),
            Endpoint("GET", "/v2/relay/{hash}", "the outcome of a relayed transaction", "relay"),
        ),
    ),
    Route(
        RPC, _NODE, TRANSACTION,
        (Endpoint("POST", "eth_sendRawTransaction", "send a signed transaction, once", "submit"),),
    ),
)  # fmt: skip

ROUTES = {route.name: route for route in _ROUTES}
"""By name."""

OF_TRANSACTIONS = frozenset(name for name, route in ROUTES.items() if route.takes == TRANSACTION)
"""The routes of a signed transaction: the operator chooses, and the chain takes it once whichever it is."""

PINNABLE = tuple(name for name, route in ROUTES.items() if route.pinnable)
"""The routes that a struct may take which an operator pinned."""
