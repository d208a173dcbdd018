"""Reading an unsigned EIP-1559 transaction that another wallet asks to have signed, strictly.

Only the one form that :mod:`airlock_shared.catalogue.eip1559` itself writes is read: type 2, an
empty access list, shortest RLP. Sources: EIP-1559, EIP-2718, the yellow paper's appendix B for RLP.
"""

from __future__ import annotations

from typing import Any

from airlock_shared.catalogue.eip1559 import TYPE_2, Transaction, unsigned_bytes
from airlock_shared.errors import DocumentError, Refusal
from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.wire.codec import damaged

MAX_BYTES = 128 << 10  # no node takes a longer transaction into its pool
_NAMES = ("chain id", "nonce", "priority fee", "fee", "gas", "to", "value", "data", "access list")
_NUMBER_BYTES = 32


def read_unsigned(data: bytes) -> tuple[dict[str, Any], Transaction]:
    """Return an unsigned transaction's ``to``, ``data``, ``value`` and ``chainId`` as a payload has them, and the rest.

    Raises ``Refusal``: ``TX-KEYS`` for another type or an access list, ``TX-TO`` when it creates a contract;
    ``DocumentError("QR-FIELD")`` for what is not the shortest RLP of nine fields.
    """
    if data[:1] != TYPE_2:
        kind = f"type {data[0]}" if data and data[0] < 0xC0 else "a legacy transaction"
        raise Refusal(
            "TX-KEYS",
            "not an EIP-1559 transaction",
            got=kind,
            expected="type 2",
            do="have the other wallet send it as an EIP-1559 transaction, without an access list",
        )
    members = _members(data)
    if members[8] != []:
        raise Refusal("TX-KEYS", "the transaction has an access list", got="entries", expected="none")
    chain_id, nonce, priority, fee, gas, value = [
        _number(members[place], _NAMES[place]) for place in (0, 1, 2, 3, 4, 6)
    ]
    to, calldata = _bytes(members[5], "to"), _bytes(members[7], "data")
    if len(to) != 20:
        what = "it creates a contract" if not to else "its destination is not an address"
        raise Refusal("TX-TO", what, got=f"{len(to)} bytes", expected="20 bytes")
    payload = {"to": checksum_address(to), "data": "0x" + calldata.hex(), "value": hex(value), "chainId": chain_id}
    filled = Transaction(nonce, gas, fee, priority)
    if unsigned_bytes(payload, filled) != data:
        raise _malformed("not the shortest RLP", "another encoding of the same transaction")
    return payload, filled


def _members(data: bytes) -> list[Any]:
    from rlp import DecodingError, decode  # other people's: after the filter

    if len(data) > MAX_BYTES:
        raise _malformed("too long", f"{len(data)} bytes")
    try:
        members = decode(data[1:])
    except (DecodingError, RecursionError) as error:
        raise _malformed("not RLP", f"{len(data)} bytes") from error
    if not isinstance(members, list) or len(members) != len(_NAMES):
        got = f"{len(members)} fields" if isinstance(members, list) else "no list"
        raise _malformed(f"not the {len(_NAMES)} fields of an unsigned EIP-1559 transaction", got)
    return members


def _bytes(member: Any, name: str) -> bytes:
    if not isinstance(member, bytes):
        raise _malformed(f"its {name} is a list", "a list")
    return member


def _number(member: Any, name: str) -> int:
    form = _bytes(member, name)
    if len(form) > _NUMBER_BYTES or form[:1] == b"\0":
        raise _malformed(f"its {name} is not the shortest form of a number", form.hex()[:80])
    return int.from_bytes(form, "big")


def _malformed(what: str, got: str) -> DocumentError:
    return damaged(
        "QR-FIELD",
        f"the transaction to sign is malformed: {what}",
        got=got,
        expected="0x02 and the RLP of its nine fields",
        do="have the other wallet show it again; if it is refused again, do not sign it",
    )
