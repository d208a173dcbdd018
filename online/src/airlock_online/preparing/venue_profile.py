"""A venue's profile, read from a file and resolved into a deployment: what is signed there, pinned as a whole."""

from __future__ import annotations

from typing import Any

from airlock_online.speech.sections import Speech
from airlock_shared.catalogue.intents import CATALOGUE
from airlock_shared.catalogue.profile_differences import resolve
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


def require_deliverable(deployment: Deployment, speech: Speech) -> None:
    """Raise ``UsageError`` for a struct of the venue's own that ``submit`` could not send, before anybody signs one."""
    for name, intent in deployment.structs.items():
        if name not in CATALOGUE and intent.route in (TWAP, CORE_API) and f"{intent.route}-{name}" not in speech.bodies:
            raise UsageError(
                f"{name} could not be delivered: no body of it is known for the route {intent.route}",
                do=f"say how it is sent in the services file, [bodies.{intent.route}-{name}], or correct the profile",
            )
