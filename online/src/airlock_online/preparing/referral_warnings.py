"""What a plan's step wants of a referral code, and what stands in its way: warnings for people, before it is prepared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from airlock_online.readback.referral_lookup import NOBODY, ReferralFacts, shown
from airlock_shared.catalogue.referral_code import code_text
from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.plan.model import Exact, Plan, Step

_ACCOUNTS = {
    "referral-set-code": "referee", "referral-set-code-tx": "caller", "referral-register": "referrer",
    "referral-transfer": "caller", "referral-accept": "caller",
}  # fmt: skip
"""The actions that are about a code, and the field with the account that acts."""

_ADOPTING = ("referral-set-code", "referral-set-code-tx")


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
    name = _ACCOUNTS.get(step.action.name)
    code = step.values.get("code")
    if name is None or not isinstance(code, Exact) or not isinstance(code.raw, bytes):
        return None
    account = _account(step, name)
    new_owner = _account(step, "newOwner") if "newOwner" in step.values else NOBODY
    return Wish(step, code.raw, account, new_owner, account if step.action.name in _ADOPTING else NOBODY)


def _account(step: Step, name: str) -> str:
    value = step.values[name]
    return checksum_address(value.raw) if isinstance(value, Exact) and isinstance(value.raw, bytes) else NOBODY


def in_the_way(wish: Wish, seen: ReferralFacts, plan: Plan) -> list[str]:
    """Return what stands in the way of a step, or is surprising about it, as sentences; what is not told is not guessed."""
    judge = {
        "referral-register": _register, "referral-transfer": _transfer, "referral-accept": _accept,
    }.get(wish.step.action.name, _adopt)  # fmt: skip
    found = list(judge(wish, seen))
    if found and (before := _earlier(wish, plan)):
        found.append(f"an earlier step of the plan is about this code: {before}; it must be on the chain first")
    return found


def _adopt(wish: Wish, seen: ReferralFacts) -> Iterator[str]:
    code = code_text(wish.code)
    if seen.owner == NOBODY:
        yield f"the code {code} does not exist: nobody has registered it in this spelling, so adopting it has no effect"
    if seen.private and seen.owner != wish.account:
        yield f"the code {code} is private: its owner {shown(seen.owner)} must let {wish.account} in"
    if seen.adopted == wish.code:
        yield f"{wish.account} has adopted this code already"
    elif seen.adopted is not None and any(seen.adopted):
        yield f"{wish.account} has another code, which this one replaces: {shown(seen.adopted)}"


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
        yield f"the caller {wish.account} is not nominated: the pending owner is {shown(seen.pending)}"


def _earlier(wish: Wish, plan: Plan) -> str:
    """Return the nearest earlier step about the same code, empty when there is none."""
    named = ""
    for number, step in enumerate(plan.steps.values(), start=1):
        if step.id == wish.step.id:
            break
        if (other := wish_of(step)) is not None and other.code == wish.code:
            named = f"step {number} ({step.id}, signed by {step.signer.name})"
    return named
