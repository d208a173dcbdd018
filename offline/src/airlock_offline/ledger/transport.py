"""How an APDU reaches a Ledger, and how long is waited for it; over loopback, the software Ledger of a rehearsal.

A real device is reached by :mod:`airlock_offline.ledger.usb`. Beside the software Ledger's server this is the only module
of the offline half that opens a socket; it connects to 127.0.0.1 and to nothing else.

``ledgerblue.commTCP`` is not used for loopback: it reads a reply with single ``recv`` calls (a reply that arrives in two
pieces is cut), it has no time-out whatever it is told, and a closed connection ends in ``struct.error``. Its framing, four
length bytes and the APDU, is done here.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from airlock_offline.airgap import LOOPBACK
from airlock_offline.ledger.device_errors import DeviceLost, DeviceNotFound, DeviceSilent, WrongAnswer
from airlock_shared.errors import AirlockError, UsageError
from airlock_shared.host.files import append_line, require_new
from airlock_shared.wire.strict_json import DERIVATION_PATH

if TYPE_CHECKING:
    import socket


# ---- apdu -----------------------------------------------------------------------------------------------------------
# An APDU, the Ethereum app's instruction codes, derivation paths in their wire form, and cutting into chunks.
#
# Sources: the app's protocol description (``doc/ethapp.adoc`` in LedgerHQ/app-ethereum), BIP-32, BIP-44, and the recorded
# exchanges in ``tests/vectors/ledger``.


CLA_ETHEREUM = 0xE0  # every command of the Ethereum app
CLA_SYSTEM = 0xB0  # commands that each app, and the home screen, answers
INS_APP_AND_VERSION = 0x01  # with CLA_SYSTEM: name and version of the app that is open
INS_OPEN_APP = 0xD8  # with CLA_ETHEREUM, to the home screen: open the app of this name, which a person confirms there
CLA_SIMULATOR, INS_PRODUCT = 0x5A, 0x01  # to the software Ledger alone: which USB product it stands for

P1_FIRST = 0x00
P1_MORE = 0x80  # a further chunk of a transaction or of a personal message
P1_CONFIRM = 0x01  # the address: ask the person to compare it on the screen
P1_AUTHORIZATION_FIRST = 0x01
P1_PARTIAL = 0x01  # an EIP-712 value of which more follows
P2_NAME = 0x00  # EIP-712: a struct's name
P2_FIELD = 0xFF  # EIP-712: a field's definition, or a field's value
P2_ARRAY = 0x0F  # EIP-712: the number of elements of one array level
P2_CHAIN_CODE = 0x01  # the address: answer the chain code after it
P2_SIGN_HASHES = 0x00
P2_SIGN_FIELDS = 0x01

MAX_DATA = 255  # the length is one byte
_HARDENED = 1 << 31  # BIP-32


class Ins(IntEnum):
    """Instructions of the Ethereum app (with ``CLA_ETHEREUM``)."""

    ADDRESS = 0x02
    SIGN_TRANSACTION = 0x04
    CONFIGURATION = 0x06
    SIGN_PERSONAL_MESSAGE = 0x08
    TOKEN = 0x0A
    SIGN_EIP712 = 0x0C
    EIP712_DEFINITION = 0x1A
    EIP712_VALUE = 0x1C
    EIP712_FILTER = 0x1E
    SIGN_AUTHORIZATION = 0x34


class Apdu(NamedTuple):
    """One command: class, instruction, two parameters, and at most 255 bytes of data."""

    cla: int
    ins: int
    p1: int
    p2: int
    data: bytes = b""

    def encode(self) -> bytes:
        """Return the bytes on the wire: the header, one length byte (also when there is no data), the data."""
        return bytes((self.cla, self.ins, self.p1, self.p2, len(self.data))) + self.data


def ethereum_apdu(ins: Ins, p1: int, p2: int, data: bytes = b"") -> Apdu:
    """Return a command to the Ethereum app."""
    return Apdu(CLA_ETHEREUM, ins, p1, p2, data)


def parse_path(text: str) -> tuple[int, ...]:
    """Return the child numbers of a BIP-32 path such as ``m/44'/60'/0'/0/0`` (``'`` adds 2**31).

    Raises ``UsageError`` for what is not in the one form that plans and requests have too: :data:`DERIVATION_PATH`.
    """
    if not DERIVATION_PATH.fullmatch(text):
        raise UsageError(
            f"{text[:80]!r} is not a derivation path",
            do="write it as m/44'/60'/0'/0/0: at most 10 numbers below 2,100,000,000, ' marks a hardened one",
        )
    return tuple(int(level.rstrip("'")) + _HARDENED * level.endswith("'") for level in text.split("/")[1:])


def encode_path(text: str) -> bytes:
    """Return a path's wire form: the number of levels in one byte, then each child number in four, big-endian.

    Raises ``UsageError`` when ``text`` is not a path (see ``parse_path``).
    """
    numbers = parse_path(text)
    return bytes((len(numbers),)) + b"".join(number.to_bytes(4, "big") for number in numbers)


def chunks(data: bytes) -> list[bytes]:
    """Cut ``data`` into pieces of at most 255 bytes; empty data is one empty piece."""
    return [data[at : at + MAX_DATA] for at in range(0, len(data), MAX_DATA)] or [b""]


def encode_integer(number: int) -> bytes:
    """Return a non-negative integer big-endian in as few bytes as it needs; zero is one zero byte."""
    return number.to_bytes(max(1, (number.bit_length() + 7) // 8), "big")


# ---- replies --------------------------------------------------------------------------------------------------------
# What the Ethereum app's client returns: answers of which every length has been checked.


class AppAndVersion(NamedTuple):
    """The app that is open, as it names itself; ``number`` is its version without a suffix such as ``-dev``."""

    name: str
    version: str
    number: tuple[int, ...]


class Configuration(NamedTuple):
    """The app's settings as far as it tells them. Raw messages is not among them: the operator attests it."""

    blind_signing: bool
    transaction_check: bool
    version: tuple[int, int, int]


