"""The fields of a plan's step: what is written there, read into the raw values that are signed.

A field is decided by one value (``Exact``) or, when it is an amount, by inclusive bounds (``Bounds``).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from airlock_shared.errors import PlanError, Refusal, quoted
from airlock_shared.ethereum.signatures import parse_address
from airlock_shared.plan.model import Bounds, Exact, Limits, Value
from airlock_shared.units import (
    ADDRESS,
    CHOICE,
    CODE,
    GWEI,
    NATIVE,
    PERCENT,
    TEXT,
    UNIX_MS,
    UNIX_S,
    UNLIMITED,
    Unit,
    code_bytes,
    looks_like_seconds,
    span_text,
    to_human,
    to_raw,
)
from airlock_shared.wire.strict_json import ENTITY_ID, HEX_32, NAME, Table

if TYPE_CHECKING:
    from airlock_shared.venue.actions import Action, Parameter


LINE = re.compile(r"[^\x00-\x1f\x7f\ud800-\udfff]{1,200}")
_TEXTS = {"terms_sha256": HEX_32, "replaces": ENTITY_ID, "order": NAME}
TIME_DO = "write it in UTC, month and day with two digits, without quotes: 2027-03-31T00:00:00Z"
_COUNT = re.compile(r"0|[1-9][0-9]{0,77}", re.ASCII)

Telling = AbstractContextManager[None]
"""What a reader enters around each piece of a plan: it tells the mistake that ends the piece."""
RAISE_FIRST: Telling = nullcontext()
"""The first mistake is raised and ends the reading; ``plan check`` notes each instead, and the next piece is read."""


def plan_error(
    check: str,
    what: str,
    where: str,
    got: object = "",
    expected: object = "",
    do: str = "correct the plan, and agree on it again",
) -> PlanError:
    """Return the error of a mistake at a place in the plan."""
    return PlanError(check, what, got, expected, do=do, where=where)


@contextmanager
def _refused_as(check: str, where: str) -> Iterator[None]:
    """Raise what a value is refused for as a mistake at its place in the plan."""
    try:
        yield
    except Refusal as refusal:
        raise plan_error(check, refusal.what, where, refusal.got, refusal.expected) from None


def require_known_members(table: Any, where: str, known: Collection[str], telling: Telling = RAISE_FIRST) -> None:
    """Raise ``PlanError`` with ``PLAN-FORM`` for what is no table, tell ``PLAN-FIELD`` for a name that is not known."""
    if type(table) is not dict:
        raise plan_error("PLAN-FORM", "not a table", where)
    for name in table:
        if name not in known:
            with telling:
                place = f"{where}.{name}".lstrip(".")
                raise plan_error("PLAN-FIELD", "unknown name", place, expected=f"one of {list(known)}")


def read_values(action: Action, fields: Table, where: str, telling: Telling = RAISE_FIRST) -> dict[str, Value]:
    """Return what a step's fields decide, by parameter name. Tells ``PlanError`` naming the field."""
    values: dict[str, Value] = {}
    for parameter in action.parameters:
        name, place = parameter.name, f"{where}.{parameter.name}"
        with telling:
            if name in fields or parameter.default:
                values[name] = read_value(parameter, fields.get(name, parameter.default), place)
            elif parameter.required:
                raise plan_error("PLAN-FIELD", "the field is missing", place, expected=parameter.meaning)
    with telling:
        if ("pair" in fields) == ("pairIndex" in fields) and action.parameter("pair"):
            raise plan_error("PLAN-FIELD", "give exactly one of pair and pairIndex", f"{where}.pairIndex")
    with telling:
        if action.name == "tpsl-partial" and "triggerType" in values:
            wanted, other = (
                ("price", "percentage") if values["triggerType"].text == "fixed" else ("percentage", "price")
            )
            if wanted not in values or other in values:
                raise plan_error("PLAN-FIELD", f"this triggerType needs {wanted}, and not {other}", f"{where}.{wanted}")
    return values


