"""The EIP-7702 transaction that goes with a market order, whoever signed it: read strictly, and told to people.

An authorization gives the account to a contract until another one takes it away, so that none is sent unread. Sources: the
builder's specification, "Batched market"; EIP-7702, "Set EOA account code".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from airlock_shared.documents.deployment import Deployment
from airlock_shared.errors import Refusal
from airlock_shared.ethereum.addresses import checksum_address, parse_address
from airlock_shared.ethereum.eip7702 import authorization_hash
from airlock_shared.ethereum.recovery import recover
from airlock_shared.wire.codec import parse_json

MAX_AUTHORIZATIONS = 8
_MEMBERS = {"chainId": str, "to": str, "data": str, "gas": str, "authorizationList": list}
_BYTES = re.compile(r"0x(?:[0-9a-fA-F]{2})*", re.ASCII)
_NUMBER = re.compile(r"0|[1-9][0-9]{0,77}|0x(?:0|[1-9a-fA-F][0-9a-fA-F]{0,63})", re.ASCII)
_WORD = re.compile(r"0x[0-9a-fA-F]{1,64}", re.ASCII)
_NEEDED = {"chainId", "address", "nonce", "r", "s"}
_PARITIES = {"yParity": {0: 0, 1: 1}, "v": {0: 0, 1: 1, 27: 0, 28: 1}}
"""How the parity of the point is written, and what each number says."""


class SignedAuthorization(NamedTuple):
    """Who gives the account to which contract: chain and nonce as signed, both addresses as 20 bytes."""

    chain_id: int
    contract: bytes
    nonce: int
    authority: bytes


class PresignedTransaction(NamedTuple):
    """What is relayed with an order: where it goes (20 bytes), its calldata, its gas, and its authorizations."""

    chain_id: int
    to: bytes
    data: bytes
    gas: int
    authorizations: tuple[SignedAuthorization, ...]


def read_presigned(text: str) -> PresignedTransaction:
    """Return the transaction of a JSON text. Raises ``Refusal("ORDER-EIP7702")``, or what a strict JSON reader raises."""
    value = parse_json(text.encode())
    if type(value) is not dict or {name: type(member) for name, member in value.items()} != _MEMBERS:
        raise _wrong("not an EIP-7702 transaction for the batched market", expected=str(list(_MEMBERS)))
    listed = value["authorizationList"]
    if not 0 < len(listed) <= MAX_AUTHORIZATIONS:
        raise _wrong("no authorization, or too many", str(len(listed)), f"1 to {MAX_AUTHORIZATIONS}")
    if not _BYTES.fullmatch(value["data"]):
        raise _wrong("data is not hex", value["data"][:80], "0x and bytes in hex")
    return PresignedTransaction(
        _number(value["chainId"], "chainId"), _address(value["to"], "to"), bytes.fromhex(value["data"][2:]),
        _number(value["gas"], "gas"), tuple(_authorization(each) for each in listed),
    )  # fmt: skip


def require_of_order(presigned: PresignedTransaction, accounts: Iterable[bytes], deployment: Deployment) -> None:
    """Refuse what is for another chain, or for every chain, or gives away another account than those of the order."""
    chain, allowed = deployment.chain_id, set(accounts)
    chains = [("an authorization", each.chain_id) for each in presigned.authorizations]
    for name, got in [("chainId", presigned.chain_id), *chains]:
        if got != chain:
            what = "good on every chain" if got == 0 else "for another chain"
            raise _wrong(f"{name} is {what}", str(got), str(chain))
    for authorization in presigned.authorizations:
        if authorization.authority not in allowed:
            expected = " or ".join(sorted(checksum_address(account) for account in allowed))
            raise _wrong("an authorization of another account", checksum_address(authorization.authority), expected)


def presigned_lines(presigned: PresignedTransaction, deployment: Deployment) -> Iterator[str]:
    """Yield what a person has to know before it is relayed; there is nothing else in it."""
    for each in presigned.authorizations:
        account = checksum_address(each.authority)
        if each.contract == bytes(20):
            yield f"{account} takes its code back: it is an ordinary account again (account nonce {each.nonce})."
            continue
        yield f"{account} is given to the contract {checksum_address(each.contract)} (account nonce {each.nonce})."
        yield "The contract can do all that the account can, until another authorization takes that back."
    names = {address: name for name, address in deployment.contracts.items()}
    to = names.get(presigned.to, "no pinned contract")
    size = f"{len(presigned.data)} bytes, which Airlock does not read" if presigned.data else "no calldata"
    yield f"Then {checksum_address(presigned.to)} is called ({to}), gas {presigned.gas}, with {size}."


def _authorization(value: Any) -> SignedAuthorization:
    names = set(value) if type(value) is dict else set()
    if not names >= _NEEDED or not names - _NEEDED or names - _NEEDED - set(_PARITIES):
        expected = "chainId, address, nonce, r, s, and yParity or v"
        raise _wrong(
            "an authorization in a form that Airlock does not know", str(sorted(map(str, names)))[:200], expected
        )
    chain_id, nonce = _number(value["chainId"], "chainId"), _number(value["nonce"], "nonce")
    contract = _address(value["address"], "address")
    told = {name: _number(value[name], name) for name in names & set(_PARITIES)}
    parities = {_PARITIES[name].get(number) for name, number in told.items()}
    if len(parities) != 1 or None in parities:
        raise _wrong("yParity and v are not one parity", str(told)[:80], "yParity 0 or 1, v 27 or 28")
    parity = next(each for each in parities if each is not None)
    signature = _word(value["r"], "r") + _word(value["s"], "s") + bytes([27 + parity])
    digest = authorization_hash(chain_id, contract, nonce)
    try:
        return SignedAuthorization(chain_id, contract, nonce, recover(digest, signature))
    except Refusal as refusal:
        raise _wrong(f"an authorization's signature: {refusal.what}", refusal.got, refusal.expected) from refusal


def _number(value: Any, name: str) -> int:
    text = str(value) if type(value) is int and value >= 0 else value
    if type(text) is not str or not _NUMBER.fullmatch(text):
        raise _wrong(f"{name} is not a number", repr(value)[:80], "a whole number, decimal or 0x-hex")
    return int(text, 0)


def _word(value: Any, name: str) -> bytes:
    if type(value) is not str or not _WORD.fullmatch(value):
        raise _wrong(f"{name} is not a number of the signature", "not shown", "0x-hex, at most 32 bytes")
    return int(value, 16).to_bytes(32, "big")


def _address(value: Any, name: str) -> bytes:
    try:
        return parse_address(value if type(value) is str else "")
    except Refusal as refusal:
        raise _wrong(f"{name} is not an address", repr(value)[:80], refusal.expected) from refusal


def _wrong(what: str, got: str = "", expected: str = "") -> Refusal:
    do = "make it again in the wallet that signed it, for this order; nothing was sent"
    return Refusal("ORDER-EIP7702", what, got=got, expected=expected, do=do)
