"""Who decides each leaf of a message, and whether the payload keeps to it: the plan, the pinned deployment, or a limit.

Nothing is left undecided: a leaf for which the plan has no value and the builder no leave is named as such. One reading
serves the check and the review screen. Below: the fields that are sent to the builder, and which directions stand out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from airlock_shared.errors import PlanError
from airlock_shared.ethereum.eip712 import StructValues
from airlock_shared.ethereum.signatures import checksum_address
from airlock_shared.plan.model import CUSTOM, AsSigned, Bounds, Exact, Plan, Step, Value
from airlock_shared.units import (
    ADDRESS,
    CODE,
    FLAG,
    PERCENT,
    UNIX_MS,
    UNIX_S,
    UNLIMITED,
    code_rows,
    code_text,
    raw_text,
    span_text,
    to_human,
    utc_text,
)
from airlock_shared.venue.actions import SIDES, TRIGGER_ORDER_TYPES
from airlock_shared.venue.structs import OPENED_MS, Field, leaf

if TYPE_CHECKING:
    from airlock_shared.documents.deployment import Deployment, Pair
    from airlock_shared.venue.structs import Intent


MAX_TERMS_CHARACTERS = 20_000
_CHOICES: dict[str, Mapping[str, int]] = {"side": SIDES, "kind": TRIGGER_ORDER_TYPES}
_ENUMS = {"triggerType": "triggerType", "orderType": "openOrderType"}  # a parameter's enum in the pinned deployment
_MS = {UNIX_S: 1000, UNIX_MS: 1}  # of a unit of time
CLOCK_SKEW_MS = 60_000
SIGN_AGE_AT_MOST_MS = 30 * 60_000
_JUDGED_ELSEWHERE = {
    "open-time": "in the past",
    "sign-time": f"at most {span_text(SIGN_AGE_AT_MOST_MS // 1000)} old",
    "nonce": "any unused number",
}


class Decision(NamedTuple):
    """One leaf: its raw value, who decides it (``plan``, ``fixed`` or ``builder``), what was expected, and whether it is so.

    ``decided_by`` is ``nobody`` when the plan would have to decide the leaf and does not; ``in_bounds`` says that the
    plan gives bounds, within which the builder chose. It is the one row of which review and report draw theirs; no text
    of it is escaped.
    """

    field: Field
    raw: object
    decided_by: str
    expected: str
    ok: bool
    in_bounds: bool = False

    @property
    def name(self) -> str:
        """The leaf's name, without what it is in."""
        return self.field.path.rsplit(".", 1)[-1]

    @property
    def planned_as(self) -> str:
        """What the plan calls a value that it decides, where that is not the leaf's name; underscores aside."""
        parameter = self.field.rule.parameter
        return parameter if self.decided_by == "plan" and parameter != self.name.strip("_") else ""

    @property
    def value(self) -> str:
        """The value in human terms (:func:`shown_value`)."""
        return shown_value(self.field, self.raw)

    @property
    def signed(self) -> str:
        """The value as it is signed, where that says more; else empty."""
        signed = raw_text(self.raw)
        return signed if signed.lower() != self.value.lower() else ""

    @property
    def at_ms(self) -> int | None:
        """The moment that it is, in unix ms; None for a value that is no time."""
        raw, unit = self.raw, self.field.unit
        return raw * _MS[unit] if type(raw) is int and unit in _MS else None

    @property
    def notes(self) -> list[str]:
        """What people compare beside it: what the profile calls it, and of a referral code each byte and character."""
        notes = [f'the profile calls it "{self.field.label}"'] if self.field.label else []
        return notes + list(code_rows(self.raw) if self.field.unit is CODE and type(self.raw) is bytes else ())


def decide(
    fields: Iterable[Field], message: StructValues, step: Step, plan: Plan, deployment: Deployment
) -> list[Decision]:
    """Return a decision for every leaf of an intent's or a call's canonical message, in the catalogue's order."""
    return [_decide_leaf(field, message, step, plan, deployment) for field in fields]


def _decide_leaf(field: Field, message: StructValues, step: Step, plan: Plan, deployment: Deployment) -> Decision:
    decider, parameter, limit = field.rule
    raw = leaf(message, field.path)
    wanted = None if decider == "zero" else wanted_value(parameter, step, deployment)
    if wanted is not None:
        return _decided_by_plan(field, raw, wanted, plan)
    if decider in ("zero", "plan-or-zero"):
        return Decision(field, raw, "fixed", "0", raw == 0)
    if decider == "builder":
        expected, ok = _within_limit(limit, raw, plan)
        return Decision(field, raw, "builder", expected, ok)
    return Decision(field, raw, "nobody", f"the plan's field {parameter}", False)


