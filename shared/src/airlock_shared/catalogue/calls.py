"""The contract calls that Airlock knows: selector, arguments, meaning, and who decides each argument.

Data, like the catalogue of intents, and judged by the same rules. Calldata is accepted in its canonical encoding only. A
call made for a trader by a delegate is wrapped once in ``delegatedAction``. Source: the builder's specification,
"Builder: unsigned transactions"; signatures are defaults observed at comparable venues.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from airlock_shared.catalogue.intents import Field, Rule
from airlock_shared.errors import Refusal
from airlock_shared.ethereum.abi import decode, encode
from airlock_shared.ethereum.keccak import keccak256
from airlock_shared.records import NamedTuple
from airlock_shared.units import ADDRESS, CHOICE, CODE, COIN, COUNT, FLAG, LEVERAGE, PERCENT, PRICE, UNIX_S, USDC, Unit

DELEGATED_ACTION = "delegatedAction"


class Call(NamedTuple):
    """A contract call: its signature with argument names, the contract it belongs to, and its leaves.

    ``delegable``: a delegate may make it for a trader. ``pending``: it stores an order that is executed later.
    """

    signature: str
    title: str
    contract: str
    fields: tuple[Field, ...]
    delegable: bool = False
    pending: bool = False

    @property
    def name(self) -> str:
        """The function's name."""
        return self.signature.partition("(")[0]


def _field(path: str, unit: Unit, meaning: str, parameter: str) -> Field:
    return Field(path, unit, meaning, Rule("plan", parameter))


_UPDATE = "(address trader,uint256 pairIndex,uint256 index,uint256 openPrice,uint256 initialPosToken,uint256 leverage)"
_TRADE = (
    "(address trader,uint256 pairIndex,uint256 index,uint256 initialPosToken,uint256 positionSizeUSDC,"
    "uint256 openPrice,bool buy,uint256 leverage,uint256 tp,uint256 sl,uint256 timestamp)"
)
_ZERO = Rule("zero")
_PAIR_MEANING = "the pair, by its index in the venue's catalogue"
_UPDATE_FIELDS = (
    _field("info.trader", ADDRESS, "the account that owns the position", "trader"),
    _field("info.pairIndex", COUNT, _PAIR_MEANING, "pairIndex"),
    _field("info.index", COUNT, "the slot of the position", "tradeIndex"),
    _field("info.openPrice", PRICE, "the price that slippage is measured from", "openPrice"),
    _field("info.initialPosToken", USDC, "the collateral added", "additionalCollateralUsdc"),
    _field("info.leverage", LEVERAGE, "leverage of the added collateral", "leverage"),
)
_SLIPPAGE = Field(
    "slippage", PERCENT, "how far the fill may be from the price", Rule("builder", "slippagePercent", "slippage")
)
_CODE = _field("code", CODE, "the referral code", "code")

_ALL = (
    Call("approve(address spender,uint256 amount)", "Let a contract take USDC from this account", "usdc", (
        _field("spender", ADDRESS, "who may take it", "spender"),
        _field("amount", USDC, "how much it may take in all", "amountUsdc"),
    )),
    Call("setDelegate(address delegate,uint256 expiry)", "Let a delegate key trade for this account", "tradingRouter", (
        _field("delegate", ADDRESS, "the key that may trade, and may never withdraw", "delegate"),
        _field("expiry", UNIX_S, "until when the delegate may act", "expiry"),
    )),
    Call("removeDelegate(address delegate)", "End a delegate's registration", "tradingRouter", (
        _field("delegate", ADDRESS, "the key that may no longer trade", "delegate"),
    )),
    Call("setTraderReferralCodeByUser(bytes32 code)", "Adopt a referral code", "referral", (_CODE,), delegable=True),
    Call("setPendingCodeOwnershipTransfer(bytes32 code,address newOwner)", "Nominate a referral code's next owner",
         "referral", (_CODE, _field("newOwner", ADDRESS, "who may accept the code", "newOwner"))),
    Call("acceptCodeOwnership(bytes32 code)", "Accept a referral code", "referral", (_CODE,)),
    Call("cancelRequest()", "Withdraw the request for access to a private code", "referral", ()),
    Call("claimTokens()", "Pay out keeper rewards", "tradingRouter", ()),
    Call("updateOpenLimitOrder(uint256 pairIndex,uint256 index,uint256 price,uint256 slippage,uint256 tp,uint256 sl)",
         "Change a limit order that waits", "tradingRouter", (
             _field("pairIndex", COUNT, _PAIR_MEANING, "pairIndex"),
             _field("index", COUNT, "the slot of the order", "orderIndex"),
             _field("price", PRICE, "the new trigger price", "price"),
             _SLIPPAGE,
             Field("tp", PRICE, "take profit; 0 removes it", Rule("plan-or-zero", "takeProfit")),
             Field("sl", PRICE, "stop loss; 0 removes it", Rule("plan-or-zero", "stopLoss")),
         ), delegable=True),
    Call(f"increasePositionSize({_UPDATE} info,uint256 slippage)", "Increase a position, sized in USDC", "tradingRouter",
         (*_UPDATE_FIELDS, _SLIPPAGE), delegable=True, pending=True),
    Call(f"increasePositionSizeWithCoinExposure({_UPDATE} info,uint256 coinExposure,uint256 minLeverage,"
         "uint256 maxLeverage,uint256 slippage)", "Increase a position, sized in the base asset", "tradingRouter", (
             *_UPDATE_FIELDS,
             _field("coinExposure", COIN, "the exposure added, in the base asset", "coinExposure"),
             _field("minLeverage", LEVERAGE, "the lowest leverage accepted at the fill", "minLeverage"),
             _field("maxLeverage", LEVERAGE, "the highest leverage accepted at the fill", "maxLeverage"),
             _SLIPPAGE,
         ), delegable=True, pending=True),
    Call(f"openTrade({_TRADE} t,uint8 orderType,uint256 slippage)", "Open a position, sized in USDC", "tradingRouter", (
        _field("t.trader", ADDRESS, "the account that owns the position", "trader"),
        _field("t.pairIndex", COUNT, _PAIR_MEANING, "pairIndex"),
        Field("t.index", COUNT, "the slot, which the venue assigns", _ZERO),
        Field("t.initialPosToken", COUNT, "not used when opening", _ZERO),
        _field("t.positionSizeUSDC", USDC, "the collateral", "collateralUsdc"),
        _field("t.openPrice", PRICE, "the price that slippage is measured from", "openPrice"),
        _field("t.buy", FLAG, "true is long, false is short", "side"),
        _field("t.leverage", LEVERAGE, "size of the position over its collateral", "leverage"),
        Field("t.tp", PRICE, "take profit; 0 is none", Rule("plan-or-zero", "takeProfit")),
        Field("t.sl", PRICE, "stop loss; 0 is none", Rule("plan-or-zero", "stopLoss")),
        Field("t.timestamp", COUNT, "not used when opening", _ZERO),
        _field("orderType", CHOICE, "market or limit order", "orderType"),
        _SLIPPAGE,
    ), delegable=True, pending=True),
    Call("closeTradeMarket(uint256 pairIndex,uint256 index,uint256 amount,uint256 wantedPrice)",
         "Close a position, whole or in part", "tradingRouter", (
             _field("pairIndex", COUNT, _PAIR_MEANING, "pairIndex"),
             _field("index", COUNT, "the slot of the position", "tradeIndex"),
             _field("amount", USDC, "the collateral to close", "collateralToCloseUsdc"),
             _field("wantedPrice", PRICE, "the price expected; a worse one is declined", "expectedPrice"),
         ), delegable=True, pending=True),
)  # fmt: skip

