// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

// The trading intents: each struct in the order of its ABI encoding, and its EIP-712 struct hash.

struct Trade {
    address trader;
    uint256 pairIndex;
    uint256 index;
    uint256 initialPosToken;
    uint256 positionSizeUSDC;
    uint256 openPrice;
    bool buy;
    uint256 leverage;
    uint256 tp;
    uint256 sl;
    uint256 timestamp;
}

struct UpdatePositionSize {
    address trader;
    uint256 pairIndex;
    uint256 index;
    uint256 openPrice;
    uint256 initialPosToken;
    uint256 leverage;
}

struct OpenTradeReq {
    Trade _t;
    uint8 _type;
    uint256 _slippageP;
    uint256 _deadline;
    uint256 _nonce;
}

struct OpenTradeCoinExposureReq {
    Trade _t;
    uint8 _type;
    uint256 _coinExposure;
    uint256 _minLeverage;
    uint256 _maxLeverage;
    uint256 _slippageP;
    uint256 _deadline;
    uint256 _nonce;
}

struct CloseTradeReq {
    address _trader;
    uint256 _pairIndex;
    uint256 _index;
    uint256 _openTimestamp;
    uint256 _amount;
    uint256 _wantedPrice;
    uint256 _deadline;
    uint256 _nonce;
}

struct CloseTradeCoinExposureReq {
    address _trader;
    uint256 _pairIndex;
    uint256 _index;
    uint256 _openTimestamp;
    uint256 _coinExposure;
    uint256 _wantedPrice;
    uint256 _deadline;
    uint256 _nonce;
}

struct IncreasePositionSizeReq {
    UpdatePositionSize _updateInfo;
    uint256 _slippageP;
    uint256 _deadline;
    uint256 _nonce;
}

struct IncreasePositionSizeWithCoinExposureReq {
    UpdatePositionSize _updateInfo;
    uint256 _coinExposure;
    uint256 _minLeverage;
    uint256 _maxLeverage;
    uint256 _slippageP;
    uint256 _deadline;
    uint256 _nonce;
}

struct TpSlReq {
    address trader;
    uint256 pairIndex;
    uint256 index;
    uint8 triggerType;
    uint256 coinSize;
    bool buy;
    uint256 price;
    int256 percentage;
    uint256 timestamp;
    uint256 signTimestamp;
    uint8 orderType;
    uint256 nonce;
}

struct TwapCancelReq {
    address trader;
    uint256 twapId;
    uint256 nonce;
    uint256 deadline;
}

/// The one struct that is encoded in another order than it is hashed: `tnc` comes before `deadline` here.
struct DelegateReq {
    address trader;
    address delegate;
    uint256 expiry;
    string tnc;
    uint256 deadline;
    uint256 nonce;
}

bytes constant TRADE_TYPE =
    "Trade(address trader,uint256 pairIndex,uint256 index,uint256 initialPosToken,uint256 positionSizeUSDC,uint256 openPrice,bool buy,uint256 leverage,uint256 tp,uint256 sl,uint256 timestamp)";
bytes constant UPDATE_TYPE =
    "UpdatePositionSize(address trader,uint256 pairIndex,uint256 index,uint256 openPrice,uint256 initialPosToken,uint256 leverage)";

