"""What a ceremony plan says, once it is read: its limits, its signers, and what each step decides.

A payload is signed only as a step of a plan. The plan decides every field, by a value or by bounds, or leaves it to the
builder within a limit. How it is read is in :mod:`airlock_shared.plan.reader`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from airlock_shared.errors import PlanError
from airlock_shared.ethereum.signatures import checksum_address, personal_digest
from airlock_shared.text.safe import safe
from airlock_shared.units import raw_text
from airlock_shared.venue.actions import REGISTRATIONS, Action

if TYPE_CHECKING:
    from airlock_shared.documents.deployment import Deployment


CUSTOM = "custom"
"""The action of a step whose struct an operator pinned."""


EITHER = "Either of the two may execute; the online machine chooses."
"""What people must know of a step that takes the place of an earlier signature."""


class Exact(NamedTuple):
    """A value that the plan fixes: the raw value that is signed, and the plan's own text."""

    raw: object
    text: str

    def holds(self, raw: object) -> bool:
        """Tell whether a payload's value is the plan's."""
        return type(raw) is type(self.raw) and raw == self.raw


class Bounds(NamedTuple):
    """Bounds that the plan gives for a raw integer, both inclusive."""

    low: int
    high: int
    text: str

    def holds(self, raw: object) -> bool:
        """Tell whether a payload's value lies within the bounds."""
        return type(raw) is int and self.low <= raw <= self.high


class AsSigned(NamedTuple):
    """A value that the plan gives raw, for a struct that an operator pinned: the text of what is signed."""

    text: str

    def holds(self, raw: object) -> bool:
        """Tell whether a payload's value is the plan's; hex is compared without regard to case."""
        wanted = self.text.lower() if type(raw) is bytes else self.text
        return raw_text(raw) == wanted


Value = Exact | Bounds | AsSigned


class Limits(NamedTuple):
    """Bounds for what the builder is left to choose. None: the plan leaves the builder no choice there."""

    deadline_at_most_ms: int | None = None
    slippage_at_most_raw: int | None = None
    max_fee_at_most_wei: int | None = None
    native_fee_at_most_wei: int | None = None
    remaining_at_least_ms: int = 60_000


class Signer(NamedTuple):
    """A key that signs: its address (20 bytes), derivation path, how the device shows a message, for whom it may act."""

    name: str
    address: bytes
    path: str
    show: str = "fields"
    delegate_of: bytes | None = None

    @property
    def account(self) -> str:
        """Its address as people read it, in EIP-55."""
        return checksum_address(self.address)


class Step(NamedTuple):
    """One thing to sign. ``values`` holds what the plan decides, by parameter name.

    ``replaced_digest`` is the digest of the earlier signature that this one takes the place of, 0x and 64 hex digits in
    lower case, or empty.
    """

    id: str
    action: Action
    signer: Signer
    values: dict[str, Value]
    replaced_digest: str = ""

    def raw(self, *names: str) -> object:
        """Return the raw value that the plan fixes of the first of these parameters that the step has, or None."""
        found = next((self.values[name] for name in names if name in self.values), None)
        return found.raw if isinstance(found, Exact) else None

    def text(self, name: str) -> str:
        """Return what the plan says of a parameter, in its own words; empty where it says nothing."""
        return self.values[name].text if name in self.values else ""

    @property
    def delegate_of(self) -> bytes | None:
        """The account for which its signer signs as a delegate; None where the step names it nowhere."""
        if (of := self.signer.delegate_of) is None:
            return None
        named = checksum_address(of).lower()
        values = self.values.values()
        found = any(each.raw == of if isinstance(each, Exact) else each.text.lower() == named for each in values)
        return of if found else None

    def address(self, name: str) -> str:
        """Return the address that the plan fixes of a parameter, in EIP-55; what else it says there, as it says it."""
        raw = self.raw(name)
        return checksum_address(raw) if type(raw) is bytes else self.values[name].text


WITNESS = ("required", "none")
"""What a plan may say of a witness."""

APART = ("signer", "witness")
"""The roles that one person may not hold together; a plan that requires a witness names both."""


class Plan(NamedTuple):
    """A ceremony plan and its fingerprint. ``witness`` is one of :data:`WITNESS`; empty: the plan does not say."""

    id: str
    title: str
    deployment: str
    roles: tuple[str, ...]
    limits: Limits
    signers: dict[str, Signer]
    steps: dict[str, Step]
    fingerprint: str
    witness: str = ""

    @property
    def requires_witness(self) -> bool:
        """Whether the plan is signed only in an open ceremony, before a witness who is not the signer."""
        return self.witness == "required"

    @property
    def witness_text(self) -> str:
        """What the plan says of a witness, for people."""
        return {"required": "required", "none": "none is required"}.get(self.witness, "the plan does not say")


# ---- possession -----------------------------------------------------------------------------------------------------
# What a delegate key signs to prove that somebody holds it: a text that names the ceremony, and that does nothing else.
# It is a personal message (EIP-191, version 0x45) of plain lines, which any wallet shows whole. It names the ceremony, the
# plan's fingerprint, the step, the deployment, its chain, the trader and the delegate, so that a proof of another ceremony
# is worth nothing here.


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


def part_lines(plan: Plan, signer: str) -> Iterator[str]:
    """Yield which part of a plan a document is, and which steps are not in it; nothing for the whole plan."""
    if not signer:
        return
    inside = [step.signer.name == signer for step in plan.steps.values()]
    yield f"PART OF THE PLAN: {sum(inside)} of {len(inside)} steps, those that {safe(signer)} signs"
    for heading, wanted in (("in this document:", True), ("NOT in this document:", False)):
        yield f"  {heading}"
        for number, (step, there) in enumerate(zip(plan.steps.values(), inside, strict=True), start=1):
            if there is wanted:
                yield f"    step {number}: {step.id} ({step.action.name}), signed by {step.signer.name}"
