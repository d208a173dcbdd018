"""The online machine's clock."""

from __future__ import annotations

import time


def now_ms() -> int:
    """Return the machine's time in unix milliseconds."""
    return time.time_ns() // 1_000_000