def read_value(parameter: Parameter, value: Any, where: str) -> Exact | Bounds:
    """Return what a field decides. Raises ``PlanError`` naming its place."""
    if type(value) is dict:
        require_known_members(value, where, ("at_least", "at_most"))
        if not parameter.unit.is_amount or not value:
            raise plan_error("PLAN-FIELD", "bounds are for amounts, and name at_least and at_most", where)
        if parameter.name in TRIGGERS:
            raise plan_error(
                "PLAN-FIELD",
                "bounds would be kept by a trigger that never fires, or by none",
                where,
                expected="one value in quotes",
            )
        if len(value) < 2:
            raise plan_error(
                "PLAN-FIELD",
                "one bound alone leaves the other side open",
                where,
                str(value)[:80],
                "at_least and at_most",
            )
        low, high = (read_amount(value[name], parameter.unit, f"{where}.{name}") for name in ("at_least", "at_most"))
        if low > high:
            raise plan_error("PLAN-FIELD", "at_least is above at_most", where)
        return Bounds(low, high, f"at least {value['at_least']}, at most {value['at_most']}")
    text = str(value)
    unit = parameter.unit
    if unit is ADDRESS:
        return Exact(read_address(value, where), text)
    if parameter.name == "amountUsdc" and value == "unlimited":
        return Exact(UNLIMITED, "unlimited")
    if unit.decimals is not None:
        return Exact(read_amount(value, unit, where), text)
    if unit is UNIX_S or unit is UNIX_MS:
        return _read_time(unit, value, where)
    if unit is CODE and type(value) is str:
        with _refused_as("PLAN-CODE", where):
            return Exact(code_bytes(value), text)
    if unit is CHOICE:
        if value not in parameter.choices:
            raise plan_error("PLAN-FIELD", "not one of the choices", where, quoted(value), parameter.choices)
        return Exact(text, text)
    if unit is TEXT and type(value) is str and _TEXTS.get(parameter.name, LINE).fullmatch(value):
        return Exact(text, text)
    if unit not in (CODE, TEXT) and type(value) in (str, int) and _COUNT.fullmatch(text) and int(text) < 1 << 256:
        return Exact(int(text), text)
    raise plan_error("PLAN-FIELD", "not in the field's form", where, quoted(value), parameter.meaning)


def read_address(value: Any, where: str) -> bytes:
    """Return the 20 bytes of an address. Raises ``PlanError`` with ``PLAN-FORM`` or ``PLAN-ADDRESS``."""
    if type(value) is not str:
        raise plan_error("PLAN-FORM", "an address is missing", where, expected="an EIP-55 address in quotes")
    with _refused_as("PLAN-ADDRESS", where):
        address = parse_address(value)
    if address == bytes(20):
        raise plan_error("PLAN-ADDRESS", "the zero address has no owner", where, value)
    return address


def read_amount(value: Any, unit: Unit, where: str) -> int:
    """Return the raw integer of an amount in the unit's scale. Raises ``PlanError("PLAN-AMOUNT")``."""
    if type(value) not in (str, int):
        raise plan_error(
            "PLAN-AMOUNT",
            "not an amount",
            where,
            quoted(value),
            "a decimal in quotes",
            do="write the amount in quotes, such as '64000.5'",
        )
    with _refused_as("PLAN-AMOUNT", where):
        return to_raw(str(value), unit)


def _read_time(unit: Unit, value: Any, where: str) -> Exact:
    if type(value) is datetime and value.tzinfo is not None:
        if value.microsecond:
            raise plan_error(
                "PLAN-FIELD", "a time with a fraction of a second; nothing is rounded", where, value, "whole seconds"
            )
        seconds = int(value.timestamp())
        return Exact(seconds if unit is UNIX_S else seconds * 1000, utc_form(value, where).replace("+00:00", "Z"))
    if type(value) not in (int, str) or not _COUNT.fullmatch(str(value)):
        got = quoted(value) if type(value) is str else str(value)[:80]  # a date as it is written, not as Python's
        raise plan_error("PLAN-FIELD", "not a time with a zone", where, got, "2027-03-31T00:00:00Z", do=TIME_DO)
    number = int(value)
    if looks_like_seconds(number) != (unit is UNIX_S):
        raise plan_error("PLAN-FIELD", "seconds and milliseconds are mixed up", where, number, unit.name)
    return Exact(number, str(number))