class DeviceAddress(NamedTuple):
    """An account of the device: its 65-byte uncompressed public key and its 20-byte address."""

    public_key: bytes
    address: bytes


# ---- transport ------------------------------------------------------------------------------------------------------


MACHINE_TIMEOUT_S = 20  # nobody has to press anything
REVIEW_S = 1800  # two people may be reading 31 pages on the device aloud; `[ledger] review_minutes` sets it
MAX_REPLY = 512  # bytes; an APDU answer of this app has at most 256

REPLUG = "unplug the Ledger, plug it in again, unlock it, open the Ethereum app and give the command again"


ApduReply = tuple[bytes, int]
"""What a Ledger answers to one APDU: its data and its status word."""


class Transport(Protocol):
    """Something that takes one APDU at a time."""

    def exchange(self, apdu: bytes, *, person: bool) -> ApduReply:
        """Send one APDU and return its data and its status word.

        ``person`` says that a person may have to read and press first, so that the wait is long.
        Raises ``DeviceLost``, ``DeviceSilent`` or ``WrongAnswer``.
        """

    def close(self) -> None:
        """Let go of the device."""


Meanwhile = Callable[[bool], AbstractContextManager[object]]
"""What is shown while a Ledger is waited for; it is told whether for a person."""


def silent(waited_s: int) -> DeviceSilent:
    """Return the error of a device that did not answer in ``waited_s`` seconds."""
    return DeviceSilent(
        f"the Ledger did not answer within {waited_s} s",
        do=f"reject there what it still asks, or {REPLUG}; if people need longer for a review, raise [ledger] "
        "review_minutes in config.toml",
    )


def gone() -> DeviceLost:
    """Return the error of a transport that was closed after an earlier failure."""
    return DeviceLost("the connection to the Ledger is closed after an earlier failure", do=REPLUG)


# ---- loopback -----------------------------------------------------------------------------------------------------


