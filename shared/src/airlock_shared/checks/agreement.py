"""PLAN, SIGNER, ORDER, TEXT: what people agreed to, signed by whom they named, sent where it belongs."""

from __future__ import annotations

from airlock_shared.checks.model import (
    CASE,
    NAMED,
    PLAN,
    PLANNED,
    READ,
    REBUILD,
    RECEIVED,
    STOP,
    WRONG_ROUTE,
    CallCase,
    Case,
    Finding,
    IntentCase,
    Named,
    Planned,
    ReadIntent,
    ReadPayload,
    Received,
    check,
    leaf_of,
    same,
)
from airlock_shared.checks.times import registration_is_live
from airlock_shared.documents.deployment import TEST_ACCOUNTS
from airlock_shared.errors import PlanError
from airlock_shared.ethereum.signatures import checksum_address
from airlock_shared.plan.decisions import (
    MARKET_ORDERS,
    choices_of,
    decide,
    market_orders,
    order_kinds,
    replaced_trigger,
    request_fields,
)
from airlock_shared.plan.model import CUSTOM
from airlock_shared.units import CODE, code_letters, is_plain_code, raw_text
from airlock_shared.venue.structs import LEAF_KINDS, OPEN_TYPE, PAIR, TERMS_KIND, leaf


@check("PLAN-STEP", RECEIVED, "not a step of the plan", "A payload that is not in the plan.", PLAN)
def step_exists(case: Received) -> Finding:
    """The item is a step of the plan."""
    steps = case.situation.plan.steps
    return Finding(case.request.step in steps, case.request.step, f"one of the plan's {len(steps)} steps")


@check(
    "PLAN-ACTION",
    PLANNED,
    "the action is not that of the plan's step",
    "A delegate registration in place of a close.",
    PLAN,
)
def action_is_planned(case: Planned) -> Finding:
    """The item's action and its struct or function are those of its step; a struct is no function of the same name."""
    action, is_call = case.step.action, case.request.transaction is not None
    got = f"{case.request.action}: {case.came}{'()' * is_call}"
    return same(got, f"{action.name}: {action.result}{'()' * bool(action.call)}")


@check(
    "PLAN-REQUEST",
    PLANNED,
    "the request to the builder differs from the plan",
    "A request altered on the online machine.",
    REBUILD,
)
def request_is_planned(case: Planned) -> Finding:
    """What the online half asked for is what the plan asks; the deadline is the limit's to judge.

    That holds too for the stored price trigger which the intent would take the place of. Of a custom step the plan decides
    each leaf of the payload, whatever was asked for.
    """
    step = case.step
    replaced, meant = case.request.replaces, replaced_trigger(step)
    if replaced != meant:
        return Finding(False, replaced or "a new trigger", meant or "a new trigger", "route.replaces")
    got, endpoint = case.request.fields, case.request.endpoint
    try:
        expected = request_fields(step, case.situation.deployment)
    except PlanError as error:
        return Finding(False, got, error.expected, error.where)
    if "deadlineMs" in got and "deadlineMs" not in expected:
        got = {name: value for name, value in got.items() if name != "deadlineMs"}
    ok = (got == expected or step.action.name == CUSTOM) and endpoint == (step.action.path or endpoint)
    return Finding(ok, {"endpoint": endpoint, "fields": got}, {"endpoint": step.action.path, "fields": expected})


def case_of(planned: Planned, read: ReadPayload) -> Case:
    """Return a step's payload beside what the plan, the pinned deployment or a limit decides of each leaf."""
    request, situation, step, _ = planned
    decisions = decide(read.fields, read.message, step, situation.plan, situation.deployment)
    if isinstance(read, ReadIntent):
        return IntentCase(request, situation, step, read.intent, read.message, read.hashes, decisions)
    return CallCase(request, situation, step, read.call, read.message, read.delegated_for, decisions)


