"""What a delegate key signs to prove that somebody holds it: a text that names the ceremony, and that does nothing else.

The text is a personal message (EIP-191, version 0x45) of plain lines, which any wallet shows whole. It names the ceremony,
the plan's fingerprint, the step, the deployment, its chain, the trader and the delegate, so that a proof of another
ceremony is worth nothing here.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from airlock_shared.errors import PlanError
from airlock_shared.ethereum.signatures import personal_digest
from airlock_shared.plan.model import Plan, Step
from airlock_shared.venue.actions import REGISTRATIONS

if TYPE_CHECKING:
    from airlock_shared.documents.deployment import Deployment


WAIVED = "waived"


class Challenge(NamedTuple):
    """What a delegate key signs: names, the plan's fingerprint (64 hex digits), the chain's number, EIP-55 addresses."""

    ceremony: str
    plan: str
    step: str
    deployment: str
    chain_id: int
    trader: str
    delegate: str

    def text(self) -> bytes:
        """Return the message, word for word: ASCII lines without a newline at the end."""
        return "\n".join(
            (
                "Airlock: I hold this delegate key.",
                f"ceremony {self.ceremony}",
                f"step {self.step}",
                f"delegate {self.delegate}",
                f"trader {self.trader}",
                f"deployment {self.deployment}, chain {self.chain_id}",
                f"plan {self.plan}",
                "This text moves nothing and permits nothing.",
            )
        ).encode()

    def digest(self) -> bytes:
        """Return the 32-byte hash that is signed (EIP-191)."""
        return personal_digest(self.text())

    def sha256(self) -> str:
        """Return the SHA-256 of the text, 64 hex digits, as the transcript names it."""
        return hashlib.sha256(self.text()).hexdigest()

    def as_data(self) -> dict[str, str]:
        """Return the event's data for a challenge whose proof holds."""
        return {
            "ceremony": self.ceremony,
            "step": self.step,
            "delegate": self.delegate,
            "challenge": self.sha256(),
        }


def registrations(plan: Plan) -> list[Step]:
    """Return the plan's steps that make a key a delegate."""
    return [step for step in plan.steps.values() if step.action.name in REGISTRATIONS]


def is_waived(step: Step) -> bool:
    """Tell whether the plan does without the proof for a step, in the word ``possession = "waived"``."""
    return step.text("possession") == WAIVED


def challenge_of(plan: Plan, deployment: Deployment, step: Step) -> Challenge:
    """Return what the delegate key of a step has to sign; ``deployment`` is the pinned one that the plan names.

    Raises ``PlanError("PLAN-NAME")`` for another deployment.
    """
    if plan.deployment != deployment.name:
        raise PlanError("PLAN-NAME", "another deployment", deployment.name, plan.deployment)
    trader, delegate = step.address("trader"), step.address("delegate")
    return Challenge(plan.id, plan.fingerprint, step.id, deployment.name, deployment.chain_id, trader, delegate)
