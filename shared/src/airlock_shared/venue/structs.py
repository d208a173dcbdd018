"""The catalogue of intents that Airlock knows: data from which checks, review, documentation and tests are made.

For each struct: its ``encodeType``, the order in which it is ABI-encoded, the domain that it is signed under, who may sign
it, where it is executed, and for each leaf its unit, its meaning and who decides it. Sources: the builder's specification,
"Intent message structs", "Authentication" and "Supported order types"; the shapes that it does not show are defaults
observed at comparable venues.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from airlock_shared.ethereum.struct_types import Member, Structs, leaves_of, structs_of
from airlock_shared.units import (
    ADDRESS,
    CHOICE,
    CODE,
    COIN,
    COUNT,
    FLAG,
    LEVERAGE,
    NONCE,
    PERCENT,
    PRICE,
    RAW,
    TEXT,
    UNIX_MS,
    UNIX_S,
    USDC,
    Unit,
)

if TYPE_CHECKING:
    from airlock_shared.ethereum.eip712 import StructValues

# ---- services and routes --------------------------------------------------------------------------------------------
# The services of a venue, and the names of the routes by which signed things reach them.
#
# A deployment has the services' addresses, and a request names the route of what is signed. Which endpoints a route has is
# the online half's (``airlock_online.speech.sections``). Source: the specification, "What the service does".


class Service(NamedTuple):
    """A service. ``name`` is how pages, error codes and the rehearsal's faults call it.

    ``url_key`` is its address's name in a deployment document; ``asked_for`` is what ``deployment fetch`` asks for, empty
    where it asks for nothing.
    """

    name: str
    url_key: str
    title: str
    asked_for: str = ""

    @property
    def option(self) -> str:
        """The option of ``deployment fetch`` that gives its address."""
        return f"--{self.url_key.replace('_', '-')}"


AUTHORIZATION = "authorization"
"""The action of an item that is neither intent nor transaction: an EIP-7702 authorization, which goes with its order."""

_SERVICES = (
    Service("builder", "builder", "The builder", "Base URL of the builder service."),
    Service("batched", "batched_market", "The batched market", "Base URL of the batched-market service."),
    Service(
        "relayer",
        "relayer",
        "The relayer, whose paths and body are configuration, because no specification documents them",
        "Base URL of the relayer.",
    ),
    Service("twap", "twap", "The TWAP service", "Base URL of the TWAP service."),
    Service("core", "core_api", "The core API", "Base URL of the core API."),
    Service(
        "rpc",
        "rpc",
        "The operator's own node, by JSON-RPC 2.0; nothing needs it where nonce, gas and fees are given by hand",
    ),
)
SERVICES = {service.name: service for service in _SERVICES}
"""By name, in the order in which they are asked for."""

BUILDER = SERVICES["builder"]

BATCHED_MARKET, RELAYER, CORE_API, TWAP, RELAY, RPC = "batched-market", "relayer", "core-api", "twap", "relay", "rpc"
"""The routes' names. ``relayer`` takes intents, ``relay`` signed transactions.