def _first_wrong(case: Case, deciders: tuple[str, ...]) -> Finding:
    for decision in [decision for decision in case.decisions if not decision.ok]:
        if decision.decided_by in deciders:
            got = f"{decision.value} (raw {raw_text(decision.raw)})"
            return Finding(False, got, decision.expected, decision.field.path)
    count = f"{sum(decision.decided_by in deciders for decision in case.decisions)} fields"
    return Finding(True, count, count)


@check(
    "PLAN-FIELD",
    CASE,
    "a field is not what the plan says",
    "Another amount, account, pair, code or time.",
    PLAN,
)
def fields_are_planned(case: Case) -> Finding:
    """Every field that the plan decides is as the plan says, and what must be zero is zero.

    What a custom step names that is no field of the payload would bind nothing, and terms where the venue signs none:
    a person thinks that it does.
    """
    found = _first_wrong(case, ("plan", "fixed"))
    if found.ok:
        decided = {decision.field.rule.parameter for decision in case.decisions if decision.decided_by == "plan"}
        named = set(case.step.values)
        if case.step.action.name != CUSTOM:
            named &= {LEAF_KINDS[TERMS_KIND].rule.parameter}
        for name in sorted(named - decided):
            wanted = f"a field {name}, which the plan sets to {case.step.values[name].text}"
            return Finding(False, "no such field", wanted, name)
    return found


@check("PLAN-UNDECIDED", CASE, "no rule decides this field", "A field that the builder sets as it likes.", PLAN)
def nothing_is_undecided(case: Case) -> Finding:
    """No field is left without anybody who decides it."""
    return _first_wrong(case, ("nobody",))


@check(
    "PLAN-LIMIT",
    CASE,
    "the builder's value is outside the plan's limit",
    "A price tolerance or a text that people did not agree to.",
    PLAN,
)
def choices_are_limited(case: Case) -> Finding:
    """What the builder chose keeps the plan's limits."""
    return _first_wrong(case, ("builder",))


@check("SIGNER-RULE", NAMED, "signerRule is not the one for this struct", "A delegate registering delegates.", STOP)
def rule_is_ours(case: Named) -> Finding:
    """``signerRule`` is what our own table says of this struct, or the stricter ``trader-only``."""
    told, ours = case.request.payload["signerRule"], case.intent.signer_rule
    return Finding(told in (ours, "trader-only"), told, ours)


@check("SIGNER-PLANNED", PLANNED, "the signer or its path is not that of the plan", "The wrong key.", PLAN)
def signer_is_planned(case: Planned) -> Finding:
    """The signer and its derivation path are those of the plan's step; on a test network its key is a public one."""
    signer = case.step.signer
    address = signer.account
    if case.situation.deployment.test_network and address not in TEST_ACCOUNTS:
        what = "on a test network the software Ledger's accounts sign, and no other"
        return Finding(False, address, " or ".join(TEST_ACCOUNTS), "", what)
    return Finding(
        case.request.signer == address and case.request.path == signer.path,
        f"{case.request.signer} {case.request.path}",
        f"{address} {signer.path}",
    )


@check(
    "SIGNER-ALLOWED",
    CASE,
    "this key may not sign for this trader",
    "A signature that the contract would reject.",
    "In the plan, the signer must be the trader itself, or have delegate_of = the trader. Correct the plan; if it is "
    "right, find out who altered the payload.",
)
def signer_may_sign(case: IntentCase) -> Finding:
    """The signer is the trader, or, where struct and payload allow one, a delegate that the plan names for it."""
    intent, signer = case.intent, case.step.signer
    trader = leaf(case.message, intent.trader)
    ok = signer.address == trader
    if "trader-only" not in (intent.signer_rule, case.request.payload.get("signerRule")):
        ok = ok or (signer.delegate_of is not None and signer.delegate_of == trader)
    account = checksum_address(trader) if trader else ""
    expected = f"{account} or its delegate, where one may sign"
    return Finding(ok, signer.account, expected)


