"""A venue's profile, read from a file and resolved into a deployment: what is signed there, pinned as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airlock_shared.catalogue.intents import CATALOGUE
from airlock_shared.catalogue.profile import resolve
from airlock_shared.catalogue.services import CORE_API, TWAP
from airlock_shared.documents.deployment import Deployment
from airlock_shared.errors import UsageError
from airlock_shared.wire.codec import parse_json, refuse_floats

MAX_BYTES = 1 << 20


def add_venue_profile(document: dict[str, Any], data: bytes) -> dict[str, Any]:
    """Return a deployment's document with a profile's result in it.

    Raises ``DocumentError``: ``DOC-VENUE`` for a profile that Airlock does not take, and what the codec raises.
    """
    profile = parse_json(data, max_bytes=MAX_BYTES)
    refuse_floats(profile)
    return {**document, "signed": resolve(profile)}


def require_deliverable(deployment: Deployment, price_trigger: Mapping[str, str]) -> None:
    """Raise ``UsageError`` for a struct of the venue's own that ``submit`` could not send, before anybody signs one.

    ``price_trigger`` is the core API's body in the services file, empty where it has none.
    """
    for name, intent in deployment.structs.items():
        if name in CATALOGUE or not (intent.route == TWAP or (intent.route == CORE_API and not price_trigger)):
            continue
        missing = "takes cancellations alone" if intent.route == TWAP else "has no body of it: [bodies] price_trigger"
        raise UsageError(f"{name} could not be delivered: the route {intent.route} {missing}", do="correct the profile")
