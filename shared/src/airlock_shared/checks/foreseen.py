"""What the checks will say of a plan whatever payload comes, told by ``plan check``: nobody finds it out at the table.

The checks themselves run, over the leaves that the plan alone decides; what the builder chooses is left out, or stands at
what every limit keeps. A check that needs more than that is not run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from airlock_shared.checks import agreement, times, transaction
from airlock_shared.checks.model import CallCase, Case, Check, IntentCase, Situation
from airlock_shared.documents.requests import Request
from airlock_shared.errors import PlanError, Refusal
from airlock_shared.ethereum.eip712 import Definitions, StructValues
from airlock_shared.ethereum.signatures import NONCE_BELOW, checksum_address
from airlock_shared.ethereum.struct_types import Member, leaves_of
from airlock_shared.plan.decisions import Decision, decide, market_orders, request_fields, wanted_value
from airlock_shared.plan.model import CUSTOM, AsSigned, Exact, Plan, Step
from airlock_shared.plan.values import plan_error
from airlock_shared.units import utc_text
from airlock_shared.venue.actions import REGISTRATIONS
from airlock_shared.venue.calls import CALLS, LEDGER_CONTRACTS, Call
from airlock_shared.venue.structs import AUTHORIZATION, CATALOGUE, OPENED_MS, PAIR, Field, Intent, value_of

_error = partial(plan_error, do="correct the plan, and agree on it again: no payload could keep it")
_LEDGER_PATH = re.compile(r"m/(?:44'/60'|45')(?:/.*)?")
"""What the Ethereum app may derive. Source: its ``makefile_conf/chain/ethereum.mk``, ``PATH_APP_LOAD_PARAMS``."""

_TIMES = (times.units_are_right, times.deadline_is_ahead, times.expiry_is_ahead, times.position_is_past)
_OF_DECISIONS = (agreement.nothing_is_undecided, agreement.choices_are_limited)
_OF_INTENTS = (
    *_OF_DECISIONS,
    agreement.signer_may_sign,
    agreement.order_type_fits,
    agreement.open_type_fits,
)
_OF_CALLS = (
    *_OF_DECISIONS,
    transaction.account_is_planned,
    transaction.pair_is_pinned,
    transaction.spender_is_pinned,
    transaction.approval_is_bounded,
)


def foreseen(situation: Situation) -> Iterator[PlanError]:
    """Yield the refusals that each step of the plan would get, each at its field, by its check's id."""
    yield from _paths(situation.plan)
    for position, step in enumerate(situation.plan.steps.values()):
        if step.action.name != AUTHORIZATION:
            yield from _of_step(step, situation, f"steps[{position}].fields")


def foreseen_anywhere(plan: Plan, now_ms: int) -> Iterator[PlanError]:
    """Yield as :func:`foreseen` what no deployment is needed for: paths, and times of what ships."""
    yield from _paths(plan)
    for position, step in enumerate(plan.steps.values()):
        found = CALLS.get(step.action.call) or CATALOGUE.get(step.action.primary_type)
        if found is not None:
            situation = Situation(plan, None, now_ms)  # type: ignore[arg-type]
            message = {leaf.path: getattr(step.values.get(leaf.rule.parameter), "raw", None) for leaf in found.fields}
            yield from _refused(_case(found, message, step, situation, []), f"steps[{position}].fields", _TIMES)


def _paths(plan: Plan) -> Iterator[PlanError]:
    for name, signer in plan.signers.items():
        if not _LEDGER_PATH.fullmatch(signer.path):
            what = "a path at which the Ledger's Ethereum app signs nothing"
            yield plan_error("PLAN-PATH", what, f"signers.{name}.path", signer.path, "m/44'/60'/… or m/45'/…")


