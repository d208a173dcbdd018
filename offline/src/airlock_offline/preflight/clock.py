"""The clock's line on the page: the machine's time, and the watch that vouches for it."""

from __future__ import annotations

from typing import Any

from airlock_shared.checks.clock import advice
from airlock_shared.host.observed import LOOK, Observed
from airlock_shared.units import utc_text


def clock_lines(machine_ms: int, statement: dict[str, Any] | None, valid_ms: int | None) -> list[Observed]:
    """Return the machine's time, and who vouches for it.

    ``statement`` is what was stated just now, ``valid_ms`` the uncertainty of an earlier statement that still holds.
    """
    now = Observed("time", "this machine", utc_text(machine_ms))
    if statement is not None:
        return [now, Observed("time", "watch", f"agrees within {statement['uncertainty_s']} s")]
    if valid_ms is not None:
        return [now, Observed("time", "watch", f"agreed within {valid_ms // 1000} s, in the last 24 hours")]
    return [
        now,
        Observed("time", "watch", "nobody has compared it with a watch today; `sign` needs that", LOOK, advice()),
    ]
