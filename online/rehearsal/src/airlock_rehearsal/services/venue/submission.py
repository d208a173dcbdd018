"""Whether something signed is acceptable: decoding, signature, signer, deadline and nonce. Pure but for reading the state.

Source: the specification, "Batched-market errors" and "Authentication". Every refusal is a ``Refused``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from eth_account.typed_transactions.set_code_transaction import Authorization
from eth_utils.address import is_address

from airlock_rehearsal.chain.evm import Reverted
from airlock_rehearsal.services.envelope import Read, Refused
from airlock_rehearsal.services.runtime import CHAIN_ID, signing_domain
from airlock_rehearsal.services.venue.eip712_peer import Message, decode, digest_of, encode, recover, types_of
from airlock_rehearsal.services.venue.positions import PAIRS
from airlock_rehearsal.services.venue.structs import ORDER_TYPES, STRUCTS, OrderType, leaves

if TYPE_CHECKING:
    from airlock_rehearsal.services.venue.venue_state import VenueState

_HEX = re.compile(r"0x(?:[0-9a-fA-F]{2})+", re.ASCII)
_EIP7702 = {"chainId": str, "to": str, "data": str, "gas": str, "authorizationList": list}
_QUANTITY = re.compile(r"0x(?:0|[1-9a-f][0-9a-f]{0,63})", re.ASCII)
_ACCOUNTS = ("trader", "referee", "referrer")  # the account that an intent speaks for, by the member that has it
_PNL_MARKET = 3  # Trade's _type of a market order on a PnL pair
_MARKET = 0


class SignedIntent(NamedTuple):
    """An acceptable signed intent. ``spends`` is its nonce space (the name of its domain), the trader, and the nonce."""

    primary: str
    message: Message
    signer: str
    trader: str
    spends: tuple[str, str, int]
    signature: bytes

    @property
    def entry(self) -> tuple[str, bytes, bytes]:
        """What the contract is called with: the struct, its encoding, and the signature."""
        return self.primary, encode(self.primary, self.message), self.signature


def hex_bytes(value: object, name: str) -> bytes:
    """Read 0x-hex."""
    if not isinstance(value, str) or not _HEX.fullmatch(value):
        raise Refused(f"{name} is not 0x-hex")
    return bytes.fromhex(value[2:])


def exact_object(value: Any, name: str, required: set[str], optional: frozenset[str] = frozenset()) -> Read:
    """Read an object with these members and no others."""
    if not isinstance(value, dict):
        raise Refused(f"{name} is not an object")
    messages = [f"{name}.{key} should not exist" for key in sorted(set(value) - required - optional)]
    messages += [f"{name}.{key} is missing" for key in sorted(required - set(value))]
    if messages:
        raise Refused(messages)
    return value


def decoded(primary: str, user_intent: object) -> Message:
    """Decode ``userIntent`` into a message of this struct; only the canonical encoding will do."""
    return decode(primary, hex_bytes(user_intent, "userIntent"))


def nonce_of(primary: str, user_intent: object) -> str:
    """Return the nonce in an encoded struct, by which what was sent is counted."""
    return str(leaves(decoded(primary, user_intent))["nonce"])


def verified(state: VenueState, primary: str, message: Message, signature: object) -> SignedIntent:
    """Check signature, signer, deadline and nonce of a message, its digest computed here under the right domain."""
    struct, found = STRUCTS[primary], leaves(message)
    trader, nonce = next(found[name] for name in _ACCOUNTS if name in found), int(found["nonce"])
    digest = digest_of(types_of(primary), primary, signing_domain(struct.domain), message)
    raw = hex_bytes(signature, "userSignature")
    signer = recover(digest, raw)
    may_delegate = struct.signer_rule == "trader-or-delegate"
    if signer != trader and not (may_delegate and state.delegation_expiry(trader, signer) > state.now_s):
        raise Refused(f"the signature recovers to {signer}, which may not sign for {trader}")
    if "deadline" in found and int(found["deadline"]) <= state.now_ms():
        raise Refused("the deadline, in unix milliseconds, is over")
    if state.nonce_taken(struct.domain, trader, nonce):
        raise Refused("the nonce is consumed")
    return SignedIntent(primary, message, signer, trader, (struct.domain, trader, nonce), raw)


def _order_type(code: object) -> OrderType:
    row = ORDER_TYPES.get(code) if type(code) is int else None
    if row is None:
        raise Refused(f"unsupported orderType {str(code)[:80]}")
    return row


def nonce_of_order(order: Read) -> str:
    """Return the nonce in a batched body, by which it is counted."""
    return nonce_of(_order_type(order["orderType"]).struct, order["erc712"]["userIntent"])


def read_order(state: VenueState, body: Read) -> SignedIntent:
    """Validate a body of ``POST /market/execute-batched``; return the order that it holds."""
    exact_object(body, "body", {"orderType", "erc712"}, frozenset({"eip7702"}))
    erc712 = exact_object(body["erc712"], "erc712", {"userIntent", "userSignature"})
    row = _order_type(body["orderType"])
    givers: set[str] = set()
    if "eip7702" in body:
        givers = _check_eip7702(state, body["eip7702"])
    elif state.settings.eip7702:
        raise Refused("eip7702 is required: this deployment executes in EIP-7702 mode")
    message = decoded(row.struct, erc712["userIntent"])
    signed = verified(state, row.struct, message, erc712["userSignature"])
    if others := givers - {signed.trader, signed.signer}:
        raise Refused(f"eip7702.authorizationList holds one of {min(others)}, whose order this is not")
    _check_kind(row, message)
    _check_by_contract(state, signed)
    return signed


def _check_eip7702(state: VenueState, value: object) -> set[str]:
    """Check the form always, the values where they are used: in EIP-712 mode the object is not looked at further.

    Return the accounts that authorize a contract, as they are recovered.
    """
    members = exact_object(value, "eip7702", set(_EIP7702))
    for name, kind in _EIP7702.items():
        if not isinstance(members[name], kind):
            raise Refused(f"eip7702.{name} must be a {'string' if kind is str else 'list'}")
    if not state.settings.eip7702:
        return set()
    if members["chainId"] != str(CHAIN_ID):
        raise Refused(f"eip7702.chainId must be {CHAIN_ID}")
    if not is_address(members["to"]):
        raise Refused("eip7702.to must be an address")
    hex_bytes(members["data"], "eip7702.data")
    if not re.fullmatch(r"[1-9][0-9]{4,7}", members["gas"], re.ASCII):
        raise Refused("eip7702.gas must be a decimal number of gas")
    entries = members["authorizationList"]
    if not entries or not all(isinstance(entry, dict) for entry in entries):
        raise Refused("eip7702.authorizationList must hold authorizations")
    return {_giver(entry) for entry in entries}


def _giver(entry: Read) -> str:
    """Return the account that signed an authorization in the form of Ethereum's execution API, for this chain alone."""
    names = ("chainId", "nonce", "yParity", "r", "s")
    exact_object(entry, "authorization", {"address", *names})
    if not all(isinstance(entry[name], str) and _QUANTITY.fullmatch(entry[name]) for name in names):
        raise Refused("an authorization's numbers must be 0x-hex")
    chain_id, nonce, parity, r, s = (int(entry[name], 16) for name in names)
    if chain_id != CHAIN_ID or not is_address(entry["address"]):
        raise Refused("an authorization must be for an address on this chain")
    digest = Authorization(chain_id, bytes.fromhex(entry["address"][2:]), nonce).hash()
    try:
        return recover(bytes(digest), r.to_bytes(32, "big") + s.to_bytes(32, "big") + bytes([27 + (parity & 1)]))
    except Refused as error:
        raise Refused(f"an authorization's signature: {error}") from error


