"""Other types than comparable venues have, where the specification shows none: and the profile that says so.

Widths, names of members and of structs within structs, orders, milliseconds, no terms, another function for a call.
"""

from __future__ import annotations

from typing import Any

from second_venue.intents import USUAL, Types

_CLOSE = (
    "Position at,uint128 amount,uint256 worst,uint64 until,uint256 salt",
    "address owner,uint32 pair,uint16 slot,uint64 openedAt",
)
_TRIGGER = (
    "address owner,uint32 pair,uint16 slot,uint8 how,uint256 size,bool isLong,uint256 price,int128 percentage,"
    "uint64 openedAt,uint64 madeAt,uint8 kind,uint256 salt"
)
_INCREASE = (
    "Added add,uint256 coins,uint64 least,uint64 most,uint64 slippage,uint64 until,uint256 salt",
    "address owner,uint32 pair,uint16 slot,uint128 collateral,uint256 price,uint64 leverage",
)

_USUAL_UPDATE = "(address,uint256,uint256,uint256,uint256,uint256)"
_ADDED_ABI = "(address,uint32,uint16,uint256,uint128,uint64)"
_ADDED_NAMES = "(address owner,uint32 pair,uint16 slot,uint256 price,uint128 collateral,uint64 leverage) add"
_ADDED_LEAVES = {
    "add.owner": "trader", "add.pair": "pairIndex", "add.slot": "tradeIndex", "add.price": "openPrice",
    "add.collateral": "additionalCollateralUsdc", "add.leverage": "leverage", "slippage": "slippagePercent",
}  # fmt: skip

OTHER = Types(
    USUAL.structs
    | {
        "CloseTradeReq": _CLOSE[0], "Position": _CLOSE[1],
        "TpSlReq": _TRIGGER,
        "SetTraderReferralCodeByUserReq": "address referee,bytes32 code,uint64 until,uint256 salt",
        "TwapCancelReq": "uint64 id,address owner,uint64 until,uint256 salt",
        "DelegateReq": "address trader,address delegate,uint64 expiry,uint64 deadline,uint256 nonce",
    },
    {"TpSlReq": (
        "salt", "owner", "pair", "slot", "how", "size", "isLong", "price", "percentage", "openedAt", "madeAt", "kind",
    )},
    {
        "CloseTradeReq": {
            "at.owner": "_trader", "at.pair": "_pairIndex", "at.slot": "_index", "at.openedAt": "_openTimestamp",
            "amount": "_amount", "worst": "_wantedPrice", "until": "_deadline", "salt": "_nonce",
        },
        "TpSlReq": {
            "owner": "trader", "pair": "pairIndex", "slot": "index", "how": "triggerType", "size": "coinSize",
            "isLong": "buy", "openedAt": "timestamp", "madeAt": "signTimestamp", "kind": "orderType", "salt": "nonce",
        },
        "SetTraderReferralCodeByUserReq": {"referee": "_referee", "code": "_code", "until": "_deadline", "salt": "_nonce"},
        "TwapCancelReq": {"id": "twapId", "owner": "trader", "until": "deadline", "salt": "nonce"},
    },
    ("at.openedAt", "openedAt"),
    {
        "claimTokens()": ("claimRewards()", ()),
        "updateOpenLimitOrder(uint256,uint256,uint256,uint256,uint256,uint256)": (
            "changeLimit(uint256,uint16,uint32,uint256,uint256,uint256)", (2, 1, 0, 5, 4, 3),
        ),
        f"increasePositionSizeWithCoinExposure({_USUAL_UPDATE},uint256,uint256,uint256,uint256)": (
            f"addCoins(uint64,{_ADDED_ABI},uint128,uint64,uint64)", (4, 0, 1, 2, 3),
        ),
        "setDelegate(address,uint256)": ("allow(uint64,address)", (1, 0)),
    },
)  # fmt: skip