library Intents {
    bytes32 private constant TRADE = keccak256(TRADE_TYPE);
    bytes32 private constant UPDATE = keccak256(UPDATE_TYPE);
    bytes32 private constant OPEN = keccak256(
        abi.encodePacked(
            "OpenTradeReq(Trade _t,uint8 _type,uint256 _slippageP,uint256 _deadline,uint256 _nonce)", TRADE_TYPE
        )
    );
    bytes32 private constant OPEN_COIN = keccak256(
        abi.encodePacked(
            "OpenTradeCoinExposureReq(Trade _t,uint8 _type,uint256 _coinExposure,uint256 _minLeverage,uint256 _maxLeverage,uint256 _slippageP,uint256 _deadline,uint256 _nonce)",
            TRADE_TYPE
        )
    );
    bytes32 private constant CLOSE = keccak256(
        "CloseTradeReq(address _trader,uint256 _pairIndex,uint256 _index,uint256 _openTimestamp,uint256 _amount,uint256 _wantedPrice,uint256 _deadline,uint256 _nonce)"
    );
    bytes32 private constant CLOSE_COIN = keccak256(
        "CloseTradeCoinExposureReq(address _trader,uint256 _pairIndex,uint256 _index,uint256 _openTimestamp,uint256 _coinExposure,uint256 _wantedPrice,uint256 _deadline,uint256 _nonce)"
    );
    bytes32 private constant INCREASE = keccak256(
        abi.encodePacked(
            "IncreasePositionSizeReq(UpdatePositionSize _updateInfo,uint256 _slippageP,uint256 _deadline,uint256 _nonce)",
            UPDATE_TYPE
        )
    );
    bytes32 private constant INCREASE_COIN = keccak256(
        abi.encodePacked(
            "IncreasePositionSizeWithCoinExposureReq(UpdatePositionSize _updateInfo,uint256 _coinExposure,uint256 _minLeverage,uint256 _maxLeverage,uint256 _slippageP,uint256 _deadline,uint256 _nonce)",
            UPDATE_TYPE
        )
    );
    bytes32 private constant TP_SL = keccak256(
        "TpSlReq(address trader,uint256 pairIndex,uint256 index,uint8 triggerType,uint256 coinSize,bool buy,uint256 price,int256 percentage,uint256 timestamp,uint256 signTimestamp,uint8 orderType,uint256 nonce)"
    );
    bytes32 private constant TWAP_CANCEL =
        keccak256("TwapCancelReq(address trader,uint256 twapId,uint256 nonce,uint256 deadline)");
    bytes32 private constant DELEGATE = keccak256(
        "DelegateReq(address trader,address delegate,uint256 expiry,uint256 deadline,string tnc,uint256 nonce)"
    );

    function hash(Trade memory t) internal pure returns (bytes32) {
        return keccak256(abi.encode(TRADE, t)); // a static struct is encoded as its members are
    }

    function hash(UpdatePositionSize memory u) internal pure returns (bytes32) {
        return keccak256(abi.encode(UPDATE, u));
    }

    function hash(OpenTradeReq memory q) internal pure returns (bytes32) {
        return keccak256(abi.encode(OPEN, hash(q._t), q._type, q._slippageP, q._deadline, q._nonce));
    }

    function hash(OpenTradeCoinExposureReq memory q) internal pure returns (bytes32) {
        return keccak256(
            abi.encode(
                OPEN_COIN, hash(q._t), q._type, q._coinExposure, q._minLeverage, q._maxLeverage, q._slippageP,
                q._deadline, q._nonce
            )
        );
    }

    function hash(CloseTradeReq memory q) internal pure returns (bytes32) {
        return keccak256(abi.encode(CLOSE, q));
    }

    function hash(CloseTradeCoinExposureReq memory q) internal pure returns (bytes32) {
        return keccak256(abi.encode(CLOSE_COIN, q));
    }

    function hash(IncreasePositionSizeReq memory q) internal pure returns (bytes32) {
        return keccak256(abi.encode(INCREASE, hash(q._updateInfo), q._slippageP, q._deadline, q._nonce));
    }

    function hash(IncreasePositionSizeWithCoinExposureReq memory q) internal pure returns (bytes32) {
        return keccak256(
            abi.encode(
                INCREASE_COIN, hash(q._updateInfo), q._coinExposure, q._minLeverage, q._maxLeverage, q._slippageP,
                q._deadline, q._nonce
            )
        );
    }

    function hash(TpSlReq memory q) internal pure returns (bytes32) {
        return keccak256(abi.encode(TP_SL, q));
    }

    function hash(TwapCancelReq memory q) internal pure returns (bytes32) {
        return keccak256(abi.encode(TWAP_CANCEL, q));
    }

    function hash(DelegateReq memory q) internal pure returns (bytes32) {
        return keccak256(
            abi.encode(DELEGATE, q.trader, q.delegate, q.expiry, q.deadline, keccak256(bytes(q.tnc)), q.nonce)
        );
    }
}
