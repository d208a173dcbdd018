"""The document of proofs of possession, ``airlock/proofs@1``: each challenge with its answer, and what it claims of itself.

The same document, its signatures empty, is what delegate keys are asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from airlock_shared.errors import PlanError, Refusal, UsageError
from airlock_shared.plan.delegate_proofs import Challenge, registrations
from airlock_shared.plan.model import Plan, Step
from airlock_shared.wire.codec import parse_json, to_json
from airlock_shared.wire.members import format_of, other_format, read_list, read_members

FORMAT = "airlock/proofs@1"
PROOFS_AT_MOST = 1000
FILE = re.compile(r"proofs[a-z0-9-]{0,63}\.json", re.ASCII)
"""What a file of proofs is called in a led ceremony's folder."""
_MEMBERS = {
    "ceremony": str, "plan": str, "step": str, "deployment": str, "chain_id": int, "trader": str, "delegate": str,
    "text": str, "signature": str,
}  # fmt: skip


class Proof(NamedTuple):
    """A challenge as it was brought, its text, and the answer: ``0x`` and 130 hex digits, empty while nobody has signed.

    Nothing of it is believed yet.
    """

    claimed: Challenge
    text: str
    signature: str = ""


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


def write_proofs(signatures: Iterable[tuple[Challenge, str]]) -> bytes:
    """Return the document of challenges and their answers, ``airlock/proofs@1``."""
    proofs = [
        {**asked._asdict(), "text": asked.text().decode(), "signature": signature} for asked, signature in signatures
    ]
    return to_json({"format": FORMAT, "proofs": proofs})


def parse_proofs(data: bytes) -> list[Proof]:
    """Read proofs. Raises ``DocumentError``."""
    value = parse_json(data)
    if format_of(value) != FORMAT:
        do = "put the proofs of the delegate keys there: delegate proof, or delegate prove"
        raise other_format(format_of(value), FORMAT, "not proofs of possession", do)
    read_members(value, "proofs", {"format": str, "proofs": list})
    found = []
    for number, each in enumerate(read_list(value["proofs"], "proofs", PROOFS_AT_MOST)):
        members: dict[str, Any] = dict(read_members(each, f"proofs[{number}]", _MEMBERS))
        text, signature = members.pop("text"), members.pop("signature")
        found.append(Proof(Challenge(**members), text, signature))
    return found


def read_signature(text: str) -> bytes:
    """Return the bytes of a signature in 0x-hex. Raises ``Refusal("SIG-LENGTH")`` for what is no such text."""
    digits = text.removeprefix("0x")
    if text[:2] != "0x" or len(digits) != 130 or not set(digits) <= set("0123456789abcdefABCDEF"):
        raise Refusal("SIG-LENGTH", "not a signature", got=f"{len(text)} characters", expected="0x and 130 hex digits")
    return bytes.fromhex(digits)


def check_claim(proof: Proof, expected: Challenge) -> None:
    """Refuse a proof that says itself that it was made for something else: ``PROOF-CHALLENGE`` naming what."""
    wanted_of = {**expected._asdict(), "text": expected.text().decode()}
    for name, got in {**proof.claimed._asdict(), "text": proof.text}.items():
        wanted = wanted_of[name]
        if got != wanted:
            error = Refusal(
                "PROOF-CHALLENGE", f"the proof is for another {name}", got=str(got)[:120], expected=str(wanted)
            )
            raise error.at(name)
