"""The catalogue of intents that Airlock knows: data from which checks, review, documentation and tests are made.

For each struct: its ``encodeType``, the order in which it is ABI-encoded, the domain that it is signed under, who may sign
it, where it is executed, and for each leaf its unit, its meaning and who decides it. Sources: the builder's specification,
"Intent message structs", "Authentication" and "Supported order types"; the shapes that it does not show are defaults
observed at comparable venues.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from airlock_shared.venue.kinds import ACCOUNT_KINDS, DEADLINE, NONCE_KIND, Field, field, path_of
from airlock_shared.venue.services import BATCHED_MARKET, CORE_API, RELAYER, TWAP

# ---- encode types ---------------------------------------------------------------------------------------------------
# A struct's ``encodeType`` text as ``types``, and the tuple that the contract takes. Source: EIP-712, "encodeType".


_STRUCT_TEXT = re.compile(r"(\w+)\(([^)]*)\)")

_TRADE = (
    "Trade(address trader,uint256 pairIndex,uint256 index,uint256 initialPosToken,uint256 positionSizeUSDC,"
    "uint256 openPrice,bool buy,uint256 leverage,uint256 tp,uint256 sl,uint256 timestamp)"
)
_UPDATE = (
    "UpdatePositionSize(address trader,uint256 pairIndex,uint256 index,uint256 openPrice,"
    "uint256 initialPosToken,uint256 leverage)"
)
_POSITION = "address _trader,uint256 _pairIndex,uint256 _index,uint256 _openTimestamp,"
_TRIGGERED = "address trader,uint256 pairIndex,uint256 index,uint8 triggerType,uint256 coinSize,bool buy,uint256 price,"
_COINS = "uint256 _coinExposure,uint256 _minLeverage,uint256 _maxLeverage,"
_TIMED = "uint256 _deadline,uint256 _nonce)"
_ALL = (  # a new one at the end: the dictionary of QR codes has the first of them
    f"OpenTradeReq(Trade _t,uint8 _type,uint256 _slippageP,{_TIMED}{_TRADE}",
    f"OpenTradeCoinExposureReq(Trade _t,uint8 _type,{_COINS}uint256 _slippageP,{_TIMED}{_TRADE}",
    f"CloseTradeReq({_POSITION}uint256 _amount,uint256 _wantedPrice,{_TIMED}",
    f"CloseTradeCoinExposureReq({_POSITION}uint256 _coinExposure,uint256 _wantedPrice,{_TIMED}",
    f"IncreasePositionSizeReq(UpdatePositionSize _updateInfo,uint256 _slippageP,{_TIMED}{_UPDATE}",
    f"IncreasePositionSizeWithCoinExposureReq(UpdatePositionSize _updateInfo,{_COINS}uint256 _slippageP,{_TIMED}{_UPDATE}",
    f"TpSlReq({_TRIGGERED}int256 percentage,uint256 timestamp,uint256 signTimestamp,uint8 orderType,uint256 nonce)",
    f"SetTraderReferralCodeByUserReq(bytes32 _code,address _referee,{_TIMED}",
    f"RegisterCodeReq(bytes32 _code,address _referrer,{_TIMED}",
    "TwapCancelReq(address trader,uint256 twapId,uint256 nonce,uint256 deadline)",
    "DelegateReq(address trader,address delegate,uint256 expiry,uint256 deadline,string tnc,uint256 nonce)",
)
SHIPPED_TYPES = {text.partition("(")[0]: text for text in _ALL}
"""The ``encodeType`` text of every struct that ships, by primary type: defaults observed at comparable venues."""


def types_of(intent: Intent) -> dict[str, list[dict[str, str]]]:
    """Return the ``types`` object of a struct, as JSON has it, without ``EIP712Domain``."""
    return types_of_text(intent.encode_type)


def types_of_text(encode_type: str) -> dict[str, list[dict[str, str]]]:
    """Return the ``types`` object that an ``encodeType`` text defines, its primary struct first."""
    return {
        name: [{"name": m.split(" ")[1], "type": m.split(" ")[0]} for m in members.split(",") if m]
        for name, members in _STRUCT_TEXT.findall(encode_type)
    }


def abi_type_of(intent: Intent) -> str:
    """Return the tuple type of ``encodedIntent``, such as ``(address,uint256)``, its members in the order of the ABI."""
    types = types_of(intent)

    def tuple_text(struct: str, order: tuple[str, ...]) -> str:
        by_name = {m["name"]: m["type"] for m in types[struct]}
        parts = [by_name[name] for name in order or by_name]
        return f"({','.join(tuple_text(p, ()) if p in types else p for p in parts)})"

    return tuple_text(next(iter(types)), intent.abi_order)


def abi_values_of(intent: Intent, message: dict[str, object]) -> list[object]:
    """Return a canonical message's values in ABI order, nested structs as lists."""
    order = intent.abi_order or message
    return [_values(message[name]) for name in order]


def _values(value: object) -> object:
    return [_values(member) for member in value.values()] if isinstance(value, dict) else value


