"""A struct's ``encodeType`` text as ``types``, and the tuple that the contract takes. Source: EIP-712, "encodeType"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from airlock_shared.catalogue.intents import Intent

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
_ALL = (
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
SHIPPED = {text.partition("(")[0]: text for text in _ALL}
"""The ``encodeType`` text of every struct that ships, by primary type: defaults observed at comparable venues."""


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
    return [_values(message[name]) for name in order]


def _values(value: object) -> object:
    return [_values(member) for member in value.values()] if isinstance(value, dict) else value


def leaves_of(types: Mapping[str, list[dict[str, str]]], struct: str, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the path and the type of each leaf of a struct, in its order."""
    for member in types[struct]:
        path = prefix + member["name"]
        if member["type"] in types:
            yield from leaves_of(types, member["type"], f"{path}.")
        else:
            yield path, member["type"]
