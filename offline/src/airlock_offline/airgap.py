"""The network guard: an audit hook that refuses every socket, installed before any command is read.

It is not an operating-system sandbox: it catches Python code of ours or of a dependency that opens a socket, and turns it
into a refusal. With ``--emulator`` alone, one loopback port is allowed: the software Ledger's. Source: PEP 578.
"""

from __future__ import annotations

import sys
from typing import Any

from airlock_shared.errors import Refusal

LOOPBACK = "127.0.0.1"


class _Allowance:
    """What the guard lets through: nothing, until ``--emulator`` names a loopback port."""

    port: int | None = None
    installed = False


_allowance = _Allowance()
_HARMLESS = frozenset({"socket.gethostname"})  # reads the machine's own name, sends nothing


def install_airgap() -> None:
    """Install the guard for the rest of the process. A second call changes nothing."""
    if not _allowance.installed:
        _allowance.installed = True
        sys.addaudithook(_guard)


def allow_loopback(port: int) -> None:
    """Allow connections to one port on 127.0.0.1: the software Ledger's."""
    _allowance.port = port


def _guard(event: str, arguments: tuple[Any, ...]) -> None:
    if not event.startswith("socket.") or event in _HARMLESS:
        return
    if _allowance.port is not None and _is_allowed(event, arguments):
        return
    raise Refusal(
        "AIRGAP-SOCKET",
        f"something on the signing machine tried to use the network ({event})",
        expected="no socket at all",
        do="stop; sign nothing until you know which program or library did it",
    )


def _is_allowed(event: str, arguments: tuple[Any, ...]) -> bool:
    if event == "socket.__new__":
        from socket import AF_INET, SOCK_STREAM  # somebody has loaded it, or there would be no event

        return arguments[1] in (AF_INET, -1) and arguments[2] in (SOCK_STREAM, -1)
    if event == "socket.getaddrinfo":
        return bool(arguments[0] == LOOPBACK)  # a numeric address: nobody is asked
    return event == "socket.connect" and tuple(arguments[1]) == (LOOPBACK, _allowance.port)
