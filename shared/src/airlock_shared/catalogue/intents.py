"""The catalogue of intents that Airlock knows: data from which checks, review, documentation and tests are made.

For each struct: its ``encodeType``, the order in which it is ABI-encoded, the domain that it is signed under, who may sign
it, where it is executed, and for each leaf its unit, its meaning and who decides it. Sources: the builder's specification,
"Intent message structs", "Authentication" and "Supported order types"; the shapes that it does not show are defaults
observed at comparable venues.
"""

from __future__ import annotations

import re
from functools import cache

from airlock_shared.documents.services import BATCHED_MARKET, CORE_API, RELAYER, TWAP
from airlock_shared.records import NamedTuple
from airlock_shared.units import (
    ADDRESS,
    CHOICE,
    CODE,
    COIN,
    COUNT,
    FLAG,
    LEVERAGE,
    NONCE,
    PERCENT,
    PRICE,
    TEXT,
    UNIX_MS,
    UNIX_S,
    USDC,
    Unit,
)


class Rule(NamedTuple):
    """Who decides a leaf.

    ``kind`` is one of:

    * ``plan``: the plan's field ``parameter`` decides it, by a value or, for amounts, by bounds;
    * ``plan-or-zero``: the same, and zero when the plan is silent;
    * ``zero``: always zero;
    * ``builder``: the plan may decide it; when silent, the builder chooses within the limit named ``limit``.
    """

    kind: str
    parameter: str = ""
    limit: str = ""


class Field(NamedTuple):
    """One leaf of a struct: its path (``_t.trader``), unit, meaning, and who decides it."""

    path: str
    unit: Unit
    meaning: str
    rule: Rule


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


def _plan(parameter: str) -> Rule:
    return Rule("plan", parameter)


def _builder(parameter: str, limit: str) -> Rule:
    return Rule("builder", parameter, limit)


_ZERO = Rule("zero")

_TRADE = (
    "Trade(address trader,uint256 pairIndex,uint256 index,uint256 initialPosToken,uint256 positionSizeUSDC,"
    "uint256 openPrice,bool buy,uint256 leverage,uint256 tp,uint256 sl,uint256 timestamp)"
)
_UPDATE = (
    "UpdatePositionSize(address trader,uint256 pairIndex,uint256 index,uint256 openPrice,"
    "uint256 initialPosToken,uint256 leverage)"
)
_TRADER = "the account that owns the position; collateral is pulled from it and paid out to it"
_PAIR = "the pair, by its index in the venue's catalogue"
_NONCE_MEANING = "a number used once; any unused one will do"
_DEADLINE_MEANING = "after this moment the signature is worthless"


def _timed(deadline: str, nonce: str) -> tuple[Field, ...]:
    return (
        Field(deadline, UNIX_MS, _DEADLINE_MEANING, _builder("deadlineMs", "deadline")),
        Field(nonce, NONCE, _NONCE_MEANING, _builder("nonce", "nonce")),
    )


_SLIPPAGE = Field(
    "_slippageP", PERCENT, "how far the fill may be from the price", _builder("slippagePercent", "slippage")
)

