"""A venue's profile, read from a file and resolved into a deployment: what is signed there, pinned as a whole."""

from __future__ import annotations

from typing import Any

from airlock_shared.catalogue.profile import resolve
from airlock_shared.wire.codec import parse_json, refuse_floats

MAX_BYTES = 1 << 20


def add_venue_profile(document: dict[str, Any], data: bytes) -> dict[str, Any]:
    """Return a deployment's document with a profile's result in it.

    Raises ``DocumentError``: ``DOC-VENUE`` for a profile that Airlock does not take, and what the codec raises.
    """
    profile = parse_json(data, max_bytes=MAX_BYTES)
    refuse_floats(profile)
    return {**document, "signed": resolve(profile)}
