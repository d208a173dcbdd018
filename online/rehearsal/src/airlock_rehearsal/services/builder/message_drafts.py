"""What each builder endpoint puts into a message: pure functions from a request and the venue's state to a draft.

Sources: the specification, "Builder: intents" and "Intent message structs"; for the endpoints that it names without their
shapes (open, increase, delegate), the request fields of comparable venues.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from airlock_rehearsal.services.builder.accounts_and_pairs import (
    SECONDS_AT_MOST,
    bad,
    opened_at,
    pair_meta,
    resolved_deadline,
    resolved_nonce,
    resolved_pair,
    resolved_price,
    whole,
)
from airlock_rehearsal.services.envelope import Read
from airlock_rehearsal.services.venue.eip712_peer import Message
from airlock_rehearsal.services.venue.positions import ONE, USDC_ONE, VenuePair

if TYPE_CHECKING:
    from airlock_rehearsal.services.venue.venue_state import VenueState

SMALLEST_SIZE = 100 * USDC_ONE
"""The smallest size of a new position: collateral times leverage, USDC raw."""

OPEN_ORDER_TYPES = {"market": 0, "stop_limit": 1, "limit": 2, "market_pnl": 3}
TRIGGER_TYPES = {"fixed": 0, "percentage": 1}
TRIGGER_ORDER_TYPES = {"take_profit": 4, "stop_loss": 5}

TERMS = (
    "REHEARSAL TERMS, WITHOUT ANY EFFECT. By signing, the trader lets the delegate named above open, change and close "
    "positions on the trader's behalf until the expiry given. The delegate cannot withdraw funds, approve tokens or add "
    "other delegates. The trader may remove the delegate at any time. This text comes from a simulator."
)


class Draft(NamedTuple):
    """A message to sign, and the ``meta`` that comes with it (``None``: the reply has none)."""

    primary: str
    message: Message
    meta: dict[str, object] | None


def _number(price: int) -> float:
    return price / ONE


def _check_leverage(pair: VenuePair, leverage: object) -> None:
    if not pair.min_leverage * ONE <= whole(leverage) <= pair.max_leverage * ONE:
        raise bad("leverage", f"outside the bounds of {pair.symbol}, {pair.min_leverage} to {pair.max_leverage}")


def open_trade(state: VenueState, request: Read) -> Draft:
    """``/v2/intents/open``: the collateral travels in ``positionSizeUSDC``; slot, timestamp and the rest are zero."""
    pair = resolved_pair(state, request)
    kind = request["orderType"] or ("market_pnl" if pair.is_pnl else "market")
    if pair.close_only:
        raise bad("pair", f"{pair.symbol} takes no new positions")
    if (kind == "market_pnl") != pair.is_pnl:
        raise bad("orderType", f"{kind} does not fit {pair.symbol}")
    if kind in ("limit", "stop_limit") and request["openPrice"] is None:
        raise bad("openPrice", f"required with {kind}")
    _check_leverage(pair, request["leverage"])
    if whole(request["collateralUsdc"]) * whole(request["leverage"]) < SMALLEST_SIZE * ONE:
        raise bad("collateralUsdc", "the position is below the minimum size")
    price = resolved_price(state, request, "openPrice", pair)
    trade: Message = {
        "trader": request["trader"],
        "pairIndex": str(pair.pair_index),
        "index": "0",
        "initialPosToken": "0",
        "positionSizeUSDC": str(request["collateralUsdc"]),
        "openPrice": str(price),
        "buy": request["side"] == "long",
        "leverage": str(request["leverage"]),
        "tp": str(request["takeProfit"] or 0),
        "sl": str(request["stopLoss"] or 0),
        "timestamp": "0",
    }
    message: Message = {
        "_t": trade,
        "_type": str(OPEN_ORDER_TYPES[str(kind)]),
        "_slippageP": str(ONE if request["slippagePercent"] is None else request["slippagePercent"]),
        "_deadline": resolved_deadline(state, request),
        "_nonce": resolved_nonce(state, request, request["trader"]),
    }
    return Draft("OpenTradeReq", message, pair_meta(pair, openPrice=_number(price)))


def close_trade(state: VenueState, request: Read) -> Draft:
    """``/v2/intents/close``: bound to the position by its open timestamp, which is read when left out."""
    pair = resolved_pair(state, request)
    timestamp = opened_at(state, request, pair)
    position = state.position(str(request["trader"]), pair.pair_index, whole(request["tradeIndex"]))
    amount_raw = whole(request["collateralToCloseUsdc"])
    if amount_raw == 0 or (position and amount_raw > position.collateral):
        raise bad("collateralToCloseUsdc", "zero, or more than the position's collateral")
    price = resolved_price(state, request, "expectedPrice", pair)
    message: Message = {
        "_trader": request["trader"],
        "_pairIndex": str(pair.pair_index),
        "_index": str(request["tradeIndex"]),
        "_openTimestamp": timestamp,
        "_amount": str(amount_raw),
        "_wantedPrice": str(price),
        "_deadline": resolved_deadline(state, request),
        "_nonce": resolved_nonce(state, request, request["trader"]),
    }
    return Draft("CloseTradeReq", message, pair_meta(pair))


def increase(state: VenueState, request: Read) -> Draft:
    """``/v2/intents/increase`` and, when the request has ``coinExposure``, ``/v2/intents/increase-coin``."""
    pair = resolved_pair(state, request)
    if pair.is_pnl:
        raise bad("pair", "positions on a PnL pair cannot be increased")
    _check_leverage(pair, request["leverage"])
    if whole(request["additionalCollateralUsdc"]) < USDC_ONE:
        raise bad("additionalCollateralUsdc", "is below 1 USDC")
    price = resolved_price(state, request, "openPrice", pair)
    update: Message = {
        "trader": request["trader"],
        "pairIndex": str(pair.pair_index),
        "index": str(request["tradeIndex"]),
        "openPrice": str(price),
        "initialPosToken": str(request["additionalCollateralUsdc"]),
        "leverage": str(request["leverage"]),
    }
    coin: Message = {}
    if "coinExposure" in request:
        coin = {f"_{n}": str(request[n]) for n in ("coinExposure", "minLeverage", "maxLeverage")}
        if whole(request["minLeverage"]) > whole(request["maxLeverage"]):
            raise bad("minLeverage", "above maxLeverage")
    message: Message = {
        "_updateInfo": update,
        **coin,
        "_slippageP": str(ONE if request["slippagePercent"] is None else request["slippagePercent"]),
        "_deadline": resolved_deadline(state, request),
        "_nonce": resolved_nonce(state, request, request["trader"]),
    }
    primary = "IncreasePositionSizeWithCoinExposureReq" if coin else "IncreasePositionSizeReq"
    return Draft(primary, message, pair_meta(pair, openPrice=_number(price)))


def tpsl_partial(state: VenueState, request: Read) -> Draft:
    """``/v2/intents/tpsl-partial``: a fixed price or a signed percentage; ``signTimestamp`` is now."""
    pair = resolved_pair(state, request)
    if request["coinExposure"] == 0:
        raise bad("coinExposure", "is zero")
    mode = str(request["triggerType"] or "fixed")
    wanted, other = ("price", "percentage") if mode == "fixed" else ("percentage", "price")
    if not request[wanted]:
        raise bad(wanted, f"required, and not zero, with a {mode} trigger")
    if request[other] is not None:
        raise bad(other, f"has no meaning with a {mode} trigger")
    message: Message = {
        "trader": request["trader"],
        "pairIndex": str(pair.pair_index),
        "index": str(request["tradeIndex"]),
        "triggerType": str(TRIGGER_TYPES[mode]),
        "coinSize": str(request["coinExposure"]),
        "buy": request["side"] == "long",
        "price": str(request["price"] or 0),
        "percentage": str(request["percentage"] or 0),
        "timestamp": opened_at(state, request, pair),
        "signTimestamp": str(state.now_ms()),
        "orderType": str(TRIGGER_ORDER_TYPES[str(request["kind"])]),
        "nonce": resolved_nonce(state, request, request["trader"]),
    }
    return Draft("TpSlReq", message, pair_meta(pair))


def referral_set_code(state: VenueState, request: Read) -> Draft:
    """``/v2/intents/referral-set-code``: under the Referral contract's domain and nonce space, without ``meta``."""
    message: Message = {
        "_code": request["code"],
        "_referee": request["referee"],
        "_deadline": resolved_deadline(state, request),
        "_nonce": resolved_nonce(state, request, request["referee"], "referral"),
    }
    return Draft("SetTraderReferralCodeByUserReq", message, None)


