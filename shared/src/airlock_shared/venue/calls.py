"""The contract calls that Airlock knows: selector, arguments, meaning, and who decides each argument.

Data, like the catalogue of intents, and judged by the same rules. A call made for a trader by a delegate is wrapped once in
``delegatedAction``. Source: the builder's specification, "Builder: unsigned transactions"; signatures are defaults observed
at comparable venues. How calldata is read stands below.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from airlock_shared.errors import Refusal
from airlock_shared.ethereum.eip712 import StructValues, decode_abi
from airlock_shared.ethereum.signatures import authorization_hash, keccak256, parse_address
from airlock_shared.ethereum.struct_types import Structs, members_of
from airlock_shared.units import ADDRESS, COUNT
from airlock_shared.venue.structs import Field, Rule, shipped_fields
from airlock_shared.wire.strict_json import JsonObject

DELEGATED_ACTION = "delegatedAction"
DELEGATED_SIGNATURE = f"{DELEGATED_ACTION}(address trader,bytes data)"


class Call(NamedTuple):
    """A contract call: its signature with argument names, the contract it belongs to, and its leaves.

    ``delegable``: a delegate may make it for a trader. ``pending``: it stores an order that is executed later.
    ``known_as`` is the shipped call of which this is a venue's form; empty for the shipped call itself. ``fee``: the venue
    takes native currency with it, as a fee within the plan's limit; every other call is sent with none.
    """

    signature: str
    title: str
    contract: str
    fields: tuple[Field, ...]
    delegable: bool = False
    pending: bool = False
    known_as: str = ""
    fee: bool = False

    @property
    def name(self) -> str:
        """The name under which Airlock knows the call, whatever its function is called at the venue."""
        return self.known_as or self.function

    @property
    def is_own(self) -> bool:
        """Whether it does not ship: the venue's profile alone says what it is."""
        return self.name not in CALLS

    @property
    def function(self) -> str:
        """The function's name."""
        return function_of(self.signature)

    @property
    def structs(self) -> Structs:
        """Its arguments, as :func:`structs_of_call` has them."""
        return structs_of_call(self.signature)


_UPDATE = "(address trader,uint256 pairIndex,uint256 index,uint256 openPrice,uint256 initialPosToken,uint256 leverage)"
_TRADE = (
    "(address trader,uint256 pairIndex,uint256 index,uint256 initialPosToken,uint256 positionSizeUSDC,"
    "uint256 openPrice,bool buy,uint256 leverage,uint256 tp,uint256 sl,uint256 timestamp)"
)


def function_of(signature: str) -> str:
    """Return the function's name."""
    return signature.partition("(")[0]


def structs_of_call(signature: str) -> Structs:
    """Return the arguments of a signature with names, such as ``approve(address spender,uint256 value)``, as a struct.

    It is called ``""``, which no argument's type is; a tuple among the arguments is another struct, whose name is its text.
    """
    members = members_of(signature.partition("(")[2])
    return {"": members} | {each.type: members_of(each.type) for each in members if each.type.startswith("(")}


def _call(
    signature: str,
    title: str,
    contract: str = "tradingRouter",
    kinds: str = "",
    *,
    delegable: bool = True,
    pending: bool = True,
    **meanings: str,
) -> Call:
    """Return a call of the table; ``kinds`` are its leaves', in order, ``meanings`` stand in for a kind's own."""
    told = {"trader": "the account that owns the position", **meanings}
    fields = shipped_fields(structs_of_call(signature), "", kinds, told)
    return Call(signature, title, contract, fields, delegable, pending)


_itself = partial(_call, delegable=False, pending=False)
_ADDED = "leverage of the added collateral"
_UPDATED = "trader pairIndex tradeIndex openPrice additionalCollateralUsdc leverage"

_ALL = (
    _itself("approve(address spender,uint256 amount)", "Let a contract take USDC from this account", "usdc",
          "spender amountUsdc"),
    _itself("setDelegate(address delegate,uint256 expiry)", "Let a delegate key trade for this account",
          kinds="delegate expiry"),
    _itself("removeDelegate(address delegate)", "End a delegate's registration", kinds="delegate",
          delegate="the key that may no longer trade"),
    _call("setTraderReferralCodeByUser(bytes32 code)", "Adopt a referral code", "referral", "code", pending=False),
    _itself("setPendingCodeOwnershipTransfer(bytes32 code,address newOwner)", "Nominate a referral code's next owner",
          "referral", "code newOwner"),
    _itself("acceptCodeOwnership(bytes32 code)", "Accept a referral code", "referral", "code"),
    _itself("cancelRequest()", "Withdraw the request for access to a private code", "referral"),
    _itself("claimTokens()", "Pay out keeper rewards"),
    _call("updateOpenLimitOrder(uint256 pairIndex,uint256 index,uint256 price,uint256 slippage,uint256 tp,uint256 sl)",
          "Change a limit order that waits", kinds="pairIndex orderIndex price slippagePercent takeProfit stopLoss",
          pending=False, price="the new trigger price", takeProfit="take profit; 0 removes it",
          stopLoss="stop loss; 0 removes it"),
    _call(f"increasePositionSize({_UPDATE} info,uint256 slippage)", "Increase a position, sized in USDC",
          kinds=f"{_UPDATED} slippagePercent", leverage=_ADDED),
    _call(f"increasePositionSizeWithCoinExposure({_UPDATE} info,uint256 coinExposure,uint256 minLeverage,"
          "uint256 maxLeverage,uint256 slippage)", "Increase a position, sized in the base asset",
          kinds=f"{_UPDATED} coinExposure minLeverage maxLeverage slippagePercent", leverage=_ADDED,
          coinExposure="the exposure added, in the base asset"),
    _call(f"openTrade({_TRADE} t,uint8 orderType,uint256 slippage)", "Open a position, sized in USDC",
          kinds="trader pairIndex zero zero collateralUsdc openPrice side leverage takeProfit stopLoss zero orderType "
          "slippagePercent", index="the slot, which the venue assigns", initialPosToken="not used when opening",
          timestamp="not used when opening"),
    _call("closeTradeMarket(uint256 pairIndex,uint256 index,uint256 amount,uint256 wantedPrice)",
          "Close a position, whole or in part", kinds="pairIndex tradeIndex collateralToCloseUsdc expectedPrice"),
)  # fmt: skip