def _decided_by_plan(field: Field, raw: object, wanted: Value, plan: Plan) -> Decision:
    limit, found, most, ok = field.rule.limit, raw, "", True
    if limit == "terms" and type(raw) is str:
        found = hashlib.sha256(raw.encode()).hexdigest()
    elif field.kind == OPENED_MS and type(raw) is int and type(wanted) is not AsSigned:
        found = raw // 1000  # a plan says it to the second
    if limit == "slippage" and plan.limits.slippage_at_most_raw is not None:  # of a venue's own leaf, checked only here
        most, ok = _within_limit(limit, raw, plan)
    return Decision(field, raw, "plan", wanted.text if ok else most, ok and wanted.holds(found), type(wanted) is Bounds)


def wanted_value(parameter: str, step: Step, deployment: Deployment) -> Value | None:
    """Return what the plan wants of a parameter, in the raw values that are signed; None when the plan is silent."""
    wanted = step.values.get(parameter)
    if wanted is None and parameter == "pairIndex" and "pair" in step.values:
        name = step.values["pair"].text
        pair = deployment.pair_named(name)
        return Exact(pair.number if pair else None, f"{name} (number {pair.number if pair else 'unknown'})")
    if wanted is None:
        return None
    if isinstance(wanted, Exact) and parameter == "pairIndex" and (pair := deployment.pair_at(wanted.raw)):
        return Exact(wanted.raw, f"{pair.name} (number {pair.number})")
    if type(wanted) is not AsSigned and (parameter in _CHOICES or parameter in _ENUMS):
        return Exact(choices_of(parameter, deployment).get(wanted.text), wanted.text)
    return wanted


MARKET_ORDERS = ("market", "market_pnl")
"""A plan's ``orderType`` on an ordinary pair, and on a PnL pair."""
_WHY = {
    False: "an ordinary pair of the pinned deployment", True: "a PnL pair of the pinned deployment",
    None: "by the plan's orderType",
}  # fmt: skip


def order_kinds(pair: Pair | None, step: Step | None) -> list[int]:
    """Return the kinds that a market order on a pair can have, 0 an ordinary one, 1 by profit or loss.

    The pair decides. Where the venue does not tell, the plan's ``orderType`` does; where that is silent too, it can be both.
    """
    told = step.text("orderType") if step else ""
    if pair and pair.pnl is not None:
        told = MARKET_ORDERS[pair.pnl]
    return [kind for kind, word in enumerate(MARKET_ORDERS) if told == word or told not in MARKET_ORDERS]


def market_orders(intent: Intent, pair: Pair, step: Step | None) -> tuple[list[int], str]:
    """Return the batched market's order types that fit a struct on a pair, and why.

    Empty: none does. Source: the specification, "Supported order types".
    """
    types = [intent.order_types[kind] for kind in order_kinds(pair, step)] if intent.order_types else []
    return [each for each in types if each >= 0], f"{intent.name} on {pair.name}, {_WHY[pair.pnl]}"


def choices_of(parameter: str, deployment: Deployment) -> Mapping[str, int]:
    """Return the raw value of each choice of a parameter; empty when the parameter is no choice."""
    if parameter in _ENUMS:
        return deployment.enums.get(_ENUMS[parameter], {})
    return _CHOICES.get(parameter, {})


def _within_limit(limit: str, raw: object, plan: Plan) -> tuple[str, bool]:
    """Return the limit as text and whether a builder's choice keeps it; times are judged by the ``TIME`` checks."""
    if limit in _JUDGED_ELSEWHERE:
        return _JUDGED_ELSEWHERE[limit], True
    if limit == "slippage":
        highest = plan.limits.slippage_at_most_raw
        if highest is None:
            return "slippagePercent in the plan, or the limit slippage_percent_at_most", False
        return f"at most {to_human(highest, PERCENT)} %", type(raw) is int and raw <= highest
    if limit == "terms":
        said = "on length alone (the plan does not fix these terms: read all of them aloud)"
        return said, type(raw) is str and len(raw) <= MAX_TERMS_CHARACTERS
    most_ms = plan.limits.deadline_at_most_ms  # limit == "deadline"
    if most_ms is None:
        return "deadlineMs in the plan, or the limit deadline_at_most", False
    return f"at most {span_text(most_ms // 1000)} from now + {span_text(CLOCK_SKEW_MS // 1000)} + clock error", True


def shown_value(field: Field, raw: object) -> str:
    """Return a leaf's value in human terms, exact; untrusted text in it is not yet escaped."""
    unit = field.unit
    if unit is CODE and type(raw) is bytes:
        return f'"{code_text(raw)}"'
    if unit is FLAG:
        return "yes (long)" if raw else "no (short)"
    if unit.is_amount and type(raw) is int:
        return f"{to_human(raw, unit)} {unit.name}"
    if unit in _MS and type(raw) is int:
        return utc_text(raw * _MS[unit])
    return checksum_address(raw) if type(raw) is bytes and len(raw) == 20 else raw_text(raw)


# ---- builder fields -------------------------------------------------------------------------------------------------
# What a plan step asks of the builder: the request fields, as they are sent.
# Amounts go as the plan's own decimal texts: the client never scales and never computes with them.


