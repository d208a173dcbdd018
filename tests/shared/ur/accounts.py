"""What stands in a ``ur:crypto-hdkey``, read with no check: the product shows accounts and reads none."""

from typing import Any

from airlock_shared.ur.eth import CoinInfo, HDKey, Keypath, PathStep
from airlock_shared.wire.cbor import read


def read_account(cbor: bytes) -> HDKey:
    """The account in a payload that we wrote, or another implementation."""
    value: dict[int, Any] = read(cbor, max_items=256)
    use = value.get(5) and CoinInfo(value[5].value.get(1, 0), value[5].value.get(2, 0))
    origin, children = (value.get(at) and _path(value[at].value) for at in (6, 7))
    return HDKey(value[3], value.get(4), use, origin, children, *(value.get(at) for at in (8, 9, 10)))


def _path(value: dict[int, Any]) -> Keypath:
    steps = zip(value[1][::2], value[1][1::2], strict=True)
    return Keypath(tuple(PathStep(None if at == [] else at, hard) for at, hard in steps), value.get(2), value.get(3))
