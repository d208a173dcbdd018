"""Whose claim it is: a token that nobody else knows, a holder for a person to read, and a lease by the database's clock.

The lease decides between machines. On one machine a holder that is gone is noticed at once: a process is known by this
start of the machine, its namespace, its number and its own start. That only shortens the waiting; what is presumed of a
claim takes nothing from its holder, who still writes down what it learned.
"""

from __future__ import annotations

import getpass
import os
import re
import secrets
import socket
from pathlib import Path
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, cast, extract, func, literal

LEASE_MS = 600_000
"""Longer than every time-out of a sending together: connecting, the reply's head, a whole stream, the journal's waits."""

_GONE = re.compile(r"\(([0-9a-f]{8}\.\d+\.(\d+)\.\d+)\)\Z")
_HELD: set[str] = set()  # the tokens with which this process is sending


def new_token() -> str:
    """Return a token for a claim of this process, which holds it until :func:`let_go`."""
    token = secrets.token_hex(16)
    _HELD.add(token)
    return token


def let_go(token: str) -> None:
    """Say that the journal has what became of a sending, or that it has ended without that."""
    _HELD.discard(token)


def sending() -> bool:
    """Tell whether this process is sending something of which the journal does not know yet what became."""
    return bool(_HELD)


def holder() -> str:
    """Return who this process is: a name for a person, and in brackets what tells it from any other process."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = str(os.getuid())
    return f"{user}@{socket.gethostname()}, process {os.getpid()} ({_identity(os.getpid())})"


def shown_holder(text: str) -> str:
    """Return a holder without what is for machines."""
    return _GONE.sub("", text).strip() or "an earlier version of this program"


def is_gone(text: str, token: str) -> bool:
    """Tell whether a holder was a process of this machine that has ended, or is this one and sends no more."""
    found = _GONE.search(text)
    if found is None:
        return False
    identity, number = found[1], int(found[2])
    mine = _identity(os.getpid())
    if identity.split(".")[:2] != mine.split(".")[:2]:  # another machine, an earlier start, or another namespace
        return False
    return token not in _HELD if identity == mine else _identity(number) != identity


def _identity(number: int) -> str:
    """Return this start of the machine, the namespace of processes, the process's number and its start; made of zeros."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text()[:8]
        namespace = re.sub(r"\D", "", str(Path("/proc/self/ns/pid").readlink()))
    except OSError:
        return f"00000000.0.{number}.0"
    try:
        began = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[19]  # field 22, after the name
    except (OSError, IndexError):
        began = "0"
    return f"{boot}.{namespace}.{number}.{began}"


def database_now_ms(dialect: str, now_ms: int) -> ColumnElement[Any]:
    """Return the database's own time, unix ms; of a database that we do not know, this machine's."""
    if dialect == "sqlite":
        return cast((func.julianday("now") - 2440587.5) * 86_400_000, BigInteger)
    if dialect == "postgresql":
        return cast(extract("epoch", func.clock_timestamp()) * 1000, BigInteger)
    return literal(now_ms, BigInteger)
