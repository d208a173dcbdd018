"""What the Ledger signs of a ceremony itself: the transcript's seal, and the proof that a delegate's key is held."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from airlock_shared.documents.transcript import GENESIS, Entry
from airlock_shared.errors import DocumentError, PlanError, Refusal, UsageError
from airlock_shared.ethereum.signatures import checksum_address, personal_digest, recover
from airlock_shared.plan.delegate_proofs import Challenge, registrations
from airlock_shared.plan.model import Plan, Step
from airlock_shared.wire.strict_json import (
    JsonObject,
    parse_json,
    read_list,
    read_members,
    require_format,
    to_json,
)

# ---- seals ----------------------------------------------------------------------------------------------------------
# A transcript sealed by the signer's Ledger: its head signed as a personal message, and recorded as its next entry.
# Who changes a sealed transcript has to find another chain with the same head, or the signer's key. The text that is
# signed can be read whole on the device. Source: EIP-191, version 0x45.


SEALED = "sealed"
VOID = "seal-void"
"""A seal that is none: other entries were recorded while it was made. It was never recorded as a seal."""
_MEMBERS = {"ceremony": str, "entries": int, "head": str, "address": str, "signature": str}


class Seal(NamedTuple):
    """What is sealed: the ceremony's id, how many entries there are, and the hash of the last one (64 hex digits)."""

    ceremony: str
    entries: int
    head: str

    def text(self) -> bytes:
        """Return the message that the Ledger shows and signs."""
        return f"Airlock transcript of {self.ceremony}, {self.entries} entries, head {self.head}".encode()

    def digest(self) -> bytes:
        """Return the hash that is signed (EIP-191)."""
        return personal_digest(self.text())

    def as_data(self, address: bytes, rsv: bytes) -> JsonObject:
        """Return the seal as the transcript records it."""
        return {**self._asdict(), "address": checksum_address(address), "signature": "0x" + rsv.hex()}


class Sealed(NamedTuple):
    """A seal that holds: who made it (EIP-55), and when it was recorded."""

    seal: Seal
    by: str
    at_ms: int


def seal_of(entries: list[Entry], ceremony: str) -> Seal:
    """Return the seal for a transcript as it stands."""
    return Seal(ceremony, len(entries), entries[-1].hash if entries else GENESIS)


def check_seals(entries: Iterable[Entry]) -> list[Sealed]:
    """Return the seals of a transcript whose chain holds, oldest first.

    Raises ``DocumentError("DOC-SEAL")`` naming the first that is not over the entries before it, or not by its address.
    """
    whole = list(entries)
    heads = [GENESIS, *(entry.hash for entry in whole)]  # heads[n] is the head of n entries
    return [_checked(entry, heads[entry.seq]) for entry in whole if entry.event == SEALED]


def signer_of(by: str, plan: Plan) -> str:
    """Return the plan's name of who sealed. Raises ``DocumentError("DOC-SEAL")`` for anybody else."""
    signers = {checksum_address(signer.address): signer.name for signer in plan.signers.values()}
    if by not in signers:
        raise DocumentError(
            "DOC-SEAL",
            "the transcript is not sealed by a signer of the plan",
            got=by,
            expected=", ".join(sorted(signers)),
        )
    return signers[by]


def _checked(entry: Entry, head: str) -> Sealed:
    data = entry.data
    if set(data) != set(_MEMBERS) or not all(type(data[name]) is kind for name, kind in _MEMBERS.items()):
        raise _wrong(entry, "its members are not those of a seal", "", ", ".join(_MEMBERS))
    seal = Seal(data["ceremony"], data["entries"], data["head"])
    if (seal.entries, seal.head) != (entry.seq, head):
        got, expected = f"{seal.entries} entries, head {seal.head}", f"{entry.seq} entries, head {head}"
        raise _wrong(entry, "it does not seal the entries before it", got, expected)
    try:
        by = checksum_address(recover(seal.digest(), bytes.fromhex(data["signature"].removeprefix("0x"))))
    except (Refusal, ValueError) as error:
        raise _wrong(entry, "its signature belongs to no key", str(error), "65 bytes r, s, v") from error
    if by != data["address"]:
        raise _wrong(entry, "another key made its signature", by, data["address"])
    return Sealed(seal, by, entry.at_ms)


