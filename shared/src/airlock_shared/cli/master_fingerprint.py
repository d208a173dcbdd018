"""The master fingerprint of another wallet's seed on a command line: by it a wallet knows whether a request is its own.

BIP-32, "Key identifiers": the first four bytes of the master key's identifier, here as eight hex digits.
"""

from __future__ import annotations

import re

import click

from airlock_shared.errors import UsageError

_FINGERPRINT = re.compile(r"[0-9a-fA-F]{8}", re.ASCII)


def read_fingerprint(_context: click.Context, _option: click.Parameter, value: str | None) -> int | None:
    """Return the number that ``--master-fingerprint`` gives, None without it. Raises ``UsageError``."""
    if value is None:
        return None
    if not _FINGERPRINT.fullmatch(value):
        raise UsageError(f"not a master fingerprint: {value[:40]!r}", do="give its eight hex digits, such as 73c5da0a")
    return int(value, 16)
