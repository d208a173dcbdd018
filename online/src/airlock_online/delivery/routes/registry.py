"""The routes by name: the one place that knows which module delivers what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from airlock_online.delivery.routes import batched, core_api, relay, relayer, rpc, twap
from airlock_online.delivery.routes.context import Delivery, DeliveryContext, Parcel
from airlock_online.delivery.routes.tracker import Tracker
from airlock_online.journal.schema import Submission
from airlock_shared.catalogue import services


class RouteModule(Protocol):
    """What a route's module does; the rest of a route is data (:mod:`airlock_shared.catalogue.services`)."""

    def parcel(self, delivery: Delivery, context: DeliveryContext) -> Parcel:
        """Return the one request. Raises ``UsageError`` or ``Refusal`` for what cannot go this way."""

    def send(self, delivery: Delivery, parcel: Parcel, tracker: Tracker, context: DeliveryContext) -> str:
        """Send the request once and follow it. Return why that stopped, empty when it is final.

        The caller holds the claim. Whatever happens, the journal says what is known.
        """

    def follow(self, known: Submission, tracker: Tracker, context: DeliveryContext) -> str:
        """Ask what became of it, by reading alone. Return why that stopped, empty when it is final."""


MODULES: Mapping[str, RouteModule] = {
    services.BATCHED_MARKET: batched,
    services.RELAYER: relayer.ROUTE,
    services.CORE_API: core_api.ROUTE,
    services.TWAP: twap.ROUTE,
    services.RELAY: relay.ROUTE,
    services.RPC: rpc,
}