CALLS: dict[str, Call] = {call.name: call for call in _ALL}
"""Every call that Airlock signs, by function name."""

_DELEGATED_TYPES = ("address", "bytes")


class Decoded(NamedTuple):
    """Calldata read back: the call, its arguments by name, and, of a delegated call, the trader it is made for."""

    call: Call
    message: dict[str, Any]
    delegated_for: bytes | None


@cache
def _members(call_name: str) -> list[tuple[str, str, tuple[tuple[str, str], ...]]]:
    """Return ``(name, canonical type, members of a tuple)`` of each argument."""
    arguments = CALLS[call_name].signature.partition("(")[2].removesuffix(")")
    result: list[tuple[str, str, tuple[tuple[str, str], ...]]] = []
    for part in re.findall(r"\([^)]*\) \w+|[^,()]+", arguments):
        kind, name = part.rsplit(" ", 1)
        inner: tuple[tuple[str, str], ...] = ()
        if kind.startswith("("):
            pairs = [member.split(" ") for member in kind[1:-1].split(",")]
            inner = tuple((member, member_type) for member_type, member in pairs)
            kind = f"({','.join(member_type for _, member_type in inner)})"
        result.append((name, kind, inner))
    return result


def canonical_signature(call_name: str) -> str:
    """Return the signature that the selector is made of: types alone."""
    if call_name == DELEGATED_ACTION:
        return f"{DELEGATED_ACTION}({','.join(_DELEGATED_TYPES)})"
    return f"{call_name}({','.join(kind for _, kind, _ in _members(call_name))})"


@cache
def selectors() -> dict[bytes, str]:
    """Return the function name of each 4-byte selector."""
    names = [*CALLS, DELEGATED_ACTION]
    return {keccak256(canonical_signature(name).encode())[:4]: name for name in names}


def decode_call(data: bytes) -> Decoded:
    """Read calldata, canonical encoding only; a delegated call is opened once, and never twice.

    Raises ``Refusal`` with ``TX-SELECTOR`` for an unknown function, ``TX-NESTED`` for a delegated call within another,
    ``TX-DELEGABLE`` for one that a delegate may not make, ``ENC-CANONICAL`` for another encoding.
    """
    name = _name_of(data)
    if name != DELEGATED_ACTION:
        return Decoded(CALLS[name], _arguments(name, data), None)
    trader, inner = decode(_DELEGATED_TYPES, data[4:])
    inner_name = _name_of(inner)
    if inner_name == DELEGATED_ACTION:
        raise Refusal("TX-NESTED", "a delegated call within a delegated call", expected="one delegation")
    if not CALLS[inner_name].delegable:
        raise Refusal("TX-DELEGABLE", "a call that a delegate may not make for a trader", got=inner_name)
    return Decoded(CALLS[inner_name], _arguments(inner_name, inner), trader)


def _name_of(data: bytes) -> str:
    name = selectors().get(data[:4])
    if name is None:
        raise Refusal("TX-SELECTOR", "a function that Airlock does not know", got="0x" + data[:4].hex(),
                      expected="one of the known calls")  # fmt: skip
    return name


def _arguments(name: str, data: bytes) -> dict[str, Any]:
    members = _members(name)
    values = decode([kind for _, kind, _ in members], data[4:])
    return {
        argument: dict(zip([member for member, _ in inner], value, strict=True)) if inner else value
        for (argument, _, inner), value in zip(members, values, strict=True)
    }


def encode_call(name: str, message: dict[str, Any]) -> bytes:
    """Return the calldata of a call from its arguments by name."""
    members = _members(name)
    values = [list(message[argument].values()) if inner else message[argument] for argument, _, inner in members]
    selector = keccak256(canonical_signature(name).encode())[:4]
    return selector + encode([kind for _, kind, _ in members], values)