def _of_step(step: Step, situation: Situation, fields: str) -> Iterator[PlanError]:
    deployment = situation.deployment
    try:
        request_fields(step, deployment)
    except PlanError as error:
        error.where = f"{fields}.{error.where.rpartition(' ')[2]}"
        yield error
        return
    sought, by_call = step.action.call or step.action.primary_type, bool(step.action.call)
    known: Mapping[str, Intent | Call] = deployment.calls if by_call else deployment.structs
    kind, found = "call" if by_call else "struct", known.get(sought)
    if found is None:
        own = step.action.name == CUSTOM
        where = f"{fields}.{kind}" if own else f"{fields.removesuffix('fields')}action"
        what = f"the deployment has no such {kind}"
        do = "correct it, or fetch and trust a deployment whose profile has it"
        yield plan_error("PLAN-FIELD", what, where, sought, f"one of {sorted(known)}", do=do)
        return
    if step.action.name == CUSTOM:
        may = {leaf.rule.parameter for leaf in found.fields}
        for name in [name for name in step.values if name not in may]:
            yield _error(
                "PLAN-FIELD",
                f"the {kind} has no such field",
                f"{fields}.{name}",
                step.values[name].text,
                f"one of {sorted(filter(None, may))}",
            )
    message: StructValues = {}
    types = dict(leaves_of(found.structs, next(iter(found.structs))))
    for leaf in found.fields:
        try:
            message[leaf.path] = _value(leaf, types[leaf.path], step, situation)
        except Refusal as refusal:
            yield _error(refusal.check, refusal.what, f"{fields}.{leaf.rule.parameter}", refusal.got, refusal.expected)
            return
    if step.action.call and situation.plan.limits.max_fee_at_most_wei is None:
        check = transaction.fees_are_limited
        yield _error(check.id, "no fee is within a limit that is not there", "limits", "", "max_fee_gwei_at_most")
    decisions = [
        decision
        for decision in decide(found.fields, message, step, situation.plan, deployment)
        if decision.decided_by in ("nobody", "builder")
    ]
    of_kind = _OF_INTENTS if isinstance(found, Intent) else _OF_CALLS
    never = () if situation.plan.limits.deadline_at_most_ms else (times.deadline_is_near,)
    yield from _refused(_case(found, message, step, situation, decisions), fields, (*of_kind, *_TIMES, *never))


def _value(leaf: Field, type_name: str, step: Step, situation: Situation) -> object:
    """Return what a leaf will be, as it is signed; None where the plan does not fix it. Raises ``Refusal`` of ``MSG``."""
    wanted = wanted_value(leaf.rule.parameter, step, situation.deployment)
    if isinstance(wanted, AsSigned) or (isinstance(wanted, Exact) and type(wanted.raw) is int):
        to_ms = "000" if leaf.kind == OPENED_MS else ""  # a plan says it to the second
        text: object = wanted.text if isinstance(wanted, AsSigned) else f"{wanted.raw}{to_ms}"
        if type_name == "bool":
            text = {"true": True, "false": False}.get(str(text).lower(), text)
        return Definitions({"Leaf": (Member("value", type_name),)}).read("Leaf", {"value": text})["value"]
    if isinstance(wanted, Exact):
        return wanted.raw
    return {"slippage": 0, "terms": ""}.get(leaf.rule.limit) if wanted is None else None


def _case(
    found: Intent | Call, message: StructValues, step: Step, situation: Situation, decisions: list[Decision]
) -> Case:
    request = Request(step.id, step.action.name, "", {}, {}, "", None, "", "", "", None)
    if isinstance(found, Intent):
        pair = situation.deployment.pair_at(value_of(found.fields, message, PAIR)) if decisions else None
        if found.order_types and pair:
            request = request._replace(order_type=next(iter(market_orders(found, pair, step)[0]), -1))
        hashes: Any = None
        return IntentCase(request, situation, step, found, message, hashes, decisions)
    delegate_of = step.signer.delegate_of
    delegated = delegate_of if found.delegable and step.raw("trader", "caller") == delegate_of else None
    return CallCase(request, situation, step, found, message, delegated, decisions)


def _refused(case: Case, fields: str, checks: tuple[Check, ...]) -> Iterator[PlanError]:
    for check in checks:
        if isinstance(case, CallCase) and check in (times.deadline_is_ahead, times.deadline_is_near):
            continue  # a transaction has none
        verdict = check.run(case)
        if verdict.result == "refused":
            late = f"; this machine's clock says {utc_text(case.situation.now_ms)}" if check in _TIMES else ""
            place = _place(verdict.where, check, case)
            got = verdict.got if check not in _OF_DECISIONS else ""  # no payload has come
            yield _error(check.id, verdict.what, f"{fields}{place}", f"{got}", f"{verdict.expected}{late}")


