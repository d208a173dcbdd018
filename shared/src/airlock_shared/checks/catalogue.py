"""Every check id with its description, put together from where each stands: for ``docs/checks.md`` and ``explain``.

It imports every check; what judges or refuses needs none of it.
"""

from __future__ import annotations

from airlock_shared.checks import (
    agreement,
    clock,
    document,
    nonces,
    payload,
    possession,
    text_warnings,
    times,
    transaction,
)
from airlock_shared.checks.case import Check, Info
from airlock_shared.checks.descriptions import FAMILIES

ALL: tuple[Check, ...] = (
    *document.CHECKS, clock.time_is_stated, *payload.BEFORE_MESSAGE, *payload.AFTER_MESSAGE, *agreement.STEP_CHECKS,
    *agreement.PLAN_CHECKS, *agreement.INTENT_CHECKS, *times.CHECKS, *text_warnings.CHECKS, *transaction.CHECKS,
    *nonces.CHECKS, possession.key_is_proved,
)  # fmt: skip
"""Every check that is a function of its own, in the order in which they run."""

_DESCRIBED = {check.id: check.info for check in ALL}

CHECKS: dict[str, Info] = {
    check: info
    for name, family in FAMILIES.items()
    for check, info in (family.raised | {c: i for c, i in _DESCRIBED.items() if c.split("-")[0] == name}).items()
}
"""Every id, family by family."""
