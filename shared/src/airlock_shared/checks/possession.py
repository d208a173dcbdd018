"""Proof that somebody holds a delegate key: the key signs a text that names the ceremony, and that does nothing else.

The text is a personal message (EIP-191, version 0x45) of plain lines, which any wallet shows whole. It names the ceremony,
the plan's fingerprint, the step, the deployment, its chain, the trader and the delegate, so that a proof of another
ceremony is worth nothing here. Without a proof a mistyped address becomes a delegate that nobody holds, or that somebody
else does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from airlock_shared.catalogue.actions import REGISTRATIONS
from airlock_shared.checks.case import PLANNED, Finding, Situation, check
from airlock_shared.errors import PlanError, Refusal
from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.ethereum.recovery import personal_digest, recover
from airlock_shared.plan.model import Exact, Plan, Step
from airlock_shared.records import NamedTuple

if TYPE_CHECKING:
    from airlock_shared.documents.deployment import Deployment
    from airlock_shared.documents.transcript import Entry

PROVED = "delegate-proved"
"""The transcript's event: ``ceremony``, ``step``, ``delegate`` (EIP-55), ``challenge`` (SHA-256 of the text signed, hex)."""

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
    wanted = step.values.get("possession")
    return wanted is not None and wanted.text == WAIVED


def waivers(plan: Plan) -> list[str]:
    """Return a sentence for each step whose delegate key nobody has to prove: an exception that a report names."""
    return [
        f"step {step.id}: the plan waives the proof that anybody holds the delegate key {_address(step, 'delegate')}"
        for step in registrations(plan)
        if is_waived(step)
    ]


def challenge_of(plan: Plan, deployment: Deployment, step: Step) -> Challenge:
    """Return what the delegate key of a step has to sign; ``deployment`` is the pinned one that the plan names.

    Raises ``PlanError("PLAN-NAME")`` for another deployment.
    """
    if plan.deployment != deployment.name:
        raise PlanError("PLAN-NAME", "another deployment", got=deployment.name, expected=plan.deployment)
    trader, delegate = _address(step, "trader"), _address(step, "delegate")
    return Challenge(plan.id, plan.fingerprint, step.id, deployment.name, deployment.chain_id, trader, delegate)


def _address(step: Step, name: str) -> str:
    value = step.values[name]
    return checksum_address(value.raw) if isinstance(value, Exact) and type(value.raw) is bytes else value.text


def check_possession(challenge: Challenge, signature: bytes) -> None:
    """Refuse a signature that the challenge's delegate key did not make over this very challenge.

    Raises ``Refusal`` with ``PROOF-SIGNER``, or of family ``SIG`` for another form than 65 bytes, low s, v 27 or 28.
    """
    found = checksum_address(recover(challenge.digest(), signature))
    if found != challenge.delegate:
        raise Refusal(
            "PROOF-SIGNER", "another key signed this challenge, or the delegate key signed another text", got=found,
            expected=challenge.delegate,
        )  # fmt: skip


# ---- before a registration is signed -------------------------------------------------------------------------------


def proved(entries: Iterable[Entry]) -> frozenset[str]:
    """Return the challenges (SHA-256, hex) whose proofs this machine's transcript says that it has checked."""
    return frozenset(str(entry.data.get("challenge")) for entry in entries if entry.event == PROVED)


class Claim(NamedTuple):
    """A step of the plan, and the challenges that delegate keys have answered, as :func:`proved` gives them.

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
    expected = 'a proof for this ceremony, plan and step, or possession = "waived" in the plan'
    if is_waived(claim.step):
        return Finding(True, "waived by the plan", expected)
    if claim.challenges is None:
        return Finding(None, "", expected, "", "only the signing machine has the record of proofs of possession")
    challenge = challenge_of(claim.situation.plan, claim.situation.deployment, claim.step).sha256()
    if challenge in claim.challenges:
        return Finding(True, f"proved, challenge {challenge}", expected)
    return Finding(False, "no proof on this machine", expected, "delegate")
