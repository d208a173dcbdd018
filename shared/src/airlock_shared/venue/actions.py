"""The actions that a plan can ask for: the builder's endpoint, its request fields, and the struct that must come back.

Data for the plan reader, the online half's requests, the command ``actions`` and the documentation. Source: the builder's
specification, "Builder: intents" and "Common request-field conventions".
"""

from __future__ import annotations

from typing import Any, NamedTuple

from airlock_shared.units import ADDRESS, CHOICE, COUNT, TEXT, Unit
from airlock_shared.venue.structs import AUTHORIZATION, LEAF_KINDS

SIDES = {"long": True, "short": False}
TRIGGER_ORDER_TYPES = {"take_profit": 4, "stop_loss": 5}  # TpSlReq.orderType; another enum than the batched market's


class Parameter(NamedTuple):
    """A field of a plan step, and the builder's request field it is sent as (``sent``; empty: it is not sent)."""

    name: str
    unit: Unit
    meaning: str
    required: bool = True
    sent: str = ""
    choices: tuple[str, ...] = ()
    default: str = ""


class Action(NamedTuple):
    """Something that a custodian can do, by the name that plans use.

    What comes back is an intent of the struct ``primary_type``, or a transaction that calls the function ``call``.
    ``path`` is empty when no endpoint is documented.
    """

    name: str
    title: str
    path: str
    primary_type: str
    parameters: tuple[Parameter, ...]
    call: str = ""

    @property
    def result(self) -> str:
        """What must come back, in a word: the struct or the function."""
        return self.call or self.primary_type

    def parameter(self, name: str) -> Parameter | None:
        """Return the parameter of this name, or None."""
        return next((p for p in self.parameters if p.name == name), None)


def _sent(name: str, meaning: str, unit: Unit | None = None, **more: Any) -> Parameter:
    """Return a parameter that is sent, under its own name by default; its unit is that of the leaf which it decides."""
    return Parameter(name, unit or LEAF_KINDS[name].unit, meaning, **{"sent": name} | more)


_TRADER = _sent("trader", "the account that owns the position")
_SLOT = _sent("tradeIndex", "the position's slot, from the positions read")
_PAIR = (
    _sent("pairIndex", "the pair by its index; or give pair", required=False),
    Parameter("pair", TEXT, "the pair by its name in the pinned deployment; or give pairIndex", required=False),
)
_TIMED = (
    _sent("nonce", "a number used once; without it the builder chooses one", required=False),
    _sent("deadlineMs", "when the intent expires; without it, at the plan's limit", required=False),
)
_OPENED = _sent("openTimestamp", "when the position was opened; without it, it is read from the chain", required=False)
_SLIPPAGE = _sent("slippagePercent", "how far the fill may be from the price", required=False)
_OPEN_PRICE = _sent("openPrice", "the reference price: a value, or bounds for the builder's", required=False)
_POSSESSION = Parameter(
    "possession",
    CHOICE,
    "whether the delegate key must sign a proof before this is signed",
    required=False,
    choices=("required", "waived"),
    default="required",
)
_SIDE = _sent("side", "the direction of the position", CHOICE, choices=tuple(SIDES))
_LEVERAGE = _sent("leverage", "leverage of the collateral")
_COINS = (
    _sent("coinExposure", "exposure in the base asset"),
    _sent("minLeverage", "the lowest leverage accepted at the fill"),
    _sent("maxLeverage", "the highest leverage accepted at the fill"),
)
_HELD = (_TRADER, *_PAIR, _SLOT)
_INCREASE = (*_HELD, _sent("additionalCollateralUsdc", "collateral to add"), _LEVERAGE)
_PRICED = (_OPEN_PRICE, _SLIPPAGE)
_CODE = _sent("code", "1 to 31 characters, or 32 bytes in 0x-hex")
_DELEGATE = _sent("delegate", "the key that may trade")
_EXPIRY = _sent("expiry", "until when it may act", sent="expirySeconds")
_CLOSED = _sent("collateralToCloseUsdc", "the collateral to close")
_OPENING = (
    _TRADER,
    *_PAIR,
    _SIDE,
    _sent("collateralUsdc", "the collateral"),
    _LEVERAGE,
    _OPEN_PRICE,
    _sent("takeProfit", "take profit; none when left out", required=False),
    _sent("stopLoss", "stop loss; none when left out", required=False),
    _SLIPPAGE,
)
_ORDER_TYPE = _sent(
    "orderType",
    "how it executes; trade-open has limit orders too",
    required=False,
    default="market",
    choices=("market", "market_pnl"),
)
_OPEN = (*_OPENING, _ORDER_TYPE, *_TIMED)
_CLOSE = (
    _sent("expectedPrice", "the price expected: a value, or bounds for the builder's", required=False),
    _OPENED,
    *_TIMED,
    _sent("orderType", "the position's kind; needed where neither its pair nor the venue's read of it tells", sent="",
          required=False, choices=("market", "market_pnl")),
)  # fmt: skip

