"""What each unsigned transaction calls, and with what: pure functions from a request and the venue's state to a draft.

Source: the specification, "Builder: unsigned transactions", whose lists of ``meta`` are kept; where it shows no shape (open,
close, delegate, approve, accept, set-code), the request fields of comparable venues.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple, cast

from airlock_rehearsal.services.builder import message_drafts
from airlock_rehearsal.services.builder.accounts_and_pairs import (
    SECONDS_AT_MOST,
    bad,
    pair_meta,
    resolved_pair,
    resolved_price,
    whole,
)
from airlock_rehearsal.services.envelope import Read
from airlock_rehearsal.services.settings import TRADING_STORAGE
from airlock_rehearsal.services.venue.eip712_peer import Message
from airlock_rehearsal.services.venue.positions import ONE

if TYPE_CHECKING:
    from airlock_rehearsal.services.venue.venue_state import VenueState

UNLIMITED = (1 << 256) - 1
_UNTIMED: Read = {"nonce": 0, "deadlineMs": None}  # a transaction has neither an intent's nonce nor its deadline


class TransactionDraft(NamedTuple):
    """A call for an account; ``delegate`` sends it in the account's stead when there is one."""

    call: str
    arguments: Message
    account: str
    delegate: str | None
    description: str
    meta: dict[str, object]


