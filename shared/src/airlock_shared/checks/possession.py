"""PROOF: no delegate key is registered that nobody has proved to hold.

Without a proof a mistyped address becomes a delegate that nobody holds, or that somebody else does.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from airlock_shared.catalogue.actions import REGISTRATIONS
from airlock_shared.checks.case import PLANNED, Finding, Situation, check
from airlock_shared.plan.model import Step


class Claim(NamedTuple):
    """A step of the plan, and the challenges that delegate keys have answered, as ``transcript.proved`` gives them.

    ``challenges`` is None on a machine that has no record of them.
    """

    step: Step
    situation: Situation
    challenges: Collection[str] | None


@check(
    "PROOF-DELEGATE", PLANNED,
    "there is no proof that the delegate key is held", "An address registered by mistake.",
    "Run airlock-offline delegate challenge, have the delegate key sign it, then airlock-offline delegate check.",
)  # fmt: skip
def key_is_proved(claim: Claim) -> Finding | None:
    """The delegate key that a step registers was proved, or the plan waives that."""
    if claim.step.action.name not in REGISTRATIONS:
        return None
    from airlock_shared.plan.delegate_proofs import challenge_of, is_waived

    expected = 'a proof for this ceremony, plan and step, or possession = "waived" in the plan'
    if is_waived(claim.step):
        return Finding(True, "waived by the plan", expected)
    if claim.challenges is None:
        return Finding(None, "", expected, "", "only the signing machine has the record of proofs of possession")
    challenge = challenge_of(claim.situation.plan, claim.situation.deployment, claim.step).sha256()
    if challenge in claim.challenges:
        return Finding(True, f"proved, challenge {challenge}", expected)
    return Finding(False, "no proof on this machine", expected, "delegate")
