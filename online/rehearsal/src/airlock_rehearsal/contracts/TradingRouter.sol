// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Eip712} from "Eip712.sol";
import "Errors.sol";
import "Intents.sol";
import {Action, Order} from "Market.sol";

interface ITradingStorage {
    function open(Trade calldata t, Order calldata o, uint8 orderType) external;
    function increase(Order calldata o) external;
    function close(Order calldata o, bool bound) external;
    function updateLimit(
        address trader, uint256 pairIndex, uint256 index, uint256 price, uint256 slippage, uint256 tp, uint256 sl
    ) external;
    function storeTrigger(bytes32 id, TpSlReq calldata q) external;
    function cancelTwap(address trader, uint256 twapId) external;
    function claim(address keeper) external;
}

interface IReferral {
    function setTraderReferralCodeFor(address trader, bytes32 code) external;
}

/// Who may do what: signed intents, delegates, and plain transactions. What it lets through, the trading storage carries out.
contract TradingRouter is Eip712 {
    using Intents for *;

    address public immutable operator;
    ITradingStorage public immutable tradingStorage;
    IReferral public immutable referral;

    /// trader => delegate => until when it may act, in unix seconds
    mapping(address => mapping(address => uint256)) public multipleDelegations;

    address private transient actingFor; // the trader of a delegated action that is under way

    event DelegateSet(address indexed trader, address indexed delegate, uint256 expiry);
    event DelegateRemoved(address indexed trader, address indexed delegate);

    modifier onlyOperator() {
        if (msg.sender != operator) revert NotOperator();
        _;
    }

    constructor(string memory name, address operator_, ITradingStorage tradingStorage_, IReferral referral_) Eip712(name) {
        operator = operator_;
        tradingStorage = tradingStorage_;
        referral = referral_;
    }

    // ---- signed intents, sent by the operator

    function openTradeWithSig(bytes calldata signature, bytes calldata intent) external onlyOperator {
        OpenTradeReq memory q = abi.decode(intent, (OpenTradeReq));
        _authorise(q.hash(), signature, q._t.trader, q._deadline, q._nonce);
        tradingStorage.open(q._t, _opening(q._t, 0, 0, 0, q._slippageP), q._type);
    }

    function openTradeCoinExposureWithSig(bytes calldata signature, bytes calldata intent) external onlyOperator {
        OpenTradeCoinExposureReq memory q = abi.decode(intent, (OpenTradeCoinExposureReq));
        _authorise(q.hash(), signature, q._t.trader, q._deadline, q._nonce);
        if (q._coinExposure == 0) revert WrongAmount();
        Order memory o = _opening(q._t, q._coinExposure, q._minLeverage, q._maxLeverage, q._slippageP);
        tradingStorage.open(q._t, o, q._type);
    }

    function closeTradeWithSig(bytes calldata signature, bytes calldata intent) external onlyOperator {
        CloseTradeReq memory q = abi.decode(intent, (CloseTradeReq));
        _authorise(q.hash(), signature, q._trader, q._deadline, q._nonce);
        _close(q._trader, q._pairIndex, q._index, q._amount, 0, q._wantedPrice, q._openTimestamp, true);
    }

    function closeTradeCoinExposureWithSig(bytes calldata signature, bytes calldata intent) external onlyOperator {
        CloseTradeCoinExposureReq memory q = abi.decode(intent, (CloseTradeCoinExposureReq));
        _authorise(q.hash(), signature, q._trader, q._deadline, q._nonce);
        if (q._coinExposure == 0) revert WrongAmount();
        _close(q._trader, q._pairIndex, q._index, 0, q._coinExposure, q._wantedPrice, q._openTimestamp, true);
    }

    function increasePositionSizeWithSig(bytes calldata signature, bytes calldata intent) external onlyOperator {
        IncreasePositionSizeReq memory q = abi.decode(intent, (IncreasePositionSizeReq));
        _authorise(q.hash(), signature, q._updateInfo.trader, q._deadline, q._nonce);
        tradingStorage.increase(_increasing(q._updateInfo, 0, 0, 0, q._slippageP));
    }

    function increasePositionSizeWithCoinExposureWithSig(bytes calldata signature, bytes calldata intent)
        external
        onlyOperator
    {
        IncreasePositionSizeWithCoinExposureReq memory q =
            abi.decode(intent, (IncreasePositionSizeWithCoinExposureReq));
        _authorise(q.hash(), signature, q._updateInfo.trader, q._deadline, q._nonce);
        if (q._coinExposure == 0) revert WrongAmount();
        tradingStorage.increase(
            _increasing(q._updateInfo, q._coinExposure, q._minLeverage, q._maxLeverage, q._slippageP)
        );
    }

    /// Has no deadline: the signature lives until its nonce is spent.
    function storeTpSlWithSig(bytes calldata signature, bytes calldata intent) external onlyOperator {
        TpSlReq memory q = abi.decode(intent, (TpSlReq));
        bytes32 id = q.hash();
        _authorise(id, signature, q.trader, type(uint256).max, q.nonce);
        tradingStorage.storeTrigger(id, q);
    }

    function cancelTwapWithSig(bytes calldata signature, bytes calldata intent) external onlyOperator {
        TwapCancelReq memory q = abi.decode(intent, (TwapCancelReq));
        _authorise(q.hash(), signature, q.trader, q.deadline, q.nonce);
        tradingStorage.cancelTwap(q.trader, q.twapId);
    }

    /// Sent by anybody; signed by the trader alone.
    function setDelegateWithSig(bytes calldata signature, bytes calldata intent) external {
        DelegateReq memory q = abi.decode(intent, (DelegateReq));
        _notAfter(q.deadline);
        if (_signer(q.hash(), signature) != q.trader) revert NotAuthorized();
        _spend(q.trader, q.nonce);
        _setDelegate(q.trader, q.delegate, q.expiry);
    }

    // ---- transactions

    function setDelegate(address delegate, uint256 expiry) external {
        _setDelegate(msg.sender, delegate, expiry);
    }

    function removeDelegate(address delegate) external {
        if (multipleDelegations[msg.sender][delegate] == 0) revert NotDelegate();
        delete multipleDelegations[msg.sender][delegate];
        emit DelegateRemoved(msg.sender, delegate);
    }

    function claimTokens() external {
        tradingStorage.claim(msg.sender);
    }

    /// A live delegate makes one of the calls below, or adopts a referral code, for a trader.
    function delegatedAction(address trader, bytes calldata call) external returns (bytes memory) {
        if (multipleDelegations[trader][msg.sender] <= block.timestamp) revert NotDelegate();
        bytes4 selector = call.length < 4 ? bytes4(0) : bytes4(call);
        if (selector == IReferralCall.setTraderReferralCodeByUser.selector) {
            referral.setTraderReferralCodeFor(trader, abi.decode(call[4:], (bytes32)));
            return "";
        }
        _checkDelegable(selector);
        actingFor = trader;
        (bool ok, bytes memory result) = address(this).delegatecall(call);
        actingFor = address(0);
        if (!ok) {
            assembly {
                revert(add(result, 32), mload(result))
            }
        }
        return result;
    }

    function openTrade(Trade calldata t, uint8 orderType, uint256 slippage) external {
        if (t.trader != _account()) revert NotTrader();
        tradingStorage.open(t, _opening(t, 0, 0, 0, slippage), orderType);
    }

    function closeTradeMarket(uint256 pairIndex, uint256 index, uint256 amount, uint256 wantedPrice) external {
        _close(_account(), pairIndex, index, amount, 0, wantedPrice, 0, false);
    }

    function increasePositionSize(UpdatePositionSize calldata info, uint256 slippage) external {
        if (info.trader != _account()) revert NotTrader();
        tradingStorage.increase(_increasing(info, 0, 0, 0, slippage));
    }

    function increasePositionSizeWithCoinExposure(
        UpdatePositionSize calldata info, uint256 coinExposure, uint256 minLeverage, uint256 maxLeverage, uint256 slippage
    ) external {
        if (info.trader != _account()) revert NotTrader();
        if (coinExposure == 0) revert WrongAmount();
        tradingStorage.increase(_increasing(info, coinExposure, minLeverage, maxLeverage, slippage));
    }

    function updateOpenLimitOrder(
        uint256 pairIndex, uint256 index, uint256 price, uint256 slippage, uint256 tp, uint256 sl
    ) external {
        tradingStorage.updateLimit(_account(), pairIndex, index, price, slippage, tp, sl);
    }

    // ---- within

    function _account() private view returns (address) {
        return actingFor == address(0) ? msg.sender : actingFor;
    }

    function _checkDelegable(bytes4 selector) private pure {
        if (
            selector == this.openTrade.selector || selector == this.closeTradeMarket.selector
                || selector == this.increasePositionSize.selector
                || selector == this.increasePositionSizeWithCoinExposure.selector
                || selector == this.updateOpenLimitOrder.selector
        ) return;
        if (
            selector == this.setDelegate.selector || selector == this.removeDelegate.selector
                || selector == this.claimTokens.selector || selector == this.delegatedAction.selector
        ) revert NotAllowedForDelegate();
        revert UnknownAction();
    }

    function _authorise(bytes32 structHash, bytes calldata signature, address trader, uint256 deadlineMs, uint256 nonce)
        private
    {
        _notAfter(deadlineMs);
        address signer = _signer(structHash, signature);
        if (signer != trader && multipleDelegations[trader][signer] <= block.timestamp) revert NotAuthorized();
        _spend(trader, nonce);
    }

    function _setDelegate(address trader, address delegate, uint256 expiry) private {
        if (delegate == address(0) || delegate == trader) revert InvalidDelegate();
        if (expiry <= block.timestamp) revert InvalidExpiry();
        multipleDelegations[trader][delegate] = expiry;
        emit DelegateSet(trader, delegate, expiry);
    }

    function _opening(Trade memory t, uint256 coins, uint256 minLeverage, uint256 maxLeverage, uint256 slippage)
        private
        pure
        returns (Order memory)
    {
        return Order({
            trader: t.trader,
            action: Action.Open,
            pairIndex: t.pairIndex,
            index: 0,
            buy: t.buy,
            amount: t.positionSizeUSDC,
            coins: coins,
            leverage: t.leverage,
            minLeverage: minLeverage,
            maxLeverage: maxLeverage,
            price: t.openPrice,
            slippage: slippage,
            openTimestamp: 0,
            tp: t.tp,
            sl: t.sl
        });
    }

    function _increasing(
        UpdatePositionSize memory u, uint256 coins, uint256 minLeverage, uint256 maxLeverage, uint256 slippage
    ) private pure returns (Order memory o) {
        (o.trader, o.action, o.pairIndex, o.index) = (u.trader, Action.Increase, u.pairIndex, u.index);
        (o.amount, o.coins, o.leverage) = (u.initialPosToken, coins, u.leverage);
        (o.minLeverage, o.maxLeverage) = (minLeverage, maxLeverage);
        (o.price, o.slippage) = (u.openPrice, slippage);
    }

    function _close(
        address trader,
        uint256 pairIndex,
        uint256 index,
        uint256 amount,
        uint256 coins,
        uint256 price,
        uint256 openTimestamp,
        bool bound
    ) private {
        Order memory o;
        (o.trader, o.action, o.pairIndex, o.index) = (trader, Action.Close, pairIndex, index);
        (o.amount, o.coins, o.price, o.openTimestamp) = (amount, coins, price, openTimestamp);
        tradingStorage.close(o, bound);
    }
}

interface IReferralCall {
    function setTraderReferralCodeByUser(bytes32 code) external;
}
