"""An account of the Ledger as a watch-only wallet takes it: its public node, from which all its addresses follow.

Before it is shown, the node is followed to its first address, which must be the one that the device itself answers there.
Sources: BIP-32, "Public parent key to public child key"; BCR-2020-007 and EIP-4527 for ``crypto-hdkey``.
"""

from __future__ import annotations

import hmac

from airlock_offline.ledger.ethereum_app import EthereumApp, ExtendedKey
from airlock_offline.ledger.status import wrong_answer
from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.ethereum.keccak import keccak256
from airlock_shared.records import NamedTuple
from airlock_shared.ur.eth import CoinInfo, HDKey, Keypath, PathStep

ETHEREUM = 60  # SLIP-44
NAME = "Airlock"
NOTE = "account.standard"  # what Keystone's wallets write of keys whose children are 0/*
CHILDREN = (PathStep(0, False), PathStep(None, False))
FIRST = (0, 0)


class WatchOnlyAccount(NamedTuple):
    """A node as it is shown, and its first address in EIP-55."""

    key: HDKey
    first_address: str


def account_of(app: EthereumApp, path: str, master_fingerprint: int | None) -> WatchOnlyAccount:
    """Read the node at ``path``. The app tells no master fingerprint: it refuses every path outside Ethereum.

    Raises ``DeviceError``, also when the node does not lead to the device's own first address.
    """
    node = app.extended_key(path)
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
    from coincurve import PublicKey

    try:
        key, chain_code = PublicKey(node.public_key), node.chain_code
        for number in numbers:
            grown = hmac.digest(chain_code, key.format() + number.to_bytes(4, "big"), "sha512")
            key, chain_code = key.add(grown[:32]), grown[32:]
    except ValueError:
        return None
    return keccak256(key.format(compressed=False)[1:])[-20:]