def request_fields(step: Step, deployment: Deployment) -> dict[str, str]:
    """Return the fields to send for a step; what the plan only bounds is left to the builder.

    Raises ``PlanError`` when the plan bounds a field that the builder needs as a value, or names an unknown pair.
    """
    fields = {}
    for name, unit, _, required, sent, _, _ in step.action.parameters:
        wanted = step.values.get(name)
        if name == "pairIndex" and wanted is None:
            wanted = wanted_value("pairIndex", step, deployment)
            if isinstance(wanted, Exact) and wanted.raw is None:
                raise _plan_error(step, "pair", "not the name of one pinned pair", "one of its pairs, or pairIndex")
        if wanted is None or not sent:
            continue
        if type(wanted) is not Exact:
            if required and isinstance(wanted, Bounds):
                raise _plan_error(step, name, "the builder needs a value here, not bounds", "a value")
            continue
        if name == "amountUsdc" and wanted.raw == UNLIMITED:
            continue  # to leave the amount out is how the builder is asked for an unlimited approval
        if unit is ADDRESS and type(wanted.raw) is bytes:
            fields[sent] = checksum_address(wanted.raw)
        elif unit in _MS or name == "pairIndex":
            fields[sent] = str(wanted.raw)
        else:
            fields[sent] = wanted.text
    call = deployment.calls.get(step.action.call)
    if call and call.delegable and step.signer.delegate_of == step.raw("trader", "caller"):
        fields["delegate"] = step.signer.account
    return fields


def replaced_trigger(step: Step) -> str:
    """Return the id of the stored price trigger that a step replaces, or an empty text."""
    return step.text("replaces") if step.action.parameter("replaces") else ""


def _plan_error(step: Step, field: str, what: str, expected: str) -> PlanError:
    got, where = step.values[field].text, f"step {step.id}, {field}"
    return PlanError("PLAN-FIELD", what, got, expected, do="correct the plan", where=where)


# ---- directions -----------------------------------------------------------------------------------------------------
# Which way a trigger looks: the word that a number does not say.
# A take profit of a long waits for a rise and a stop loss for a fall; of a short it is the other way round. A
# percentage is one of profit or loss. Source: the specification, "POST /v2/intents/tpsl-partial".


_TAKES, _STOPS = "take_profit", "stop_loss"
_NAMED = {_TAKES: "take profit", _STOPS: "stop loss"}


def directions(step: Step) -> Iterator[str]:
    """Yield what each trigger of a step waits for, by the plan; nothing for a step without one, or a venue's own."""
    if step.action.name == CUSTOM:  # what its leaves mean is the venue's word
        return
    kind, side = step.text("kind"), step.text("side")
    if kind in _NAMED and "percentage" in step.values:
        yield f"the {_NAMED[kind]} waits for {_of_profit(step.values['percentage'])}"
    elif kind in _NAMED and side and "price" in step.values:
        yield _waits(kind, side, step.values["price"].text)
    elif side:
        for parameter, each in (("takeProfit", _TAKES), ("stopLoss", _STOPS)):
            if parameter in step.values and step.raw(parameter) != 0:
                yield _waits(each, side, step.values[parameter].text)


def odd_directions(step: Step) -> Iterator[str]:
    """Yield what people rarely mean: a stop loss at a profit, a take profit at a loss, a trigger that is hit at once."""
    kind, side = step.text("kind"), step.text("side")
    percentage = _exact(step, "percentage")
    if percentage is not None and kind in _NAMED and (percentage < 0) is (kind == _TAKES) and percentage:
        yield f"a {_NAMED[kind]} at a {'profit' if percentage > 0 else 'loss'}: check the percentage's sign"
    bounds, exact = step.values.get("openPrice"), _exact(step, "openPrice")
    low, high = (bounds.low, bounds.high) if isinstance(bounds, Bounds) else (exact, exact)
    for parameter, each in (("takeProfit", _TAKES), ("stopLoss", _STOPS)):
        trigger = _exact(step, parameter)
        if not (low and high and trigger and side):
            continue
        if trigger < high if _rises(each, side) else trigger > low:
            beyond = "below" if _rises(each, side) else "above"
            yield f"the {_NAMED[each]} of this {side} lies {beyond} its open price: it would be hit at once"


def _exact(step: Step, name: str) -> int | None:
    raw = step.raw(name)
    return raw if type(raw) is int else None


def _rises(kind: str, side: str) -> bool:
    return (kind == _TAKES) is (side == "long")


def _waits(kind: str, side: str, price: str) -> str:
    moves = "rises" if _rises(kind, side) else "falls"
    return f"the {_NAMED[kind]} of this {side} waits for a price that {moves} to {price}"


def _of_profit(value: Value) -> str:
    if isinstance(value, Exact) and type(value.raw) is int and value.raw:
        return f"a {'profit' if value.raw > 0 else 'loss'} of {value.text.lstrip('-')} %"
    return f"a profit (above 0) or a loss (below 0) of {value.text} %"
