"""The builder's intent endpoints: their request fields, and what each one builds.

Sources: the specification, "Builder: intents" and "Common request-field conventions".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from airlock_rehearsal.services.builder.fields import (
    Field,
    Read,
    address,
    amount,
    choice,
    integer,
    referral_code,
    text,
)
from airlock_rehearsal.services.builder.message_drafts import (
    OPEN_ORDER_TYPES,
    TRIGGER_ORDER_TYPES,
    TRIGGER_TYPES,
    Draft,
    close_trade,
    delegate,
    increase,
    open_trade,
    referral_set_code,
    tpsl_partial,
    twap_cancel,
)
from airlock_rehearsal.services.venue.venue_state import World


class Endpoint(NamedTuple):
    """One ``/v2/intents/*`` endpoint: its request fields, what it builds, and whether it refuses unknown fields."""

    fields: tuple[Field, ...]
    draft: Callable[[World, Read], Draft]
    strict: bool = False


_USDC, _SCALED, _SIGNED = amount(6), amount(10), amount(10, signed=True)
_TRADER = Field("trader", address, required=True)
_SLOT = Field("tradeIndex", integer, required=True)
_SIDE = Field("side", choice("long", "short"), required=True)
_PAIR = (Field("pairIndex", integer), Field("pair", text))
_NONCE = Field("nonce", integer)
_TIMED = (_NONCE, Field("deadlineMs", integer))
_PRICED = (Field("openPrice", _SCALED), Field("slippagePercent", _SCALED))
_OPEN_TIMESTAMP = Field("openTimestamp", integer)
_INCREASE = (
    _TRADER,
    _SLOT,
    Field("additionalCollateralUsdc", _USDC, required=True),
    Field("leverage", _SCALED, required=True),
    *_PAIR,
    *_TIMED,
    *_PRICED,
)

ENDPOINTS = {
    "open": Endpoint(
        (
            _TRADER,
            _SIDE,
            Field("collateralUsdc", _USDC, required=True),
            Field("leverage", _SCALED, required=True),
            *_PAIR,
            Field("orderType", choice(*OPEN_ORDER_TYPES)),
            *_PRICED,
            Field("takeProfit", _SCALED),
            Field("stopLoss", _SCALED),
            *_TIMED,
        ),
        open_trade,
    ),
    "close": Endpoint(
        (
            _TRADER,
            _SLOT,
            Field("collateralToCloseUsdc", _USDC, required=True),
            *_PAIR,
            *_TIMED,
            _OPEN_TIMESTAMP,
            Field("expectedPrice", _SCALED),
        ),
        close_trade,
    ),
    "increase": Endpoint(_INCREASE, increase),
    "increase-coin": Endpoint(
        (*_INCREASE, *(Field(n, _SCALED, required=True) for n in ("coinExposure", "minLeverage", "maxLeverage"))),
        increase,
    ),
    "tpsl-partial": Endpoint(
        (
            _TRADER,
            _SLOT,
            Field("kind", choice(*TRIGGER_ORDER_TYPES), required=True),
            Field("coinExposure", _SCALED, required=True),
            _SIDE,
            *_PAIR,
            _NONCE,
            Field("triggerType", choice(*TRIGGER_TYPES)),
            Field("price", _SCALED),
            Field("percentage", _SIGNED),
            _OPEN_TIMESTAMP,
        ),
        tpsl_partial,
        strict=True,
    ),
    "referral-set-code": Endpoint(
        (Field("referee", address, required=True), Field("code", referral_code, required=True), *_TIMED),
        referral_set_code,
    ),
    "twap-cancel": Endpoint((_TRADER, Field("twapId", integer, required=True), *_TIMED), twap_cancel),
    "delegate": Endpoint(
        (
            _TRADER,
            Field("delegate", address, required=True),
            Field("expirySeconds", integer, required=True),
            *_TIMED,
        ),
        delegate,
    ),
}
"""Every ``/v2/intents/*`` endpoint, by the last part of its path."""
