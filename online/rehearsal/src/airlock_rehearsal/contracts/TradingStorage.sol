// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import "Errors.sol";
import {TpSlReq, Trade} from "Intents.sol";
import {Action, HUNDRED_PERCENT, Market, ONE, Order, Pair, USDC_ONE} from "Market.sol";

interface IUsdc {
    function transfer(address to, uint256 amount) external returns (bool);
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
}

/// Custody and positions. Collateral is pulled from a trader who has approved this contract; the trading router stores orders
/// here, and the operator executes them at a price that it brings.
contract TradingStorage {
    using Market for Order;
    using Market for Trade;

    uint8 private constant LIMIT_STOP = 1;
    uint8 private constant LIMIT = 2;
    uint8 private constant TAKE_PROFIT = 4;
    uint8 private constant STOP_LOSS = 5;
    uint256 private constant FRESH_MS = 600_000; // how old a signTimestamp may be
    uint256 private constant MOST = type(uint128).max; // of a price or an amount: products of two of them still fit
    uint256 private constant KEEPER_REWARD = USDC_ONE / 2;

    struct LimitOrder {
        Trade t; // openPrice is the trigger price
        uint8 orderType;
        uint256 slippage;
    }

    struct Twap {
        address trader;
        uint256 escrow;
    }

    address public immutable operator;
    address public immutable router;
    IUsdc public immutable usdc;

    uint256 public pairCount;
    uint256 public orderCount;
    mapping(uint256 => Pair) public pairs;
    mapping(address => mapping(uint256 => uint256)) private slots; // slots of a pair ever used
    mapping(address => mapping(uint256 => uint256)) private limitSlots;
    mapping(address => mapping(uint256 => mapping(uint256 => Trade))) private trades;
    mapping(address => mapping(uint256 => mapping(uint256 => LimitOrder))) private limitOrders;
    mapping(uint256 => Order) private orders; // by orderId
    mapping(bytes32 => TpSlReq) private triggers; // by struct hash
    mapping(uint256 => Twap) public twaps;
    mapping(address => uint256) public keeperRewards;

    event MarketOrderInitiated(
        uint256 indexed orderId, address indexed trader, uint256 pairIndex, bool open, bool isBuy, bool isPnl
    );
    event IncreasePositionRequested(
        uint256 indexed orderId, address indexed trader, uint256 pairIndex, uint256 index, bool isBuy, bool isPnl,
        uint256 addedCollateral, uint256 coinExposure, bool isCoinExposureFixed
    );
    event MarketOrderExecuted(
        uint256 indexed orderId, bool open, uint256 price, uint256 positionSizeUSDC, int256 percentProfit,
        uint256 usdcSentToTrader, bool isPnl, uint256 coinExposure, bool isCoinExposureFixed, Trade t
    );
    event PositionSizeIncreased(
        uint256 indexed orderId, bool isPnl, uint256 coinExposureAdded, bool isCoinExposureFixed, Trade t
    );
    event MarketOrderCanceled(uint256 indexed orderId, address indexed trader, uint256 pairIndex);
    event LimitOrderPlaced(address indexed trader, uint256 pairIndex, uint256 index);
    event LimitOrderUpdated(address indexed trader, uint256 pairIndex, uint256 index);
    event TriggerStored(bytes32 indexed id, address indexed trader);
    event TriggerDropped(bytes32 indexed id);
    event TwapCancelled(uint256 indexed twapId, address indexed trader, uint256 refund);
    event RewardsClaimed(address indexed keeper, uint256 amount);

    modifier onlyRouter() {
        if (msg.sender != router) revert NotRouter();
        _;
    }

    modifier onlyOperator() {
        if (msg.sender != operator) revert NotOperator();
        _;
    }

    constructor(address operator_, address router_, IUsdc usdc_) {
        operator = operator_;
        router = router_;
        usdc = usdc_;
    }

    // ---- reads

    function tradeAt(address trader, uint256 pairIndex, uint256 index) external view returns (Trade memory) {
        return trades[trader][pairIndex][index];
    }

    function tradesOf(address trader) external view returns (Trade[] memory found) {
        for (uint256 pass = 0; pass < 2; pass++) {
            uint256 count = 0;
            for (uint256 p = 0; p < pairCount; p++) {
                for (uint256 i = 0; i < slots[trader][p]; i++) {
                    Trade storage t = trades[trader][p][i];
                    if (t.initialPosToken == 0) continue;
                    if (pass == 1) found[count] = t;
                    count++;
                }
            }
            if (pass == 0) found = new Trade[](count);
        }
    }

    function limitOrdersOf(address trader) external view returns (LimitOrder[] memory found) {
        for (uint256 pass = 0; pass < 2; pass++) {
            uint256 count = 0;
            for (uint256 p = 0; p < pairCount; p++) {
                for (uint256 i = 0; i < limitSlots[trader][p]; i++) {
                    LimitOrder storage o = limitOrders[trader][p][i];
                    if (o.t.trader == address(0)) continue;
                    if (pass == 1) found[count] = o;
                    count++;
                }
            }
            if (pass == 0) found = new LimitOrder[](count);
        }
    }

    function orderAt(uint256 orderId) external view returns (Order memory) {
        return orders[orderId];
    }

    function triggerAt(bytes32 id) external view returns (TpSlReq memory) {
        return triggers[id];
    }

    // ---- orders, from the router

    function open(Trade calldata t, Order calldata o, uint8 orderType) external onlyRouter {
        Pair memory pair = _pair(o.pairIndex);
        if (pair.closeOnly) revert PairClosedForOpening();
        bool waits = orderType == LIMIT || orderType == LIMIT_STOP;
        if (!waits && orderType != (pair.pnl ? 3 : 0)) revert WrongOrderType();
        if (waits && o.coins != 0) revert WrongOrderType();
        if (t.index != 0 || t.initialPosToken != 0 || t.timestamp != 0) revert WrongTrade();
        _checkAdded(o, pair);
        if (o.sl != 0 && (o.sl >= o.price) == o.buy) revert WrongSl();
        if (o.tp != 0 && (o.tp <= o.price) == o.buy) revert WrongTp();
        usdc.transferFrom(o.trader, address(this), o.amount);
        if (waits) {
            _placeLimit(t, orderType, o.slippage);
        } else {
            uint256 orderId = _store(o);
            emit MarketOrderInitiated(orderId, o.trader, o.pairIndex, true, o.buy, pair.pnl);
        }
    }

    function increase(Order memory o) external onlyRouter {
        Pair memory pair = _pair(o.pairIndex);
        Trade storage t = _position(o.trader, o.pairIndex, o.index);
        if (pair.pnl) revert WrongOrderType();
        _checkAdded(o, pair);
        (o.buy, o.openTimestamp) = (t.buy, t.timestamp);
        usdc.transferFrom(o.trader, address(this), o.amount);
        uint256 orderId = _store(o);
        uint256 coins = Market.coinsOf(o.sizeAt(o.price), o.price);
        emit IncreasePositionRequested(
            orderId, o.trader, o.pairIndex, o.index, o.buy, pair.pnl, o.amount, o.coins == 0 ? coins : o.coins, o.coins != 0
        );
    }

    /// `bound`: the order names the position by its openTimestamp too.
    function close(Order memory o, bool bound) external onlyRouter {
        Trade storage t = _position(o.trader, o.pairIndex, o.index);
        if (bound && t.timestamp != o.openTimestamp) revert PositionMismatch();
        if (o.coins == 0 ? o.amount == 0 || o.amount > t.initialPosToken : o.coins > Market.coinsOf(t)) {
            revert WrongAmount();
        }
        if (o.price == 0 || o.price > MOST) revert WrongPrice();
        o.buy = t.buy;
        o.openTimestamp = t.timestamp;
        o.slippage = ONE; // a close has no slippage of its own: one per cent
        uint256 orderId = _store(o);
        emit MarketOrderInitiated(orderId, o.trader, o.pairIndex, false, o.buy, pairs[o.pairIndex].pnl);
    }

    function updateLimit(
        address trader, uint256 pairIndex, uint256 index, uint256 price, uint256 slippage, uint256 tp, uint256 sl
    ) external onlyRouter {
        LimitOrder storage o = limitOrders[trader][pairIndex][index];
        if (o.t.trader == address(0)) revert NoLimitOrder();
        if (price == 0) revert WrongPrice();
        if (slippage > HUNDRED_PERCENT) revert HighSlippage();
        if (sl != 0 && (sl >= price) == o.t.buy) revert WrongSl();
        if (tp != 0 && (tp <= price) == o.t.buy) revert WrongTp();
        (o.t.openPrice, o.slippage, o.t.tp, o.t.sl) = (price, slippage, tp, sl);
        emit LimitOrderUpdated(trader, pairIndex, index);
    }

    function storeTrigger(bytes32 id, TpSlReq calldata q) external onlyRouter {
        Trade storage t = _position(q.trader, q.pairIndex, q.index);
        if (t.timestamp != q.timestamp || t.buy != q.buy) revert PositionMismatch();
        if (q.coinSize == 0 || q.coinSize > Market.coinsOf(t)) revert WrongAmount();
        bool fixedPrice = q.triggerType == 0;
        if (
            q.triggerType > 1 || (q.orderType != TAKE_PROFIT && q.orderType != STOP_LOSS)
                || (q.price != 0) != fixedPrice || (q.percentage == 0) != fixedPrice
        ) revert WrongTrigger();
        if (q.signTimestamp >= (block.timestamp + 1) * 1000) revert SignedInFuture(); // within this second is now
        if (q.signTimestamp + FRESH_MS < block.timestamp * 1000) revert StaleSignature();
        triggers[id] = q;
        emit TriggerStored(id, q.trader);
    }

    function cancelTwap(address trader, uint256 twapId) external onlyRouter {
        Twap memory twap = twaps[twapId];
        if (twap.trader != trader) revert NoTwap();
        delete twaps[twapId];
        usdc.transfer(trader, twap.escrow);
        emit TwapCancelled(twapId, trader, twap.escrow);
    }

    function claim(address keeper) external onlyRouter {
        uint256 amount = keeperRewards[keeper];
        if (amount == 0) revert NothingToClaim();
        keeperRewards[keeper] = 0;
        usdc.transfer(keeper, amount);
        emit RewardsClaimed(keeper, amount);
    }

    // ---- execution, by the operator

    /// Fills an order at a price, or declines it and gives the collateral back.
    function fulfil(uint256 orderId, uint256 price) external onlyOperator {
        Order memory o = orders[orderId];
        if (o.trader == address(0)) revert NoPendingOrder();
        if (price == 0) revert WrongPrice();
        delete orders[orderId];
        Trade storage t = trades[o.trader][o.pairIndex][o.index];
        bool gone = o.action != Action.Open && (t.initialPosToken == 0 || t.timestamp != o.openTimestamp);
        if (gone || !o.accepts(pairs[o.pairIndex], price)) _decline(orderId, o);
        else if (o.action == Action.Open) _open(orderId, o, price);
        else if (o.action == Action.Increase) _increase(orderId, o, t, price);
        else _close(orderId, o, t, price);
    }

    /// Declines an order whatever the price.
    function decline(uint256 orderId) external onlyOperator {
        Order memory o = orders[orderId];
        if (o.trader == address(0)) revert NoPendingOrder();
        delete orders[orderId];
        _decline(orderId, o);
    }

    /// Executes a limit order that its price has reached; whoever does it earns a reward.
    function executeLimit(address trader, uint256 pairIndex, uint256 index, uint256 price) external onlyOperator {
        LimitOrder memory limit = limitOrders[trader][pairIndex][index];
        Trade memory t = limit.t;
        if (t.trader == address(0)) revert NoLimitOrder();
        bool below = t.buy == (limit.orderType == LIMIT); // a limit buys low, a stop buys high
        if (below ? price > t.openPrice : price < t.openPrice) revert TriggerNotHit();
        delete limitOrders[trader][pairIndex][index];
        keeperRewards[msg.sender] += KEEPER_REWARD;
        Order memory o;
        (o.trader, o.pairIndex, o.buy, o.amount, o.leverage) = (trader, pairIndex, t.buy, t.positionSizeUSDC, t.leverage);
        (o.tp, o.sl) = (t.tp, t.sl);
        _open(++orderCount, o, price);
    }

    /// Executes a stored trigger that is hit: closes its part of the position.
    function executeTrigger(bytes32 id, uint256 price) external onlyOperator {
        TpSlReq memory q = triggers[id];
        if (q.trader == address(0)) revert NoTrigger();
        Trade storage t = trades[q.trader][q.pairIndex][q.index];
        if (t.initialPosToken == 0 || t.timestamp != q.timestamp) revert PositionMismatch();
        if (!_hit(q, t, price)) revert TriggerNotHit();
        delete triggers[id];
        keeperRewards[msg.sender] += KEEPER_REWARD;
        Order memory o;
        (o.trader, o.pairIndex, o.index, o.coins) = (q.trader, q.pairIndex, q.index, q.coinSize);
        _close(++orderCount, o, t, price);
    }

    function dropTrigger(bytes32 id) external onlyOperator {
        if (triggers[id].trader == address(0)) revert NoTrigger();
        delete triggers[id];
        emit TriggerDropped(id);
    }

    // ---- what a rehearsal starts with; the collateral of what is seeded is in this contract already

    function setPair(uint256 pairIndex, Pair calldata pair) external onlyOperator {
        pairs[pairIndex] = pair;
        if (pairIndex >= pairCount) pairCount = pairIndex + 1;
    }

    function seedTrade(Trade calldata t) external onlyOperator {
        _keep(t);
    }

    function seedLimit(Trade calldata t, uint8 orderType, uint256 slippage) external onlyOperator {
        _placeLimit(t, orderType, slippage);
    }

    function seedTwap(uint256 twapId, Twap calldata twap) external onlyOperator {
        twaps[twapId] = twap;
    }

    function creditKeeper(address keeper, uint256 amount) external onlyOperator {
        keeperRewards[keeper] += amount;
    }

    // ---- within

    function _pair(uint256 pairIndex) private view returns (Pair memory pair) {
        pair = pairs[pairIndex];
        if (!pair.listed) revert PairNotListed();
    }

    function _position(address trader, uint256 pairIndex, uint256 index) private view returns (Trade storage t) {
        t = trades[trader][pairIndex][index];
        if (t.initialPosToken == 0) revert PositionMismatch();
    }

    function _checkAdded(Order memory o, Pair memory pair) private pure {
        if (o.amount < USDC_ONE) revert BelowMinPos();
        if (o.price == 0 || o.price > MOST) revert WrongPrice();
        if (o.amount > MOST || o.coins > MOST) revert WrongAmount();
        o.checkTerms(pair);
    }

    function _store(Order memory o) private returns (uint256 orderId) {
        orderId = ++orderCount;
        orders[orderId] = o;
    }

    function _placeLimit(Trade memory t, uint8 orderType, uint256 slippage) private {
        uint256 index = 0;
        while (limitOrders[t.trader][t.pairIndex][index].t.trader != address(0)) index++;
        (t.index, t.timestamp) = (index, block.timestamp);
        limitOrders[t.trader][t.pairIndex][index] = LimitOrder(t, orderType, slippage);
        if (index >= limitSlots[t.trader][t.pairIndex]) limitSlots[t.trader][t.pairIndex] = index + 1;
        emit LimitOrderPlaced(t.trader, t.pairIndex, index);
    }

    function _keep(Trade memory t) private {
        trades[t.trader][t.pairIndex][t.index] = t;
        if (t.index >= slots[t.trader][t.pairIndex]) slots[t.trader][t.pairIndex] = t.index + 1;
    }

    function _decline(uint256 orderId, Order memory o) private {
        if (o.action != Action.Close) usdc.transfer(o.trader, o.amount);
        emit MarketOrderCanceled(orderId, o.trader, o.pairIndex);
    }

    function _open(uint256 orderId, Order memory o, uint256 price) private {
        uint256 index = 0;
        while (trades[o.trader][o.pairIndex][index].initialPosToken != 0) index++;
        uint256 size = o.sizeAt(price);
        Trade memory t = Trade({
            trader: o.trader,
            pairIndex: o.pairIndex,
            index: index,
            initialPosToken: o.amount,
            positionSizeUSDC: size,
            openPrice: price,
            buy: o.buy,
            leverage: size * ONE / o.amount,
            tp: o.tp,
            sl: o.sl,
            timestamp: block.timestamp
        });
        _keep(t);
        uint256 coins = o.coins == 0 ? Market.coinsOf(t) : o.coins;
        bool pnl = pairs[o.pairIndex].pnl;
        emit MarketOrderExecuted(orderId, true, price, size, 0, 0, pnl, coins, o.coins != 0, t);
    }

    function _increase(uint256 orderId, Order memory o, Trade storage t, uint256 price) private {
        uint256 size = o.sizeAt(price);
        uint256 coins = o.coins == 0 ? Market.coinsOf(size, price) : o.coins;
        uint256 exposure = Market.coinsOf(t) + coins;
        t.initialPosToken += o.amount;
        t.positionSizeUSDC += size;
        t.openPrice = t.positionSizeUSDC * ONE * ONE / (exposure * USDC_ONE);
        t.leverage = t.positionSizeUSDC * ONE / t.initialPosToken;
        emit PositionSizeIncreased(orderId, pairs[o.pairIndex].pnl, coins, o.coins != 0, t);
    }

    function _close(uint256 orderId, Order memory o, Trade storage stored, uint256 price) private {
        Trade memory t = stored;
        uint256 exposure = Market.coinsOf(t);
        uint256 part = o.coins == 0 ? o.amount : t.initialPosToken * o.coins / exposure;
        if (part > t.initialPosToken || (o.coins != 0 && o.coins >= exposure)) part = t.initialPosToken;
        uint256 size = t.positionSizeUSDC * part / t.initialPosToken;
        int256 percent = t.profitPercent(price);
        uint256 paid = Market.payout(part, percent);
        t.initialPosToken -= part;
        t.positionSizeUSDC -= size;
        if (t.initialPosToken == 0) delete trades[t.trader][t.pairIndex][t.index];
        else (stored.initialPosToken, stored.positionSizeUSDC) = (t.initialPosToken, t.positionSizeUSDC);
        usdc.transfer(t.trader, paid);
        uint256 coins = Market.coinsOf(size, t.openPrice);
        bool pnl = pairs[t.pairIndex].pnl;
        emit MarketOrderExecuted(orderId, false, price, size, percent, paid, pnl, coins, o.coins != 0, t);
    }

    function _hit(TpSlReq memory q, Trade memory t, uint256 price) private pure returns (bool) {
        bool takesProfit = q.orderType == TAKE_PROFIT;
        if (q.triggerType == 1) {
            int256 percent = t.profitPercent(price);
            return takesProfit ? percent >= q.percentage : percent <= q.percentage;
        }
        return takesProfit == t.buy ? price >= q.price : price <= q.price;
    }
}
