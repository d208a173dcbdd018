"""Proof that somebody holds a delegate key: the key signs a text that names the ceremony, and that does nothing else.

The text is a personal message (EIP-191, version 0x45) of plain lines, which any wallet shows whole. It names the ceremony,
the plan's fingerprint, the step, the deployment, its chain, the trader and the delegate, so that a proof of another
ceremony is worth nothing here. Without a proof a mistyped address becomes a delegate that nobody holds, or that somebody
else does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from airlock_shared.checks.case import PLANNED, Finding, Situation, check
from airlock_shared.errors import DocumentError, PlanError, Refusal, UsageError
from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.ethereum.recovery import personal_digest, recover
from airlock_shared.plan.model import Exact, Plan, Step
from airlock_shared.wire.codec import parse_json, to_json
from airlock_shared.wire.members import read_members

if TYPE_CHECKING:
    from airlock_shared.documents.deployment import Deployment
    from airlock_shared.documents.transcript import Entry

FORMAT = "airlock/proof@1"
PROVED = "delegate-proved"
"""The transcript's event: ``ceremony``, ``step``, ``delegate`` (EIP-55), ``challenge`` (SHA-256 of the text signed, hex)."""

MAX_BYTES = 16 << 10
REGISTRATIONS = ("delegate", "delegate-set")
"""The actions that make a key a delegate."""

WAIVED = "waived"
_MEMBERS = {
    "format": str, "ceremony": str, "plan": str, "step": str, "deployment": str, "chain_id": int, "trader": str,
    "delegate": str, "signature": str,
}  # fmt: skip


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


class Proof(NamedTuple):
    """A proof as it was brought: the challenge that it claims to answer, and the signature; nothing is believed yet."""

    claimed: Challenge
    signature: bytes


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


def choose_step(plan: Plan, name: str | None) -> Step:
    """Return the plan's registration of this id, or its only one. Raises ``UsageError`` or ``PlanError("PLAN-STEP")``."""
    known = {step.id: step for step in registrations(plan)}
    if name is None and len(known) == 1:
        return next(iter(known.values()))
    if name is None:
        raise UsageError(
            "the plan registers several delegates" if known else "the plan registers no delegate",
            do=f"choose with --step, one of {list(known)}" if known else "check which plan this is",
        )
    if name not in known:
        raise PlanError("PLAN-STEP", "not a step that registers a delegate", got=name[:80], expected=str(list(known)))
    return known[name]


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


# ---- the document and what it must be ------------------------------------------------------------------------------


def write_proof(challenge: Challenge, signature: bytes) -> bytes:
    """Return the document of a proof, ``airlock/proof@1``."""
    return to_json({"format": FORMAT, **challenge._asdict(), "signature": "0x" + signature.hex()})


def parse_proof(data: bytes) -> Proof:
    """Read a proof. Raises ``DocumentError``, or ``Refusal("SIG-LENGTH")`` for a signature that is no hex."""
    value = parse_json(data, max_bytes=MAX_BYTES)
    if type(value) is not dict or value.get("format") != FORMAT:
        raise DocumentError("DOC-FORMAT", "not a proof of possession", expected=FORMAT, do="check which file this is")
    members: dict[str, Any] = dict(read_members(value, "proof", _MEMBERS))
    del members["format"]
    signature = read_signature(members.pop("signature"))
    return Proof(Challenge(**members), signature)


def read_signature(text: str) -> bytes:
    """Return the bytes of a signature in 0x-hex. Raises ``Refusal("SIG-LENGTH")`` for what is no such text."""
    digits = text.removeprefix("0x")
    if text[:2] != "0x" or len(digits) != 130 or not set(digits) <= set("0123456789abcdefABCDEF"):
        raise Refusal("SIG-LENGTH", "not a signature", got=f"{len(text)} characters", expected="0x and 130 hex digits")
    return bytes.fromhex(digits)


def check_claim(claimed: Challenge, expected: Challenge) -> None:
    """Refuse a proof that says itself that it was made for something else: ``PROOF-CHALLENGE`` naming what."""
    for name, got, wanted in zip(Challenge._fields, claimed, expected, strict=True):
        if got != wanted:
            error = Refusal(
                "PROOF-CHALLENGE", f"the proof is for another {name}", got=str(got)[:120], expected=str(wanted)
            )
            raise error.at(name)


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
    "nobody has shown that the delegate key is held", "An address registered by mistake, which somebody else may hold.",
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
        return Finding(None, "", expected, "", "proofs of possession are on record on the signing machine alone")
    challenge = challenge_of(claim.situation.plan, claim.situation.deployment, claim.step).sha256()
    if challenge in claim.challenges:
        return Finding(True, f"proved, challenge {challenge}", expected)
    return Finding(False, "no proof on this machine", expected, "delegate")
