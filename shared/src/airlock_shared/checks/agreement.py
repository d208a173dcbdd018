"""PLAN, SIGNER, ORDER: what people agreed to, signed by whom they named, sent where it belongs."""

from __future__ import annotations

from airlock_shared.catalogue.intents import leaf
from airlock_shared.checks.case import Case, Check, Finding
from airlock_shared.errors import PlanError
from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.plan.builder_fields import replaced_trigger, request_fields
from airlock_shared.plan.decisions import Decision, decide, shown_value
from airlock_shared.units import looks_like_seconds, raw_text


def step_exists(case: Case) -> Finding:
    """Establish ``case.step``: the item is a step of the plan."""
    steps = case.situation.plan.steps
    if case.request.step in steps:
        case.step = steps[case.request.step]
    return Finding(case.request.step in steps, case.request.step, f"one of the plan's {len(steps)} steps")


def action_is_planned(case: Case) -> Finding:
    """The item's action and its struct or function are those of its step."""
    action = case.step.action
    if case.request.transaction is None:
        came = case.request.payload["primaryType"]
    else:
        came = case.call.call.name if hasattr(case, "call") else "an unknown call"
    got, expected = f"{case.request.action}: {came}", f"{action.name}: {action.result}"
    return Finding(got == expected, got, expected)


def request_is_planned(case: Case) -> Finding:
    """What the online half asked for is what the plan asks; the deadline is the limit's to judge.

    That holds too for the stored price trigger which the intent would take the place of.
    """
    step = case.step
    replaced, meant = case.request.replaces, replaced_trigger(step)
    if replaced != meant:
        return Finding(False, replaced or "a new trigger", meant or "a new trigger", "route.replaces")
    got, endpoint = dict(case.request.fields), case.request.endpoint
    try:
        expected = request_fields(step, case.situation.deployment)
    except PlanError as error:
        return Finding(False, got, error.expected, error.where)
    if "deadlineMs" not in expected:
        got.pop("deadlineMs", None)
    same = got == expected and endpoint == (step.action.path or endpoint)
    return Finding(same, {"endpoint": endpoint, "fields": got}, {"endpoint": step.action.path, "fields": expected})


def _decisions(case: Case) -> list[Decision]:
    if not hasattr(case, "decisions"):
        situation = case.situation
        case.decisions = decide(
            case.fields,
            case.message,
            case.step,
            situation.plan,
            situation.deployment,
        )
    return case.decisions


def _first_wrong(case: Case, deciders: tuple[str, ...]) -> Finding:
    decisions = [decision for decision in _decisions(case) if decision.decided_by in deciders]
    for decision in decisions:
        if not decision.ok:
            got = f"{shown_value(decision.field, decision.raw)} (raw {raw_text(decision.raw)})"
            return Finding(False, got, decision.expected, decision.field.path)
    count = f"{len(decisions)} fields"
    return Finding(True, count, count)


def fields_are_planned(case: Case) -> Finding:
    """Every field that the plan decides is as the plan says, and what must be zero is zero."""
    return _first_wrong(case, ("plan", "fixed"))


def nothing_is_undecided(case: Case) -> Finding:
    """No field is left without anybody who decides it."""
    return _first_wrong(case, ("nobody",))


def choices_are_limited(case: Case) -> Finding:
    """What the builder chose keeps the plan's limits."""
    return _first_wrong(case, ("builder",))


def rule_is_ours(case: Case) -> Finding:
    """``signerRule`` is what our own table says of this struct, whatever the payload says."""
    got, expected = case.request.payload["signerRule"], case.intent.signer_rule
    return Finding(got == expected, got, expected)


def signer_is_planned(case: Case) -> Finding:
    """The signer and its derivation path are those of the plan's step."""
    signer = case.step.signer
    got = f"{case.request.signer} {case.request.path}"
    expected = f"{checksum_address(signer.address)} {signer.path}"
    return Finding(got == expected, got, expected)


