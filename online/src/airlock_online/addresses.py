"""What counts as an http(s) address, of whatever somebody typed or wrote into a file: in one place for all of them.

A service has a base, which may have a path of its own, and paths below it.
"""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import SplitResult, quote, urlsplit

from airlock_shared.errors import ServiceError, UsageError
from airlock_shared.text.safe import safe


def http_address(url: str) -> SplitResult | None:
    """Return the parts of a plain http(s) address with a host; None for what is none, or has a blank or an odd sign."""
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return None
    return parts if good and url.isascii() and url.isprintable() and " " not in url else None


def is_loopback(host: str) -> bool:
    """Tell whether a name or an address is this machine's own."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def join_address(base_url: str, path: str) -> str:
    """Return the address of a path under a base address, keeping the base's own path.

    Raises ``UsageError`` for a base that is no plain http(s) address or carries credentials, or for a path that is not
    one: it begins with ``/``, and has no query, no fragment, no empty or dotted segment.
    """
    if (base := http_address(base_url)) is None:
        what = f"{safe(shown_address(base_url), limit=200)!r} is not an http(s) address"
        raise UsageError(what, do="correct it; of what was given no more than scheme and host is shown")
    if base.username is not None or base.password is not None or base.query or base.fragment:
        raise UsageError(
            f"the address of {safe(base.hostname or '')} carries credentials, a query or a fragment",
            do="give only the address; an API key has its section [api_key] in config.toml",
        )
    parts = path.removesuffix("/").split("/")[1:] or [""]
    odd = any(part in ("", ".", "..") or set(part) & set("?#\\ ") for part in parts)
    if not path.startswith("/") or not path.isascii() or not path.isprintable() or odd:
        raise UsageError(f"{safe(path, limit=200)!r} is not a path such as '/v2/meta'", do="correct the path")
    return base_url.rstrip("/") + path


def segment(text: str) -> str:
    """Return an id that a service gave as one segment of a path. Raises ``ServiceError`` when it cannot be one."""
    if not 0 < len(text) <= 200 or text in (".", "..") or not text.isprintable():
        raise ServiceError(f"the service gave the id {safe(text, limit=80)!r}, which cannot be asked for")
    return quote(text, safe="")


def shown_address(url: str) -> str:
    """Return an address with its scheme and host alone: the rest may hold a key, or a password with a sign not escaped."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "…"
    rest = f"{parts.path}{parts.query}{parts.fragment}"
    if "@" in rest or not parts.hostname:
        return "…"
    return f"{parts.scheme}://{parts.hostname}{port}{'/…' if rest.strip('/') else ''}"