The service ``core``, at the address ``core_api``, is the route ``core-api``.
"""

PINNABLE = (RELAYER, CORE_API, TWAP)
"""The routes that a struct may take which an operator pinned."""


# ---- kinds of leaf --------------------------------------------------------------------------------------------------
# The closed list of what a leaf of a struct or a call can be: its unit, its meaning, and who decides it.
#
# The shipped catalogue and a venue's profile choose from it: a leaf is of the kind of the plan's member that decides it,
# or of one of the few that no such member decides. What a kind means for the checks is code, and no file changes it: a
# price is the plan's, or within its bounds, an amount never unscaled. Source: the builder's specification, "Common
# request-field conventions" and "Intent message structs".


class Rule(NamedTuple):
    """Who decides a leaf.

    ``decider`` is one of:

    * ``plan``: the plan's field ``parameter`` decides it, by a value or, for amounts, by bounds;
    * ``plan-or-zero``: the same, and zero when the plan is silent;
    * ``zero``: always zero;
    * ``builder``: the plan may decide it; when silent, the builder chooses within the limit named ``limit``.
    """

    decider: str
    parameter: str = ""
    limit: str = ""


class Field(NamedTuple):
    """A leaf of a struct or a call: its path (``_t.trader``), unit, meaning, who decides it, its kind, its label if any."""

    path: str
    unit: Unit
    meaning: str
    rule: Rule
    kind: str
    label: str = ""


class Kind(NamedTuple):
    """What a leaf can be. ``solidity`` is the type that holds it: ``uint`` and ``int`` of any width, ``any`` for all."""

    unit: Unit
    rule: Rule
    meaning: str
    solidity: str


_TYPES = {ADDRESS: "address", CODE: "bytes32", TEXT: "string", FLAG: "bool"}

TRADER, DEADLINE, NONCE_KIND, TERMS_KIND, ZERO, RAW_KIND = "trader", "deadlineMs", "nonce", "terms", "zero", "raw"
OPENED, OPENED_MS, SIGNED_AT, EXPIRY = "openTimestamp", "opened-ms", "signed-at", "expiry"
PAIR, OPEN_TYPE, SPENDER, ALLOWANCE, SLIPPAGE = "pairIndex", "orderType", "spender", "amountUsdc", "slippagePercent"
_OPENED = "when the position was opened; binds the intent to it"


def _planned(name: str, unit: Unit, meaning: str, decider: str = "plan", limit: str = "", solidity: str = "") -> Kind:
    """Return a kind that the plan's member of its own name decides; ``decider`` and ``limit`` are its rule's."""
    return Kind(unit, Rule(decider, name, limit), meaning, solidity or _TYPES.get(unit, "uint"))


PLAN_MEMBERS: dict[str, tuple[Unit, *tuple[str, ...]]] = {
    TRADER: (ADDRESS, "the account that it speaks for"),
    "delegate": (ADDRESS, "the key that may trade, and may never withdraw"),
    "referee": (ADDRESS, "the account that adopts the code"),
    "referrer": (ADDRESS, "the account that will own the code"),
    "newOwner": (ADDRESS, "who may accept the code"),
    SPENDER: (ADDRESS, "who may take it"),
    ALLOWANCE: (USDC, "how much it may take in all"),
    "code": (CODE, "the referral code"),
    PAIR: (COUNT, "the pair, by its index in the venue's catalogue"),
    "tradeIndex": (COUNT, "the slot of the position"),
    "orderIndex": (COUNT, "the slot of the order"),
    "twapId": (COUNT, "the TWAP's id on the chain"),
    "collateralUsdc": (USDC, "the collateral"),
    "additionalCollateralUsdc": (USDC, "the collateral added"),
    "collateralToCloseUsdc": (USDC, "the collateral to close"),
    "coinExposure": (COIN, "the exposure, in the base asset"),
    "leverage": (LEVERAGE, "size of the position over its collateral"),
    "minLeverage": (LEVERAGE, "the lowest leverage accepted at the fill"),
    "maxLeverage": (LEVERAGE, "the highest leverage accepted at the fill"),
    "openPrice": (PRICE, "the price that slippage is measured from"),
    "expectedPrice": (PRICE, "the price expected; a worse one is declined"),  # ``_wantedPrice`` in the contract
    "price": (PRICE, "the trigger price; 0 with a percentage", "plan-or-zero"),
    "takeProfit": (PRICE, "take profit; 0 is none", "plan-or-zero"),
    "stopLoss": (PRICE, "stop loss; 0 is none", "plan-or-zero"),
    "percentage": (PERCENT, "profit or loss that triggers; 0 with a price", "plan-or-zero", "", "int"),
    SLIPPAGE: (PERCENT, "how far the fill may be from the price", "builder", "slippage"),
    "side": (FLAG, "true is long, false is short"),
    OPEN_TYPE: (CHOICE, "market order; of trade-open, limit order too"),
    "triggerType": (CHOICE, "by a price or by a percentage of profit or loss"),
    "kind": (CHOICE, "4 takes profit, 5 stops a loss"),
    EXPIRY: (UNIX_S, "until when the delegate may act"),
    OPENED: (UNIX_S, _OPENED, "builder", "open-time"),
    DEADLINE: (UNIX_MS, "after this moment the signature is worthless", "builder", "deadline"),
    NONCE_KIND: (NONCE, "a number used once; any unused one will do", "builder", "nonce"),
}
"""What a member of the plan decides, by the name that a plan has for it: what :func:`_planned` makes a kind of."""

OWN_KINDS = {
    OPENED_MS: Kind(UNIX_MS, Rule("builder", OPENED, "open-time"), _OPENED, "uint"),
    SIGNED_AT: Kind(UNIX_MS, Rule("builder", "", "sign-time"), "when it was built; it must be recent", "uint"),
    TERMS_KIND: Kind(
        TEXT, Rule("builder", "terms_sha256", "terms"), "the venue's terms, which are part of what is signed", "string"
    ),
    ZERO: Kind(COUNT, Rule("zero"), "not used: always zero", "uint"),
    RAW_KIND: Kind(RAW, Rule("plan"), "shown raw: Airlock does not know its meaning", "any"),
}
"""What no member of that name decides: ``opened-ms`` is decided by ``openTimestamp``, ``zero`` by nobody, and a ``raw``
leaf at ``_t.note`` by the plan's member ``_t.note``, as it is signed."""

