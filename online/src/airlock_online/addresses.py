"""What counts as an http(s) address, of whatever somebody typed or wrote into a file: in one place for all of them."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit


def http_address(url: str) -> SplitResult | None:
    """Return the parts of a plain http(s) address with a host; None for what is none, or has a blank or an odd sign."""
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return None
    return parts if good and url.isascii() and url.isprintable() and " " not in url else None
