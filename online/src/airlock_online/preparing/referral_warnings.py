"""What a plan's step wants of a referral code, and what stands in its way: warnings for people, before it is prepared."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from typing import NamedTuple

from airlock_online.readback.referral_codes import NOBODY, ReferralFacts, shown_fact
from airlock_shared.plan.model import Plan, Step
from airlock_shared.units import code_text


class Wish(NamedTuple):
    """What a plan's step wants of a code: who acts, and whom a transfer names; addresses in EIP-55.

    ``trader`` is who adopts the code, empty for a step that adopts none.
    """

    step: Step
    code: bytes
    account: str
    new_owner: str = NOBODY
    trader: str = NOBODY


def wish_of(step: Step) -> Wish | None:
    """Return what a step wants of a referral code, None for a step about something else."""
    code = step.raw("code")
    if step.action.name not in _BY_ACTION or not isinstance(code, bytes):
        return None
    acting, judge = _BY_ACTION[step.action.name]
    account = _account(step, acting)
    return Wish(step, code, account, _account(step, "newOwner"), account if judge is _adopt else NOBODY)


def _account(step: Step, name: str) -> str:
    """Return the account that the plan gives for a field, nobody where it leaves it open."""
    return step.address(name) if isinstance(step.raw(name), bytes) else NOBODY


def in_the_way(wish: Wish, seen: ReferralFacts, plan: Plan) -> list[str]:
    """Return what stands in the way of a step, or is surprising about it, as sentences; what is not told is not guessed.

    The nearest earlier step about the same code is named with it.
    """
    _, judge = _BY_ACTION[wish.step.action.name]
    found = list(judge(wish, seen))
    before = takewhile(lambda step: step.id != wish.step.id, plan.steps.values())
    earlier = [
        f"an earlier step of the plan is about this code: step {number} ({step.id}, signed by {step.signer.name}); "
        "it must be on the chain first"
        for number, step in enumerate(before, start=1)
        if (other := wish_of(step)) is not None and other.code == wish.code
    ]
    return [*found, *earlier[-1:]] if found else []


def _adopt(wish: Wish, seen: ReferralFacts) -> Iterator[str]:
    code = code_text(wish.code)
    if seen.owner == NOBODY:
        yield f"the code {code} does not exist: nobody has registered it in this spelling, so adopting it has no effect"
    if seen.private and seen.owner != wish.account:
        yield f"the code {code} is private: its owner {shown_fact(seen.owner)} must let {wish.account} in"
    if seen.adopted == wish.code:
        yield f"{wish.account} has adopted this code already"
    elif seen.adopted is not None and any(seen.adopted):
        yield f"{wish.account} has another code, which this one replaces: {shown_fact(seen.adopted)}"


def _register(wish: Wish, seen: ReferralFacts) -> Iterator[str]:
    if seen.owner == wish.account:
        yield f"the code {code_text(wish.code)} is registered already, for this very account"
    elif seen.owner:
        yield f"the code {code_text(wish.code)} is taken: {seen.owner} owns it"


def _transfer(wish: Wish, seen: ReferralFacts) -> Iterator[str]:
    if seen.owner == NOBODY:
        yield f"the code {code_text(wish.code)} does not exist: nobody has registered it in this spelling"
    elif seen.owner is not None and seen.owner != wish.account:
        yield f"the caller {wish.account} is not the owner: {seen.owner} is"
    if seen.owner and seen.owner == wish.new_owner:
        yield f"the new owner {wish.new_owner} owns the code already"
    if seen.pending == wish.new_owner:
        yield f"{wish.new_owner} is nominated already"
    elif seen.pending:
        yield f"{seen.pending} is nominated now, and will be replaced by {wish.new_owner}"


def _accept(wish: Wish, seen: ReferralFacts) -> Iterator[str]:
    if seen.owner == wish.account:
        yield f"the caller {wish.account} owns the code already"
    elif seen.owner == NOBODY:
        yield f"the code {code_text(wish.code)} does not exist: nobody has registered it in this spelling"
    if seen.pending is not None and seen.pending != wish.account:
        yield f"the caller {wish.account} is not nominated: the pending owner is {shown_fact(seen.pending)}"


_BY_ACTION = {
    "referral-set-code": ("referee", _adopt),
    "referral-set-code-tx": ("caller", _adopt),
    "referral-register": ("referrer", _register),
    "referral-transfer": ("caller", _transfer),
    "referral-accept": ("caller", _accept),
}
"""The actions that are about a code: the field with the account that acts, and what may stand in its way."""
