"""EIP-4527: what a wallet asks an offline signer to sign, what it gets back, and an account for a watch-only wallet.

The data type is a plain integer, as every implementation writes it, not under the tag 401 that the EIP's text prints.
Paths and accounts are BCR-2020-007's. What is read is read strictly: exactly these members, each of its type.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from enum import IntEnum
from typing import Any, NamedTuple

from airlock_shared.errors import DocumentError, quoted
from airlock_shared.wire.cbor import Tagged, read, write
from airlock_shared.wire.strict_json import DERIVATION_PATH, damaged

SIGN_REQUEST_TYPE, SIGNATURE_TYPE = "eth-sign-request", "eth-signature"
_SIGNATURE_BYTES = 65
ADDRESS_BYTES = 20

_SIGN_REQUEST_TAG, _SIGNATURE_TAG = 401, 402
_MAX_CHAIN_ID = (1 << 53) - 1  # wallets written in JavaScript know no larger number


class DataType(IntEnum):
    """What ``sign_data`` is."""

    TRANSACTION = 1  # a legacy transaction, RLP
    TYPED_DATA = 2  # EIP-712, JSON in UTF-8
    PERSONAL_MESSAGE = 3  # EIP-191, version 0x45: the bytes of the message
    TYPED_TRANSACTION = 4  # EIP-2718: type byte and RLP, unsigned


class SignRequest(NamedTuple):
    """A request to sign: ``address`` is 20 bytes, ``origin`` the asking program's name for itself, untrusted."""

    sign_data: bytes
    data_type: DataType
    path: Keypath
    chain_id: int | None = None
    request_id: uuid.UUID | None = None
    address: bytes | None = None
    origin: str | None = None

    def to_cbor(self) -> bytes:
        """Return the request as the payload of ``ur:eth-sign-request``."""
        members = {
            1: write_uuid(self.request_id),
            2: self.sign_data,
            3: int(self.data_type),
            4: self.chain_id,
            5: Tagged(KEYPATH_TAG, self.path.to_map()),
            6: self.address,
            7: self.origin,
        }
        return write(_present(members))

    @classmethod
    def from_cbor(cls, cbor: bytes) -> SignRequest:
        """Return the request of a payload of ``ur:eth-sign-request``. Raises ``DocumentError``: ``QR-CBOR``, ``QR-FIELD``.

        What the request says about itself (address, path, chain) is a claim: the signed data decides.
        """
        members = read_map(
            untag(cbor, _SIGN_REQUEST_TAG),
            "a request to sign",
            {2: bytes, 3: int, 5: Tagged},
            {1: Tagged, 4: int, 6: bytes, 7: str},
        )
        if members[3] not in set(DataType) or not members[2]:
            raise field_error("nothing that can be signed", got=f"data type {members[3]}", expected="1 to 4, and data")
        if members[5].tag != KEYPATH_TAG:
            raise field_error("not a keypath", got=f"tag {members[5].tag}", expected=f"tag {KEYPATH_TAG}")
        if not is_uint(members.get(4), _MAX_CHAIN_ID):
            raise field_error("a chain id out of range", got=members[4])
        if len(members.get(6, bytes(ADDRESS_BYTES))) != ADDRESS_BYTES:
            raise field_error("not an address", got=f"{len(members[6])} bytes", expected=f"{ADDRESS_BYTES} bytes")
        path, request_id = Keypath.from_map(members[5].value), read_uuid(members.get(1))
        address, origin = members.get(6), members.get(7)
        return cls(members[2], DataType(members[3]), path, members.get(4), request_id, address, origin)


class Signature(NamedTuple):
    """A signature, 65 bytes ``r || s || v``, and the id of the request that it answers.

    ``v`` is as the signer wrote it: 27 or 28, or for a typed transaction 0 or 1.
    """

    signature: bytes
    request_id: uuid.UUID | None = None
    origin: str | None = None

    def __repr__(self) -> str:
        return f"Signature(request_id={self.request_id!r})"  # an unsubmitted signature is a secret

    def to_cbor(self) -> bytes:
        """Return the signature as the payload of ``ur:eth-signature``."""
        members = {1: write_uuid(self.request_id), 2: self.signature, 3: self.origin}
        return write(_present(members))

    @classmethod
    def from_cbor(cls, cbor: bytes) -> Signature:
        """Return the signature of a payload of ``ur:eth-signature``. Raises ``DocumentError``: ``QR-CBOR``, ``QR-FIELD``."""
        members = read_map(untag(cbor, _SIGNATURE_TAG), "a signature", {2: bytes}, {1: Tagged, 3: str})
        if len(members[2]) != _SIGNATURE_BYTES:
            got, expected = f"{len(members[2])} bytes", f"{_SIGNATURE_BYTES} bytes"
            raise field_error("not an Ethereum signature", got=got, expected=expected)
        return cls(members[2], read_uuid(members.get(1)), members.get(3))


# ---- paths and accounts -------------------------------------------------------------------------------------------


HDKEY_TYPE = "crypto-hdkey"
KEYPATH_TAG, _COIN_INFO_TAG = 304, 305
_ETHEREUM = 60  # SLIP-44

