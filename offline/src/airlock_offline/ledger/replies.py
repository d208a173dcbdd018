"""What the Ethereum app's client returns: answers of which every length has been checked."""

from __future__ import annotations

from typing import NamedTuple


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