CALLS: dict[str, Call] = {call.name: call for call in _ALL}
"""Every call that Airlock signs, by the name under which it is known."""


def canonical(signature: str) -> str:
    """Return the signature that the selector is made of: types alone, ``approve(address,uint256)``."""
    return re.sub(r" \w+", "", signature)


def selector_of(signature: str) -> bytes:
    """Return the 4-byte selector of a signature with argument names."""
    return keccak256(canonical(signature).encode())[:4]


Calls = Mapping[str, Call]
"""The calls of a venue, by the name under which each is known; no two have one selector."""


# ---- calldata -------------------------------------------------------------------------------------------------------
# Calldata read strictly, canonical encoding only. And EIP-7702 authorizations.


class Decoded(NamedTuple):
    """Calldata read back: the call, its arguments by name, and, of a delegated call, the trader it is made for."""

    call: Call
    message: StructValues
    delegated_for: bytes | None


def decode_call(data: bytes, calls: Calls) -> Decoded:
    """Read calldata, canonical encoding only; a delegated call is opened once, and never twice.

    ``calls`` are the venue's. Raises ``Refusal`` with ``TX-SELECTOR`` for an unknown function,
    ``TX-NESTED`` for a delegated call within another, ``TX-DELEGABLE`` for one that a delegate may not make,
    ``ENC-CANONICAL`` for another encoding.
    """
    if not _is_delegated(data):
        call = _call_of(data, calls)
        return Decoded(call, arguments_in(data, call.signature), None)
    trader, inner = arguments_in(data, DELEGATED_SIGNATURE).values()
    if _is_delegated(inner):
        raise Refusal("TX-NESTED", "a delegated call within a delegated call", expected="one delegation")
    call = _call_of(inner, calls)
    if not call.delegable:
        raise Refusal("TX-DELEGABLE", "a call that a delegate may not make for a trader", call.name)
    return Decoded(call, arguments_in(inner, call.signature), trader)


def _is_delegated(data: bytes) -> bool:
    return data[:4] == selector_of(DELEGATED_SIGNATURE)


def _call_of(data: bytes, calls: Calls) -> Call:
    call = next((call for call in calls.values() if selector_of(call.signature) == data[:4]), None)
    if call is None:
        raise Refusal(
            "TX-SELECTOR", "a function that Airlock does not know", "0x" + data[:4].hex(), "one of the known calls"
        )
    return call


def arguments_in(data: bytes, signature: str) -> StructValues:
    """Return the arguments by name with which calldata call a function. Raises ``Refusal("ENC-CANONICAL")``."""
    return decode_abi(structs_of_call(signature), data[4:])


# ---- authorizations -------------------------------------------------------------------------------------------------
# EIP-7702 authorizations that a Ledger signs: for which contracts, and what is decided of each.
# An authorization gives a whole account to a contract, until another one takes that back. The Ethereum app signs one
# for the contracts of its own list and refuses every other, whatever a person says. Source: app-ethereum 1.22.0,
# ``src/features/sign_authorization_eip7702/whitelist_7702.c`` (chain 0 there: on every chain).


LEDGER_CONTRACTS = {bytes.fromhex("4cd241e8d1510e30b2076397afc7508ae59c66c9"): "Simple7702Account"}
"""The contracts by their 20 bytes, each with the name that the device shows in the address's place."""

AUTHORIZATION_CALL = Call("EIP-7702", "Give this account to a contract (EIP-7702)", "", (
    Field("contract", ADDRESS, "can then do all that the account can", Rule("plan", "contract"), "contract"),
    Field("nonce", COUNT, "the account's own nonce on the chain", Rule("plan", "nonce"), "nonce"),
))  # fmt: skip
"""An authorization as the calls are: a name, a title, and leaves of which the plan decides each."""


def payload_hash(payload: JsonObject) -> bytes:
    """Return the 32-byte hash that is signed of an authorization's payload, which the checks have read."""
    return authorization_hash(payload["chainId"], parse_address(payload["address"]), payload["nonce"])
