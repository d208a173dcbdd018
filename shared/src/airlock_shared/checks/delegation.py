"""A delegate's registration, as it was read from the chain: whether it permits what its key is asked to sign."""

from __future__ import annotations

from airlock_shared.checks.case import Case, Finding, Read
from airlock_shared.units import looks_like_seconds


def registration_is_live(case: Case | Read, permission: str) -> Finding:
    """Judge the registration read that came with an item; an expiry with the magnitude of milliseconds is no expiry."""
    read = case.request.delegation or {}
    expiry_s = read.get("expiry", 0)
    live = read.get("isEnabled") is True and read.get(permission, True) is True
    latest_ms = case.situation.now_ms + case.situation.clock_uncertainty_ms
    live = live and looks_like_seconds(expiry_s) and expiry_s * 1000 > latest_ms
    return Finding(live, read, "enabled, with this permission, expiry (unix seconds) in the future")