_MAX_STEPS = 10
_MAX_CHILD = 1 << 31
_MAX_UINT32 = (1 << 32) - 1


class PathStep(NamedTuple):
    """One step of a path; ``child`` is a number below 2**31."""

    child: int
    hardened: bool


class Keypath(NamedTuple):
    """A derivation path, and the fingerprint of the key that it starts from, where it is known."""

    steps: tuple[PathStep, ...]
    source_fingerprint: int | None = None

    @classmethod
    def of(cls, path: str, source_fingerprint: int | None = None) -> Keypath:
        """Return the path of a text such as ``m/44'/60'/0'/0/0``. Raises ``DocumentError("QR-FIELD")``."""
        if not DERIVATION_PATH.fullmatch(path):
            raise field_error("not a derivation path", got=quoted(path), expected="m/44'/60'/…")
        steps = tuple(PathStep(int(name.rstrip("'")), name.endswith("'")) for name in path.split("/")[1:])
        return cls(steps, source_fingerprint)

    def __str__(self) -> str:
        return "/".join(["m", *(str(step.child) + "'" * step.hardened for step in self.steps)])

    def to_map(self) -> dict[int, Any]:
        """Return the path's CBOR map."""
        return _present({1: [member for step in self.steps for member in step], 2: self.source_fingerprint})

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
        return cls(tuple(map(_step, flat[::2], flat[1::2])), fingerprint)


def _step(child: Any, hardened: Any) -> PathStep:
    if type(hardened) is not bool:
        raise field_error("a step that does not say whether it is hardened")
    if type(child) is not int or not 0 <= child < _MAX_CHILD:
        raise field_error("a step that is no child number", got=quoted(child), expected="0 to 2^31 - 1")
    return PathStep(child, hardened)


def write_account(key: bytes, chain_code: bytes, path: str, master_fingerprint: int | None) -> bytes:
    """Return an Ethereum account's node as the payload of ``ur:crypto-hdkey``: its addresses are ``0/*`` below it.

    ``key`` is compressed, 33 bytes, the chain code 32. Raises ``DocumentError("QR-FIELD")`` for what is no path.
    """
    origin = Keypath.of(path, master_fingerprint)
    members = {
        3: key,
        4: chain_code,
        5: Tagged(_COIN_INFO_TAG, {1: _ETHEREUM}),
        6: Tagged(KEYPATH_TAG, origin.to_map() | {3: len(origin.steps)}),
        7: Tagged(KEYPATH_TAG, {1: [0, False, [], False]}),
        9: "Airlock",
        10: "account.standard",  # what Keystone's wallets write of keys whose children are 0/*
    }
    return write(members)


def _present(members: dict[int, Any]) -> dict[int, Any]:
    return {name: member for name, member in members.items() if member is not None}


# ---- reading ------------------------------------------------------------------------------------------------------


_MAX_ITEMS = 256
UUID_TAG = 37

_DO = "check that the other wallet speaks EIP-4527, and scan again"


def untag(cbor: bytes, tag: int) -> Any:
    """Return the value of a payload; the type's own tag may stand in front of it. Raises ``DocumentError("QR-CBOR")``."""
    value = read(cbor, max_items=_MAX_ITEMS)
    return value.value if type(value) is Tagged and value.tag == tag else value


def read_map(value: Any, what: str, required: Mapping[int, type], optional: Mapping[int, type]) -> dict[int, Any]:
    """Return a map with these members and no others. Raises ``DocumentError("QR-FIELD")``."""
    if type(value) is not dict:
        raise field_error(f"{what} is not a map", got=type(value).__name__)
    known = {**required, **optional}
    if unknown := [name for name in value if name not in known]:
        raise field_error(f"{what} has unknown members", got=quoted(unknown), expected=repr(list(known)))
    if missing := [name for name in required if name not in value]:
        raise field_error(f"{what} lacks members", got=quoted(list(value)), expected=repr(missing))
    for name, member in value.items():
        if type(member) is not known[name]:
            expected = known[name].__name__
            raise field_error(f"member {name} of {what} has a wrong type", got=type(member).__name__, expected=expected)
    return value


def is_uint(number: int | None, most: int) -> bool:
    """Tell whether a number that may be missing is not out of range."""
    return number is None or 0 <= number <= most


def read_uuid(value: Tagged | None) -> uuid.UUID | None:
    """Return a request's id, if there is one. Raises ``DocumentError("QR-FIELD")``."""
    if value is None:
        return None
    if value.tag != UUID_TAG or type(value.value) is not bytes or len(value.value) != 16:
        raise field_error("a request's id that is no UUID", expected=f"16 bytes with tag {UUID_TAG}")
    return uuid.UUID(bytes=value.value)


def write_uuid(value: uuid.UUID | None) -> Tagged | None:
    """Return a request's id as it is written."""
    return None if value is None else Tagged(UUID_TAG, value.bytes)


def field_error(what: str, *, got: object = "", expected: object = "") -> DocumentError:
    """Return the error of a registered type that is not as its definition says."""
    return damaged("QR-FIELD", what, got=got, expected=expected, do=_DO)