LEAF_KINDS = {name: _planned(name, *row) for name, row in PLAN_MEMBERS.items()} | OWN_KINDS
"""All that a leaf can be, by the word of a profile."""

MAY_BE_LEFT_OUT = frozenset({TERMS_KIND, ZERO})
"""The kinds that a venue's form of a shipped struct may do without: nothing that a check judges is in them."""

ACCOUNT_KINDS = (TRADER, "referee", "referrer")
"""The kinds that say whom an intent speaks for."""

SEVERAL = frozenset({ZERO, RAW_KIND})
"""The kinds that a struct may have more than once."""


def field(path: str, kind: str, meaning: str = "") -> Field:
    """Return the leaf at a path; ``meaning`` stands in for the kind's own. Raises ``KeyError`` for an unknown kind."""
    unit, rule, its_meaning, _ = LEAF_KINDS[kind]
    if kind == RAW_KIND:
        rule = Rule("plan", path)
    return Field(path, unit, meaning or its_meaning, rule, kind)


def leaf(message: StructValues, path: str) -> Any:
    """Return the value at a leaf's path (``_t.trader``) of a canonical message. Raises ``KeyError`` where there is none."""
    if path in message:  # a member's name has no dot
        return message[path]
    struct, _, name = path.partition(".")
    return leaf(message[struct], name)


def checked_kind(kind: str) -> str:
    """Return the kind that a check looks for: the moment of opening is one, in seconds or in milliseconds."""
    return OPENED if kind == OPENED_MS else kind


def path_of(fields: tuple[Field, ...], kind: str) -> str:
    """Return the path of the first leaf of a kind, or of the one that it stands for; empty when there is none."""
    return next((each.path for each in fields if kind in (each.kind, checked_kind(each.kind))), "")


def value_of(fields: tuple[Field, ...], message: StructValues, kind: str) -> object:
    """Return the value of the first leaf of a kind, as it is signed; None when there is none."""
    path = path_of(fields, kind)
    return leaf(message, path) if path else None


# ---- encode types ---------------------------------------------------------------------------------------------------
# The ``encodeType`` text of each struct that ships. Source: EIP-712, "encodeType".


