"""The catalogue of intents that Airlock knows: data from which checks, review, documentation and tests are made.

For each struct: its ``encodeType``, the order in which it is ABI-encoded, the domain that it is signed under, who may sign
it, where it is executed, and for each leaf its unit, its meaning and who decides it. Sources: the builder's specification,
"Intent message structs", "Authentication" and "Supported order types"; the shapes that it does not show are defaults
observed at comparable venues.
"""

from __future__ import annotations

from typing import NamedTuple

from airlock_shared.catalogue.encode_types import SHIPPED, leaves_of, types_of_text
from airlock_shared.catalogue.kinds import DEADLINE, NONCE_KIND, Field, field, path_of
from airlock_shared.catalogue.services import BATCHED_MARKET, CORE_API, RELAYER, TWAP


class Intent(NamedTuple):
    """One struct of the catalogue."""

    name: str
    encode_type: str
    title: str
    domain: str  # "trading" or "referral"
    signer_rule: str  # "trader-only" or "trader-or-delegate"
    route: str  # of the routes that take intents
    trader: str  # path of the account that the intent speaks for
    nonce: str
    deadline: str  # path of the deadline in unix ms; empty when the struct has none
    fields: tuple[Field, ...]
    abi_order: tuple[str, ...] = ()  # top-level members in ABI order, when it is not the order of encodeType
    order_types: tuple[int, int] | None = None  # batched orderType on an ordinary pair, and on a PnL pair (-1: none)
    executing: str = ""  # the contract's call that executes it for whoever sends it; empty when none is known


_OWNER = "the account that owns the position; collateral is pulled from it and paid out to it"
_CLOSED = "the exposure to close"


def _intent(
    name: str, title: str, kinds: str, route: str = BATCHED_MARKET, domain: str = "trading",
    signer_rule: str = "trader-or-delegate", **meanings: str,
) -> Intent:  # fmt: skip
    """Return a struct of the catalogue; ``kinds`` are its leaves', in order, ``meanings`` stand in for a kind's own."""
    paths, words = [path for path, _ in leaves_of(types_of_text(SHIPPED[name]), name)], kinds.split()
    told = {"trader": _OWNER, **meanings}
    fields = tuple(
        field(path, kind, told.get(path.rpartition(".")[2].strip("_") if kind == "zero" else kind, ""))
        for path, kind in zip(paths, words, strict=True)
    )
    account = path_of(fields, "trader") or path_of(fields, "referee") or path_of(fields, "referrer")
    nonce, deadline = path_of(fields, NONCE_KIND), path_of(fields, DEADLINE)
    return Intent(name, SHIPPED[name], title, domain, signer_rule, route, account, nonce, deadline, fields)


_UNUSED = "not used when opening"
_TRADE = {"index": "the slot, which the venue assigns", "initialPosToken": _UNUSED, "timestamp": _UNUSED}
_TIMED = "deadlineMs nonce"
_OPEN = "trader pairIndex zero zero collateralUsdc openPrice side leverage takeProfit stopLoss zero orderType"
_POSITION = "trader pairIndex tradeIndex openTimestamp"
_ADDED = "trader pairIndex tradeIndex openPrice additionalCollateralUsdc leverage"
_COINS = "coinExposure minLeverage maxLeverage"
_ADDS = {"leverage": "leverage of the added collateral"}

_WITH_SIG = "bytes signature,bytes intent"  # the order of the public client programs of comparable venues

_ALL = (
    _intent("OpenTradeReq", "Open a position, sized in USDC", f"{_OPEN} slippagePercent {_TIMED}", **_TRADE)._replace(
        order_types=(0, 6),
    ),
    _intent(
        "OpenTradeCoinExposureReq", "Open a position, sized in the base asset", f"{_OPEN} {_COINS} slippagePercent {_TIMED}",
        **_TRADE,
    )._replace(order_types=(12, 13)),
    _intent(
        "CloseTradeReq", "Close a position, in USDC of its collateral",
        f"{_POSITION} collateralToCloseUsdc expectedPrice {_TIMED}",
    )._replace(order_types=(1, 7)),
    _intent(
        "CloseTradeCoinExposureReq", "Close a position, in the base asset",
        f"{_POSITION} coinExposure expectedPrice {_TIMED}", coinExposure=_CLOSED,
    )._replace(order_types=(15, 16)),
    _intent(
        "IncreasePositionSizeReq", "Increase a position, sized in USDC", f"{_ADDED} slippagePercent {_TIMED}", **_ADDS
    )._replace(order_types=(9, -1)),
    _intent(
        "IncreasePositionSizeWithCoinExposureReq", "Increase a position, sized in the base asset",
        f"{_ADDED} {_COINS} slippagePercent {_TIMED}", **_ADDS,
    )._replace(order_types=(14, -1)),
    _intent(
        "TpSlReq", "Arm a trigger that closes part of a position",
        "trader pairIndex tradeIndex triggerType coinExposure side price percentage openTimestamp signed-at kind nonce",
        CORE_API, coinExposure=f"{_CLOSED}, in the base asset", side="the position's direction: true is long",
    ),
    _intent(
        "SetTraderReferralCodeByUserReq", "Adopt a referral code", f"code referee {_TIMED}", RELAYER, "referral"
    )._replace(
        executing=f"setTraderReferralCodeByUserWithSig({_WITH_SIG})",
    ),
    _intent(
        "RegisterCodeReq", "Register a referral code of one's own", f"code referrer {_TIMED}", RELAYER, "referral"
    )._replace(
        executing=f"registerCodeWithSig({_WITH_SIG})",
    ),
    _intent(
        "TwapCancelReq", "Cancel a pending TWAP order", "trader twapId nonce deadlineMs", TWAP,
        trader="the account that opened the TWAP",
    ),
    _intent(
        "DelegateReq", "Let a delegate key trade for an account", "trader delegate expiry deadlineMs terms nonce", RELAYER,
        "trading", "trader-only", trader="the account that the delegate may trade for",
    )._replace(
        abi_order=("trader", "delegate", "expiry", "tnc", "deadline", "nonce"),
        executing=f"setDelegateWithSig({_WITH_SIG})",
    ),
)  # fmt: skip

CATALOGUE: dict[str, Intent] = {intent.name: intent for intent in _ALL}
"""Every struct that Airlock signs, by primary type."""

DOMAIN_MEMBERS = (("name", "string"), ("version", "string"), ("chainId", "uint256"), ("verifyingContract", "address"))


def is_custom(intent: Intent) -> bool:
    """Tell whether a struct is not of the shipped catalogue, whoever pinned it."""
    return intent.name not in CATALOGUE
