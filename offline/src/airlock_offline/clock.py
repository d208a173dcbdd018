"""The signing machine's clock, which only a person can vouch for."""

from __future__ import annotations

import time
from pathlib import Path

from airlock_shared.checks.times import Uptime

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")  # random(4): another one at each start


def now_ms() -> int:
    """Return the machine's time in unix milliseconds."""
    return time.time_ns() // 1_000_000


def uptime() -> Uptime | None:
    """Return how long the machine has been running, suspended or not; None where the system does not tell."""
    if not hasattr(time, "CLOCK_BOOTTIME"):
        return None
    try:
        boot_id = BOOT_ID.read_text(encoding="utf-8").strip()
    except OSError:
        return None
    return Uptime(boot_id, time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000)
