// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Trade} from "Intents.sol";
import {HighSlippage, WrongLeverage} from "Errors.sol";

// Units: USDC 1e6; prices, leverage and coins 1e10; a percentage 1e10 for one per cent.

uint256 constant ONE = 1e10;
uint256 constant USDC_ONE = 1e6;
uint256 constant HUNDRED_PERCENT = 100 * ONE;

struct Pair {
    bool listed;
    bool pnl;
    bool closeOnly;
    uint256 minLeverage;
    uint256 maxLeverage;
}

enum Action {
    Open,
    Close,
    Increase
}

/// What waits for a price, whichever way it came. `amount` is the USDC added, or to close; `coins` is 0 when it is sized in
/// USDC.
struct Order {
    address trader;
    Action action;
    uint256 pairIndex;
    uint256 index;
    bool buy;
    uint256 amount;
    uint256 coins;
    uint256 leverage;
    uint256 minLeverage;
    uint256 maxLeverage;
    uint256 price;
    uint256 slippage;
    uint256 openTimestamp; // of the position to close or increase, so that no later one in its slot is meant
    uint256 tp;
    uint256 sl;
}

/// The arithmetic of fills. Everything fills at the market price, without spread or fees.
library Market {
    function sizeOf(uint256 coins, uint256 price) internal pure returns (uint256) {
        return coins * price * USDC_ONE / (ONE * ONE);
    }

    function coinsOf(uint256 size, uint256 price) internal pure returns (uint256) {
        return size * ONE * ONE / (USDC_ONE * price);
    }

    function coinsOf(Trade memory t) internal pure returns (uint256) {
        return coinsOf(t.positionSizeUSDC, t.openPrice);
    }

    /// The size that an open or an increase adds when it fills at a price.
    function sizeAt(Order memory o, uint256 price) internal pure returns (uint256) {
        return o.coins == 0 ? o.amount * o.leverage / ONE : sizeOf(o.coins, price);
    }

    function checkTerms(Order memory o, Pair memory pair) internal pure {
        if (o.slippage > HUNDRED_PERCENT) revert HighSlippage();
        if (o.coins == 0 && (o.leverage < pair.minLeverage || o.leverage > pair.maxLeverage)) revert WrongLeverage();
    }

    /// A price is acceptable when it is no worse than the order's own by more than its slippage.
    function accepts(Order memory o, Pair memory pair, uint256 price) internal pure returns (bool) {
        bool wantsHigh = o.buy == (o.action == Action.Close); // a long sells when it closes, a short when it opens
        uint256 share = wantsHigh ? HUNDRED_PERCENT - o.slippage : HUNDRED_PERCENT + o.slippage;
        uint256 limit = o.price * share / HUNDRED_PERCENT;
        if (wantsHigh ? price < limit : price > limit) return false;
        if (o.coins == 0 || o.action == Action.Close) return true;
        uint256 leverage = sizeOf(o.coins, price) * ONE / o.amount;
        return leverage >= o.minLeverage && leverage <= o.maxLeverage && leverage >= pair.minLeverage
            && leverage <= pair.maxLeverage;
    }

    /// Profit on the collateral, negative for a loss.
    function profitPercent(Trade memory t, uint256 price) internal pure returns (int256) {
        int256 moved = t.buy ? int256(price) - int256(t.openPrice) : int256(t.openPrice) - int256(price);
        return moved * int256(t.leverage) * 100 / int256(t.openPrice);
    }

    /// What is paid out for a part of the collateral: never less than nothing.
    function payout(uint256 part, int256 percent) internal pure returns (uint256) {
        int256 paid = int256(part) + int256(part) * percent / int256(HUNDRED_PERCENT);
        return paid > 0 ? uint256(paid) : 0;
    }
}
