"""The services of a venue, and the names of the routes by which signed things reach them.

A deployment has the services' addresses, and a request names the route of what is signed. Which endpoints a route has is the
online half's (``airlock_online.route_table``). Source: the specification, "What the service does".
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


AUTHORIZATION = "authorization"
"""The action of an item that is neither intent nor transaction: an EIP-7702 authorization, which goes with its order."""

_SERVICES = (
    Service("builder", "builder", "The builder", "Base URL of the builder service."),
    Service("batched", "batched_market", "The batched market", "Base URL of the batched-market service."),
    Service(
        "relayer",
        "relayer",
        "The relayer, whose paths and body are configuration, because no specification documents them",
        "Base URL of the relayer.",
    ),
    Service("twap", "twap", "The TWAP service", "Base URL of the TWAP service."),
    Service("core", "core_api", "The core API", "Base URL of the core API."),
    Service(
        "rpc",
        "rpc",
        "The operator's own node, by JSON-RPC 2.0; nothing needs it where nonce, gas and fees are given by hand",
    ),
)
SERVICES = {service.name: service for service in _SERVICES}
"""By name, in the order in which they are asked for."""

BUILDER = SERVICES["builder"]

BATCHED_MARKET, RELAYER, CORE_API, TWAP, RELAY, RPC = "batched-market", "relayer", "core-api", "twap", "relay", "rpc"
"""The routes' names. ``relayer`` takes intents, ``relay`` signed transactions.

The service ``core``, at the address ``core_api``, is the route ``core-api``.
"""

PINNABLE = (RELAYER, CORE_API, TWAP)
"""The routes that a struct may take which an operator pinned."""
