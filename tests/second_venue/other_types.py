"""What the second venue signs, other types than comparable venues have, and the profile that says so.

Widths, names of members and of structs within structs, orders, milliseconds, no terms, another function for a call.
"""

from typing import Any

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

_ADDED_NAMES = "(address owner,uint32 pair,uint16 slot,uint256 price,uint128 collateral,uint64 leverage) add"
_ADDED_LEAVES = {
    "add.owner": "trader", "add.pair": "pairIndex", "add.slot": "tradeIndex", "add.price": "openPrice",
    "add.collateral": "additionalCollateralUsdc", "add.leverage": "leverage", "slippage": "slippagePercent",
}  # fmt: skip

STRUCTS = {
    "CloseTradeReq": _CLOSE[0], "Position": _CLOSE[1],
    "TpSlReq": _TRIGGER,
    "SetTraderReferralCodeByUserReq": "address referee,bytes32 code,uint64 until,uint256 salt",
    "TwapCancelReq": "uint64 id,address owner,uint64 until,uint256 salt",
    "DelegateReq": "address trader,address delegate,uint64 expiry,uint64 deadline,uint256 nonce",
    "CancelReq": "address trader,uint64 order,uint256 nonce,uint64 deadline",
}  # fmt: skip
"""By name the members. The last one no other venue has."""
ENCODED_OTHERWISE = {"TpSlReq": (
    "salt", "owner", "pair", "slot", "how", "size", "isLong", "price", "percentage", "openedAt", "madeAt", "kind",
)}  # fmt: skip
"""The order of an encoding, where it is another one."""

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
            "abi_order": list(ENCODED_OTHERWISE["TpSlReq"]),
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
            "encode_type": f"SetTraderReferralCodeByUserReq({STRUCTS['SetTraderReferralCodeByUserReq']})",
            "leaves": {"referee": "referee", "code": "code", "until": "deadlineMs", "salt": "nonce"},
        },
        "TwapCancelReq": {
            "encode_type": f"TwapCancelReq({STRUCTS['TwapCancelReq']})",
            "leaves": {"id": "twapId", "owner": "trader", "until": "deadlineMs", "salt": "nonce"},
        },
        "DelegateReq": {
            "encode_type": f"DelegateReq({STRUCTS['DelegateReq']})",
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
