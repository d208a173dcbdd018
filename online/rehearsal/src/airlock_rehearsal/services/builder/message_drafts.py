"""What each builder endpoint puts into a message: pure functions from a request, and the venue's state, to a draft.

What the contract refuses by itself is not judged here. Sources: the specification, "Builder: intents" and "Intent message
structs"; for the endpoints that it names without their shapes (open, increase, delegate), the request fields of comparable
venues.
"""

from __future__ import annotations

from typing import NamedTuple

from airlock_rehearsal.services.builder.fields import (
    OPEN_ORDER_TYPES,
    TRIGGER_ORDER_TYPES,
    TRIGGER_TYPES,
    BuildFields,
    bad,
)
from airlock_rehearsal.services.venue.eip712_peer import Message
from airlock_rehearsal.services.venue.positions import ONE, USDC_ONE, trade

SMALLEST_SIZE = 100 * USDC_ONE
"""The smallest size of a new position: collateral times leverage, USDC raw."""

TERMS = (
    "REHEARSAL TERMS, WITHOUT ANY EFFECT. By signing, the trader lets the delegate named above open, change and close "
    "positions on the trader's behalf until the expiry given. The delegate cannot withdraw funds, approve tokens or add "
    "other delegates. The trader may remove the delegate at any time. This text comes from a simulator."
)
COINS = ("coinExposure", "minLeverage", "maxLeverage")
"""What the endpoints for coin exposure ask for besides."""


class Draft(NamedTuple):
    """A message to sign, its numbers raw, and the ``meta`` that comes with it (``None``: the reply has none)."""

    primary: str
    message: Message
    meta: Message | None


def _check_leverage(asked: BuildFields) -> None:
    pair = asked.pair
    if not pair.min_leverage * ONE <= asked["leverage"] <= pair.max_leverage * ONE:
        raise bad("leverage", f"outside the bounds of {pair.symbol}, {pair.min_leverage} to {pair.max_leverage}")


def open_trade(asked: BuildFields) -> Draft:
    """``/v2/intents/open``: the collateral travels in ``positionSizeUSDC``; slot, timestamp and the rest are zero."""
    pair = asked.pair
    kind = asked["orderType"] or ("market_pnl" if pair.is_pnl else "market")
    if (kind == "market_pnl") != pair.is_pnl:
        raise bad("orderType", f"{kind} does not fit {pair.symbol}")
    if kind in ("limit", "stop_limit") and asked["openPrice"] is None:
        raise bad("openPrice", f"required with {kind}")
    _check_leverage(asked)
    if asked["collateralUsdc"] * asked["leverage"] < SMALLEST_SIZE * ONE:
        raise bad("collateralUsdc", "the position is below the minimum size")
    price = asked.price("openPrice")
    new = trade(
        asked["trader"],
        pair.pair_index,
        0,
        asked["collateralUsdc"],
        price,
        asked["leverage"],
        buy=asked["side"] == "long",
    )
    message: Message = {
        "_t": new | {"tp": asked["takeProfit"] or 0, "sl": asked["stopLoss"] or 0},
        "_type": OPEN_ORDER_TYPES[kind],
        "_slippageP": asked.slippage,
        **asked.timed(),
    }
    return Draft("OpenTradeReq", message, asked.pair_meta(openPrice=price / ONE))


def close_trade(asked: BuildFields) -> Draft:
    """``/v2/intents/close``: bound to the position by its open timestamp, which is read when left out."""
    message: Message = {
        "_trader": asked["trader"],
        "_pairIndex": asked.pair.pair_index,
        "_index": asked["tradeIndex"],
        "_openTimestamp": asked.opened_at,
        "_amount": asked["collateralToCloseUsdc"],
        "_wantedPrice": asked.price("expectedPrice"),
        **asked.timed(),
    }
    return Draft("CloseTradeReq", message, asked.pair_meta())


def increase(asked: BuildFields) -> Draft:
    """``/v2/intents/increase`` and, when the request has ``coinExposure``, ``/v2/intents/increase-coin``."""
    _check_leverage(asked)
    update: Message = {
        "trader": asked["trader"],
        "pairIndex": asked.pair.pair_index,
        "index": asked["tradeIndex"],
        "openPrice": asked.price("openPrice"),
        "initialPosToken": asked["additionalCollateralUsdc"],
        "leverage": asked["leverage"],
    }
    coin = {f"_{name}": asked[name] for name in COINS if name in asked}
    message: Message = {
        "_updateInfo": update,
        **coin,
        "_slippageP": asked.slippage,
        **asked.timed(),
    }
    primary = "IncreasePositionSizeWithCoinExposureReq" if coin else "IncreasePositionSizeReq"
    return Draft(primary, message, asked.pair_meta(openPrice=asked.price("openPrice") / ONE))


def tpsl_partial(asked: BuildFields) -> Draft:
    """``/v2/intents/tpsl-partial``: a fixed price or a signed percentage; ``signTimestamp`` is now."""
    pair = asked.pair
    mode = asked["triggerType"] or "fixed"
    wanted, other = ("price", "percentage") if mode == "fixed" else ("percentage", "price")
    if not asked[wanted]:
        raise bad(wanted, f"required, and not zero, with a {mode} trigger")
    if asked[other] is not None:
        raise bad(other, f"has no meaning with a {mode} trigger")
    message: Message = {
        "trader": asked["trader"],
        "pairIndex": pair.pair_index,
        "index": asked["tradeIndex"],
        "triggerType": TRIGGER_TYPES[mode],
        "coinSize": asked["coinExposure"],
        "buy": asked["side"] == "long",
        "price": asked["price"] or 0,
        "percentage": asked["percentage"] or 0,
        "timestamp": asked.opened_at,
        "signTimestamp": asked.state.now_ms(),
        "orderType": TRIGGER_ORDER_TYPES[asked["kind"]],
        "nonce": asked.nonce(),
    }
    return Draft("TpSlReq", message, asked.pair_meta())


def referral_set_code(asked: BuildFields) -> Draft:
    """``/v2/intents/referral-set-code``: under the Referral contract's domain and nonce space, without ``meta``."""
    message: Message = {"_code": asked["code"], "_referee": asked["referee"], **asked.timed("referral", "referee")}
    return Draft("SetTraderReferralCodeByUserReq", message, None)


def twap_cancel(asked: BuildFields) -> Draft:
    """``/v2/intents/twap-cancel``: whether the TWAP exists is for the TWAP service to say."""
    message: Message = {"trader": asked["trader"], "twapId": asked["twapId"]}
    return Draft(
        "TwapCancelReq",
        message | {"nonce": asked.nonce(), "deadline": asked.deadline},
        {"twapId": asked["twapId"]},
    )


def delegate(asked: BuildFields) -> Draft:
    """``/v2/intents/delegate``: the expiry is in unix seconds; the venue's terms are part of what is signed."""
    expiry_s = asked.expiry
    message: Message = {
        "trader": asked["trader"],
        "delegate": asked["delegate"],
        "expiry": expiry_s,
        "deadline": asked.deadline,
        "tnc": TERMS,
        "nonce": asked.nonce(),
    }
    return Draft("DelegateReq", message, {"delegate": asked["delegate"], "expirySeconds": expiry_s})
