"""The structs and order types that the rehearsal services speak, as tables of their own.

They repeat what ``airlock_shared.venue.structs`` says, on purpose: the services must not inherit a mistake of the checks.
Sources: the specification, "Intent message structs" and "Supported order types"; for the structs that it does not show, the
encodeType texts of comparable venues.
"""

from __future__ import annotations

from typing import Any, NamedTuple

Members = list[dict[str, str]]
"""The members of a struct as ``types`` of EIP-712 has them: ``name`` and ``type`` of each."""


class Struct(NamedTuple):
    """One signable struct: its members in the order they are hashed and the order they are ABI-encoded."""

    hashed: Members
    encoded: Members
    domain: str  # "trading" or "referral"; each has its own nonce space
    signer_rule: str


class OrderType(NamedTuple):
    """A row of the specification's table "Supported order types"."""

    code: int
    name: str
    struct: str
    is_pnl: bool


def _members(text: str) -> Members:
    return [{"name": name, "type": kind} for kind, name in map(str.split, text.split(","))]


NESTED = {
    "Trade": _members(
        "address trader,uint256 pairIndex,uint256 index,uint256 initialPosToken,uint256 positionSizeUSDC,"
        "uint256 openPrice,bool buy,uint256 leverage,uint256 tp,uint256 sl,uint256 timestamp"
    ),
    "UpdatePositionSize": _members(
        "address trader,uint256 pairIndex,uint256 index,uint256 openPrice,uint256 initialPosToken,uint256 leverage"
    ),
}
"""Structs that others hold; both orders are the same."""

DOMAIN_MEMBERS = _members("string name,string version,uint256 chainId,address verifyingContract")

_CLOSE = "address _trader,uint256 _pairIndex,uint256 _index,uint256 _openTimestamp,"
_COIN = "uint256 _coinExposure,uint256 _minLeverage,uint256 _maxLeverage,"
_END = "uint256 _deadline,uint256 _nonce"
_REFERRAL = {
    "SetTraderReferralCodeByUserReq": f"bytes32 _code,address _referee,{_END}",
    "RegisterCodeReq": f"bytes32 _code,address _referrer,{_END}",
}
_HASHED = {
    "OpenTradeReq": f"Trade _t,uint8 _type,uint256 _slippageP,{_END}",
    "OpenTradeCoinExposureReq": f"Trade _t,uint8 _type,{_COIN}uint256 _slippageP,{_END}",
    "CloseTradeReq": f"{_CLOSE}uint256 _amount,uint256 _wantedPrice,{_END}",
    "CloseTradeCoinExposureReq": f"{_CLOSE}uint256 _coinExposure,uint256 _wantedPrice,{_END}",
    "IncreasePositionSizeReq": f"UpdatePositionSize _updateInfo,uint256 _slippageP,{_END}",
    "IncreasePositionSizeWithCoinExposureReq": f"UpdatePositionSize _updateInfo,{_COIN}uint256 _slippageP,{_END}",
    "TpSlReq": "address trader,uint256 pairIndex,uint256 index,uint8 triggerType,uint256 coinSize,bool buy,uint256 price,"
    "int256 percentage,uint256 timestamp,uint256 signTimestamp,uint8 orderType,uint256 nonce",
    "TwapCancelReq": "address trader,uint256 twapId,uint256 nonce,uint256 deadline",
    "DelegateReq": "address trader,address delegate,uint256 expiry,uint256 deadline,string tnc,uint256 nonce",
    **_REFERRAL,
}
_ENCODED = {"DelegateReq": "address trader,address delegate,uint256 expiry,string tnc,uint256 deadline,uint256 nonce"}

STRUCTS = {
    name: Struct(
        _members(text),
        _members(_ENCODED.get(name, text)),
        "referral" if name in _REFERRAL else "trading",
        "trader-only" if name == "DelegateReq" else "trader-or-delegate",
    )
    for name, text in _HASHED.items()
}

ORDER_TYPES = {
    row.code: row
    for row in (
        OrderType(0, "MARKET_OPEN", "OpenTradeReq", False),
        OrderType(6, "MARKET_OPEN_PNL", "OpenTradeReq", True),
        OrderType(12, "MARKET_OPEN_WITH_COIN_EXPOSURE", "OpenTradeCoinExposureReq", False),
        OrderType(13, "MARKET_OPEN_PNL_WITH_COIN_EXPOSURE", "OpenTradeCoinExposureReq", True),
        OrderType(1, "MARKET_CLOSE", "CloseTradeReq", False),
        OrderType(7, "MARKET_CLOSE_PNL", "CloseTradeReq", True),
        OrderType(15, "MARKET_CLOSE_WITH_COIN_EXPOSURE", "CloseTradeCoinExposureReq", False),
        OrderType(16, "MARKET_CLOSE_PNL_WITH_COIN_EXPOSURE", "CloseTradeCoinExposureReq", True),
        OrderType(9, "INCREASE_SIZE", "IncreasePositionSizeReq", False),
        OrderType(14, "INCREASE_SIZE_WITH_COIN_EXPOSURE", "IncreasePositionSizeWithCoinExposureReq", False),
    )
}
"""Order types of ``POST /market/execute-batched``, by code."""


def leaves(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message's values by their names without a leading underscore, those of the struct within it too."""
    found: dict[str, Any] = {}
    for name, value in message.items():
        found |= leaves(value) if isinstance(value, dict) else {name.removeprefix("_"): value}
    return found