_OPEN_TRADE = (
    Field("_t.trader", ADDRESS, _TRADER, _plan("trader")),
    Field("_t.pairIndex", COUNT, _PAIR, _plan("pairIndex")),
    Field("_t.index", COUNT, "the slot, which the venue assigns", _ZERO),
    Field("_t.initialPosToken", COUNT, "not used when opening", _ZERO),
    Field("_t.positionSizeUSDC", USDC, "the collateral", _plan("collateralUsdc")),
    Field("_t.openPrice", PRICE, "the price that slippage is measured from", _plan("openPrice")),
    Field("_t.buy", FLAG, "true is long, false is short", _plan("side")),
    Field("_t.leverage", LEVERAGE, "size of the position over its collateral", _plan("leverage")),
    Field("_t.tp", PRICE, "take profit; 0 is none", Rule("plan-or-zero", "takeProfit")),
    Field("_t.sl", PRICE, "stop loss; 0 is none", Rule("plan-or-zero", "stopLoss")),
    Field("_t.timestamp", COUNT, "not used when opening", _ZERO),
    Field("_type", CHOICE, "market or limit order", _plan("orderType")),
)
_COIN_BOUNDS = (
    Field("_coinExposure", COIN, "the exposure, in the base asset", _plan("coinExposure")),
    Field("_minLeverage", LEVERAGE, "the lowest leverage accepted at the fill", _plan("minLeverage")),
    Field("_maxLeverage", LEVERAGE, "the highest leverage accepted at the fill", _plan("maxLeverage")),
)
_POSITION = (
    Field("_trader", ADDRESS, _TRADER, _plan("trader")),
    Field("_pairIndex", COUNT, _PAIR, _plan("pairIndex")),
    Field("_index", COUNT, "the slot of the position", _plan("tradeIndex")),
    Field("_openTimestamp", UNIX_S, "when the position was opened; binds the intent to it",
          _builder("openTimestamp", "open-time")),
)  # fmt: skip
_WANTED_PRICE = Field("_wantedPrice", PRICE, "the price expected; a worse one is declined", _plan("expectedPrice"))
_UPDATE_INFO = (
    Field("_updateInfo.trader", ADDRESS, _TRADER, _plan("trader")),
    Field("_updateInfo.pairIndex", COUNT, _PAIR, _plan("pairIndex")),
    Field("_updateInfo.index", COUNT, "the slot of the position", _plan("tradeIndex")),
    Field("_updateInfo.openPrice", PRICE, "the price that slippage is measured from", _plan("openPrice")),
    Field("_updateInfo.initialPosToken", USDC, "the collateral added", _plan("additionalCollateralUsdc")),
    Field("_updateInfo.leverage", LEVERAGE, "leverage of the added collateral", _plan("leverage")),
)

