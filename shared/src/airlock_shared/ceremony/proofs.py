"""The document of a proof of possession, ``airlock/proof@1``, and what it claims of itself."""

from __future__ import annotations

from typing import Any, NamedTuple

from airlock_shared.errors import PlanError, Refusal, UsageError
from airlock_shared.plan.delegate_proofs import Challenge, registrations
from airlock_shared.plan.model import Plan, Step
from airlock_shared.wire.codec import parse_json, to_json
from airlock_shared.wire.members import format_of, other_format, read_members

FORMAT = "airlock/proof@1"
MAX_BYTES = 16 << 10
_MEMBERS = {
    "format": str, "ceremony": str, "plan": str, "step": str, "deployment": str, "chain_id": int, "trader": str,
    "delegate": str, "signature": str,
}  # fmt: skip


class Proof(NamedTuple):
    """A proof as it was brought: the challenge that it claims to answer, and the signature; nothing is believed yet."""

    claimed: Challenge
    signature: bytes


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


def write_proof(challenge: Challenge, signature: bytes) -> bytes:
    """Return the document of a proof, ``airlock/proof@1``."""
    return to_json({"format": FORMAT, **challenge._asdict(), "signature": "0x" + signature.hex()})


def parse_proof(data: bytes) -> Proof:
    """Read a proof. Raises ``DocumentError``, or ``Refusal("SIG-LENGTH")`` for a signature that is no hex."""
    value = parse_json(data, max_bytes=MAX_BYTES)
    if format_of(value) != FORMAT:
        do = "put the proof of this delegate key there: delegate proof, or delegate prove"
        raise other_format(format_of(value), FORMAT, "not a proof of possession", do)
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
