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
    "add.owner": "trader", "add.pair": "pair", "add.slot": "position-slot", "add.price": "open-price",
    "add.collateral": "collateral-added", "add.leverage": "leverage", "slippage": "slippage",
}  # fmt: skip

OTHER = Types(
    USUAL.structs
    | {
        "CloseTradeReq": _CLOSE[0], "Position": _CLOSE[1],
        "TpSlReq": _TRIGGER,
        "IncreasePositionSizeWithCoinExposureReq": _INCREASE[0], "Added": _INCREASE[1],
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
        "IncreasePositionSizeWithCoinExposureReq": {
            "add.owner": "_updateInfo.trader", "add.pair": "_updateInfo.pairIndex", "add.slot": "_updateInfo.index",
            "add.collateral": "_updateInfo.initialPosToken", "add.price": "_updateInfo.openPrice",
            "add.leverage": "_updateInfo.leverage", "coins": "_coinExposure", "least": "_minLeverage",
            "most": "_maxLeverage", "slippage": "_slippageP", "until": "_deadline", "salt": "_nonce",
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
        f"increasePositionSize({_USUAL_UPDATE},uint256)": (f"addMargin(uint64,{_ADDED_ABI})", (1, 0)),
        f"increasePositionSizeWithCoinExposure({_USUAL_UPDATE},uint256,uint256,uint256,uint256)": (
            f"addCoins(uint64,{_ADDED_ABI},uint128,uint64,uint64)", (4, 0, 1, 2, 3),
        ),
        "setDelegate(address,uint256)": ("allow(uint64,address)", (1, 0)),
        "removeDelegate(address)": ("disallow(address)", (0,)),
        "setPendingCodeOwnershipTransfer(bytes32,address)": ("nominate(address,bytes32)", (1, 0)),
        "acceptCodeOwnership(bytes32)": ("takeCode(bytes32)", (0,)),
        "setTraderReferralCodeByUser(bytes32)": ("adopt(bytes32)", (0,)),
        "cancelRequest()": ("withdrawRequest()", ()),
    },
)  # fmt: skip

PROFILE: dict[str, Any] = {
    "format": "airlock/venue-signed@1",
    "structs": {
        "CloseTradeReq": {
            "encode_type": f"CloseTradeReq({_CLOSE[0]})Position({_CLOSE[1]})",
            "leaves": {
                "at.owner": "trader", "at.pair": "pair", "at.slot": "position-slot", "at.openedAt": "opened-ms",
                "amount": "collateral-closed", "worst": "expected-price", "until": "deadline", "salt": "nonce",
            },
        },
        "TpSlReq": {
            "encode_type": f"TpSlReq({_TRIGGER})",
            "abi_order": list(OTHER.encoded_otherwise["TpSlReq"]),
            "leaves": {
                "owner": "trader", "pair": "pair", "slot": "position-slot", "how": "trigger-type", "size": "exposure",
                "isLong": "long", "price": "trigger-price", "percentage": "trigger-percentage", "openedAt": "opened-ms",
                "madeAt": "signed-at", "kind": "trigger-kind", "salt": "nonce",
            },
        },
        "IncreasePositionSizeWithCoinExposureReq": {
            "encode_type": f"IncreasePositionSizeWithCoinExposureReq({_INCREASE[0]})Added({_INCREASE[1]})",
            "leaves": {
                "add.owner": "trader", "add.pair": "pair", "add.slot": "position-slot", "add.collateral": "collateral-added",
                "add.price": "open-price", "add.leverage": "leverage", "coins": "exposure", "least": "least-leverage",
                "most": "most-leverage", "slippage": "slippage", "until": "deadline", "salt": "nonce",
            },
        },
        "SetTraderReferralCodeByUserReq": {
            "encode_type": "SetTraderReferralCodeByUserReq(address referee,bytes32 code,uint64 until,uint256 salt)",
            "leaves": {"referee": "referee", "code": "code", "until": "deadline", "salt": "nonce"},
        },
        "TwapCancelReq": {
            "encode_type": "TwapCancelReq(uint64 id,address owner,uint64 until,uint256 salt)",
            "leaves": {"id": "twap", "owner": "trader", "until": "deadline", "salt": "nonce"},
        },
        "DelegateReq": {
            "encode_type": "DelegateReq(address trader,address delegate,uint64 expiry,uint64 deadline,uint256 nonce)",
            "leaves": {
                "trader": "trader", "delegate": "delegate", "expiry": "expiry", "deadline": "deadline", "nonce": "nonce",
            },
        },
    },
    "calls": {
        "claimTokens": {"signature": "claimRewards()", "leaves": {}},
        "updateOpenLimitOrder": {
            "signature": "changeLimit(uint256 price,uint16 slot,uint32 pair,uint256 sl,uint256 tp,uint256 slippage)",
            "leaves": {
                "price": "order-price", "slot": "order-slot", "pair": "pair", "sl": "stop-loss", "tp": "take-profit",
                "slippage": "slippage",
            },
        },
        "increasePositionSize": {"signature": f"addMargin(uint64 slippage,{_ADDED_NAMES})", "leaves": _ADDED_LEAVES},
        "increasePositionSizeWithCoinExposure": {
            "signature": f"addCoins(uint64 slippage,{_ADDED_NAMES},uint128 coins,uint64 least,uint64 most)",
            "leaves": _ADDED_LEAVES | {"coins": "exposure", "least": "least-leverage", "most": "most-leverage"},
        },
        "setDelegate": {
            "signature": "allow(uint64 until,address key)", "leaves": {"until": "expiry", "key": "delegate"},
        },
        "removeDelegate": {"signature": "disallow(address key)", "leaves": {"key": "delegate"}},
        "setPendingCodeOwnershipTransfer": {
            "signature": "nominate(address next,bytes32 code)", "leaves": {"next": "new-owner", "code": "code"},
        },
        "acceptCodeOwnership": {"signature": "takeCode(bytes32 code)", "leaves": {"code": "code"}},
        "setTraderReferralCodeByUser": {"signature": "adopt(bytes32 code)", "leaves": {"code": "code"}},
        "cancelRequest": {"signature": "withdrawRequest()", "leaves": {}},
    },
}  # fmt: skip
