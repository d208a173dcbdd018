"""keccak-256 behind one function, so that the C library under it can be changed in one place."""

from __future__ import annotations

from sha3 import keccak_256


def keccak256(data: bytes) -> bytes:
    """Return the 32-byte keccak-256 of ``data`` (the original padding, as Ethereum uses it; not SHA3-256)."""
    digest: bytes = keccak_256(data).digest()
    return digest