_TRADE = (
    "Trade(address trader,uint256 pairIndex,uint256 index,uint256 initialPosToken,uint256 positionSizeUSDC,"
    "uint256 openPrice,bool buy,uint256 leverage,uint256 tp,uint256 sl,uint256 timestamp)"
)
_UPDATE = (
    "UpdatePositionSize(address trader,uint256 pairIndex,uint256 index,uint256 openPrice,"
    "uint256 initialPosToken,uint256 leverage)"
)
_POSITION = "address _trader,uint256 _pairIndex,uint256 _index,uint256 _openTimestamp,"
_TRIGGERED = "address trader,uint256 pairIndex,uint256 index,uint8 triggerType,uint256 coinSize,bool buy,uint256 price,"
_COINS = "uint256 _coinExposure,uint256 _minLeverage,uint256 _maxLeverage,"
_TIMED = "uint256 _deadline,uint256 _nonce)"
_ALL = (  # a new one at the end: the dictionary in ``ur.envelope`` has the first of them
    f"OpenTradeReq(Trade _t,uint8 _type,uint256 _slippageP,{_TIMED}{_TRADE}",
    f"OpenTradeCoinExposureReq(Trade _t,uint8 _type,{_COINS}uint256 _slippageP,{_TIMED}{_TRADE}",
    f"CloseTradeReq({_POSITION}uint256 _amount,uint256 _wantedPrice,{_TIMED}",
    f"CloseTradeCoinExposureReq({_POSITION}uint256 _coinExposure,uint256 _wantedPrice,{_TIMED}",
    f"IncreasePositionSizeReq(UpdatePositionSize _updateInfo,uint256 _slippageP,{_TIMED}{_UPDATE}",
    f"IncreasePositionSizeWithCoinExposureReq(UpdatePositionSize _updateInfo,{_COINS}uint256 _slippageP,{_TIMED}{_UPDATE}",
    f"TpSlReq({_TRIGGERED}int256 percentage,uint256 timestamp,uint256 signTimestamp,uint8 orderType,uint256 nonce)",
    f"SetTraderReferralCodeByUserReq(bytes32 _code,address _referee,{_TIMED}",
    f"RegisterCodeReq(bytes32 _code,address _referrer,{_TIMED}",
    "TwapCancelReq(address trader,uint256 twapId,uint256 nonce,uint256 deadline)",
    "DelegateReq(address trader,address delegate,uint256 expiry,uint256 deadline,string tnc,uint256 nonce)",
)
SHIPPED_TYPES = {text.partition("(")[0]: text for text in _ALL}
"""The ``encodeType`` text of every struct that ships, by primary type: defaults observed at comparable venues."""


def shipped_fields(structs: Structs, struct: str, kinds: str, meanings: Mapping[str, str]) -> tuple[Field, ...]:
    """Return the leaves of a struct that ships: their ``kinds``, in order, and ``meanings`` in place of a kind's own.

    A meaning is named by the kind that it is for, of what is always zero by the member.
    """
    return tuple(
        field(path, kind, meanings.get(path.rpartition(".")[2].strip("_") if kind == ZERO else kind, ""))
        for (path, _), kind in zip(leaves_of(structs, struct), kinds.split(), strict=True)
    )


# ---- intents --------------------------------------------------------------------------------------------------------


class Intent(NamedTuple):
    """One struct of the catalogue."""

    name: str
    encode_type: str
    title: str
    domain: str  # "trading" or "referral"
    signer_rule: str  # "trader-only" or "trader-or-delegate"
    route: str  # of the routes that take intents
    fields: tuple[Field, ...]
    abi_order: tuple[str, ...] = ()  # top-level members in ABI order, when it is not the order of encodeType
    order_types: tuple[int, int] | None = None  # batched orderType on an ordinary pair, and on a PnL pair (-1: none)
    executing: str = ""  # the contract's call that executes it for whoever sends it; empty when none is known

    @property
    def trader(self) -> str:
        """The path of the account that it speaks for."""
        return next(each.path for each in self.fields if each.kind in ACCOUNT_KINDS)

    @property
    def nonce(self) -> str:
        """The path of its nonce."""
        return path_of(self.fields, NONCE_KIND)

    @property
    def deadline(self) -> str:
        """The path of its deadline in unix ms; empty when it has none."""
        return path_of(self.fields, DEADLINE)

    @property
    def structs(self) -> Structs:
        """Its struct types, itself first."""
        return structs_of(self.encode_type)

    @property
    def abi_structs(self) -> Structs:
        """The same, with its own members in the order in which the contract takes them."""
        structs = self.structs
        kinds = dict(structs[self.name])
        return {**structs, self.name: tuple(Member(name, kinds[name]) for name in self.abi_order or kinds)}


