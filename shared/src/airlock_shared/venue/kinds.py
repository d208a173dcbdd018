"""The closed list of what a leaf of a struct or a call can be: its unit, its meaning, and who decides it.

The shipped catalogue and a venue's profile choose from it: a leaf is of the kind of the plan's member that decides it,
or of one of the few that no such member decides. What a kind means for the checks is code, and no file changes it: a
price is the plan's, or within its bounds, an amount never unscaled. Source: the builder's specification, "Common
request-field conventions" and "Intent message structs".
"""

from __future__ import annotations

from typing import Any, NamedTuple

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


def _planned(unit: Unit, meaning: str, otherwise: str = "plan", limit: str = "", solidity: str = "") -> Kind:
    """Return a kind that the plan's member of its own name decides; ``otherwise`` and ``limit`` are its rule's."""
    return Kind(unit, Rule(otherwise, "", limit), meaning, solidity or _TYPES.get(unit, "uint"))


PLAN_MEMBERS = {
    TRADER: _planned(ADDRESS, "the account that it speaks for"),
    "delegate": _planned(ADDRESS, "the key that may trade, and may never withdraw"),
    "referee": _planned(ADDRESS, "the account that adopts the code"),
    "referrer": _planned(ADDRESS, "the account that will own the code"),
    "newOwner": _planned(ADDRESS, "who may accept the code"),
    SPENDER: _planned(ADDRESS, "who may take it"),
    ALLOWANCE: _planned(USDC, "how much it may take in all"),
    "code": _planned(CODE, "the referral code"),
    PAIR: _planned(COUNT, "the pair, by its index in the venue's catalogue"),
    "tradeIndex": _planned(COUNT, "the slot of the position"),
    "orderIndex": _planned(COUNT, "the slot of the order"),
    "twapId": _planned(COUNT, "the TWAP's id on the chain"),
    "collateralUsdc": _planned(USDC, "the collateral"),
    "additionalCollateralUsdc": _planned(USDC, "the collateral added"),
    "collateralToCloseUsdc": _planned(USDC, "the collateral to close"),
    "coinExposure": _planned(COIN, "the exposure, in the base asset"),
    "leverage": _planned(LEVERAGE, "size of the position over its collateral"),
    "minLeverage": _planned(LEVERAGE, "the lowest leverage accepted at the fill"),
    "maxLeverage": _planned(LEVERAGE, "the highest leverage accepted at the fill"),
    "openPrice": _planned(PRICE, "the price that slippage is measured from"),
    "expectedPrice": _planned(PRICE, "the price expected; a worse one is declined"),  # ``_wantedPrice`` in the contract
    "price": _planned(PRICE, "the trigger price; 0 with a percentage", "plan-or-zero"),
    "takeProfit": _planned(PRICE, "take profit; 0 is none", "plan-or-zero"),
    "stopLoss": _planned(PRICE, "stop loss; 0 is none", "plan-or-zero"),
    "percentage": _planned(PERCENT, "profit or loss that triggers; 0 with a price", "plan-or-zero", "", "int"),
    SLIPPAGE: _planned(PERCENT, "how far the fill may be from the price", "builder", "slippage"),
    "side": _planned(FLAG, "true is long, false is short"),
    OPEN_TYPE: _planned(CHOICE, "market or limit order"),
    "triggerType": _planned(CHOICE, "by a price or by a percentage of profit or loss"),
    "kind": _planned(CHOICE, "4 takes profit, 5 stops a loss"),
    EXPIRY: _planned(UNIX_S, "until when the delegate may act"),
    OPENED: _planned(UNIX_S, _OPENED, "builder", "open-time"),
    DEADLINE: _planned(UNIX_MS, "after this moment the signature is worthless", "builder", "deadline"),
    NONCE_KIND: _planned(NONCE, "a number used once; any unused one will do", "builder", "nonce"),
}
"""What a member of the plan decides, by the name that a plan has for it."""

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

LEAF_KINDS: dict[str, Kind] = {
    name: kind._replace(rule=kind.rule._replace(parameter=name)) for name, kind in PLAN_MEMBERS.items()
} | OWN_KINDS
"""All that a leaf can be, by the word of a profile."""

MAY_BE_LEFT_OUT = frozenset({TERMS_KIND, ZERO})
"""The kinds that a venue's form of a shipped struct may do without: nothing that a check judges is in them."""

SEVERAL = frozenset({ZERO, RAW_KIND})
"""The kinds that a struct may have more than once."""


def field(path: str, kind: str, meaning: str = "") -> Field:
    """Return the leaf at a path; ``meaning`` stands in for the kind's own. Raises ``KeyError`` for an unknown kind."""
    unit, rule, its_meaning, _ = LEAF_KINDS[kind]
    if kind == RAW_KIND:
        rule = Rule("plan", path)
    return Field(path, unit, meaning or its_meaning, rule, kind)


def leaf(message: dict[str, Any], path: str) -> Any:
    """Return the value at a leaf's path (``_t.trader``) of a canonical message. Raises ``KeyError`` where there is none."""
    if path in message:  # a member's name has no dot
        return message[path]
    struct, _, name = path.partition(".")
    return leaf(message[struct], name)


def one_of(kind: str) -> str:
    """Return the kind that a check looks for: the moment of opening is one, in seconds or in milliseconds."""
    return OPENED if kind == OPENED_MS else kind


def path_of(fields: tuple[Field, ...], kind: str) -> str:
    """Return the path of the first leaf of a kind, or of the one that it stands for; empty when there is none."""
    return next((each.path for each in fields if kind in (each.kind, one_of(each.kind))), "")


def value_of(fields: tuple[Field, ...], message: dict[str, object], kind: str) -> object:
    """Return the value of the first leaf of a kind, as it is signed; None when there is none."""
    path = path_of(fields, kind)
    return leaf(message, path) if path else None
