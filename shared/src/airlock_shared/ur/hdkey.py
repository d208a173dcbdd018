"""``crypto-keypath`` and ``crypto-hdkey`` (BCR-2020-007, as EIP-4527 uses them): public keys, and where they come from."""

from __future__ import annotations

from typing import Any, NamedTuple

from airlock_shared.ur.members import field_error, is_uint, read_map, untag
from airlock_shared.wire.cbor import Tagged, write
from airlock_shared.wire.members import DERIVATION_PATH

KEYPATH_TYPE, HDKEY_TYPE = "crypto-keypath", "crypto-hdkey"
KEYPATH_TAG, COIN_INFO_TAG = 304, 305
_HDKEY_TAG = 303

_MAX_STEPS = 10
_MAX_CHILD = 1 << 31
_MAX_UINT32 = (1 << 32) - 1


class PathStep(NamedTuple):
    """One step of a path; ``child`` is a number below 2**31, or ``None`` for all of them, written ``*``."""

    child: int | None
    hardened: bool


class Keypath(NamedTuple):
    """A derivation path, the fingerprint of the key that it starts from, and its depth, where they are known."""

    steps: tuple[PathStep, ...]
    source_fingerprint: int | None = None
    depth: int | None = None

    @classmethod
    def of(cls, path: str, source_fingerprint: int | None = None) -> Keypath:
        """Return the path of a text such as ``m/44'/60'/0'/0/0``. Raises ``DocumentError("QR-FIELD")``."""
        if not DERIVATION_PATH.fullmatch(path):
            raise field_error("not a derivation path", got=repr(path)[:80], expected="m/44'/60'/…")
        steps = tuple(PathStep(int(name.rstrip("'")), name.endswith("'")) for name in path.split("/")[1:])
        return cls(steps, source_fingerprint)

    def __str__(self) -> str:
        names = ["*" if step.child is None else str(step.child) for step in self.steps]
        marks = ["'" if step.hardened else "" for step in self.steps]
        return "/".join(["m", *map("".join, zip(names, marks, strict=True))])

    def to_map(self) -> dict[int, Any]:
        """Return the path's CBOR map."""
        flat: list[Any] = []
        for step in self.steps:
            flat += [[] if step.child is None else step.child, step.hardened]
        return _present({1: flat, 2: self.source_fingerprint, 3: self.depth})

    def to_cbor(self) -> bytes:
        """Return the path as the payload of ``ur:crypto-keypath``."""
        return write(self.to_map())

    @classmethod
    def from_map(cls, value: Any) -> Keypath:
        """Return the path of a CBOR map. Raises ``DocumentError("QR-FIELD")``."""
        members = read_map(value, "a keypath", {1: list}, {2: int, 3: int})
        flat, fingerprint, depth = members[1], members.get(2), members.get(3)
        if len(flat) % 2 or len(flat) > 2 * _MAX_STEPS:
            raise field_error("not the steps of a path", got=f"{len(flat)} members", expected=f"<= {_MAX_STEPS} pairs")
        if not is_uint(fingerprint, _MAX_UINT32) or not is_uint(depth, 255):
            raise field_error("a fingerprint or depth out of range", got=f"{fingerprint}, {depth}")
        if not flat and fingerprint is None:
            raise field_error("a path with neither steps nor a fingerprint")
        return cls(tuple(map(_step, flat[::2], flat[1::2])), fingerprint, depth)

    @classmethod
    def from_cbor(cls, cbor: bytes) -> Keypath:
        """Return the path of a payload of ``ur:crypto-keypath``. Raises ``DocumentError``: ``QR-CBOR``, ``QR-FIELD``."""
        return cls.from_map(untag(cbor, KEYPATH_TAG))


def _step(child: Any, hardened: Any) -> PathStep:
    if type(hardened) is not bool:
        raise field_error("a step that does not say whether it is hardened")
    if child == []:
        return PathStep(None, hardened)
    if type(child) is not int or not 0 <= child < _MAX_CHILD:
        raise field_error("a step that is no child number", got=repr(child)[:80], expected="0 to 2^31 - 1, or all")
    return PathStep(child, hardened)


class CoinInfo(NamedTuple):
    """What a key is for: a coin of SLIP-44 (0 when not said), and its network (0 is the main one)."""

    coin: int = 0
    network: int = 0


class HDKey(NamedTuple):
    """A public key with what is needed to derive its children: compressed key (33 bytes), chain code (32 bytes)."""

    key: bytes
    chain_code: bytes | None = None
    use: CoinInfo | None = None
    origin: Keypath | None = None
    children: Keypath | None = None
    parent_fingerprint: int | None = None
    name: str | None = None
    note: str | None = None

    def to_cbor(self) -> bytes:
        """Return the key as the payload of ``ur:crypto-hdkey``."""
        use = None
        if self.use is not None:
            use = Tagged(COIN_INFO_TAG, _present({1: self.use.coin or None, 2: self.use.network or None}))
        origin, children = [path and Tagged(KEYPATH_TAG, path.to_map()) for path in (self.origin, self.children)]
        members = {3: self.key, 4: self.chain_code, 5: use, 6: origin, 7: children, 8: self.parent_fingerprint}
        return write(_present(members | {9: self.name, 10: self.note}))

    @classmethod
    def from_cbor(cls, cbor: bytes) -> HDKey:
        """Return the key of a payload of ``ur:crypto-hdkey``; a private key is refused.

        Raises ``DocumentError``: ``QR-CBOR``, ``QR-FIELD``.
        """
        optional = {1: bool, 2: bool, 4: bytes, 5: Tagged, 6: Tagged, 7: Tagged, 8: int, 9: str, 10: str}
        members = read_map(untag(cbor, _HDKEY_TAG), "a key", {3: bytes}, optional)
        if members.get(1) or members.get(2) or members[3][:1] == b"\0":
            do = "stop: it must never leave its device. Move what it holds to another key"
            raise field_error("a private or master key", expected="a public key", do=do)
        if len(members[3]) != 33 or members[3][0] not in (2, 3) or len(members.get(4, bytes(32))) != 32:
            raise field_error("not a compressed public key and its chain code")
        if not is_uint(members.get(8), _MAX_UINT32):
            raise field_error("a fingerprint out of range", got=str(members[8]))
        origin, children = [_path(members.get(place)) for place in (6, 7)]
        return cls(
            members[3], members.get(4), _use(members.get(5)), origin, children, *(members.get(at) for at in (8, 9, 10))
        )


def _path(value: Tagged | None) -> Keypath | None:
    if value is not None and value.tag != KEYPATH_TAG:
        raise field_error("not a keypath", got=f"tag {value.tag}", expected=f"tag {KEYPATH_TAG}")
    return None if value is None else Keypath.from_map(value.value)


def _use(value: Tagged | None) -> CoinInfo | None:
    if value is None:
        return None
    if value.tag != COIN_INFO_TAG:
        raise field_error("not coin information", got=f"tag {value.tag}", expected=f"tag {COIN_INFO_TAG}")
    members = read_map(value.value, "coin information", {}, {1: int, 2: int})
    coin, network = members.get(1, 0), members.get(2, 0)
    if not is_uint(coin, _MAX_CHILD - 1) or not is_uint(network, _MAX_CHILD - 1):
        raise field_error("coin information out of range", got=f"{coin}, {network}")
    return CoinInfo(coin, network)


def _present(members: dict[int, Any]) -> dict[int, Any]:
    return {name: member for name, member in members.items() if member is not None}