_OWNER = "the account that owns the position; collateral is pulled from it and paid out to it"
_CLOSED = "the exposure to close"


def _intent(
    name: str,
    title: str,
    kinds: str,
    route: str = BATCHED_MARKET,
    domain: str = "trading",
    signer_rule: str = "trader-or-delegate",
    **meanings: str,
) -> Intent:
    """Return a struct of the catalogue; ``kinds`` are its leaves', in order, ``meanings`` stand in for a kind's own."""
    fields = shipped_fields(structs_of(SHIPPED_TYPES[name]), name, kinds, {"trader": _OWNER, **meanings})
    return Intent(name, SHIPPED_TYPES[name], title, domain, signer_rule, route, fields)


_UNUSED = "not used when opening"
_NOT_SET = {"index": "the slot, which the venue assigns", "initialPosToken": _UNUSED, "timestamp": _UNUSED}
_LIMITS = "deadlineMs nonce"
_OPEN = "trader pairIndex zero zero collateralUsdc openPrice side leverage takeProfit stopLoss zero orderType"
_HELD = "trader pairIndex tradeIndex openTimestamp"
_ADDED = "trader pairIndex tradeIndex openPrice additionalCollateralUsdc leverage"
_COIN = "coinExposure minLeverage maxLeverage"
_ADDS = {"leverage": "leverage of the added collateral"}

_WITH_SIG = "bytes signature,bytes intent"  # the order of the public client programs of comparable venues

_INTENTS = (
    _intent("OpenTradeReq", "Open a position, sized in USDC", f"{_OPEN} slippagePercent {_LIMITS}", **_NOT_SET)._replace(
        order_types=(0, 6),
    ),
    _intent(
        "OpenTradeCoinExposureReq", "Open a position, sized in the base asset", f"{_OPEN} {_COIN} slippagePercent {_LIMITS}",
        **_NOT_SET,
    )._replace(order_types=(12, 13)),
    _intent(
        "CloseTradeReq", "Close a position, in USDC of its collateral",
        f"{_HELD} collateralToCloseUsdc expectedPrice {_LIMITS}",
    )._replace(order_types=(1, 7)),
    _intent(
        "CloseTradeCoinExposureReq", "Close a position, in the base asset",
        f"{_HELD} coinExposure expectedPrice {_LIMITS}", coinExposure=_CLOSED,
    )._replace(order_types=(15, 16)),
    _intent(
        "IncreasePositionSizeReq", "Increase a position, sized in USDC", f"{_ADDED} slippagePercent {_LIMITS}", **_ADDS
    )._replace(order_types=(9, -1)),
    _intent(
        "IncreasePositionSizeWithCoinExposureReq", "Increase a position, sized in the base asset",
        f"{_ADDED} {_COIN} slippagePercent {_LIMITS}", **_ADDS,
    )._replace(order_types=(14, -1)),
    _intent(
        "TpSlReq", "Arm a trigger that closes part of a position",
        "trader pairIndex tradeIndex triggerType coinExposure side price percentage openTimestamp signed-at kind nonce",
        CORE_API, coinExposure=f"{_CLOSED}, in the base asset", side="the position's direction: true is long",
    ),
    _intent(
        "SetTraderReferralCodeByUserReq", "Adopt a referral code", f"code referee {_LIMITS}", RELAYER, "referral"
    )._replace(
        executing=f"setTraderReferralCodeByUserWithSig({_WITH_SIG})",
    ),
    _intent(
        "RegisterCodeReq", "Register a referral code of one's own", f"code referrer {_LIMITS}", RELAYER, "referral"
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

CATALOGUE: dict[str, Intent] = {intent.name: intent for intent in _INTENTS}
"""Every struct that Airlock signs, by primary type."""


def is_custom(intent: Intent) -> bool:
    """Tell whether a struct is not of the shipped catalogue, but of a venue's profile."""
    return intent.name not in CATALOGUE