def _check_kind(row: OrderType, message: Message) -> None:
    """Check what the contract does not know: whether the order type is of the pair's kind, and of a market order."""
    pair = PAIRS.get(int(leaves(message)["pairIndex"]))
    if pair is not None and pair.is_pnl != row.is_pnl:
        raise Refused(f"orderType {row.code} ({row.name}) does not fit {pair.symbol}: PnL is a property of the pair")
    if "_type" in message and int(message["_type"]) != (_PNL_MARKET if row.is_pnl else _MARKET):
        raise Refused(f"_type {message['_type']} is not the market order of orderType {row.code}")


_REFUSED_AT_SUBMISSION = {
    "PositionMismatch": "PositionMismatch",
    "PairNotListed": "no pair has this index",
    "PairClosedForOpening": "the pair takes no new positions",
    "WrongTrade": "index, initialPosToken and timestamp of a new trade must be 0",
    "BelowMinPos": "the collateral is below 1 USDC",
    "WrongPrice": "the price must not be 0",
    "WrongAmount": "the exposure, or the part to close, is zero or more than the position",
    "WrongLeverage": "the leverage is outside the bounds of the pair",
}
"""What the contract refuses and the market does before it takes an order on; what else it refuses ends the order."""


def _check_by_contract(state: VenueState, signed: SignedIntent) -> None:
    try:
        state.check(*signed.entry)
    except Reverted as error:
        if error.name in _REFUSED_AT_SUBMISSION:
            raise Refused(_REFUSED_AT_SUBMISSION[error.name]) from error