_ALL = (
    Intent(
        "OpenTradeReq",
        "OpenTradeReq(Trade _t,uint8 _type,uint256 _slippageP,uint256 _deadline,uint256 _nonce)" + _TRADE,
        "Open a position, sized in USDC",
        "trading", "trader-or-delegate", BATCHED_MARKET, "_t.trader", "_nonce", "_deadline",
        (*_OPEN_TRADE, _SLIPPAGE, *_timed("_deadline", "_nonce")),
        order_types=(0, 6),
    ),
    Intent(
        "OpenTradeCoinExposureReq",
        "OpenTradeCoinExposureReq(Trade _t,uint8 _type,uint256 _coinExposure,uint256 _minLeverage,uint256 _maxLeverage,"
        "uint256 _slippageP,uint256 _deadline,uint256 _nonce)" + _TRADE,
        "Open a position, sized in the base asset",
        "trading", "trader-or-delegate", BATCHED_MARKET, "_t.trader", "_nonce", "_deadline",
        (*_OPEN_TRADE, *_COIN_BOUNDS, _SLIPPAGE, *_timed("_deadline", "_nonce")),
        order_types=(12, 13),
    ),
    Intent(
        "CloseTradeReq",
        "CloseTradeReq(address _trader,uint256 _pairIndex,uint256 _index,uint256 _openTimestamp,uint256 _amount,"
        "uint256 _wantedPrice,uint256 _deadline,uint256 _nonce)",
        "Close a position, in USDC of its collateral",
        "trading", "trader-or-delegate", BATCHED_MARKET, "_trader", "_nonce", "_deadline",
        (*_POSITION, Field("_amount", USDC, "the collateral to close", _plan("collateralToCloseUsdc")),
         _WANTED_PRICE, *_timed("_deadline", "_nonce")),
        order_types=(1, 7),
    ),
    Intent(
        "CloseTradeCoinExposureReq",
        "CloseTradeCoinExposureReq(address _trader,uint256 _pairIndex,uint256 _index,uint256 _openTimestamp,"
        "uint256 _coinExposure,uint256 _wantedPrice,uint256 _deadline,uint256 _nonce)",
        "Close a position, in the base asset",
        "trading", "trader-or-delegate", BATCHED_MARKET, "_trader", "_nonce", "_deadline",
        (*_POSITION, Field("_coinExposure", COIN, "the exposure to close", _plan("coinExposure")),
         _WANTED_PRICE, *_timed("_deadline", "_nonce")),
        order_types=(15, 16),
    ),
    Intent(
        "IncreasePositionSizeReq",
        "IncreasePositionSizeReq(UpdatePositionSize _updateInfo,uint256 _slippageP,uint256 _deadline,uint256 _nonce)"
        + _UPDATE,
        "Increase a position, sized in USDC",
        "trading", "trader-or-delegate", BATCHED_MARKET, "_updateInfo.trader", "_nonce", "_deadline",
        (*_UPDATE_INFO, _SLIPPAGE, *_timed("_deadline", "_nonce")),
        order_types=(9, -1),
    ),
    Intent(
        "IncreasePositionSizeWithCoinExposureReq",
        "IncreasePositionSizeWithCoinExposureReq(UpdatePositionSize _updateInfo,uint256 _coinExposure,"
        "uint256 _minLeverage,uint256 _maxLeverage,uint256 _slippageP,uint256 _deadline,uint256 _nonce)" + _UPDATE,
        "Increase a position, sized in the base asset",
        "trading", "trader-or-delegate", BATCHED_MARKET, "_updateInfo.trader", "_nonce", "_deadline",
        (*_UPDATE_INFO, *_COIN_BOUNDS, _SLIPPAGE, *_timed("_deadline", "_nonce")),
        order_types=(14, -1),
    ),
    Intent(
        "TpSlReq",
        "TpSlReq(address trader,uint256 pairIndex,uint256 index,uint8 triggerType,uint256 coinSize,bool buy,"
        "uint256 price,int256 percentage,uint256 timestamp,uint256 signTimestamp,uint8 orderType,uint256 nonce)",
        "Arm a trigger that closes part of a position",
        "trading", "trader-or-delegate", CORE_API, "trader", "nonce", "",
        (
            Field("trader", ADDRESS, _TRADER, _plan("trader")),
            Field("pairIndex", COUNT, _PAIR, _plan("pairIndex")),
            Field("index", COUNT, "the slot of the position", _plan("tradeIndex")),
            Field("triggerType", CHOICE, "by a price or by a percentage of profit or loss", _plan("triggerType")),
            Field("coinSize", COIN, "the exposure to close, in the base asset", _plan("coinExposure")),
            Field("buy", FLAG, "the position's direction: true is long", _plan("side")),
            Field("price", PRICE, "the trigger price; 0 with a percentage", Rule("plan-or-zero", "price")),
            Field("percentage", PERCENT, "profit or loss that triggers; 0 with a price", Rule("plan-or-zero", "percentage")),
            Field("timestamp", UNIX_S, "when the position was opened; binds the intent to it",
                  _builder("openTimestamp", "open-time")),
            Field("signTimestamp", UNIX_MS, "when it was built; it must be recent", _builder("", "sign-time")),
            Field("orderType", CHOICE, "4 takes profit, 5 stops a loss", _plan("kind")),
            Field("nonce", NONCE, _NONCE_MEANING, _builder("nonce", "nonce")),
        ),
    ),
    Intent(
        "SetTraderReferralCodeByUserReq",
        "SetTraderReferralCodeByUserReq(bytes32 _code,address _referee,uint256 _deadline,uint256 _nonce)",
        "Adopt a referral code",
        "referral", "trader-or-delegate", RELAYER, "_referee", "_nonce", "_deadline",
        (
            Field("_code", CODE, "the referral code", _plan("code")),
            Field("_referee", ADDRESS, "the account that adopts the code", _plan("referee")),
            *_timed("_deadline", "_nonce"),
        ),
    ),
    Intent(
        "RegisterCodeReq",
        "RegisterCodeReq(bytes32 _code,address _referrer,uint256 _deadline,uint256 _nonce)",
        "Register a referral code of one's own",
        "referral", "trader-or-delegate", RELAYER, "_referrer", "_nonce", "_deadline",
        (
            Field("_code", CODE, "the referral code", _plan("code")),
            Field("_referrer", ADDRESS, "the account that will own the code", _plan("referrer")),
            *_timed("_deadline", "_nonce"),
        ),
    ),
    Intent(
        "TwapCancelReq",
        "TwapCancelReq(address trader,uint256 twapId,uint256 nonce,uint256 deadline)",
        "Cancel a pending TWAP order",
        "trading", "trader-or-delegate", TWAP, "trader", "nonce", "deadline",
        (
            Field("trader", ADDRESS, "the account that opened the TWAP", _plan("trader")),
            Field("twapId", COUNT, "the TWAP's id on the chain", _plan("twapId")),
            *reversed(_timed("deadline", "nonce")),
        ),
    ),
    Intent(
        "DelegateReq",
        "DelegateReq(address trader,address delegate,uint256 expiry,uint256 deadline,string tnc,uint256 nonce)",
        "Let a delegate key trade for an account",
        "trading", "trader-only", RELAYER, "trader", "nonce", "deadline",
        (
            Field("trader", ADDRESS, "the account that the delegate may trade for", _plan("trader")),
            Field("delegate", ADDRESS, "the key that may trade, and may never withdraw", _plan("delegate")),
            Field("expiry", UNIX_S, "until when the delegate may act", _plan("expiry")),
            Field("deadline", UNIX_MS, _DEADLINE_MEANING, _builder("deadlineMs", "deadline")),
            Field("tnc", TEXT, "the venue's terms, which are part of what is signed", _builder("terms_sha256", "terms")),
            Field("nonce", NONCE, _NONCE_MEANING, _builder("nonce", "nonce")),
        ),
        abi_order=("trader", "delegate", "expiry", "tnc", "deadline", "nonce"),
    ),
)  # fmt: skip

