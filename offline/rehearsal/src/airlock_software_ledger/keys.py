"""The software Ledger's keys: BIP-39 and BIP-32 by eth-account, signatures by libsecp256k1 (RFC 6979, low s)."""

from __future__ import annotations

import hmac
from functools import lru_cache
from typing import NamedTuple

from airlock_shared.ethereum.library_opinion import leave_out_key_files
from airlock_software_ledger.answers import PATH, fail_if

TEST_SEED = (  # the seed that the emulator Speculos starts with; public, so it must never hold value
    "glory promote mansion idle axis finger extra february uncover one trip resource "
    "lawn turtle enact monster seven myth punch hobby comfort wild raise skin"
)
OTHER_SEED = "abandon " * 11 + "about"  # the first test phrase of BIP-39's reference: public too
CURVE_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141  # SEC 2, secp256k1
HARDENED = 1 << 31
_PATHS = ((44 + HARDENED, 60 + HARDENED), (45 + HARDENED,))  # with what a path begins: BIP-44 for Ethereum, and BIP-45
_MAX_LEVELS = 10


class DerivedKey(NamedTuple):
    """A derived key: private (32 bytes), public (65 bytes, uncompressed), its address in EIP-55, chain code (32 bytes)."""

    private_key: bytes
    public_key: bytes
    address: str
    chain_code: bytes


def read_path(data: bytes) -> tuple[tuple[int, ...], bytes]:
    """Return the child numbers at the head of a command's data, and what follows them."""
    count = data[0] if data else 0
    end = 1 + 4 * count
    fail_if(not 1 <= count <= _MAX_LEVELS or len(data) < end)
    numbers = tuple(int.from_bytes(data[at : at + 4], "big") for at in range(1, end, 4))
    fail_if(not any(numbers[: len(known)] == known for known in _PATHS), PATH)
    return numbers, data[end:]


@lru_cache(maxsize=64)
def derive(seed: str, numbers: tuple[int, ...]) -> DerivedKey:
    """Return the account of a BIP-39 phrase at a BIP-32 path."""
    leave_out_key_files()
    from coincurve import PrivateKey  # noqa: PLC0415 - heavy: loaded where it is needed
    from eth_account import Account as EthAccount  # noqa: PLC0415 - after leave_out_key_files
    from eth_account.hdaccount import seed_from_mnemonic  # noqa: PLC0415 - as above
    from eth_account.hdaccount.deterministic import HardNode, SoftNode, derive_child_key  # noqa: PLC0415 - as above

    master = hmac.digest(b"Bitcoin seed", seed_from_mnemonic(seed, ""), "sha512")
    private_key, chain_code = master[:32], master[32:]
    for number in numbers:
        node = HardNode(number - HARDENED) if number >= HARDENED else SoftNode(number)
        private_key, chain_code = derive_child_key(private_key, chain_code, node)
    public_key = PrivateKey(private_key).public_key.format(compressed=False)
    return DerivedKey(private_key, public_key, EthAccount.from_key(private_key).address, chain_code)


def sign(private_key: bytes, digest: bytes, *, high_s: bool = False) -> tuple[int, bytes]:
    """Return the parity, and r and s in 64 bytes; with ``high_s`` the same signature in its other, malleable form."""
    from coincurve import PrivateKey  # noqa: PLC0415 - heavy: loaded where it is needed

    signature: bytes = PrivateKey(private_key).sign_recoverable(digest, hasher=None)
    rs, parity = signature[:64], signature[64]
    if high_s:
        s = CURVE_ORDER - int.from_bytes(rs[32:], "big")
        rs, parity = rs[:32] + s.to_bytes(32, "big"), 1 - parity
    return parity, rs