@check(
    "SIGNER-DELEGATE",
    CASE,
    "the delegate's registration is not active",
    "A signature that the contract would reject.",
    "Register the delegate, or renew it, and prepare again.",
)
def delegation_is_live(case: IntentCase) -> Finding | None:
    """A delegate's registration was read, is enabled, and has not run out (expiry in unix seconds)."""
    if case.step.signer.address == leaf(case.message, case.intent.trader):
        return None
    return registration_is_live(case, "canSignIntents")


@check("ORDER-ROUTE", NAMED, *WRONG_ROUTE)
def route_is_ours(case: Named) -> Finding:
    """The item goes where our own table sends this struct."""
    return same(case.request.route, case.intent.route)


@check(
    "ORDER-TYPE",
    READ,
    "the order type does not fit this struct and pair",
    "An intent decoded as another one.",
    REBUILD,
)
def order_type_fits(case: ReadIntent) -> Finding | None:
    """The batched market's order type is the one for this struct and this pair (specification, "Supported order types")."""
    intent, got = case.intent, case.request.order_type
    if intent.order_types is None:
        return None if got is None else Finding(False, got, "none: this struct is not a market order")
    number = leaf_of(case, PAIR)
    pair = case.situation.deployment.pair_at(number)
    if pair is None:
        return Finding(False, f"pair {number}", "a pair of the pinned deployment")
    fitting, why = market_orders(intent, pair, case.step)
    if not fitting:
        return Finding(False, got, f"no increase exists on the PnL pair {pair.name}")
    return Finding(got in fitting, got, f"{' or '.join(map(str, fitting))}: {why}")


@check("ORDER-OPEN", READ, "the market order type does not fit this pair", "A limit order sent to the market.", PLAN)
def open_type_fits(case: ReadIntent) -> Finding | None:
    """An open is a market order of its pair's kind: ``_type`` market on an ordinary pair, market_pnl on a PnL pair.

    Where the venue does not tell a pair's kind, it is either. What the plan says of a close is held to the same. Of what
    is no market order it says nothing.
    """
    enum = choices_of(OPEN_TYPE, case.situation.deployment)
    got = leaf_of(case, OPEN_TYPE)
    if got is None and case.step:
        got = enum.get(case.step.text(OPEN_TYPE))
    if got is None or case.intent.order_types is None:
        return None
    pair = case.situation.deployment.pair_at(leaf_of(case, PAIR))
    fitting = [enum.get(MARKET_ORDERS[kind]) for kind in order_kinds(pair, case.step)]
    return Finding(got in fitting, got, fitting[0])


@check(
    "TEXT-SCRIPT",
    CASE,
    "a referral code that is not plain ASCII",
    "A code that reads like another one.",
    "Compare the code points with the code that you mean. If it is meant, give all 32 bytes in the plan.",
)
def code_is_plain(case: Case) -> Finding | None:
    """A referral code is plain ASCII: another is signed only when the plan gives all its bytes, in 0x-hex."""
    field = next((field for field in case.fields if field.unit is CODE), None)
    raw = leaf(case.message, field.path) if field else None
    if field is None or type(raw) is not bytes:
        return None
    in_hex = case.step.text(field.rule.parameter).lower().startswith("0x")
    plain = is_plain_code(raw)
    got = code_letters(raw) if plain else f"0x{raw.hex()}, which reads {code_letters(raw)}"
    return Finding(in_hex or plain, got, "plain ASCII, or all 32 bytes in hex in the plan", field.path)


PLAN_CHECKS = (
    action_is_planned,
    request_is_planned,
    fields_are_planned,
    nothing_is_undecided,
    choices_are_limited,
    signer_is_planned,
)
"""For intents and transactions alike, once ``PLAN-STEP`` has found the step."""

STEP_CHECKS = (step_exists,)

INTENT_CHECKS = (
    rule_is_ours,
    signer_may_sign,
    delegation_is_live,
    route_is_ours,
    order_type_fits,
    open_type_fits,
)

TEXT_CHECKS = (code_is_plain,)
"""For intents and transactions alike: a code that is signed reads as it is written."""
