"""The exchanges with a Ledger as a log for support, without secrets: what was asked and answered, not about what.

Written in full are a command's header and length, the status word, the time, and the contents of commands that carry no
values: type definitions, array counts, app version and configuration. Everything else (paths, values, hashes, transactions,
messages, addresses, keys, signatures) is only counted in bytes.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

from airlock_offline.ledger.apdu import CLA_ETHEREUM, CLA_SYSTEM, P2_ARRAY, P2_NAME, Ins
from airlock_offline.ledger.transport import Transport
from airlock_shared.errors import AirlockError
from airlock_shared.host.files import append_line, require_new

_HEADER_BYTES = 5


def _is_open(command: bytes) -> bool:
    """Return whether a command carries no value of a request."""
    ins, p2 = command[1], command[3]
    return ins == Ins.EIP712_DEFINITION or (ins == Ins.EIP712_VALUE and p2 in (P2_NAME, P2_ARRAY))


def _is_answer_open(command: bytes) -> bool:
    """Return whether an answer says only which app and which settings there are."""
    return command[0] == CLA_SYSTEM or (command[0] == CLA_ETHEREUM and command[1] == Ins.CONFIGURATION)


def redacted_command(command: bytes) -> str:
    """Return a command as hex, its data replaced by their number unless they are harmless."""
    header, data = command[:_HEADER_BYTES].hex(), command[_HEADER_BYTES:]
    return header + (data.hex() if not data or _is_open(command) else f" <{len(data)} bytes>")


def redacted_answer(command: bytes, answer: bytes) -> str:
    """Return an answer as hex when it is about the app, else the number of its bytes."""
    return answer.hex() if not answer or _is_answer_open(command) else f"<{len(answer)} bytes>"


class LoggedTransport:
    """A ``Transport`` that writes one JSON line for each exchange to a new file (mode 0600), and changes nothing else."""

    def __init__(self, transport: Transport, path: Path) -> None:
        """Log what goes through ``transport``. Raises ``UsageError`` when ``path`` exists or cannot be written."""
        require_new(path)
        self._transport = transport
        self._path = path
        self._start_s = time.monotonic()
        self._write({"log": "airlock/apdu-log@1", "redacted": "values, addresses, keys and signatures"})

    def goes_on_with(self, transport: Transport) -> None:
        """Log another connection in the same file: the device was let go of and opened again."""
        self._transport = transport

    def exchange(self, apdu: bytes, *, person: bool) -> tuple[bytes, int]:
        """Pass on one APDU and log it with its answer, or with the name of what went wrong."""
        at_ms = self._now_ms()
        row: dict[str, object] = {"at_ms": at_ms, "command": redacted_command(apdu)}
        try:
            answer, sw = self._transport.exchange(apdu, person=person)
        except AirlockError as error:
            self._write(row | {"took_ms": self._now_ms() - at_ms, "failed": type(error).__name__})
            raise
        took_ms = self._now_ms() - at_ms
        self._write(row | {"took_ms": took_ms, "answer": redacted_answer(apdu, answer), "sw": f"{sw:04x}"})
        return answer, sw

    def _now_ms(self) -> int:
        return int((time.monotonic() - self._start_s) * 1000)

    def _write(self, row: dict[str, object]) -> None:
        append_line(self._path, json.dumps(row).encode())

    def close(self) -> None:
        """Let go of the device."""
        self._transport.close()
