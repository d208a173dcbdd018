"""Transactions as the software Ledger reads them: RLP that arrives in pieces, and what is shown of it.

Legacy ones (EIP-155) and types 1 (EIP-2930), 2 (EIP-1559) and 4 (EIP-7702) are simulated. Not simulated: calls of ERC-20
with more than two words, and the contracts of staking that the app reads itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from airlock_offline.ledger.screens import (
    TOKEN_CALLS,
    Review,
    ScreenField,
    ShownTransaction,
    authorization_review,
    network,
)
from airlock_shared.ethereum.library_opinion import leave_out_key_files
from airlock_software_ledger.answers import ORDER, TRANSACTION_TYPE, fail_if
from airlock_software_ledger.display import Tokens

if TYPE_CHECKING:
    from eth_account.typed_transactions.set_code_transaction import Authorization

LEGACY = -1  # a transaction without a type: its first byte begins a list
_ADDRESS_BYTES = 20
_LAST_TYPE = 0x7F  # EIP-2718
_MOST_OF_A_TOKEN_CALL = 4 + 4 * 32  # what follows its two arguments may be two words long
_FEES = ("chain_id", "nonce", "priority_fee", "gas_price", "gas", "to", "value", "data")
FIELDS = {  # the fields before the access list, in order
    LEGACY: ("nonce", "gas_price", "gas", "to", "value", "data", "chain_id"),
    1: ("chain_id", "nonce", "gas_price", "gas", "to", "value", "data"),
    2: _FEES,
    4: _FEES,
}


class ReceivedTransaction(NamedTuple):
    """What is known of a transaction so far: the fields that are complete, and where it ends when all of it is there.

    ``blind``: it has calldata that the app does not read itself.
    """

    fields: dict[str, bytes]
    blind: bool
    end: int | None
    legacy: bool

    @property
    def first_v(self) -> int:
        """The lower value of v: of a legacy one the low byte of what EIP-155 asks for, by the chain's first four bytes."""
        chain = int.from_bytes(self.fields["chain_id"][:4], "big")
        return (chain * 2 + 35) & 0xFF if self.legacy else 0

    def number(self, name: str) -> int:
        """Return a field as an integer."""
        return int.from_bytes(self.fields[name], "big")


def read_so_far(data: bytes) -> ReceivedTransaction:
    """Read the pieces that have come in. Raises ``Failed`` for a type that is not simulated, or what is not RLP."""
    kind = data[0] if data else 0
    kind = LEGACY if kind > _LAST_TYPE else kind
    fail_if(kind not in FIELDS, TRANSACTION_TYPE)
    outer = _header(data, 0 if kind == LEGACY else 1)
    if outer is None:
        return ReceivedTransaction({}, blind=False, end=None, legacy=kind == LEGACY)
    is_list, at, length = outer
    fail_if(not is_list or not length)
    end = at + length
    fields: dict[str, bytes] = {}
    blind = False
    for name in FIELDS[kind]:
        header = _header(data, at)
        if header is None:
            break
        is_list, start, length = header
        if name == "data" and length > 0 and fields["to"]:  # the code of a new contract is judged when all is there
            blind = data[start : start + 4] not in TOKEN_CALLS
        fail_if(is_list or start + length > end)
        if start + length > len(data):
            break
        fields[name] = data[start : start + length]
        at = start + length
    complete = len(data) >= end and (kind != LEGACY or "chain_id" in fields)  # without one the app waits for more
    fail_if(complete and (len(fields) != len(FIELDS[kind]) or len(fields["to"]) > _ADDRESS_BYTES))
    return ReceivedTransaction(fields, blind, end if complete else None, kind == LEGACY)


def _header(data: bytes, at: int) -> tuple[bool, int, int] | None:
    """Return whether an RLP item is a list, where its content starts and its length; None while bytes are missing."""
    if at >= len(data):
        return None
    first = data[at]
    if first < 0x80:
        return False, at, 1
    is_list = first >= 0xC0
    short = first - (0xC0 if is_list else 0x80)
    if short <= 55:
        return is_list, at + 1, short
    size = short - 55
    if at + 1 + size > len(data):
        return None
    return is_list, at + 1 + size, int.from_bytes(data[at + 1 : at + 1 + size], "big")


def shown_of(transaction: ReceivedTransaction, sender: str, digest: bytes, tokens: Tokens) -> ShownTransaction:
    """Return what decides the pages of a whole transaction. Raises ``Failed`` for a call of ERC-20 that the app refuses."""
    number = transaction.number
    to, data = transaction.fields["to"], transaction.fields["data"]
    to = to and to.ljust(_ADDRESS_BYTES, b"\0")  # as the app does with one that is too short
    fee_wei = number("gas_price") * number("gas")
    place = tokens.place_of(to)
    token = None if place is None else tokens.get(place)
    shown = ShownTransaction(sender, number("chain_id"), to, number("value"), fee_wei, data, digest, token)
    fail_if(shown.token_call and (shown.value_wei or len(data) > _MOST_OF_A_TOKEN_CALL))
    return shown


# ---- authorizations -------------------------------------------------------------------------------------------------
# EIP-7702 authorizations as the software Ledger reads them: a list of tags, and the contracts that the app knows.


KNOWN_CONTRACTS = {bytes.fromhex("4cd241e8d1510e30b2076397afc7508ae59c66c9"): "Simple7702Account"}  # as recorded
_TAGS = (0, 1, 2, 3)  # structure version, contract, chain id, nonce
_NOBODY = bytes(20)
_REVOKE = Review(
    "Review authorization to revoke smart contract delegation?",
    "Sign operation",
    "Sign authorization to revoke smart contract delegation?",
    blind=False,
)


def read_authorization(data: bytes) -> Authorization:
    """Read the length and the tags. Raises ``Failed``, also for a contract that the app does not know."""
    tlv = data[2:]
    fail_if(len(data) < 2 or int.from_bytes(data[:2], "big") != len(tlv))
    values: dict[int, bytes] = {}
    while tlv:
        length = tlv[1] if len(tlv) > 1 else len(tlv)
        fail_if(len(tlv) < 2 + length or tlv[0] in values)
        values[tlv[0]], tlv = tlv[2 : 2 + length], tlv[2 + length :]
    fail_if(tuple(sorted(values)) != _TAGS or values[0] != b"\x01" or len(values[1]) != 20)
    fail_if(max(len(values[2]), len(values[3])) > 8)
    fail_if(values[1] != _NOBODY and values[1] not in KNOWN_CONTRACTS, ORDER)
    leave_out_key_files()
    from eth_account.typed_transactions.set_code_transaction import Authorization  # noqa: PLC0415 - after it, and heavy

    return Authorization(int.from_bytes(values[2], "big"), values[1], int.from_bytes(values[3], "big"))


def review_of(authorization: Authorization, account: str, model: str) -> tuple[Review, list[ScreenField]]:
    """Return the frame and the fields with which an authorization is shown."""
    name, where = KNOWN_CONTRACTS.get(authorization.address), network(authorization.chainId)
    where = where if authorization.chainId else "All"
    if name is None:
        return _REVOKE, [ScreenField("Account", account), ScreenField("Revoke on network", where)]
    return authorization_review(account, name, where, model)