_ALL = (
    Action("open", "Open a position, sized in USDC", "/v2/intents/open", "OpenTradeReq", _OPEN),
    Action("open-coin", "Open a position, sized in the base asset", "", "OpenTradeCoinExposureReq", (*_OPEN, *_COINS)),
    Action("close", "Close a position, whole or in part", "/v2/intents/close", "CloseTradeReq",
           (*_HELD, _CLOSED, *_CLOSE)),
    Action("close-coin", "Close exposure in the base asset", "", "CloseTradeCoinExposureReq",
           (*_HELD, _sent("coinExposure", "the exposure to close"), *_CLOSE)),
    Action("increase", "Increase a position, sized in USDC", "/v2/intents/increase", "IncreasePositionSizeReq",
           (*_INCREASE, *_PRICED, *_TIMED)),
    Action("increase-coin", "Increase a position, sized in the base asset", "/v2/intents/increase-coin",
           "IncreasePositionSizeWithCoinExposureReq",
           (*_INCREASE, *_COINS, *_PRICED, *_TIMED)),
    Action("tpsl-partial", "Arm a partial take profit or stop loss", "/v2/intents/tpsl-partial", "TpSlReq",
           (*_HELD,
            _sent("kind", "what the trigger does", choices=tuple(TRIGGER_ORDER_TYPES)),
            _sent("coinExposure", "exposure to close when triggered"),
            _SIDE,
            _sent("triggerType", "by price or by percentage", required=False, default="fixed",
                  choices=("fixed", "percentage")),
            _sent("price", "the trigger price, with triggerType fixed", required=False),
            _sent("percentage", "signed profit or loss, with triggerType percentage", required=False),
            _OPENED, _TIMED[0],
            Parameter("replaces", TEXT, "the entityId of the stored trigger that this one replaces", required=False))),
    Action("twap-cancel", "Cancel a pending TWAP order", "/v2/intents/twap-cancel", "TwapCancelReq",
           (_sent("trader", "the account that opened it"), _sent("twapId", "its id on the chain"), *_TIMED)),
    Action("referral-set-code", "Adopt a referral code", "/v2/intents/referral-set-code", "SetTraderReferralCodeByUserReq",
           (_sent("referee", "the account that adopts the code"),
            _CODE, *_TIMED)),
    Action("referral-register", "Register a referral code of one's own", "", "RegisterCodeReq",
           (_sent("referrer", "the account that will own the code"),
            _CODE, *_TIMED)),
    Action("delegate", "Register a delegate key", "/v2/intents/delegate", "DelegateReq",
           (_sent("trader", "the account that the delegate may trade for"),
            _DELEGATE,
            _EXPIRY,
            Parameter("terms_sha256", TEXT, "SHA-256 of the venue's terms that you have read and accepted", required=False),
            _POSSESSION, *_TIMED)),
)  # fmt: skip

_CALLER = (_sent("caller", "the account that sends the transaction and signs it", ADDRESS),)

_TRANSACTIONS = (
    Action("position-increase", "Increase a position by transaction, sized in USDC", "/v2/position/increase", "",
           (*_INCREASE, *_PRICED), "increasePositionSize"),
    Action("position-increase-coin", "Increase a position by transaction, sized in the base asset",
           "/v2/position/increase-coin", "",
           (*_INCREASE, *_COINS, *_PRICED),
           "increasePositionSizeWithCoinExposure"),
    Action("limit-update", "Change a limit order that waits", "/v2/limit/update", "",
           (_TRADER, *_PAIR, _sent("orderIndex", "the order's slot, from the positions read"),
            _sent("price", "the new trigger price"), _SLIPPAGE,
            _sent("takeProfit", "the order's take profit from now on; 0 removes it"),
            _sent("stopLoss", "the order's stop loss from now on; 0 removes it")), "updateOpenLimitOrder"),
    Action("trade-open", "Open a position by transaction", "", "",
           (*_OPENING, _ORDER_TYPE._replace(choices=("market", "limit", "stop_limit", "market_pnl"))), "openTrade"),
    Action("trade-close", "Close a position by transaction", "", "",
           (*_HELD, _CLOSED, _CLOSE[0]),
           "closeTradeMarket"),
    Action("referral-transfer", "Nominate a referral code's next owner", "/v2/referral/transfer-ownership", "",
           (*_CALLER, _CODE, _sent("newOwner", "who may accept the code")), "setPendingCodeOwnershipTransfer"),
    Action("referral-accept", "Accept a referral code", "/v2/referral/accept-ownership", "", (*_CALLER, _CODE),
           "acceptCodeOwnership"),
    Action("referral-set-code-tx", "Adopt a referral code by transaction", "/v2/referral/set-code", "",
           (*_CALLER, _CODE), "setTraderReferralCodeByUser"),
    Action("referral-cancel-request", "Withdraw the request for access to a private code",
           "/v2/referral/cancel-request", "", _CALLER, "cancelRequest"),
    Action("claim-keeper-rewards", "Pay out keeper rewards", "/v2/misc/claim-keeper-rewards", "", _CALLER, "claimTokens"),
    Action("delegate-set", "Register a delegate key by transaction", "/v2/delegate/set", "",
           (_TRADER, _DELEGATE, _EXPIRY, _POSSESSION),
           "setDelegate"),
    Action("delegate-remove", "End a delegate's registration", "/v2/delegate/remove", "", (_TRADER, _DELEGATE),
           "removeDelegate"),
    Action("token-approve", "Let the trading storage take USDC", "/v2/token/approve", "",
           (_TRADER, _sent("spender", "the trading storage of the pinned deployment"),
            _sent("amountUsdc", "how much it may take in all, or the word unlimited")), "approve"),
)  # fmt: skip

_AUTHORIZATION = Action(
    AUTHORIZATION, "Give an account to a contract (EIP-7702)", "", "EIP-7702",
    (_sent("contract", "the contract: it can then do all that the signer's account can", ADDRESS),
     _sent("nonce", "the account's own nonce on the chain", COUNT),
     _sent("order", "the step of the market order with which it goes", TEXT)),
)  # fmt: skip

ACTIONS: dict[str, Action] = {action.name: action for action in (*_ALL, *_TRANSACTIONS, _AUTHORIZATION)}
"""Every action, by the name that plans use."""

REGISTRATIONS, REMOVAL = ("delegate", "delegate-set"), "delegate-remove"
"""The actions that make a key a delegate, and the one that ends that."""

DELEGATE_ACTIONS = (*REGISTRATIONS, REMOVAL)
