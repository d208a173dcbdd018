"""What a ceremony plan says, once it is read: its limits, its signers, and what each step decides.

A payload is signed only as a step of a plan. The plan decides every field, by a value or by bounds, or leaves it to the
builder within a limit. How it is read is in :mod:`airlock_shared.plan.reader`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from airlock_shared.ethereum.signatures import checksum_address
from airlock_shared.text.safe import safe
from airlock_shared.units import raw_text

if TYPE_CHECKING:
    from airlock_shared.venue.actions import Action


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
