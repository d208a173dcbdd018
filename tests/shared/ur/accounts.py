"""What stands in a ``ur:crypto-hdkey``, read with no check: the product shows accounts and reads none."""

from typing import Any

from airlock_shared.ur.eth import CoinInfo, HDKey, Keypath
from airlock_shared.wire.cbor import read


def read_account(cbor: bytes) -> HDKey:
    """The account in a payload that we wrote, or another implementation."""
    value: dict[int, Any] = read(cbor, max_items=256)
    use = value.get(5) and CoinInfo(value[5].value.get(1, 0), value[5].value.get(2, 0))
    origin, children = (value.get(at) and Keypath.from_map(value[at].value) for at in (6, 7))
    return HDKey(value[3], value.get(4), use, origin, children, *(value.get(at) for at in (8, 9, 10)))