PROFILE: dict[str, Any] = {
    "format": "airlock/venue-signed@1",
    "structs": {
        "CloseTradeReq": {
            "encode_type": f"CloseTradeReq({_CLOSE[0]})Position({_CLOSE[1]})",
            "leaves": {
                "at.owner": "trader", "at.pair": "pairIndex", "at.slot": "tradeIndex", "at.openedAt": "opened-ms",
                "amount": "collateralToCloseUsdc", "worst": "expectedPrice", "until": "deadlineMs", "salt": "nonce",
            },
        },
        "TpSlReq": {
            "encode_type": f"TpSlReq({_TRIGGER})",
            "abi_order": list(OTHER.encoded_otherwise["TpSlReq"]),
            "leaves": {
                "owner": "trader", "pair": "pairIndex", "slot": "tradeIndex", "how": "triggerType", "size": "coinExposure",
                "isLong": "side", "price": "price", "percentage": "percentage", "openedAt": "opened-ms",
                "madeAt": "signed-at", "kind": "kind", "salt": "nonce",
            },
        },
        "IncreasePositionSizeWithCoinExposureReq": {
            "encode_type": f"IncreasePositionSizeWithCoinExposureReq({_INCREASE[0]})Added({_INCREASE[1]})",
            "leaves": {
                "add.owner": "trader", "add.pair": "pairIndex", "add.slot": "tradeIndex",
                "add.collateral": "additionalCollateralUsdc", "add.price": "openPrice", "add.leverage": "leverage",
                "coins": "coinExposure", "least": "minLeverage", "most": "maxLeverage", "slippage": "slippagePercent",
                "until": "deadlineMs", "salt": "nonce",
            },
        },
        "SetTraderReferralCodeByUserReq": {
            "encode_type": "SetTraderReferralCodeByUserReq(address referee,bytes32 code,uint64 until,uint256 salt)",
            "leaves": {"referee": "referee", "code": "code", "until": "deadlineMs", "salt": "nonce"},
        },
        "TwapCancelReq": {
            "encode_type": "TwapCancelReq(uint64 id,address owner,uint64 until,uint256 salt)",
            "leaves": {"id": "twapId", "owner": "trader", "until": "deadlineMs", "salt": "nonce"},
        },
        "DelegateReq": {
            "encode_type": "DelegateReq(address trader,address delegate,uint64 expiry,uint64 deadline,uint256 nonce)",
            "leaves": {
                "trader": "trader", "delegate": "delegate", "expiry": "expiry", "deadline": "deadlineMs", "nonce": "nonce",
            },
        },
    },
    "calls": {
        "claimTokens": {"signature": "claimRewards()", "leaves": {}},
        "updateOpenLimitOrder": {
            "signature": "changeLimit(uint256 price,uint16 slot,uint32 pair,uint256 sl,uint256 tp,uint256 slippage)",
            "leaves": {
                "price": "price", "slot": "orderIndex", "pair": "pairIndex", "sl": "stopLoss", "tp": "takeProfit",
                "slippage": "slippagePercent",
            },
        },
        "increasePositionSize": {"signature": f"addMargin(uint64 slippage,{_ADDED_NAMES})", "leaves": _ADDED_LEAVES},
        "increasePositionSizeWithCoinExposure": {
            "signature": f"addCoins(uint64 slippage,{_ADDED_NAMES},uint128 coins,uint64 least,uint64 most)",
            "leaves": _ADDED_LEAVES | {"coins": "coinExposure", "least": "minLeverage", "most": "maxLeverage"},
        },
        "setDelegate": {
            "signature": "allow(uint64 until,address key)", "leaves": {"until": "expiry", "key": "delegate"},
        },
        "removeDelegate": {"signature": "disallow(address key)", "leaves": {"key": "delegate"}},
        "setPendingCodeOwnershipTransfer": {
            "signature": "nominate(address next,bytes32 code)", "leaves": {"next": "newOwner", "code": "code"},
        },
        "acceptCodeOwnership": {"signature": "takeCode(bytes32 code)", "leaves": {"code": "code"}},
        "setTraderReferralCodeByUser": {"signature": "adopt(bytes32 code)", "leaves": {"code": "code"}},
        "cancelRequest": {"signature": "withdrawRequest()", "leaves": {}},
    },
}  # fmt: skip