def signer_may_sign(case: Case) -> Finding:
    """The signer is the trader, or, where the struct allows one, a delegate that the plan names for this trader."""
    intent, signer = case.intent, case.step.signer
    trader = leaf(case.message, intent.trader)
    ok = signer.address == trader
    if intent.signer_rule == "trader-or-delegate":
        ok = ok or (signer.delegate_of is not None and signer.delegate_of == trader)
    expected = checksum_address(trader) if type(trader) is bytes else ""
    return Finding(ok, checksum_address(signer.address), f"{expected} or its delegate, where one may sign")


def delegation_is_live(case: Case) -> Finding | None:
    """A delegate's registration was read, is enabled, and has not run out (expiry in unix seconds)."""
    if case.step.signer.address == leaf(case.message, case.intent.trader):
        return None
    return registration_is_live(case, "canSignIntents")


def registration_is_live(case: Case, permission: str) -> Finding:
    """Judge the registration read that came with an item; an expiry with the magnitude of milliseconds is no expiry."""
    read = case.request.delegation or {}
    expiry_s = read.get("expiry", 0)
    live = read.get("isEnabled") is True and read.get(permission, True) is True
    latest_ms = case.situation.now_ms + case.situation.clock_uncertainty_ms
    live = live and looks_like_seconds(expiry_s) and expiry_s * 1000 > latest_ms
    return Finding(live, read, "enabled, with this permission, expiry (unix seconds) in the future")


def route_is_ours(case: Case) -> Finding:
    """The item goes where our own table sends this struct."""
    got, expected = case.request.route, case.intent.route
    return Finding(got == expected, got, expected)


def order_type_fits(case: Case) -> Finding | None:
    """The batched market's order type is the one for this struct and this pair (specification, "Supported order types")."""
    intent, got = case.intent, case.request.order_type
    if intent.order_types is None:
        return None if got is None else Finding(False, got, "none: this struct is not a market order")
    pair_field = next(f for f in intent.fields if f.path.lower().endswith("pairindex"))
    number = leaf(case.message, pair_field.path)
    pair = case.situation.deployment.pairs.get(number) if type(number) is int else None
    if pair is None:
        return Finding(False, f"pair {number}", "a pair of the pinned deployment")
    expected = intent.order_types[pair.pnl]
    if expected < 0:
        return Finding(False, got, f"no increase exists on the PnL pair {pair.name}")
    kind = "PnL" if pair.pnl else "ordinary"
    return Finding(
        got == expected, got, f"{expected}, for {pair.name}, an {kind} pair" if got != expected else expected
    )


def open_type_fits(case: Case) -> Finding | None:
    """An open is a market order of its pair's kind: ``_type`` market on an ordinary pair, market_pnl on a PnL pair."""
    message = case.message
    if "_type" not in message:
        return None
    pair = case.situation.deployment.pairs.get(message["_t"]["pairIndex"])
    enum = case.situation.deployment.enums.get("openOrderType", {})
    expected = enum.get("market_pnl" if pair and pair.pnl else "market")
    return Finding(expected is not None and message["_type"] == expected, message["_type"], expected)


_DECIDED = ("step", "fields", "message")
PLAN_CHECKS = (
    Check("PLAN-ACTION", action_is_planned, ("step",)),
    Check("PLAN-REQUEST", request_is_planned, ("step",)),
    Check("PLAN-FIELD", fields_are_planned, _DECIDED),
    Check("PLAN-UNDECIDED", nothing_is_undecided, _DECIDED),
    Check("PLAN-LIMIT", choices_are_limited, _DECIDED),
    Check("SIGNER-PLANNED", signer_is_planned, ("step",)),
)
"""For intents and transactions alike, once ``PLAN-STEP`` has found the step."""

STEP_CHECKS = (Check("PLAN-STEP", step_exists),)

_INTENT = ("step", "intent", "message")
INTENT_CHECKS = (
    Check("SIGNER-RULE", rule_is_ours, ("intent",)),
    Check("SIGNER-ALLOWED", signer_may_sign, _INTENT),
    Check("SIGNER-DELEGATE", delegation_is_live, _INTENT),
    Check("ORDER-ROUTE", route_is_ours, ("intent",)),
    Check("ORDER-TYPE", order_type_fits, ("intent", "message")),
    Check("ORDER-OPEN", open_type_fits, ("intent", "message")),
)