CATALOGUE: dict[str, Intent] = {intent.name: intent for intent in _ALL}
"""Every struct that Airlock signs, by primary type."""

DOMAIN_MEMBERS = (("name", "string"), ("version", "string"), ("chainId", "uint256"), ("verifyingContract", "address"))

_STRUCT_TEXT = re.compile(r"(\w+)\(([^)]*)\)")


def types_of(intent: Intent) -> dict[str, list[dict[str, str]]]:
    """Return the ``types`` object of a struct, as JSON has it, without ``EIP712Domain``."""
    return types_of_text(intent.encode_type)


@cache
def types_of_text(encode_type: str) -> dict[str, list[dict[str, str]]]:
    """Return the ``types`` object that an ``encodeType`` text defines, its primary struct first."""
    return {
        name: [{"name": m.split(" ")[1], "type": m.split(" ")[0]} for m in members.split(",") if m]
        for name, members in _STRUCT_TEXT.findall(encode_type)
    }


def abi_type_of(intent: Intent) -> str:
    """Return the tuple type that ``encodedIntent`` holds, its members in ABI order."""
    return _abi_type(intent.encode_type, intent.abi_order)


@cache
def _abi_type(encode_type: str, abi_order: tuple[str, ...]) -> str:
    types = types_of_text(encode_type)

    def tuple_text(struct: str, order: tuple[str, ...]) -> str:
        by_name = {m["name"]: m["type"] for m in types[struct]}
        parts = [by_name[name] for name in order or by_name]
        return f"({','.join(tuple_text(p, ()) if p in types else p for p in parts)})"

    return tuple_text(next(iter(types)), abi_order)


def abi_values_of(intent: Intent, message: dict[str, object]) -> list[object]:
    """Return a canonical message's values in ABI order, nested structs as lists."""
    order = intent.abi_order or message
    return [list(v.values()) if isinstance(v := message[name], dict) else v for name in order]


def pair_path(intent: Intent) -> str:
    """Return the path of the pair's index in a struct; empty when it has none."""
    return next((field.path for field in intent.fields if field.path.lower().endswith("pairindex")), "")


def open_time_path(intent: Intent) -> str:
    """Return the path of the time at which a position was opened; empty when the struct names none."""
    return next((field.path for field in intent.fields if field.rule.limit == "open-time"), "")


def leaf(message: dict[str, object], path: str) -> object:
    """Return the value at a leaf's path (``_t.trader``) of a canonical message."""
    struct, dot, name = path.partition(".")
    if not dot:
        return message[path]
    return leaf(message[struct], name)  # type: ignore[arg-type]


def is_custom(intent: Intent) -> bool:
    """Tell whether a struct was pinned by an operator and is not of the catalogue."""
    return CATALOGUE.get(intent.name) is not intent