def utc_form(value: datetime, where: str) -> str:
    """Return the one form of a moment, in UTC. Raises ``PlanError("PLAN-FIELD")`` when UTC's calendar has none."""
    try:
        return value.astimezone(UTC).isoformat()
    except OverflowError as error:
        raise plan_error("PLAN-FIELD", "a time outside the calendar", where, value) from error


# ---- own limits -----------------------------------------------------------------------------------------------------
# What a plan must keep of itself: its own limits, and values that mean something.
# A limit that bound the builder alone would be no promise: people read it at the top of the plan and rely on it. A
# zero is refused where the specification gives it no meaning; a take profit of 0 is none, and an approval of 0 is
# taken back.


_NEVER_ZERO = frozenset({
    "collateralUsdc", "additionalCollateralUsdc", "collateralToCloseUsdc", "coinExposure", "leverage", "minLeverage",
    "maxLeverage", "openPrice", "expectedPrice", "price", "expiry", "openTimestamp",
})  # fmt: skip
"""Fields in which 0 means nothing. Source: the builder's specification, "Common request-field conventions", each action."""

TRIGGERS = frozenset({"takeProfit", "stopLoss", "price", "percentage"})
"""What a position waits for: of a value within bounds that is far from what people mean, nothing tells them."""


LIMIT_UNITS = {
    "deadline_at_most": None,
    "slippage_percent_at_most": PERCENT,
    "max_fee_gwei_at_most": GWEI,
    "native_fee_at_most": NATIVE,
    "remaining_at_least": None,
}
"""The unit of each limit, in the order of :class:`Limits`; None: a span of time."""


def limit_faults(limits: Limits) -> Iterator[PlanError]:
    """Yield what is wrong with the limits themselves: ``PLAN-OWN-LIMIT``."""
    least, most = limits.remaining_at_least_ms, limits.deadline_at_most_ms
    if most is not None and least > most:
        yield plan_error(
            "PLAN-OWN-LIMIT",
            "remaining_at_least is longer than deadline_at_most",
            "limits.remaining_at_least",
            span_text(least // 1000),
            f"at most {span_text(most // 1000)}",
        )
    for name, raw in zip(LIMIT_UNITS, limits, strict=True):
        if raw is not None and raw < 0:
            yield plan_error("PLAN-OWN-LIMIT", "a limit below zero", f"limits.{name}", expected="0 or more")


def value_faults(values: Mapping[str, Value], limits: Limits, where: str) -> Iterator[PlanError]:
    """Yield which of a step's values break the plan's limits (``PLAN-OWN-LIMIT``) or mean nothing (``PLAN-FIELD``)."""
    for name, value in values.items():
        if isinstance(value, Bounds):
            ends = value.low, value.high
        elif isinstance(value, Exact) and type(value.raw) is int:
            ends = value.raw, value.raw
        else:  # no number, or of a venue's own leaf, of which we know nothing
            continue
        if name in _NEVER_ZERO and ends[0] <= 0:
            yield plan_error("PLAN-FIELD", "zero has no meaning here", f"{where}.{name}", value.text, "more than 0")
        if name == "slippagePercent":
            place, most = f"{where}.{name}", limits.slippage_at_most_raw
            if ends[0] < 0:
                yield plan_error("PLAN-FIELD", "a slippage below zero", place, value.text, "0 or more")
            elif most is not None and ends[1] > most:
                expected = f"at most {to_human(most, PERCENT)}, as slippage_percent_at_most says"
                what = "the step breaks the plan's own limit"
                yield plan_error("PLAN-OWN-LIMIT", what, place, value.text, expected)