def leaves_of(types: Mapping[str, list[dict[str, str]]], struct: str, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the path (``_t.trader``) and the Solidity type of each leaf of a struct, in the order of its members."""
    for member in types[struct]:
        path = prefix + member["name"]
        if member["type"] in types:
            yield from leaves_of(types, member["type"], f"{path}.")
        else:
            yield path, member["type"]


# ---- intents --------------------------------------------------------------------------------------------------------


class Intent(NamedTuple):
    """One struct of the catalogue."""

    name: str
    encode_type: str
    title: str
    domain: str  # "trading" or "referral"
    signer_rule: str  # "trader-only" or "trader-or-delegate"
    route: str  # of the routes that take intents
    trader: str  # path of the account that the intent speaks for
    nonce: str
    deadline: str  # path of the deadline in unix ms; empty when the struct has none
    fields: tuple[Field, ...]
    abi_order: tuple[str, ...] = ()  # top-level members in ABI order, when it is not the order of encodeType
    order_types: tuple[int, int] | None = None  # batched orderType on an ordinary pair, and on a PnL pair (-1: none)
    executing: str = ""  # the contract's call that executes it for whoever sends it; empty when none is known


_OWNER = "the account that owns the position; collateral is pulled from it and paid out to it"
_CLOSED = "the exposure to close"


def _intent(
    name: str,
    title: str,
    kinds: str,
    route: str = BATCHED_MARKET,
    domain: str = "trading",
    signer_rule: str = "trader-or-delegate",
    **meanings: str,
) -> Intent:
    """Return a struct of the catalogue; ``kinds`` are its leaves', in order, ``meanings`` stand in for a kind's own."""
    paths, words = [path for path, _ in leaves_of(types_of_text(SHIPPED_TYPES[name]), name)], kinds.split()
    told = {"trader": _OWNER, **meanings}
    fields = tuple(
        field(path, kind, told.get(path.rpartition(".")[2].strip("_") if kind == "zero" else kind, ""))
        for path, kind in zip(paths, words, strict=True)
    )
    account = next(each.path for each in fields if each.kind in ACCOUNT_KINDS)
    nonce, deadline = path_of(fields, NONCE_KIND), path_of(fields, DEADLINE)
    return Intent(name, SHIPPED_TYPES[name], title, domain, signer_rule, route, account, nonce, deadline, fields)


_UNUSED = "not used when opening"
_NOT_SET = {"index": "the slot, which the venue assigns", "initialPosToken": _UNUSED, "timestamp": _UNUSED}
_LIMITS = "deadlineMs nonce"
_OPEN = "trader pairIndex zero zero collateralUsdc openPrice side leverage takeProfit stopLoss zero orderType"
_HELD = "trader pairIndex tradeIndex openTimestamp"
_ADDED = "trader pairIndex tradeIndex openPrice additionalCollateralUsdc leverage"
_COIN = "coinExposure minLeverage maxLeverage"
_ADDS = {"leverage": "leverage of the added collateral"}

_WITH_SIG = "bytes signature,bytes intent"  # the order of the public client programs of comparable venues

_INTENTS = (
    _intent("OpenTradeReq", "Open a position, sized in USDC", f"{_OPEN} slippagePercent {_LIMITS}", **_NOT_SET)._replace(
        order_types=(0, 6),
    ),
    _intent(
        "OpenTradeCoinExposureReq", "Open a position, sized in the base asset", f"{_OPEN} {_COIN} slippagePercent {_LIMITS}",
        **_NOT_SET,
    )._replace(order_types=(12, 13)),
    _intent(
        "CloseTradeReq", "Close a position, in USDC of its collateral",
        f"{_HELD} collateralToCloseUsdc expectedPrice {_LIMITS}",
    )._replace(order_types=(1, 7)),
    _intent(
        "CloseTradeCoinExposureReq", "Close a position, in the base asset",
        f"{_HELD} coinExposure expectedPrice {_LIMITS}", coinExposure=_CLOSED,
    )._replace(order_types=(15, 16)),
    _intent(
        "IncreasePositionSizeReq", "Increase a position, sized in USDC", f"{_ADDED} slippagePercent {_LIMITS}", **_ADDS
    )._replace(order_types=(9, -1)),
    _intent(
        "IncreasePositionSizeWithCoinExposureReq", "Increase a position, sized in the base asset",
        f"{_ADDED} {_COIN} slippagePercent {_LIMITS}", **_ADDS,
    )._replace(order_types=(14, -1)),
    _intent(
        "TpSlReq", "Arm a trigger that closes part of a position",
        "trader pairIndex tradeIndex triggerType coinExposure side price percentage openTimestamp signed-at kind nonce",
        CORE_API, coinExposure=f"{_CLOSED}, in the base asset", side="the position's direction: true is long",
    ),
    _intent(
        "SetTraderReferralCodeByUserReq", "Adopt a referral code", f"code referee {_LIMITS}", RELAYER, "referral"
    )._replace(
        executing=f"setTraderReferralCodeByUserWithSig({_WITH_SIG})",
    ),
    _intent(
        "RegisterCodeReq", "Register a referral code of one's own", f"code referrer {_LIMITS}", RELAYER, "referral"
    )._replace(
        executing=f"registerCodeWithSig({_WITH_SIG})",
    ),
    _intent(
        "TwapCancelReq", "Cancel a pending TWAP order", "trader twapId nonce deadlineMs", TWAP,
        trader="the account that opened the TWAP",
    ),
    _intent(
        "DelegateReq", "Let a delegate key trade for an account", "trader delegate expiry deadlineMs terms nonce", RELAYER,
        "trading", "trader-only", trader="the account that the delegate may trade for",
    )._replace(
        abi_order=("trader", "delegate", "expiry", "tnc", "deadline", "nonce"),
        executing=f"setDelegateWithSig({_WITH_SIG})",
    ),
)  # fmt: skip

CATALOGUE: dict[str, Intent] = {intent.name: intent for intent in _INTENTS}
"""Every struct that Airlock signs, by primary type."""

DOMAIN_MEMBERS = (("name", "string"), ("version", "string"), ("chainId", "uint256"), ("verifyingContract", "address"))


def is_custom(intent: Intent) -> bool:
    """Tell whether a struct is not of the shipped catalogue, but of a venue's profile."""
    return intent.name not in CATALOGUE
