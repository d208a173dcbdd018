"""The rate limit of the builder's trading endpoints, per client address (specification, "Limits")."""

from __future__ import annotations

from collections import deque

MINUTE_MS = 60_000


class RateLimit:
    """At most ``per_minute`` requests from one address within any minute; ``None`` limits nothing."""

    def __init__(self, per_minute: int | None) -> None:
        self.per_minute = per_minute
        self._seen: dict[str, deque[int]] = {}

    def wait_s(self, client: str, now_ms: int) -> int:
        """Count a request; return 0 when it may go on, else how many seconds the client has to wait."""
        if self.per_minute is None:
            return 0
        seen = self._seen.setdefault(client, deque())
        while seen and seen[0] <= now_ms - MINUTE_MS:
            seen.popleft()
        if len(seen) < self.per_minute:
            seen.append(now_ms)
            return 0
        return -(-(seen[0] + MINUTE_MS - now_ms) // 1000)
