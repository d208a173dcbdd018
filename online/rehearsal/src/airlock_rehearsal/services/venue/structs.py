"""The structs and order types that the rehearsal services speak, as tables of their own.

They repeat what ``airlock_shared.venue.structs`` says, on purpose: the services must not inherit a mistake of the checks.
Sources: the specification, "Intent message structs" and "Supported order types"; for the structs that it does not show, the
encodeType texts of comparable venues.
"""

from __future__ import annotations

from functools import reduce
from operator import getitem
from typing import Any, NamedTuple

Members = list[dict[str, str]]
"""The members of a struct as ``types`` of EIP-712 has them: ``name`` and ``type`` of each."""


class Struct(NamedTuple):
    """One signable struct: its members in the order they are hashed and the order they are ABI-encoded."""

    name: str
    hashed: Members
    encoded: Members
    domain: str  # "trading" or "referral"; each has its own nonce space
    signer_rule: str
    trader: str  # path of the account that the intent speaks for
    nonce: str
    deadline: str  # path, unix ms; empty when the struct has none
    altered: str  # path of the value that the faults message-altered and encoded-altered change


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
_ANYONE = "trader-or-delegate"


_TPSL = (
    "address trader,uint256 pairIndex,uint256 index,uint8 triggerType,uint256 coinSize,bool buy,uint256 price,"
    "int256 percentage,uint256 timestamp,uint256 signTimestamp,uint8 orderType,uint256 nonce"
)


def _struct(
    name: str,
    text: str,
    trader: str,
    altered: str,
    nonce: str = "_nonce",
    deadline: str = "_deadline",
    domain: str = "trading",
) -> Struct:
    members = _members(text)
    return Struct(name, members, members, domain, _ANYONE, trader, nonce, deadline, altered)


_DELEGATE = "address trader,address delegate,uint256 expiry,uint256 deadline,string tnc,uint256 nonce"
STRUCTS = {
    struct.name: struct
    for struct in (
        _struct("OpenTradeReq", f"Trade _t,uint8 _type,uint256 _slippageP,{_END}", "_t.trader", "_t.leverage"),
        _struct(
            "OpenTradeCoinExposureReq", f"Trade _t,uint8 _type,{_COIN}uint256 _slippageP,{_END}",
            "_t.trader", "_coinExposure",
        ),
        _struct("CloseTradeReq", f"{_CLOSE}uint256 _amount,uint256 _wantedPrice,{_END}", "_trader", "_amount"),
        _struct(
            "CloseTradeCoinExposureReq", f"{_CLOSE}uint256 _coinExposure,uint256 _wantedPrice,{_END}",
            "_trader", "_coinExposure",
        ),
        _struct(
            "IncreasePositionSizeReq", f"UpdatePositionSize _updateInfo,uint256 _slippageP,{_END}",
            "_updateInfo.trader", "_updateInfo.leverage",
        ),
        _struct(
            "IncreasePositionSizeWithCoinExposureReq",
            f"UpdatePositionSize _updateInfo,{_COIN}uint256 _slippageP,{_END}",
            "_updateInfo.trader", "_coinExposure",
        ),
        _struct("TpSlReq", _TPSL, "trader", "coinSize", "nonce", ""),
        _struct(
            "TwapCancelReq", "address trader,uint256 twapId,uint256 nonce,uint256 deadline",
            "trader", "twapId", "nonce", "deadline",
        ),
        *(
            _struct(name, f"bytes32 _code,address {account},{_END}", account, "_code", domain="referral")
            for name, account in (("SetTraderReferralCodeByUserReq", "_referee"), ("RegisterCodeReq", "_referrer"))
        ),
        _struct("DelegateReq", _DELEGATE, "trader", "delegate", "nonce", "deadline")._replace(
            encoded=_members("address trader,address delegate,uint256 expiry,string tnc,uint256 deadline,uint256 nonce"),
            signer_rule="trader-only",
        ),
    )
}  # fmt: skip

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


def leaf(message: dict[str, Any], path: str) -> Any:
    """Return the value at a path such as ``_t.trader``."""
    return reduce(getitem, path.split("."), message)


def replaced(message: dict[str, Any], path: str, value: object) -> dict[str, Any]:
    """Return a copy of a message with another value at a path."""
    first, _, rest = path.partition(".")
    return message | {first: replaced(message[first], rest, value) if rest else value}
