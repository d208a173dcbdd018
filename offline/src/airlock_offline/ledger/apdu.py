"""An APDU, the Ethereum app's instruction codes, derivation paths in their wire form, and cutting into chunks.

Sources: the app's protocol description (``doc/ethapp.adoc`` in LedgerHQ/app-ethereum), BIP-32, BIP-44, and the recorded
exchanges in ``tests/vectors/ledger``.
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import NamedTuple

from airlock_shared.errors import UsageError

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
MAX_PATH_DEPTH = 10  # MAX_BIP32_PATH of the device's SDK
_HARDENED = 1 << 31  # BIP-32

_PATH = re.compile(r"m(?:/(?:0|[1-9][0-9]{0,9})'?)+", re.ASCII)


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

    Raises ``UsageError`` for any other spelling (``h``, spaces, leading zeros, no ``m``), a child number of 2**31 or
    more, and more than ten levels.
    """
    levels = text.split("/")[1:]
    numbers = [int(level.rstrip("'")) for level in levels] if _PATH.fullmatch(text) else []
    if not 0 < len(numbers) <= MAX_PATH_DEPTH or max(numbers) >= _HARDENED:
        raise UsageError(
            f"{text[:80]!r} is not a derivation path",
            do=f"write it as m/44'/60'/0'/0/0: at most {MAX_PATH_DEPTH} numbers below 2^31, ' marks a hardened one",
        )
    return tuple(n + _HARDENED if level.endswith("'") else n for n, level in zip(numbers, levels, strict=True))


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


class DeviceSignature(NamedTuple):
    """A signature as the device gave it: ``r`` and ``s`` of 32 bytes each, and the parity (0 or 1)."""

    r: bytes
    s: bytes
    parity: int

    @property
    def rsv(self) -> bytes:
        """The 65 bytes r, s, v, with v = 27 or 28."""
        return self.r + self.s + bytes((27 + self.parity,))
