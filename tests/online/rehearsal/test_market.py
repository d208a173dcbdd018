"""The batched market: what it executes, and which fills it declines."""

from __future__ import annotations

import pytest

from airlock_rehearsal.chain.interface import STORAGE
from online.rehearsal.orders import COINS, ONE, T, coin_close, coin_open
from online.rehearsal.services_client import (
    START_MS,
    ServicesClient,
)

# ---- what it executes ----------------------------------------------------------------------------------------------


def test_a_full_close_ends_the_position_and_pays_out(desk: ServicesClient) -> None:
    payload = desk.close_payload()
    accepted, initiated, executed = desk.execute(1, payload)
    assert (accepted.type, accepted.id, list(accepted.data)) == ("MarketOrderAccepted", "0", ["trackingId"])
    assert initiated.type == "MarketOrderInitiated"
    assert set(initiated.data) == {"orderId", "trader", "pairIndex", "open", "isBuy", "isPnl", "transactionHash"}
    assert (initiated.data["open"], initiated.data["isBuy"], initiated.data["isPnl"]) == (False, True, False)
    assert (executed.type, executed.id) == ("MarketOrderExecuted", "2")
    assert set(executed.data) == {
        "orderId", "open", "price", "positionSizeUSDC", "percentProfit", "usdcSentToTrader", "isPnl", "coinExposure",
        "isCoinExposureFixed", "t", "transactionHash",
    }  # fmt: skip
    # 62,000 to 64,000 at 10x is 2000 / 62000 * 10 = 32.258 % of 1,000 USDC
    assert executed.data["percentProfit"] == str(2_000 * 10 * ONE * 100 // 62_000)
    assert executed.data["usdcSentToTrader"] == str(1_322_580_645)
    assert executed.data["t"]["initialPosToken"] == "0"
    assert type(executed.data["t"]["timestamp"]) is int
    assert desk.position(0) is None
    assert desk.nonce_used(payload)


def test_a_partial_close_leaves_the_rest(desk: ServicesClient) -> None:
    events = desk.execute(1, desk.close_payload(collateralToCloseUsdc="250"))
    assert events[-1].data["positionSizeUSDC"] == "2500000000"
    left = desk.position(0)
    assert left is not None
    assert (left["initialPosToken"], left["positionSizeUSDC"]) == ("750000000", "7500000000")
    assert events[-1].data["t"]["initialPosToken"] == "750000000"


def test_a_short_is_closed_at_a_profit_when_the_price_fell(desk: ServicesClient) -> None:
    events = desk.execute(1, desk.close_payload(pairIndex=1, collateralToCloseUsdc="500"))
    assert int(events[-1].data["percentProfit"]) > 0
    assert events[1].data["isBuy"] is False


def test_a_loss_is_negative_and_pays_out_less(desk: ServicesClient) -> None:
    desk.state.prices[0] = 60_000 * ONE
    executed = desk.execute(1, desk.close_payload())[-1].data
    assert executed["percentProfit"].startswith("-")
    assert int(executed["usdcSentToTrader"]) < 1_000_000_000


def test_a_position_on_the_pnl_pair_is_closed_by_its_own_order_type(desk: ServicesClient) -> None:
    events = desk.execute(7, desk.close_payload(pairIndex=3, collateralToCloseUsdc="250"))
    assert (events[-1].type, events[-1].data["isPnl"]) == ("MarketOrderExecuted", True)


@pytest.mark.parametrize(("order_type", "pair_index", "leverage"), [(0, 2, "10"), (0, 4, "10"), (6, 3, "100")])
def test_an_open_makes_a_position(desk: ServicesClient, order_type: int, pair_index: int, leverage: str) -> None:
    payload = desk.build(
        "open", trader=T, side="short", collateralUsdc="100", leverage=leverage, pairIndex=pair_index, stopLoss="70000"
    )
    events = desk.execute(order_type, payload)
    assert [e.type for e in events] == ["MarketOrderAccepted", "MarketOrderInitiated", "MarketOrderExecuted"]
    assert events[1].data["open"] is True
    slot = events[-1].data["t"]["index"]
    made = desk.position(pair_index, slot)
    assert made is not None
    assert (made["buy"], made["initialPosToken"], made["sl"]) == (False, "100000000", str(70_000 * ONE))
    assert made["timestamp"] == str(START_MS // 1000 + 1)  # the fill is the second block of a second that stands still


def test_a_second_open_on_a_pair_takes_the_next_slot(desk: ServicesClient) -> None:
    payload = desk.build("open", trader=T, side="long", collateralUsdc="100", leverage="10", pairIndex=0)
    assert desk.execute(0, payload)[-1].data["t"]["index"] == 1


@pytest.mark.parametrize(("order_type", "pair_index", "price", "kind"), [(12, 0, 64_000, "0"), (13, 3, 3_200, "3")])
def test_a_coin_sized_open_keeps_its_exposure(
    desk: ServicesClient, order_type: int, pair_index: int, price: int, kind: str
) -> None:
    executed = desk.execute(order_type, coin_open(desk, pair_index, price, kind))[-1]
    assert executed.type == "MarketOrderExecuted"
    assert executed.data["isCoinExposureFixed"] is True
    assert executed.data["coinExposure"] == str(COINS[pair_index])


@pytest.mark.parametrize(("order_type", "pair_index", "price"), [(15, 0, 64_000), (16, 3, 3_200)])
def test_a_coin_sized_close_of_everything_ends_the_position(
    desk: ServicesClient, order_type: int, pair_index: int, price: int
) -> None:
    held = next(p for p in desk.state.positions_of(T) if p.pair_index == pair_index)
    executed = desk.execute(order_type, coin_close(desk, pair_index, price, str(held.coins)))[-1]
    assert executed.type == "MarketOrderExecuted"
    assert desk.position(pair_index) is None


def test_an_increase_blends_the_position(desk: ServicesClient) -> None:
    fields = {"trader": T, "tradeIndex": 0, "pairIndex": 0, "additionalCollateralUsdc": "1000", "leverage": "10"}
    accepted, requested, increased = desk.execute(9, desk.build("increase", **fields))
    assert accepted.type == "MarketOrderAccepted"
    assert (requested.type, requested.data["addedCollateral"]) == ("IncreasePositionRequested", "1000000000")
    assert set(requested.data) == {
        "orderId", "trader", "pairIndex", "index", "isBuy", "isPnl", "addedCollateral", "coinExposure",
        "isCoinExposureFixed", "transactionHash",
    }  # fmt: skip
    assert increased.type == "PositionSizeIncreased"
    assert set(increased.data) == {
        "orderId", "isPnl", "coinExposureAdded", "isCoinExposureFixed", "t", "transactionHash"
    }  # fmt: skip
    blended = increased.data["t"]
    assert (blended["initialPosToken"], blended["positionSizeUSDC"]) == ("2000000000", "20000000000")
    assert 62_000 * ONE < int(blended["openPrice"]) < 64_000 * ONE


def test_a_coin_sized_increase_adds_exactly_that(desk: ServicesClient) -> None:
    fields = {"trader": T, "tradeIndex": 0, "pairIndex": 0, "additionalCollateralUsdc": "100", "leverage": "6.4"}
    coin = {"coinExposure": "0.01", "minLeverage": "5", "maxLeverage": "10"}
    events = desk.execute(14, desk.build("increase-coin", **fields, **coin))
    assert (events[1].data["isCoinExposureFixed"], events[-1].data["coinExposureAdded"]) == (True, str(ONE // 100))


# ---- declined fills ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("market", "expected"), [("63360", "MarketOrderExecuted"), ("63359", "MarketOrderCanceled")])
def test_a_long_closes_down_to_one_per_cent_below_the_wanted_price(
    desk: ServicesClient, market: str, expected: str
) -> None:
    payload = desk.close_payload(expectedPrice="64000")
    desk.state.prices[0] = int(market) * ONE
    last = desk.execute(1, payload)[-1]
    assert last.type == expected
    assert (desk.position(0) is None) == (expected == "MarketOrderExecuted")


@pytest.mark.parametrize(("side", "market"), [("long", 64_641), ("short", 63_359)])
def test_an_open_beyond_its_slippage_is_declined(desk: ServicesClient, side: str, market: int) -> None:
    payload = desk.build("open", trader=T, side=side, collateralUsdc="100", leverage="10", pairIndex=0)
    desk.state.prices[0] = market * ONE
    last = desk.execute(0, payload)[-1]
    assert (last.type, set(last.data)) == (
        "MarketOrderCanceled",
        {"orderId", "trader", "pairIndex", "transactionHash"},
    )
    assert desk.nonce_used(payload)


def test_a_coin_sized_open_outside_its_leverage_is_declined(desk: ServicesClient) -> None:
    payload = coin_open(desk, 0, 64_000, "0", _maxLeverage=str(9 * ONE))
    assert desk.execute(12, payload)[-1].type == "MarketOrderCanceled"


def test_an_order_whose_position_went_away_ends_with_an_error(desk: ServicesClient) -> None:
    payload = desk.close_payload()

    def when_accepted() -> None:
        """Take the position away as soon as the order's nonce is held."""
        if not desk.state.reserved_nonces:
            desk.clock.surprises.append(when_accepted)
            return
        held = desk.state.position(T, 0, 0)
        assert held is not None
        desk.state.venue.act(STORAGE, "seedTrade", held._replace(collateral=0, size=0).as_trade())

    desk.clock.surprises.append(when_accepted)
    events = desk.execute(1, payload)
    assert [e.type for e in events] == ["MarketOrderAccepted", "Error"]
    assert (events[-1].data["code"], events[-1].id) == ("PositionMismatch", "1")
    assert not desk.nonce_used(payload)
