"""An API key of the venue: one header, sent to the addresses that the configuration writes out, and to nobody else.

The specification defines no credential for the builder and shows none for the other services ("Authentication", 1 and 7); a
venue may ask for one all the same. The value comes from a file that only its owner can read, or from the environment. It is
in no setting and no document, and no output of this process shows it.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import NamedTuple

from airlock_online.addresses import http_address, is_loopback, shown_address
from airlock_online.config import ApiKeySettings
from airlock_online.secrets import keep_secret, redact
from airlock_shared.errors import UsageError
from airlock_shared.host.files import open_input
from airlock_shared.text.safe import safe

_MAX_BYTES = 4096
_RUN = r"[0-9A-Za-z+/=_-]{16,1024}"  # what the redactor can keep: a shorter piece it cannot
_VALUE = re.compile(rf"(?:Bearer )?{_RUN}(?:\.{_RUN}){{0,4}}", re.ASCII)
_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,63}", re.ASCII)
_OURS = frozenset(
    "accept accept-encoding connection content-encoding content-length content-type cookie expect host keep-alive te "
    "trailer transfer-encoding upgrade user-agent".split()
)

Origin = tuple[str, str, int]


class ApiKey(NamedTuple):
    """A header's name and value, and the origins (scheme, host, port) that it is sent to."""

    header: str
    value: str
    origins: frozenset[Origin]

    def __repr__(self) -> str:
        """Name the key without its value."""
        return f"ApiKey({self.header})"

    def headers_for(self, origin: Origin) -> list[tuple[bytes, bytes]]:
        """Return the header for an origin, none for one that it is not for."""
        return [(self.header.encode(), self.value.encode())] if origin in self.origins else []


def read_api_key(settings: ApiKeySettings, from_environment: str) -> ApiKey | None:
    """Return the key, None where none is configured; from now on no output of this process shows it.

    Raises ``UsageError`` for half a configuration, for a file that others can read, for a value that the redactor could not
    keep out of the outputs, and for an address at which it could be read on its way.
    """
    if not settings.header:
        if settings.file or settings.addresses or from_environment:
            raise _wrong("there is a key or an address for it, and no header", 'header = "X-Api-Key"')
        return None
    name = settings.header.lower()
    if not _HEADER.fullmatch(settings.header) or name in _OURS or name.startswith("proxy-"):
        raise _wrong(f"header {safe(settings.header, limit=80)!r} is none that a key can have", 'header = "X-Api-Key"')
    origins = frozenset(_origin(address) for address in settings.addresses.split())
    if not origins:
        raise _wrong("no address is named that the key is for", 'addresses = "https://venue.example"')
    if from_environment and settings.file:
        raise _wrong("a file and the environment both have a key", "one of them")
    value = from_environment or _from_file(settings.file)
    keep_secret(value)
    if not _VALUE.fullmatch(value) or any(part in redact(value) for part in re.findall(_RUN, value)):
        raise _wrong(
            "the value is not of a form that can be kept out of every output", "16 characters or more, in ASCII"
        )
    return ApiKey(settings.header, value, origins)


def _origin(address: str) -> Origin:
    shown, parts = safe(shown_address(address), limit=120), http_address(address)
    if parts is None or parts.path.strip("/") or set(address) & set("?#@"):
        raise _wrong(f"{shown!r} is not an origin", 'addresses = "https://venue.example"')
    host = str(parts.hostname)
    if parts.scheme == "http" and not is_loopback(host):
        raise _wrong(f"{shown} is plain http: the key could be read on its way", "its https address")
    return parts.scheme, host, parts.port or (443 if parts.scheme == "https" else 80)


def _from_file(name: str) -> str:
    if not name:
        raise _wrong("no key is there", "file, or set AIRLOCK_API_KEY")
    with open_input(Path(name), max_bytes=_MAX_BYTES) as source:
        status = os.fstat(source.fileno())
        if stat.S_IMODE(status.st_mode) & 0o077 or status.st_uid != os.geteuid():
            raise UsageError(
                f"the key's file {safe(name, limit=200)} is open to others than its owner",
                do=f"chmod 600 {safe(name, limit=200)}",
            )
        return source.read(_MAX_BYTES).decode("ascii", "replace").strip()


def _wrong(what: str, instead: str) -> UsageError:
    return UsageError(f"[api_key] {what}", do=f"correct config.toml: give {instead}")