def twap_cancel(state: VenueState, request: Read) -> Draft:
    """``/v2/intents/twap-cancel``: whether the TWAP exists is for the TWAP service to say."""
    message: Message = {
        "trader": request["trader"],
        "twapId": str(request["twapId"]),
        "nonce": resolved_nonce(state, request, request["trader"]),
        "deadline": resolved_deadline(state, request),
    }
    return Draft("TwapCancelReq", message, {"twapId": request["twapId"]})


def delegate(state: VenueState, request: Read) -> Draft:
    """``/v2/intents/delegate``: the expiry is in unix seconds; the venue's terms are part of what is signed."""
    expiry_s = whole(request["expirySeconds"])
    if expiry_s >= SECONDS_AT_MOST:
        raise bad("expirySeconds", "looks like milliseconds; unix seconds are wanted")
    if expiry_s <= state.now_s:
        raise bad("expirySeconds", "is over")
    if request["delegate"] == request["trader"]:
        raise bad("delegate", "is the trader")
    message: Message = {
        "trader": request["trader"],
        "delegate": request["delegate"],
        "expiry": str(expiry_s),
        "deadline": resolved_deadline(state, request),
        "tnc": TERMS,
        "nonce": resolved_nonce(state, request, request["trader"]),
    }
    return Draft("DelegateReq", message, {"delegate": request["delegate"], "expirySeconds": expiry_s})
