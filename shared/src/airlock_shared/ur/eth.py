"""EIP-4527: what a wallet asks an offline signer to sign, and what it gets back.

The data type is a plain integer, as every implementation writes it, not under the tag 401 that the EIP's text prints.
"""

from __future__ import annotations

import uuid
from enum import IntEnum
from typing import NamedTuple

from airlock_shared.ur.hdkey import (
    HDKEY_TYPE,
    KEYPATH_TAG,
    KEYPATH_TYPE,
    CoinInfo,
    HDKey,
    Keypath,
    PathStep,
)
from airlock_shared.ur.members import field_error, is_uint, read_map, read_uuid, untag, write_uuid
from airlock_shared.wire.cbor import Tagged, write

__all__ = [
    "HDKEY_TYPE",
    "KEYPATH_TYPE",
    "SIGNATURE_TYPE",
    "SIGN_REQUEST_TYPE",
    "CoinInfo",
    "DataType",
    "HDKey",
    "Keypath",
    "PathStep",
    "SignRequest",
    "Signature",
]

SIGN_REQUEST_TYPE, SIGNATURE_TYPE = "eth-sign-request", "eth-signature"
SIGNATURE_BYTES = 65
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
        return write({name: member for name, member in members.items() if member is not None})

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
            raise field_error("a chain id out of range", got=str(members[4]))
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
        return write({name: member for name, member in members.items() if member is not None})

    @classmethod
    def from_cbor(cls, cbor: bytes) -> Signature:
        """Return the signature of a payload of ``ur:eth-signature``. Raises ``DocumentError``: ``QR-CBOR``, ``QR-FIELD``."""
        members = read_map(untag(cbor, _SIGNATURE_TAG), "a signature", {2: bytes}, {1: Tagged, 3: str})
        if len(members[2]) != SIGNATURE_BYTES:
            got, expected = f"{len(members[2])} bytes", f"{SIGNATURE_BYTES} bytes"
            raise field_error("not an Ethereum signature", got=got, expected=expected)
        return cls(members[2], read_uuid(members.get(1)), members.get(3))
