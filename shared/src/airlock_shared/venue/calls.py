"""The contract calls that Airlock knows: selector, arguments, meaning, and who decides each argument.

Data, like the catalogue of intents, and judged by the same rules. A call made for a trader by a delegate is wrapped once in
``delegatedAction``. Source: the builder's specification, "Builder: unsigned transactions"; signatures are defaults observed
at comparable venues. How calldata is read is in :mod:`airlock_shared.venue.calldata`.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from airlock_shared.ethereum.signatures import keccak256
from airlock_shared.venue.kinds import ALLOWANCE, OPEN_TYPE, PAIR, SPENDER, Field, field

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
        return self.signature.partition("(")[0]

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """The function's arguments."""
        return arguments_of(self.signature)


class Argument(NamedTuple):
    """An argument: its name, its canonical type, and of a tuple its members as ``(name, type)``."""

    name: str
    type: str
    members: tuple[tuple[str, str], ...]


_UPDATE = "(address trader,uint256 pairIndex,uint256 index,uint256 openPrice,uint256 initialPosToken,uint256 leverage)"
_TRADE = (
    "(address trader,uint256 pairIndex,uint256 index,uint256 initialPosToken,uint256 positionSizeUSDC,"
    "uint256 openPrice,bool buy,uint256 leverage,uint256 tp,uint256 sl,uint256 timestamp)"
)
_OWNER = "the account that owns the position"
_UPDATE_FIELDS = (
    field("info.trader", "trader", _OWNER),
    field("info.pairIndex", PAIR),
    field("info.index", "tradeIndex"),
    field("info.openPrice", "openPrice"),
    field("info.initialPosToken", "additionalCollateralUsdc"),
    field("info.leverage", "leverage", "leverage of the added collateral"),
)
_SLIPPAGE = field("slippage", "slippagePercent")
_CODE = field("code", "code")

_ALL = (
    Call("approve(address spender,uint256 amount)", "Let a contract take USDC from this account", "usdc", (
        field("spender", SPENDER),
        field("amount", ALLOWANCE),
    )),
    Call("setDelegate(address delegate,uint256 expiry)", "Let a delegate key trade for this account", "tradingRouter", (
        field("delegate", "delegate"),
        field("expiry", "expiry"),
    )),
    Call("removeDelegate(address delegate)", "End a delegate's registration", "tradingRouter", (
        field("delegate", "delegate", "the key that may no longer trade"),
    )),
    Call("setTraderReferralCodeByUser(bytes32 code)", "Adopt a referral code", "referral", (_CODE,), delegable=True),
    Call("setPendingCodeOwnershipTransfer(bytes32 code,address newOwner)", "Nominate a referral code's next owner",
         "referral", (_CODE, field("newOwner", "newOwner"))),
    Call("acceptCodeOwnership(bytes32 code)", "Accept a referral code", "referral", (_CODE,)),
    Call("cancelRequest()", "Withdraw the request for access to a private code", "referral", ()),
    Call("claimTokens()", "Pay out keeper rewards", "tradingRouter", ()),
    Call("updateOpenLimitOrder(uint256 pairIndex,uint256 index,uint256 price,uint256 slippage,uint256 tp,uint256 sl)",
         "Change a limit order that waits", "tradingRouter", (
             field("pairIndex", PAIR),
             field("index", "orderIndex"),
             field("price", "price", "the new trigger price"),
             _SLIPPAGE,
             field("tp", "takeProfit", "take profit; 0 removes it"),
             field("sl", "stopLoss", "stop loss; 0 removes it"),
         ), delegable=True),
    Call(f"increasePositionSize({_UPDATE} info,uint256 slippage)", "Increase a position, sized in USDC", "tradingRouter",
         (*_UPDATE_FIELDS, _SLIPPAGE), delegable=True, pending=True),
    Call(f"increasePositionSizeWithCoinExposure({_UPDATE} info,uint256 coinExposure,uint256 minLeverage,"
         "uint256 maxLeverage,uint256 slippage)", "Increase a position, sized in the base asset", "tradingRouter", (
             *_UPDATE_FIELDS,
             field("coinExposure", "coinExposure", "the exposure added, in the base asset"),
             field("minLeverage", "minLeverage"),
             field("maxLeverage", "maxLeverage"),
             _SLIPPAGE,
         ), delegable=True, pending=True),
    Call(f"openTrade({_TRADE} t,uint8 orderType,uint256 slippage)", "Open a position, sized in USDC", "tradingRouter", (
        field("t.trader", "trader", _OWNER),
        field("t.pairIndex", PAIR),
        field("t.index", "zero", "the slot, which the venue assigns"),
        field("t.initialPosToken", "zero", "not used when opening"),
        field("t.positionSizeUSDC", "collateralUsdc"),
        field("t.openPrice", "openPrice"),
        field("t.buy", "side"),
        field("t.leverage", "leverage"),
        field("t.tp", "takeProfit"),
        field("t.sl", "stopLoss"),
        field("t.timestamp", "zero", "not used when opening"),
        field("orderType", OPEN_TYPE),
        _SLIPPAGE,
    ), delegable=True, pending=True),
    Call("closeTradeMarket(uint256 pairIndex,uint256 index,uint256 amount,uint256 wantedPrice)",
         "Close a position, whole or in part", "tradingRouter", (
             field("pairIndex", PAIR),
             field("index", "tradeIndex"),
             field("amount", "collateralToCloseUsdc"),
             field("wantedPrice", "expectedPrice"),
         ), delegable=True, pending=True),
)  # fmt: skip

CALLS: dict[str, Call] = {call.name: call for call in _ALL}
"""Every call that Airlock signs, by the name under which it is known."""


@cache
def arguments_of(signature: str) -> tuple[Argument, ...]:
    """Return the arguments that a signature with names has."""
    arguments = signature.partition("(")[2].removesuffix(")")
    result = []
    for part in re.findall(r"\([^)]*\) \w+|[^,()]+", arguments):
        kind, name = part.rsplit(" ", 1)
        inner: tuple[tuple[str, str], ...] = ()
        if kind.startswith("("):
            pairs = [member.split(" ") for member in kind[1:-1].split(",")]
            inner = tuple((member, member_type) for member_type, member in pairs)
            kind = f"({','.join(member_type for _, member_type in inner)})"
        result.append(Argument(name, kind, inner))
    return tuple(result)


def canonical(signature: str) -> str:
    """Return the signature that the selector is made of: types alone."""
    return f"{signature.partition('(')[0]}({','.join(argument.type for argument in arguments_of(signature))})"


@cache
def selector_of(signature: str) -> bytes:
    """Return the 4-byte selector of a signature with argument names."""
    return keccak256(canonical(signature).encode())[:4]


class Calls(NamedTuple):
    """The calls of a venue: by the name under which each is known, and by selector."""

    by_name: dict[str, Call]
    by_selector: dict[bytes, Call]


def indexed(calls: dict[str, Call]) -> Calls:
    """Return a venue's calls, found by name and by selector."""
    return Calls(calls, {selector_of(call.signature): call for call in calls.values()})


@cache
def selectors() -> dict[bytes, str]:
    """Return the name of each selector that ships, ``delegatedAction`` among them."""
    known = {selector_of(call.signature): name for name, call in CALLS.items()}
    return known | {selector_of(DELEGATED_SIGNATURE): DELEGATED_ACTION}