def _wrong(entry: Entry, why: str, got: str, expected: str) -> DocumentError:
    return DocumentError("DOC-SEAL", f"the seal at entry {entry.seq} is wrong: {why}", got=got, expected=expected)


# ---- proofs ---------------------------------------------------------------------------------------------------------
# The document of proofs of possession, ``airlock/proofs@1``: each challenge with its answer, and what it claims of
# itself. The same document, its signatures empty, is what delegate keys are asked.


PROOFS_FORMAT = "airlock/proofs@1"
PROOFS_AT_MOST = 1000
_SIGNATURE = re.compile(r"0x[0-9a-fA-F]{130}", re.ASCII)
_PROOFS_MEMBERS = {
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
        raise PlanError("PLAN-STEP", "not a step that registers a delegate", got=name[:80], expected=list(known))
    return known[name]


def write_proofs(signatures: Iterable[tuple[Challenge, str]]) -> bytes:
    """Return the document of challenges and their answers, ``airlock/proofs@1``."""
    proofs = [
        {**asked._asdict(), "text": asked.text().decode(), "signature": signature} for asked, signature in signatures
    ]
    return to_json({"format": PROOFS_FORMAT, "proofs": proofs})


def parse_proofs(data: bytes) -> list[Proof]:
    """Read proofs. Raises ``DocumentError``."""
    value = parse_json(data)
    do = "put the proofs of the delegate keys there: delegate proof, or delegate prove"
    require_format(value, PROOFS_FORMAT, "not proofs of possession", do)
    read_members(value, "proofs", {"format": str, "proofs": list})
    found: list[Proof] = []
    for number, each in enumerate(read_list(value["proofs"], "proofs", PROOFS_AT_MOST)):
        members: JsonObject = dict(read_members(each, f"proofs[{number}]", _PROOFS_MEMBERS))
        text, signature = members.pop("text"), members.pop("signature")
        found.append(Proof(Challenge(**members), text, signature))
    if not found:
        raise DocumentError("DOC-FIELD", "there is no proof in it", where="proofs", do="ask for the proofs again")
    return found


def read_seal(text: str) -> bytes:
    """Return the bytes of a signature in 0x-hex. Raises ``Refusal("SIG-LENGTH")`` for what is no such text."""
    if not _SIGNATURE.fullmatch(text):
        do = "have the delegate key sign its challenge, and write the signature there as the wallet gives it"
        got = f"{len(text)} characters"
        raise Refusal("SIG-LENGTH", "not a signature", got=got, expected="0x and 130 hex digits", do=do)
    return bytes.fromhex(text[2:])


def check_claim(proof: Proof, expected: Challenge) -> None:
    """Refuse a proof that says itself that it was made for something else: ``PROOF-CHALLENGE`` naming what."""
    wanted_of = {**expected._asdict(), "text": expected.text().decode()}
    for name, got in {**proof.claimed._asdict(), "text": proof.text}.items():
        wanted = wanted_of[name]
        if got != wanted:
            error = Refusal("PROOF-CHALLENGE", f"the proof is for another {name}", got=str(got)[:120], expected=wanted)
            raise error.at(name)


def check_possession(challenge: Challenge, signature: bytes) -> None:
    """Refuse a signature that the challenge's delegate key did not make over this very challenge.

    Raises ``Refusal`` with ``PROOF-SIGNER``, or of family ``SIG`` for another form than 65 bytes, low s, v 27 or 28.
    """
    found = checksum_address(recover(challenge.digest(), signature))
    if found != challenge.delegate:
        raise Refusal(
            "PROOF-SIGNER",
            "another key signed this challenge, or the delegate key signed another text",
            got=found,
            expected=challenge.delegate,
        )
