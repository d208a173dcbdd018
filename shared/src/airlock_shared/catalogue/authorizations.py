"""EIP-7702 authorizations that a Ledger signs: for which contracts, and what is decided of each.

An authorization gives a whole account to a contract, until another one takes that back. The Ethereum app signs one for the
contracts of its own list and refuses every other, whatever a person says. Source: app-ethereum 1.22.0,
``src/features/sign_authorization_eip7702/whitelist_7702.c`` (chain 0 there: on every chain).
"""

from __future__ import annotations

from typing import Any

from airlock_shared.catalogue.calldata import Decoded
from airlock_shared.catalogue.calls import Call
from airlock_shared.catalogue.kinds import Field, Rule
from airlock_shared.ethereum.addresses import checksum_address, parse_address
from airlock_shared.ethereum.eip7702 import authorization_hash
from airlock_shared.units import ADDRESS, COUNT

LEDGER_CONTRACTS = {bytes.fromhex("4cd241e8d1510e30b2076397afc7508ae59c66c9"): "Simple7702Account"}
"""The contracts by their 20 bytes, each with the name that the device shows in the address's place."""

WHAT = Call("EIP-7702", "Give this account to a contract (EIP-7702)", "", (
    Field("contract", ADDRESS, "can then do all that the account can", Rule("plan", "contract"), ""),
    Field("nonce", COUNT, "the account's own nonce on the chain", Rule("plan", "nonce"), ""),
))  # fmt: skip
"""An authorization as the calls are: a name, a title, and leaves of which the plan decides each."""


def read_authorization(payload: dict[str, Any]) -> Decoded:
    """Return what an item's payload gives away. Raises ``Refusal("MSG-ADDRESS")``."""
    return Decoded(WHAT, {"contract": parse_address(payload["address"]), "nonce": payload["nonce"]}, None)


def hash_of(payload: dict[str, Any]) -> bytes:
    """Return the 32-byte hash that is signed of an item's payload that the checks have read."""
    return authorization_hash(payload["chainId"], parse_address(payload["address"]), payload["nonce"])


def for_ledger(payload: dict[str, Any]) -> bytes:
    """Return an authorization as the app takes it: its length, then tags 0 to 3 with version, contract, chain and nonce."""
    numbers = (payload["chainId"], payload["nonce"])
    chain, nonce = (number.to_bytes(max(1, (number.bit_length() + 7) // 8), "big") for number in numbers)
    values = (b"\x01", parse_address(payload["address"]), chain, nonce)
    listed = b"".join(bytes((tag, len(value))) + value for tag, value in enumerate(values))
    return len(listed).to_bytes(2, "big") + listed


def element_of(payload: dict[str, Any], signature: bytes) -> dict[str, Any]:
    """Return the element of an ``authorizationList``, numbers as 0x-hex as JSON-RPC writes them.

    ``signature`` is ``r || s || v`` with v 27 or 28. The specification does not show the element; this is the form of
    Ethereum's execution API.
    """
    r, s = (hex(int.from_bytes(part, "big")) for part in (signature[:32], signature[32:64]))
    address = checksum_address(parse_address(payload["address"]))
    numbers = {"chainId": hex(payload["chainId"]), "address": address, "nonce": hex(payload["nonce"])}
    return numbers | {"yParity": hex(signature[64] - 27), "r": r, "s": s}
