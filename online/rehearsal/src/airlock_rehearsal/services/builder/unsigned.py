"""What each unsigned transaction calls, and with what: from a request, and the venue's state, to a payload.

Sources: the specification, "Unsigned transaction payload" and "Builder: unsigned transactions", whose lists of ``meta`` are
kept; where it shows no shape (open, close, delegate, approve, accept, set-code), the request fields of comparable venues.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from airlock_rehearsal.chain import interface
from airlock_rehearsal.chain.evm import CONTRACTS, REFERRAL, ROUTER, STORAGE, USDC
from airlock_rehearsal.services.builder import message_drafts
from airlock_rehearsal.services.builder.fields import BuildFields, bad
from airlock_rehearsal.services.builder.message_drafts import COINS
from airlock_rehearsal.services.builder.payload import altered
from airlock_rehearsal.services.runtime import CHAIN_ID, OTHER_CHAIN
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


def _payload(asked: BuildFields, call: str, arguments: Message, description: str, meta: Message) -> Message:
    """Return the payload of a call, honest or with a lie; where a delegate may make it, ``meta`` says whether one does."""
    told = partial(asked.faults.has, service="builder")
    sender = account = asked["trader"] if "trader" in asked else asked["caller"]
    contract, data = CALLS[call], encode_call(call, altered(arguments) if told("message-altered") else arguments)
    if call in _DELEGABLE:
        delegate = asked["delegate"]
        if delegate == account:
            raise bad("delegate", "is the trader")
        meta = meta | {"delegated": delegate is not None}
        if delegate is not None:
            sender, contract = delegate, ROUTER
            data = encode_call("delegatedAction", {"trader": account, "call": data})
    return {
        "to": CONTRACTS[contract],
        "from": sender,
        "data": "0x" + data.hex(),
        "value": "0x0",
        "chainId": OTHER_CHAIN if told("wrong-chain") else CHAIN_ID,
        "description": description,
        "meta": meta,
    }


def plain(call: str, description: str, arguments: str = "", meta: str = "") -> Callable[[BuildFields], Message]:
    """Return what makes a call whose arguments, and ``meta``, are fields of the request as they are."""

    def payload(asked: BuildFields) -> Message:
        taken, told = ({name: asked[name] for name in names.split()} for names in (arguments, meta))
        return _payload(asked, call, taken, description, told)

    return payload


def increase(asked: BuildFields) -> Message:
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
    return _payload(asked, call, arguments, text, meta)


def limit_update(asked: BuildFields) -> Message:
    """``/v2/limit/update``: whether the order is there is for the contract to say."""
    pair = asked.pair
    prices = {"price": asked["price"], "slippage": asked.slippage}
    prices |= {"tp": asked["takeProfit"] or 0, "sl": asked["stopLoss"] or 0}
    told = asked.human("price", slippagePercent="1", takeProfit="0", stopLoss="0")
    arguments = {"pairIndex": pair.pair_index, "index": asked["orderIndex"], **prices}
    text = f"Update limit order {pair.symbol} #{asked['orderIndex']} to {told['price']}"
    meta = asked.pair_meta(orderIndex=asked["orderIndex"], **told)
    return _payload(asked, "updateOpenLimitOrder", arguments, text, meta)


def open_trade(asked: BuildFields) -> Message:
    """``/v2/trade/open``: the trade of ``/v2/intents/open``, as a call."""
    _, message, meta = message_drafts.open_trade(asked)
    arguments = {"t": message["_t"], "orderType": message["_type"], "slippage": message["_slippageP"]}
    text = f"Open {asked['side']} {asked.pair.symbol} with {asked.came['collateralUsdc']} USDC"
    return _payload(asked, "openTrade", arguments, text, meta or {})


def close_trade(asked: BuildFields) -> Message:
    """``/v2/trade/close``: the close of ``/v2/intents/close``, as a call."""
    message = message_drafts.close_trade(asked).message
    arguments = {name: message[f"_{name}"] for name in ("pairIndex", "index", "amount", "wantedPrice")}
    slot = asked["tradeIndex"]
    text = f"Close {asked.came['collateralToCloseUsdc']} USDC of {asked.pair.symbol} #{slot}"
    return _payload(asked, "closeTradeMarket", arguments, text, asked.pair_meta(tradeIndex=slot))


def set_delegate(asked: BuildFields) -> Message:
    """``/v2/delegate/set``: the expiry is in unix seconds."""
    arguments: Message = {"delegate": asked["delegate"], "expiry": asked.expiry}
    meta: Message = {"delegate": asked["delegate"], "expirySeconds": asked.expiry}
    return _payload(asked, "setDelegate", arguments, "Register a delegate", meta)


def approve(asked: BuildFields) -> Message:
    """``/v2/token/approve``: for TradingStorage unless told otherwise, and without limit when no amount is given."""
    spender, amount = asked["spender"] or CONTRACTS[STORAGE], asked["amountUsdc"]
    arguments: Message = {"spender": spender, "amount": _UNLIMITED if amount is None else amount}
    meta: Message = {"spender": spender, **asked.human(amountUsdc="unlimited")}
    return _payload(asked, "approve", arguments, f"Approve {meta['amountUsdc']} USDC", meta)
