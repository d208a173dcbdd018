"""EIP-7702, "Set EOA account code": the hash by which an account gives itself to a contract."""

from __future__ import annotations

from airlock_shared.ethereum.keccak import keccak256
from airlock_shared.ethereum.rlp import encode

MAGIC = b"\x05"  # what stands before the RLP that is signed
NONCE_BELOW = 2**64 - 1


def authorization_hash(chain_id: int, contract: bytes, nonce: int) -> bytes:
    """Return the 32 bytes that are signed, for a 20-byte contract and the account's own nonce; chain 0 is every chain."""
    return keccak256(MAGIC + encode([chain_id, contract, nonce]))
