"""What a delegate key can and cannot do, for the review screen: read off the catalogue, which is what the checks keep to.

That a delegate never withdraws, approves USDC or names delegates is the venue's promise (specification, "Authentication",
4); which structs and calls it may sign is our own table, and nothing else of it is ever signed here.
"""

from __future__ import annotations

from collections.abc import Iterator

from airlock_offline.signing.row_layout import row
from airlock_shared.catalogue.actions import DELEGATE_ACTIONS, REGISTRATIONS, REMOVAL
from airlock_shared.catalogue.kinds import EXPIRY, value_of
from airlock_shared.checks.case import Case, Situation, Verdict
from airlock_shared.plan.delegate_proofs import is_waived
from airlock_shared.plan.model import Step
from airlock_shared.text.safe import WIDTH, wrapped
from airlock_shared.units import utc_text

_DAY_S = 86_400
_NEVER = "withdraw funds, approve USDC, or add other delegates: the venue's promise"


def delegate_lines(case: Case) -> Iterator[str]:
    """Yield what a delegate's key may sign and send, what it may not, until when, and what else the plan does.

    A heading stands first; there is nothing for any other step.
    """
    rows = _others(case)
    if case.step.action.name in REGISTRATIONS:
        yield "WHAT THIS DELEGATE CAN AND CANNOT DO FOR THE ACCOUNT"
        rows = [*_powers(case.situation), *_until(case), *rows]
    elif rows:
        yield "WITH THIS REMOVAL"
    for label, text in rows:
        yield from row(label, text)


def _powers(situation: Situation) -> Iterator[tuple[str, str]]:
    intents = situation.deployment.structs.values()
    calls = situation.deployment.calls.by_name.values()
    yield "can sign", _list(i.title for i in intents if i.signer_rule == "trader-or-delegate")
    yield "can send", _list(call.title for call in calls if call.delegable)
    yield "can never", _NEVER
    yield "cannot sign", _list(i.title for i in intents if i.signer_rule == "trader-only")
    yield "cannot send", _list(call.title for call in calls if not call.delegable)
    yield "it can lose", "what it trades with: whoever holds this key can lose it in trades"


def _list(titles: Iterator[str]) -> str:
    return "; ".join(dict.fromkeys(titles))


def _until(case: Case) -> Iterator[tuple[str, str]]:
    expiry_s = value_of(case.fields, case.message, EXPIRY)
    if type(expiry_s) is int:
        days = (expiry_s - case.situation.now_ms // 1000) // _DAY_S
        yield "until", f"{utc_text(expiry_s * 1000)}, {f'{days} whole days from now' if days >= 0 else 'in the past'}"


def _others(case: Case) -> list[tuple[str, str]]:
    """Return what the plan's other steps do with delegates of the same account: a rotation is shown as a whole."""
    before, after = _rotation(case)
    does = dict.fromkeys(REGISTRATIONS, "registers") | {REMOVAL: "ends the registration of"}
    return [
        (f"step {step.id}"[:18], f"{when} this, {does[step.action.name]} {step.address('delegate')}")
        for when, steps in (("before", before), ("after", after))
        for step in steps
    ]


def _rotation(case: Case) -> tuple[list[Step], list[Step]]:
    """Return the steps for delegates of a delegate's step's account, before it and after it; none for another step."""
    every = case.situation.plan.steps.values()
    trader = case.step.raw("trader")
    steps = [step for step in every if step.action.name in DELEGATE_ACTIONS and step.raw("trader") == trader]
    if case.step not in steps:
        return [], []
    here = steps.index(case.step)
    return steps[:here], steps[here + 1 :]


def delegate_warnings(case: Case) -> Iterator[str]:
    """Yield what stands out about a delegate's step: no proof wanted, or a rotation in the order that can go wrong."""
    if case.step.action.name in REGISTRATIONS and is_waived(case.step):
        yield (
            "the plan waives the proof that anybody holds this delegate key. A mistyped address becomes a delegate "
            "whose key nobody holds, or a stranger holds."
        )
    if case.step.action.name == REMOVAL and any(step.action.name in REGISTRATIONS for step in _rotation(case)[0]):
        yield (
            "a new key is registered before this one is removed. Until then both can trade, and at a venue with one "
            "delegate for each account, this removal fails. Remove first, then register."
        )


def proof_lines(verdicts: list[Verdict]) -> Iterator[str]:
    """Yield whether the delegate key was proved; nothing for a step that needs no proof."""
    for verdict in verdicts:
        if verdict.check == "PROOF-DELEGATE" and verdict.result in ("pass", "refused"):
            yield "POSSESSION OF THE DELEGATE KEY"
            yield from (f"  {line}" for line in wrapped(str(verdict.got), WIDTH - 2))