def _place(path: str, check: Check, case: Case) -> str:
    """Return the field of the plan that a check speaks of, with a dot before it; empty for the step's fields in all."""
    named: Mapping[Check, tuple[str, ...]] = {
        times.expiry_is_ahead: ("expiry",), times.deadline_is_ahead: ("deadlineMs",),
        times.position_is_past: ("openTimestamp",), agreement.open_type_fits: ("orderType",),
        agreement.order_type_fits: ("pairIndex", "pair"), transaction.pair_is_pinned: ("pairIndex", "pair"),
        transaction.spender_is_pinned: ("spender",), transaction.approval_is_bounded: ("amountUsdc",),
        agreement.signer_may_sign: ("trader", "referee", "referrer"), transaction.account_is_planned: ("trader", "caller"),
    }  # fmt: skip
    by_path = [field.rule.parameter for field in case.fields if field.path == path]
    written = (name for name in (*by_path, *named.get(check, ())) if name in case.step.values)
    missing = by_path if check is agreement.nothing_is_undecided else ()
    return next((f".{name}" for name in (*written, *missing)), "")


# ---- authorizations ---------------------------------------------------------------------------------------------------

_MISSING = (
    "for this contract an authorization cannot be made here: a release of the Ledger's Ethereum app that has it on its list "
    "is missing. Another wallet may make the eip7702 transaction, and submit --eip7702 relays it"
)


def contradictions(plan: Plan) -> Iterator[PlanError]:
    """Yield what no day can keep: ``NONCE-BATCH`` for a nonce that two steps fix, ``AUTH-FORM`` for one that no account has.

    And ``PLAN-FIELD`` for a leverage whose ends are crossed, and for a trader as its own delegate; ``AUTH-CONTRACT`` and
    ``AUTH-ORDER`` for an authorization that could not be signed.
    """
    taken: dict[tuple[object, ...], str] = {}
    for position, step in enumerate(plan.steps.values()):
        where, intent = f"steps[{position}].fields", CATALOGUE.get(step.action.primary_type)
        nonce, least, greatest = (step.raw(name) for name in ("nonce", "minLeverage", "maxLeverage"))
        if type(least) is type(greatest) is int and greatest < least:
            got, expected = step.values["maxLeverage"].text, "minLeverage or more"
            yield _error("PLAN-FIELD", "maxLeverage is below minLeverage", f"{where}.maxLeverage", got, expected)
        if step.action.name in REGISTRATIONS and step.raw("delegate") == step.raw("trader"):
            what, got = "the delegate is the trader", step.values["delegate"].text
            yield _error("PLAN-FIELD", what, f"{where}.delegate", got, "another account")
        if step.action.name == AUTHORIZATION:
            yield from _of_authorization(step, plan, where)
        if type(nonce) is not int:
            continue
        first = taken.setdefault((intent and intent.domain, step.signer.address, nonce), step.id)
        if first != step.id:
            got = f"{nonce}, as in step {first}"
            yield _error("NONCE-BATCH", "two steps have one nonce", f"{where}.nonce", got, "its own nonce")
        elif intent is None and nonce >= NONCE_BELOW:
            yield _error("AUTH-FORM", "not an account's nonce", f"{where}.nonce", f"{nonce}", "a count of transactions")


def _of_authorization(step: Step, plan: Plan, where: str) -> Iterator[PlanError]:
    if step.raw("contract") not in LEDGER_CONTRACTS:
        known = ", ".join(f"{checksum_address(each)} ({title})" for each, title in LEDGER_CONTRACTS.items())
        what, got = "the Ledger signs no authorization for this contract", step.text("contract")
        yield plan_error("AUTH-CONTRACT", what, f"{where}.contract", got, known, do=_MISSING)
    name = step.text("order")
    order = plan.steps.get(name)
    intent = CATALOGUE.get(order.action.primary_type) if order is not None else None
    if intent is None or intent.order_types is None:
        expected = "a step that opens, closes or increases a position by an intent"
        yield plan_error("AUTH-ORDER", "not a market order of this plan", f"{where}.order", name, expected)
