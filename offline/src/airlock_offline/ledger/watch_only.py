"""An account of the Ledger as a watch-only wallet takes it: its public node, from which all its addresses follow.

Before it is shown, the node is followed to its first address, which must be the one that the device itself answers there.
Sources: BIP-32, "Public parent key to public child key"; BCR-2020-007 and EIP-4527 for ``crypto-hdkey``.
"""

from __future__ import annotations

import hmac
from typing import NamedTuple

from airlock_offline.ledger.apdu import P1_FIRST, P2_CHAIN_CODE, Ins, encode_path, ethereum_apdu
from airlock_offline.ledger.ethereum_app import EthereumApp, account_in
from airlock_offline.ledger.status import wrong_answer
from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.ethereum.keccak import keccak256
from airlock_shared.ur.eth import CoinInfo, HDKey, Keypath, PathStep

ETHEREUM = 60  # SLIP-44
NAME = "Airlock"
NOTE = "account.standard"  # what Keystone's wallets write of keys whose children are 0/*
CHILDREN = (PathStep(0, False), PathStep(None, False))
FIRST = (0, 0)
CHAIN_CODE_BYTES = 32


class ExtendedKey(NamedTuple):
    """A node of the key tree (BIP-32): 65-byte public key, its 20-byte address, 32-byte chain code.

    No secret, but whoever has it knows every account below it.
    """

    public_key: bytes
    address: bytes
    chain_code: bytes

    @property
    def compressed(self) -> bytes:
        """The public key in 33 bytes: the parity of y, and x (SEC 1, section 2.3.3)."""
        return bytes((2 + (self.public_key[64] & 1),)) + self.public_key[1:33]


class WatchOnlyAccount(NamedTuple):
    """A node as it is shown, and its first address in EIP-55."""

    key: HDKey
    first_address: str


def extended_key(app: EthereumApp, path: str) -> ExtendedKey:
    """Return the account at ``path`` with its chain code: what derives every key below it that is not hardened."""
    doing = f"read the extended key of {path}"
    reply = app.ask(ethereum_apdu(Ins.ADDRESS, P1_FIRST, P2_CHAIN_CODE, encode_path(path)), doing)
    if len(reply) != 1 + 65 + 1 + 40 + CHAIN_CODE_BYTES:
        raise wrong_answer(doing, f"{len(reply)} bytes that are not a key, an address and a chain code")
    account = account_in(reply[:-CHAIN_CODE_BYTES], doing)
    return ExtendedKey(account.public_key, account.address, reply[-CHAIN_CODE_BYTES:])


def account_of(app: EthereumApp, path: str, master_fingerprint: int | None) -> WatchOnlyAccount:
    """Read the node at ``path``. The app tells no master fingerprint: it refuses every path outside Ethereum.

    Raises ``DeviceError``, also when the node does not lead to the device's own first address.
    """
    node = extended_key(app, path)
    first = app.address(path + "".join(f"/{number}" for number in FIRST)).address
    if address_below(node, FIRST) != first:
        raise wrong_answer(f"read the extended key of {path}", "a key that does not lead to its own accounts")
    origin = Keypath.of(path, master_fingerprint)
    key = HDKey(
        key=node.compressed,
        chain_code=node.chain_code,
        use=CoinInfo(ETHEREUM),
        origin=origin._replace(depth=len(origin.steps)),
        children=Keypath(CHILDREN),
        name=NAME,
        note=NOTE,
    )
    return WatchOnlyAccount(key, checksum_address(first))


def address_below(node: ExtendedKey, numbers: tuple[int, ...]) -> bytes | None:
    """Return the 20-byte address at child numbers below a node, none of them hardened; None for what is no node."""
    from coincurve import PublicKey  # a native library: after the filter

    try:
        key, chain_code = PublicKey(node.public_key), node.chain_code
        for number in numbers:
            grown = hmac.digest(chain_code, key.format() + number.to_bytes(4, "big"), "sha512")
            key, chain_code = key.add(grown[:32]), grown[32:]
    except ValueError:
        return None
    return keccak256(key.format(compressed=False)[1:])[-20:]
