"""The closed list of what a leaf of a struct or a call can be: its unit, its meaning, and who decides it.

The shipped catalogue and a venue's profile choose from it. What a kind means for the checks is code, and no file changes
it: a price is never the builder's, an amount never unscaled. Source: the builder's specification, "Common request-field
conventions" and "Intent message structs".
"""

from __future__ import annotations

from typing import NamedTuple

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

    ``kind`` is one of:

    * ``plan``: the plan's field ``parameter`` decides it, by a value or, for amounts, by bounds;
    * ``plan-or-zero``: the same, and zero when the plan is silent;
    * ``zero``: always zero;
    * ``builder``: the plan may decide it; when silent, the builder chooses within the limit named ``limit``.
    """

    kind: str
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


def _kind(unit: Unit, rule: Rule | str, meaning: str, solidity: str = "") -> Kind:
    who = Rule("plan", rule) if isinstance(rule, str) else rule
    return Kind(unit, who, meaning, solidity or _TYPES.get(unit, "uint"))


TRADER, DEADLINE, NONCE_KIND, TERMS, ZERO, UNKNOWN = "trader", "deadline", "nonce", "terms", "zero", "raw"
OPENED, OPENED_MS, SIGNED_AT, EXPIRY = "opened", "opened-ms", "signed-at", "expiry"
PAIR, OPEN_TYPE, SPENDER, ALLOWANCE, SLIPPAGE = "pair", "open-type", "spender", "allowance", "slippage"

KINDS: dict[str, Kind] = {
    TRADER: _kind(ADDRESS, "trader", "the account that it speaks for"),
    "delegate": _kind(ADDRESS, "delegate", "the key that may trade, and may never withdraw"),
    "referee": _kind(ADDRESS, "referee", "the account that adopts the code"),
    "referrer": _kind(ADDRESS, "referrer", "the account that will own the code"),
    "new-owner": _kind(ADDRESS, "newOwner", "who may accept the code"),
    SPENDER: _kind(ADDRESS, "spender", "who may take it"),
    ALLOWANCE: _kind(USDC, "amountUsdc", "how much it may take in all"),
    "code": _kind(CODE, "code", "the referral code"),
    PAIR: _kind(COUNT, "pairIndex", "the pair, by its index in the venue's catalogue"),
    "position-slot": _kind(COUNT, "tradeIndex", "the slot of the position"),
    "order-slot": _kind(COUNT, "orderIndex", "the slot of the order"),
    "twap": _kind(COUNT, "twapId", "the TWAP's id on the chain"),
    "collateral": _kind(USDC, "collateralUsdc", "the collateral"),
    "collateral-added": _kind(USDC, "additionalCollateralUsdc", "the collateral added"),
    "collateral-closed": _kind(USDC, "collateralToCloseUsdc", "the collateral to close"),
    "exposure": _kind(COIN, "coinExposure", "the exposure, in the base asset"),
    "leverage": _kind(LEVERAGE, "leverage", "size of the position over its collateral"),
    "least-leverage": _kind(LEVERAGE, "minLeverage", "the lowest leverage accepted at the fill"),
    "most-leverage": _kind(LEVERAGE, "maxLeverage", "the highest leverage accepted at the fill"),
    "open-price": _kind(PRICE, "openPrice", "the price that slippage is measured from"),
    "expected-price": _kind(PRICE, "expectedPrice", "the price expected; a worse one is declined"),
    "order-price": _kind(PRICE, "price", "the new trigger price"),
    "trigger-price": _kind(PRICE, Rule("plan-or-zero", "price"), "the trigger price; 0 with a percentage"),
    "take-profit": _kind(PRICE, Rule("plan-or-zero", "takeProfit"), "take profit; 0 is none"),
    "stop-loss": _kind(PRICE, Rule("plan-or-zero", "stopLoss"), "stop loss; 0 is none"),
    "trigger-percentage": _kind(
        PERCENT, Rule("plan-or-zero", "percentage"), "profit or loss that triggers; 0 with a price", "int"
    ),
    SLIPPAGE: _kind(PERCENT, Rule("builder", "slippagePercent", "slippage"), "how far the fill may be from the price"),
    "long": _kind(FLAG, "side", "true is long, false is short"),
    OPEN_TYPE: _kind(CHOICE, "orderType", "market or limit order"),
    "trigger-type": _kind(CHOICE, "triggerType", "by a price or by a percentage of profit or loss"),
    "trigger-kind": _kind(CHOICE, "kind", "4 takes profit, 5 stops a loss"),
    EXPIRY: _kind(UNIX_S, "expiry", "until when the delegate may act"),
    OPENED: _kind(
        UNIX_S, Rule("builder", "openTimestamp", "open-time"), "when the position was opened; binds the intent to it"
    ),
    OPENED_MS: _kind(
        UNIX_MS, Rule("builder", "openTimestamp", "open-time"), "when the position was opened; binds the intent to it"
    ),
    SIGNED_AT: _kind(UNIX_MS, Rule("builder", "", "sign-time"), "when it was built; it must be recent"),
    DEADLINE: _kind(UNIX_MS, Rule("builder", "deadlineMs", "deadline"), "after this moment the signature is worthless"),
    NONCE_KIND: _kind(NONCE, Rule("builder", "nonce", "nonce"), "a number used once; any unused one will do"),
    TERMS: _kind(TEXT, Rule("builder", "terms_sha256", "terms"), "the venue's terms, which are part of what is signed"),
    ZERO: _kind(COUNT, Rule("zero"), "not used: always zero"),
    UNKNOWN: _kind(RAW, Rule("plan"), "shown raw: Airlock does not know its meaning", "any"),
}
"""Every kind by its word. A leaf of the last, whose parameter is its own path, is decided by the plan's raw value."""

MAY_BE_LEFT_OUT = frozenset({TERMS, ZERO})
"""The kinds that a venue's form of a shipped struct may do without: nothing that a check judges is in them."""

SEVERAL = frozenset({ZERO, UNKNOWN})
"""The kinds that a struct may have more than once."""


def field(path: str, kind: str, meaning: str = "") -> Field:
    """Return the leaf at a path; ``meaning`` stands in for the kind's own. Raises ``KeyError`` for an unknown kind."""
    unit, rule, its_meaning, _ = KINDS[kind]
    if kind == UNKNOWN:
        rule = Rule("plan", path)
    return Field(path, unit, meaning or its_meaning, rule, kind)


def leaf(message: dict[str, object], path: str) -> object:
    """Return the value at a leaf's path (``_t.trader``) of a canonical message."""
    if path in message:  # a member's name has no dot
        return message[path]
    struct, _, name = path.partition(".")
    return leaf(message[struct], name)  # type: ignore[arg-type]


def path_of(fields: tuple[Field, ...], kind: str) -> str:
    """Return the path of the first leaf of a kind; empty when there is none."""
    return next((each.path for each in fields if each.kind == kind), "")


def value_of(fields: tuple[Field, ...], message: dict[str, object], kind: str) -> object:
    """Return the value of the first leaf of a kind, as it is signed; None when there is none."""
    path = path_of(fields, kind)
    return leaf(message, path) if path else None
