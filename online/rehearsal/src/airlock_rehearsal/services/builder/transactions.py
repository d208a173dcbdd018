"""The builder's endpoints for unsigned transactions: their request fields, and what each one builds.

Source: the specification, "Builder: unsigned transactions" and "Authentication": a delegate may trade, and may not approve
USDC, add other delegates, or dispose of what is the account's own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from airlock_rehearsal.services.builder import unsigned
from airlock_rehearsal.services.builder.fields import (
    RequestField,
    address,
    amount,
    choice,
    integer,
    referral_code,
    text,
)
from airlock_rehearsal.services.builder.message_drafts import OPEN_ORDER_TYPES
from airlock_rehearsal.services.builder.unsigned import TransactionDraft
from airlock_rehearsal.services.envelope import Read

if TYPE_CHECKING:
    from airlock_rehearsal.services.venue.venue_state import VenueState


class Unsigned(NamedTuple):
    """One endpoint: its request fields, and what it builds."""

    fields: tuple[RequestField, ...]
    draft: Callable[[VenueState, Read], TransactionDraft]


def _none(value: object) -> object:  # noqa: ARG001  (a reader's signature)
    raise ValueError("no delegate may do this for the account")


_USDC, _SCALED = amount(6), amount(10)
_TRADER = RequestField("trader", address, required=True)
_CALLER = RequestField("caller", address, required=True)
_CODE = RequestField("code", referral_code, required=True)
_SLOT = RequestField("tradeIndex", integer, required=True)
_PAIR = (RequestField("pairIndex", integer), RequestField("pair", text))
_PRICED = (RequestField("openPrice", _SCALED), RequestField("slippagePercent", _SCALED))
_EXITS = (RequestField("takeProfit", _SCALED), RequestField("stopLoss", _SCALED))
_BY_DELEGATE = RequestField("delegate", address)
_NO_DELEGATE = RequestField("delegate", _none)
_DELEGATE = RequestField("delegate", address, required=True)  # the one that is registered or removed
_INCREASE = (
    _TRADER,
    _SLOT,
    RequestField("additionalCollateralUsdc", _USDC, required=True),
    RequestField("leverage", _SCALED, required=True),
    *_PAIR,
    _BY_DELEGATE,
    *_PRICED,
)
_COINS = tuple(RequestField(name, _SCALED, required=True) for name in ("coinExposure", "minLeverage", "maxLeverage"))

TRANSACTIONS = {
    "/v2/position/increase": Unsigned(_INCREASE, unsigned.increase),
    "/v2/position/increase-coin": Unsigned((*_INCREASE, *_COINS), unsigned.increase),
    "/v2/limit/update": Unsigned(
        (
            _TRADER,
            RequestField("orderIndex", integer, required=True),
            RequestField("price", _SCALED, required=True),
            *_PAIR,
            _BY_DELEGATE,
            RequestField("slippagePercent", _SCALED),
            *_EXITS,
        ),
        unsigned.limit_update,
    ),
    "/v2/trade/open": Unsigned(
        (
            _TRADER,
            RequestField("side", choice("long", "short"), required=True),
            RequestField("collateralUsdc", _USDC, required=True),
            RequestField("leverage", _SCALED, required=True),
            *_PAIR,
            RequestField("orderType", choice(*OPEN_ORDER_TYPES)),
            _BY_DELEGATE,
            *_PRICED,
            *_EXITS,
        ),
        unsigned.open_trade,
    ),
    "/v2/trade/close": Unsigned(
        (
            _TRADER,
            _SLOT,
            RequestField("collateralToCloseUsdc", _USDC, required=True),
            *_PAIR,
            _BY_DELEGATE,
            RequestField("expectedPrice", _SCALED),
        ),
        unsigned.close_trade,
    ),
    "/v2/referral/set-code": Unsigned((_CALLER, _CODE, _BY_DELEGATE), unsigned.set_code),
    "/v2/referral/transfer-ownership": Unsigned(
        (_CALLER, _CODE, RequestField("newOwner", address, required=True), _NO_DELEGATE), unsigned.nominate
    ),
    "/v2/referral/accept-ownership": Unsigned((_CALLER, _CODE, _NO_DELEGATE), unsigned.accept),
    "/v2/referral/cancel-request": Unsigned((_CALLER, _NO_DELEGATE), unsigned.cancel_request),
    "/v2/misc/claim-keeper-rewards": Unsigned((_CALLER, _NO_DELEGATE), unsigned.claim),
    "/v2/delegate/set": Unsigned(
        (_TRADER, _DELEGATE, RequestField("expirySeconds", integer, required=True)), unsigned.set_delegate
    ),
    "/v2/delegate/remove": Unsigned((_TRADER, _DELEGATE), unsigned.remove_delegate),
    "/v2/token/approve": Unsigned(
        (_TRADER, RequestField("spender", address), RequestField("amountUsdc", _USDC), _NO_DELEGATE), unsigned.approve
    ),
}
"""Every endpoint that answers with an unsigned transaction, by its path."""
