"""Who decides each leaf of a message, and whether the payload keeps to it: the plan, the pinned deployment, or a limit.

Nothing is left undecided: a leaf for which the plan has no value and the builder no leave is named as such. One reading
serves the check and the review screen.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from airlock_shared.catalogue.actions import KINDS, SIDES
from airlock_shared.catalogue.kinds import OPENED_MS, Field, leaf
from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.plan.model import AsSigned, Bounds, Exact, Plan, Step, Value
from airlock_shared.units import ADDRESS, CODE, FLAG, PERCENT, UNIX_MS, UNIX_S, raw_text, span_text, to_human, utc_text

if TYPE_CHECKING:
    from airlock_shared.documents.deployment import Deployment

MAX_TERMS_CHARACTERS = 20_000
_CHOICES: dict[str, Mapping[str, int]] = {"side": SIDES, "kind": KINDS}
_ENUMS = {"triggerType": "triggerType", "orderType": "openOrderType"}  # a parameter's enum in the pinned deployment
_JUDGED_ELSEWHERE = {"open-time": "in the past", "sign-time": "just now", "nonce": "any unused number"}


class Decision(NamedTuple):
    """One leaf: its raw value, who decides it (``plan``, ``fixed`` or ``builder``), what was expected, and whether it is so.

    ``decided_by`` is ``nobody`` when the plan would have to decide the leaf and does not; ``in_bounds`` says that the plan
    gives bounds, and not one value.
    """

    field: Field
    raw: object
    decided_by: str
    expected: str
    ok: bool
    in_bounds: bool = False


def decide(
    fields: Iterable[Field], message: dict[str, object], step: Step, plan: Plan, deployment: Deployment
) -> list[Decision]:
    """Return a decision for every leaf of an intent's or a call's canonical message, in the catalogue's order."""
    return [_decide_leaf(field, message, step, plan, deployment) for field in fields]


def _decide_leaf(field: Field, message: dict[str, object], step: Step, plan: Plan, deployment: Deployment) -> Decision:
    path, _, _, (kind, parameter, limit), leaf_kind, _ = field
    raw = leaf(message, path)
    if kind == "zero":
        return Decision(field, raw, "fixed", "0", type(raw) is int and raw == 0)
    wanted = wanted_value(parameter, step, deployment)
    if wanted is not None:
        found = hashlib.sha256(raw.encode()).hexdigest() if limit == "terms" and type(raw) is str else raw
        if leaf_kind == OPENED_MS and type(raw) is int and type(wanted) is not AsSigned:
            found = raw // 1000  # a plan says it to the second
        bound = limit == "slippage" and plan.limits.slippage_at_most_raw is not None  # an own leaf is bound here alone
        expected, ok = _within_limit(limit, raw, plan) if bound else ("", True)
        return Decision(
            field, raw, "plan", wanted.text if ok else expected, ok and wanted.holds(found), type(wanted) is Bounds
        )
    if kind == "plan-or-zero":
        return Decision(field, raw, "fixed", "0", type(raw) is int and raw == 0)
    if kind == "builder":
        expected, ok = _within_limit(limit, raw, plan)
        return Decision(field, raw, "builder", expected, ok)
    return Decision(field, raw, "nobody", f"the plan's field {parameter}", False)


def wanted_value(parameter: str, step: Step, deployment: Deployment) -> Value | None:
    """Return what the plan wants of a parameter, in the raw values that are signed; None when the plan is silent."""
    wanted = step.values.get(parameter)
    if wanted is None:
        return _pair_by_name(step, deployment) if parameter == "pairIndex" and "pair" in step.values else None
    if type(wanted) is not AsSigned and (parameter in _CHOICES or parameter in _ENUMS):
        return Exact(choices_of(parameter, deployment).get(wanted.text), wanted.text)
    return wanted


def _pair_by_name(step: Step, deployment: Deployment) -> Exact:
    name = step.values["pair"].text
    pair = deployment.pair_named(name)
    return Exact(pair.number if pair else None, f"{name} (number {pair.number if pair else 'unknown'})")


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
        ok = type(raw) is str and len(raw) <= MAX_TERMS_CHARACTERS
        return "any: the plan does not fix these terms, so read all of them aloud", ok
    most_ms = plan.limits.deadline_at_most_ms
    if most_ms is None:
        return "deadlineMs in the plan, or the limit deadline_at_most", False
    return f"at most {span_text(most_ms // 1000)} from now", True


def shown_value(field: Field, raw: object) -> str:
    """Return a leaf's value in human terms, exact; untrusted text in it is not yet escaped."""
    unit = field.unit
    if unit is ADDRESS and type(raw) is bytes:
        return checksum_address(raw)
    if unit is CODE and type(raw) is bytes:
        from airlock_shared.catalogue.referral_code import code_text

        return f'"{code_text(raw)}"'
    if unit is FLAG:
        return ("yes" if raw else "no") + (" (long)" if raw else " (short)")
    if unit.is_amount and type(raw) is int:
        return f"{to_human(raw, unit)} {unit.name}"
    if unit in (UNIX_MS, UNIX_S) and type(raw) is int:
        return utc_text(raw if unit is UNIX_MS else raw * 1000)
    return checksum_address(raw) if type(raw) is bytes and len(raw) == 20 else raw_text(raw)
