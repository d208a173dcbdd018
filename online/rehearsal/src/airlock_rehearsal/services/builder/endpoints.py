"""The builder's intent endpoints: their request fields, and what each one builds.

Sources: the specification, "Builder: intents" and "Common request-field conventions".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from airlock_rehearsal.services.builder.fields import (
    RequestField,
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
from airlock_rehearsal.services.envelope import Read

if TYPE_CHECKING:
    from airlock_rehearsal.services.venue.venue_state import VenueState


class IntentEndpoint(NamedTuple):
    """One ``/v2/intents/*`` endpoint: its request fields, what it builds, and whether it refuses unknown fields."""

    fields: tuple[RequestField, ...]
    draft: Callable[[VenueState, Read], Draft]
    strict: bool = False


_USDC, _SCALED, _SIGNED = amount(6), amount(10), amount(10, signed=True)
_TRADER = RequestField("trader", address, required=True)
_SLOT = RequestField("tradeIndex", integer, required=True)
_SIDE = RequestField("side", choice("long", "short"), required=True)
_PAIR = (RequestField("pairIndex", integer), RequestField("pair", text))
_NONCE = RequestField("nonce", integer)
_TIMED = (_NONCE, RequestField("deadlineMs", integer))
_PRICED = (RequestField("openPrice", _SCALED), RequestField("slippagePercent", _SCALED))
_OPEN_TIMESTAMP = RequestField("openTimestamp", integer)
_INCREASE = (
    _TRADER,
    _SLOT,
    RequestField("additionalCollateralUsdc", _USDC, required=True),
    RequestField("leverage", _SCALED, required=True),
    *_PAIR,
    *_TIMED,
    *_PRICED,
)

ENDPOINTS = {
    "open": IntentEndpoint(
        (
            _TRADER,
            _SIDE,
            RequestField("collateralUsdc", _USDC, required=True),
            RequestField("leverage", _SCALED, required=True),
            *_PAIR,
            RequestField("orderType", choice(*OPEN_ORDER_TYPES)),
            *_PRICED,
            RequestField("takeProfit", _SCALED),
            RequestField("stopLoss", _SCALED),
            *_TIMED,
        ),
        open_trade,
    ),
    "close": IntentEndpoint(
        (
            _TRADER,
            _SLOT,
            RequestField("collateralToCloseUsdc", _USDC, required=True),
            *_PAIR,
            *_TIMED,
            _OPEN_TIMESTAMP,
            RequestField("expectedPrice", _SCALED),
        ),
        close_trade,
    ),
    "increase": IntentEndpoint(_INCREASE, increase),
    "increase-coin": IntentEndpoint(
        (
            *_INCREASE,
            *(RequestField(n, _SCALED, required=True) for n in ("coinExposure", "minLeverage", "maxLeverage")),
        ),
        increase,
    ),
    "tpsl-partial": IntentEndpoint(
        (
            _TRADER,
            _SLOT,
            RequestField("kind", choice(*TRIGGER_ORDER_TYPES), required=True),
            RequestField("coinExposure", _SCALED, required=True),
            _SIDE,
            *_PAIR,
            _NONCE,
            RequestField("triggerType", choice(*TRIGGER_TYPES)),
            RequestField("price", _SCALED),
            RequestField("percentage", _SIGNED),
            _OPEN_TIMESTAMP,
        ),
        tpsl_partial,
        strict=True,
    ),
    "referral-set-code": IntentEndpoint(
        (RequestField("referee", address, required=True), RequestField("code", referral_code, required=True), *_TIMED),
        referral_set_code,
    ),
    "twap-cancel": IntentEndpoint((_TRADER, RequestField("twapId", integer, required=True), *_TIMED), twap_cancel),
    "delegate": IntentEndpoint(
        (
            _TRADER,
            RequestField("delegate", address, required=True),
            RequestField("expirySeconds", integer, required=True),
            *_TIMED,
        ),
        delegate,
    ),
}
"""Every ``/v2/intents/*`` endpoint, by the last part of its path."""