def human(raw: object, decimals: int = 10) -> str:
    """Return a raw amount in the units of the request, without trailing zeros."""
    text = format(Decimal(whole(raw)).scaleb(-decimals), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _draft(call: str, arguments: Message, request: Read, description: str, meta: dict[str, object]) -> TransactionDraft:
    """Return the draft of a call that a delegate may make: its ``meta`` says whether one does."""
    delegate = request["delegate"]
    account = str(request["trader"] if "trader" in request else request["caller"])
    if delegate is not None and delegate == account:
        raise bad("delegate", "is the trader")
    by = None if delegate is None else str(delegate)
    return TransactionDraft(call, arguments, account, by, description, meta | {"delegated": by is not None})


def _slippage(request: Read) -> int:
    return ONE if request["slippagePercent"] is None else whole(request["slippagePercent"])


def increase(state: VenueState, request: Read) -> TransactionDraft:
    """``/v2/position/increase`` and, when the request has ``coinExposure``, ``/v2/position/increase-coin``."""
    message = message_drafts.increase(state, request | _UNTIMED).message
    pair = resolved_pair(state, request)
    price = resolved_price(state, request, "openPrice", pair)
    coin = "coinExposure" in request
    names = ("coinExposure", "minLeverage", "maxLeverage") if coin else ()
    arguments: Message = {"info": message["_updateInfo"], **{name: message[f"_{name}"] for name in names}}
    echoed = names if coin else ("leverage",)
    meta = pair_meta(
        pair,
        tradeIndex=request["tradeIndex"],
        additionalCollateralUsdc=human(request["additionalCollateralUsdc"], 6),
        **{name: human(request[name]) for name in echoed},
        openPrice=price / ONE,
        slippagePercent=human(_slippage(request)),
    )
    call = "increasePositionSizeWithCoinExposure" if coin else "increasePositionSize"
    text = f"Increase {pair.symbol} #{request['tradeIndex']} by {meta['additionalCollateralUsdc']} USDC of collateral"
    return _draft(call, arguments | {"slippage": message["_slippageP"]}, request, text, meta)


def limit_update(state: VenueState, request: Read) -> TransactionDraft:
    """``/v2/limit/update``: whether the order is there is for the contract to say."""
    pair = resolved_pair(state, request)
    if request["price"] == 0:
        raise bad("price", "is zero")
    profit, stop = request["takeProfit"] or 0, request["stopLoss"] or 0
    arguments: Message = {
        "pairIndex": pair.pair_index,
        "index": request["orderIndex"],
        "price": request["price"],
        "slippage": _slippage(request),
        "tp": profit,
        "sl": stop,
    }
    meta = pair_meta(
        pair,
        orderIndex=request["orderIndex"],
        price=human(request["price"]),
        slippagePercent=human(_slippage(request)),
        takeProfit=human(profit),
        stopLoss=human(stop),
    )
    text = f"Update limit order {pair.symbol} #{request['orderIndex']} to {meta['price']}"
    return _draft("updateOpenLimitOrder", arguments, request, text, meta)


def open_trade(state: VenueState, request: Read) -> TransactionDraft:
    """``/v2/trade/open``: the trade of ``/v2/intents/open``, as a call."""
    draft = message_drafts.open_trade(state, request | _UNTIMED)
    message, pair = draft.message, resolved_pair(state, request)
    arguments: Message = {"t": message["_t"], "orderType": message["_type"], "slippage": message["_slippageP"]}
    text = f"Open {request['side']} {pair.symbol} with {human(request['collateralUsdc'], 6)} USDC"
    return _draft("openTrade", arguments, request, text, cast("dict[str, object]", draft.meta))


def close_trade(state: VenueState, request: Read) -> TransactionDraft:
    """``/v2/trade/close``: the close of ``/v2/intents/close``, as a call."""
    draft = message_drafts.close_trade(state, request | _UNTIMED | {"openTimestamp": None})
    names = {"pairIndex": "_pairIndex", "index": "_index", "amount": "_amount", "wantedPrice": "_wantedPrice"}
    arguments: Message = {name: draft.message[member] for name, member in names.items()}
    pair = resolved_pair(state, request)
    meta = pair_meta(pair, tradeIndex=request["tradeIndex"])
    text = f"Close {human(request['collateralToCloseUsdc'], 6)} USDC of {pair.symbol} #{request['tradeIndex']}"
    return _draft("closeTradeMarket", arguments, request, text, meta)


def set_code(state: VenueState, request: Read) -> TransactionDraft:  # noqa: ARG001  (a draft's signature)
    """``/v2/referral/set-code``."""
    arguments: Message = {"code": request["code"]}
    return _draft("setTraderReferralCodeByUser", arguments, request, "Adopt a referral code", arguments)


def _own(call: str, arguments: Message, account: object, text: str, meta: Message | None = None) -> TransactionDraft:
    return TransactionDraft(call, arguments, str(account), None, text, meta or {})


def nominate(state: VenueState, request: Read) -> TransactionDraft:  # noqa: ARG001  (a draft's signature)
    """``/v2/referral/transfer-ownership``: an empty ``meta``."""
    arguments: Message = {"code": request["code"], "newOwner": request["newOwner"]}
    text = "Nominate the next owner of a referral code"
    return _own("setPendingCodeOwnershipTransfer", arguments, request["caller"], text)


def accept(state: VenueState, request: Read) -> TransactionDraft:  # noqa: ARG001  (a draft's signature)
    """``/v2/referral/accept-ownership``."""
    return _own("acceptCodeOwnership", {"code": request["code"]}, request["caller"], "Accept a referral code")


def cancel_request(state: VenueState, request: Read) -> TransactionDraft:  # noqa: ARG001  (a draft's signature)
    """``/v2/referral/cancel-request``: an empty ``meta``."""
    return _own("cancelRequest", {}, request["caller"], "Withdraw a request for access to a private code")


def claim(state: VenueState, request: Read) -> TransactionDraft:  # noqa: ARG001  (a draft's signature)
    """``/v2/misc/claim-keeper-rewards``: an empty ``meta``."""
    return _own("claimTokens", {}, request["caller"], "Pay out keeper rewards")


def set_delegate(state: VenueState, request: Read) -> TransactionDraft:
    """``/v2/delegate/set``: the expiry is in unix seconds."""
    expiry_s = whole(request["expirySeconds"])
    if not state.now_s < expiry_s < SECONDS_AT_MOST:
        raise bad("expirySeconds", "is over, or looks like milliseconds; unix seconds are wanted")
    if request["delegate"] == request["trader"]:
        raise bad("delegate", "is the trader")
    arguments: Message = {"delegate": request["delegate"], "expiry": expiry_s}
    meta: Message = {"delegate": request["delegate"], "expirySeconds": expiry_s}
    return _own("setDelegate", arguments, request["trader"], "Register a delegate", meta)


def remove_delegate(state: VenueState, request: Read) -> TransactionDraft:  # noqa: ARG001  (a draft's signature)
    """``/v2/delegate/remove``."""
    arguments: Message = {"delegate": request["delegate"]}
    return _own("removeDelegate", arguments, request["trader"], "Remove a delegate", arguments)


def approve(state: VenueState, request: Read) -> TransactionDraft:  # noqa: ARG001  (a draft's signature)
    """``/v2/token/approve``: for TradingStorage unless told otherwise, and without limit when no amount is given."""
    spender, amount = request["spender"] or TRADING_STORAGE, request["amountUsdc"]
    arguments: Message = {"spender": spender, "amount": UNLIMITED if amount is None else amount}
    meta: Message = {"spender": spender, "amountUsdc": "unlimited" if amount is None else human(amount, 6)}
    return _own("approve", arguments, request["trader"], f"Approve {meta['amountUsdc']} USDC", meta)