class LoopbackTransport:
    """The software Ledger or Speculos on 127.0.0.1. Never a real device."""

    def __init__(self, port: int, review_s: int = REVIEW_S) -> None:
        """Connect to ``port`` on 127.0.0.1; ``review_s`` is how long people may read. Raises ``DeviceNotFound``."""
        import socket  # noqa: PLC0415 - for a rehearsal alone: a Ledger on USB needs none

        self._review_s = review_s

        try:
            self._connection: socket.socket | None = socket.create_connection((LOOPBACK, port), MACHINE_TIMEOUT_S)
        except OSError as error:
            raise DeviceNotFound(
                f"no software Ledger answers on {LOOPBACK}:{port}", do="start it with `airlock-software-ledger`"
            ) from error

    def exchange(self, apdu: bytes, *, person: bool) -> ApduReply:
        """Send one APDU and return its data and its status word (see ``Transport``)."""
        connection, wait_s = self._connection, self._review_s if person else MACHINE_TIMEOUT_S
        if connection is None:
            raise gone()
        deadline_s = time.monotonic() + wait_s
        try:
            connection.settimeout(wait_s)
            connection.sendall(len(apdu).to_bytes(4, "big") + apdu)
            length = int.from_bytes(_receive(connection, 4, deadline_s), "big")
            if length > MAX_REPLY:
                raise WrongAnswer(f"a reply of {length} bytes", do="restart the software Ledger")
            reply = _receive(connection, length + 2, deadline_s)
        except BaseException as error:  # also Ctrl-C: a late reply would be taken for the next one's
            self.close()
            if isinstance(error, TimeoutError):
                raise silent(wait_s) from error
            if isinstance(error, OSError):
                raise DeviceLost("the connection to the Ledger broke", do=REPLUG) from error
            raise
        return reply[:length], int.from_bytes(reply[length:], "big")

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _receive(connection: socket.socket, count: int, deadline_s: float) -> bytes:
    received = b""
    while len(received) < count:
        connection.settimeout(max(0.001, deadline_s - time.monotonic()))
        piece = connection.recv(count - len(received))
        if not piece:
            raise DeviceLost("the Ledger closed the connection before it answered", do=REPLUG)
        received += piece
    return received


# ---- apdu log -------------------------------------------------------------------------------------------------------
# The exchanges with a Ledger as a log for support, without secrets: what was asked and answered, not about what.
# Written in full are a command's header and length, the status word, the time, and the contents of commands that
# carry no values: type definitions, array counts, app version and configuration. Everything else (paths, values,
# hashes, transactions, messages, addresses, keys, signatures) is only counted in bytes.


_HEADER_BYTES = 5


def redacted_command(command: bytes) -> str:
    """Return a command as hex, its data replaced by their number unless it carries no value of a request."""
    header, data, ins, p2 = command[:_HEADER_BYTES].hex(), command[_HEADER_BYTES:], command[1], command[3]
    is_open = ins == Ins.EIP712_DEFINITION or (ins == Ins.EIP712_VALUE and p2 == P2_NAME)
    return header + (data.hex() if not data or is_open else f" <{len(data)} bytes>")


def redacted_answer(command: bytes, answer: bytes) -> str:
    """Return an answer as hex when it says only which app and which settings there are, else the number of its bytes."""
    is_open = command[0] == CLA_SYSTEM or command[:2] == bytes((CLA_ETHEREUM, Ins.CONFIGURATION))
    return answer.hex() if not answer or is_open else f"<{len(answer)} bytes>"


class LoggedTransport:
    """A ``Transport`` that writes one JSON line for each exchange to a new file (mode 0600), and changes nothing else."""

    def __init__(self, transport: Transport, path: Path) -> None:
        """Log what goes through ``transport``. Raises ``UsageError`` when ``path`` exists or cannot be written."""
        require_new(path)
        self.transport = transport
        """Another connection takes its place where the device was let go of and opened again."""
        self._path = path
        self._start_s = time.monotonic()
        self._unwritten: AirlockError | None = None
        self._write({"log": "airlock/apdu-log@1", "redacted": "values, addresses, keys and signatures"})

    def exchange(self, apdu: bytes, *, person: bool) -> ApduReply:
        """Pass on one APDU and log it with its answer, or with the name of what went wrong.

        An answer may be a signature: it is passed on also where the log cannot be written. The next exchange raises that.
        """
        if self._unwritten is not None:
            raise self._unwritten
        at_ms = self._now_ms()
        row: dict[str, object] = {"at_ms": at_ms, "command": redacted_command(apdu)}
        try:
            answer, sw = self.transport.exchange(apdu, person=person)
        except AirlockError as error:
            self._write(row | {"took_ms": self._now_ms() - at_ms, "failed": type(error).__name__})
            raise
        took_ms = self._now_ms() - at_ms
        try:
            self._write(row | {"took_ms": took_ms, "answer": redacted_answer(apdu, answer), "sw": f"{sw:04x}"})
        except AirlockError as error:
            self._unwritten = error
        return answer, sw

    def _now_ms(self) -> int:
        return int((time.monotonic() - self._start_s) * 1000)

    def _write(self, row: dict[str, object]) -> None:
        append_line(self._path, json.dumps(row).encode())

    def close(self) -> None:
        """Let go of the device."""
        self.transport.close()
