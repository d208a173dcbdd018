"""What each unsigned transaction calls, and with what: pure functions from a request, and the venue's state, to a draft.

Source: the specification, "Builder: unsigned transactions", whose lists of ``meta`` are kept; where it shows no shape (open,
close, delegate, approve, accept, set-code), the request fields of comparable venues.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from airlock_rehearsal.chain import interface
from airlock_rehearsal.chain.evm import CONTRACTS, REFERRAL, ROUTER, STORAGE, USDC
from airlock_rehearsal.services.builder import message_drafts
from airlock_rehearsal.services.builder.fields import BuildFields, bad
from airlock_rehearsal.services.builder.message_drafts import COINS
from airlock_rehearsal.services.venue.eip712_peer import Message
from airlock_rehearsal.services.venue.positions import ONE

# ---- calls ----------------------------------------------------------------------------------------------------------
# The contract calls that the rehearsal's builder writes, encoded as the compiled contracts have them: the services must
# not inherit a mistake of ``airlock_shared.venue.calls``.


CALLS = {
    name: contract
    for contract, names in (
        (USDC, "approve"),
        (
            ROUTER,
            "setDelegate removeDelegate delegatedAction claimTokens openTrade closeTradeMarket updateOpenLimitOrder",
        ),
        (ROUTER, "increasePositionSize increasePositionSizeWithCoinExposure"),
        (REFERRAL, "setTraderReferralCodeByUser setPendingCodeOwnershipTransfer acceptCodeOwnership cancelRequest"),
    )
    for name in names.split()
}
"""The contract of every function that changes something."""

_DELEGABLE = (
    "openTrade closeTradeMarket increasePositionSize increasePositionSizeWithCoinExposure updateOpenLimitOrder"
    " setTraderReferralCodeByUser"
).split()
"""What a delegate may call for a trader."""


def encode_call(name: str, arguments: Message) -> bytes:
    """Return the calldata of a function; its arguments are in their order."""
    return interface.encode_call(CALLS[name], name, *arguments.values())


# ---- unsigned -------------------------------------------------------------------------------------------------------


_UNLIMITED = (1 << 256) - 1


class TransactionDraft(NamedTuple):
    """A call for an account; ``delegate`` sends it in the account's stead when there is one."""

    call: str
    arguments: Message
    account: str
    delegate: str | None
    description: str
    meta: Message


def _draft(asked: BuildFields, call: str, arguments: Message, description: str, meta: Message) -> TransactionDraft:
    """Return the draft of a call; where a delegate may make it, ``meta`` says whether one does."""
    account = asked["trader"] if "trader" in asked else asked["caller"]
    if call not in _DELEGABLE:
        return TransactionDraft(call, arguments, account, None, description, meta)
    delegate = asked["delegate"]
    if delegate == account:
        raise bad("delegate", "is the trader")
    return TransactionDraft(call, arguments, account, delegate, description, meta | {"delegated": delegate is not None})


def plain(
    call: str, description: str, arguments: str = "", meta: str = ""
) -> Callable[[BuildFields], TransactionDraft]:
    """Return what drafts a call whose arguments, and ``meta``, are fields of the request as they are."""

    def draft(asked: BuildFields) -> TransactionDraft:
        taken, told = ({name: asked[name] for name in names.split()} for names in (arguments, meta))
        return _draft(asked, call, taken, description, told)

    return draft


def increase(asked: BuildFields) -> TransactionDraft:
    """``/v2/position/increase`` and, when the request has ``coinExposure``, ``/v2/position/increase-coin``."""
    message = message_drafts.increase(asked).message
    names = [name for name in COINS if name in asked]
    meta = asked.pair_meta(
        tradeIndex=asked["tradeIndex"],
        openPrice=asked.price("openPrice") / ONE,
        **asked.human("additionalCollateralUsdc", *(names or ("leverage",)), slippagePercent="1"),
    )
    arguments = {"info": message["_updateInfo"], **{name: asked[name] for name in names}, "slippage": asked.slippage}
    call = "increasePositionSizeWithCoinExposure" if names else "increasePositionSize"
    text = f"Increase {meta['pair']} #{asked['tradeIndex']} by {meta['additionalCollateralUsdc']} USDC of collateral"
    return _draft(asked, call, arguments, text, meta)


def limit_update(asked: BuildFields) -> TransactionDraft:
    """``/v2/limit/update``: whether the order is there is for the contract to say."""
    pair = asked.pair
    prices = {"price": asked["price"], "slippage": asked.slippage}
    prices |= {"tp": asked["takeProfit"] or 0, "sl": asked["stopLoss"] or 0}
    told = asked.human("price", slippagePercent="1", takeProfit="0", stopLoss="0")
    arguments = {"pairIndex": pair.pair_index, "index": asked["orderIndex"], **prices}
    text = f"Update limit order {pair.symbol} #{asked['orderIndex']} to {told['price']}"
    meta = asked.pair_meta(orderIndex=asked["orderIndex"], **told)
    return _draft(asked, "updateOpenLimitOrder", arguments, text, meta)


def open_trade(asked: BuildFields) -> TransactionDraft:
    """``/v2/trade/open``: the trade of ``/v2/intents/open``, as a call."""
    _, message, meta = message_drafts.open_trade(asked)
    arguments = {"t": message["_t"], "orderType": message["_type"], "slippage": message["_slippageP"]}
    text = f"Open {asked['side']} {asked.pair.symbol} with {asked.came['collateralUsdc']} USDC"
    return _draft(asked, "openTrade", arguments, text, meta or {})


def close_trade(asked: BuildFields) -> TransactionDraft:
    """``/v2/trade/close``: the close of ``/v2/intents/close``, as a call."""
    message = message_drafts.close_trade(asked).message
    arguments = {name: message[f"_{name}"] for name in ("pairIndex", "index", "amount", "wantedPrice")}
    slot = asked["tradeIndex"]
    text = f"Close {asked.came['collateralToCloseUsdc']} USDC of {asked.pair.symbol} #{slot}"
    return _draft(asked, "closeTradeMarket", arguments, text, asked.pair_meta(tradeIndex=slot))


def set_delegate(asked: BuildFields) -> TransactionDraft:
    """``/v2/delegate/set``: the expiry is in unix seconds."""
    arguments: Message = {"delegate": asked["delegate"], "expiry": asked.expiry}
    meta: Message = {"delegate": asked["delegate"], "expirySeconds": asked.expiry}
    return _draft(asked, "setDelegate", arguments, "Register a delegate", meta)


def approve(asked: BuildFields) -> TransactionDraft:
    """``/v2/token/approve``: for TradingStorage unless told otherwise, and without limit when no amount is given."""
    spender, amount = asked["spender"] or CONTRACTS[STORAGE], asked["amountUsdc"]
    arguments: Message = {"spender": spender, "amount": _UNLIMITED if amount is None else amount}
    meta: Message = {"spender": spender, **asked.human(amountUsdc="unlimited")}
    return _draft(asked, "approve", arguments, f"Approve {meta['amountUsdc']} USDC", meta)
