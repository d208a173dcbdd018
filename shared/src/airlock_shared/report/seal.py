"""The seals of a transcript, read again: who signed which head over how many entries.

The text is the one that ``airlock-offline transcript seal`` shows on the Ledger. Source: EIP-191, version 0x45.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from airlock_shared.addresses import checksum_address
from airlock_shared.errors import DocumentError, Refusal
from airlock_shared.plan import Plan
from airlock_shared.shape import read_members
from airlock_shared.signature import personal_digest, recover
from airlock_shared.transcript import GENESIS, Entry

SEALED = "sealed"
_MEMBERS = {"ceremony": str, "entries": int, "head": str, "address": str, "signature": str}


class Seal(NamedTuple):
    """A seal that holds: over how many entries, with which head, by whom (EIP-55 and the plan's name), and when."""

    entries: int
    head: str
    by: str
    signer: str
    at_ms: int


def seals_of(entries: Sequence[Entry], plan: Plan) -> list[Seal]:
    """Return the seals that were made for the plan's ceremony, oldest first.

    Raises ``DocumentError("DOC-SEAL")`` when one is not over the entries before it, is nobody's, or is not by a signer of
    the plan.
    """
    signers = {checksum_address(signer.address): signer.name for signer in plan.signers.values()}
    return [_read(entry, entries, signers) for entry in entries if _is_for(entry, plan.id)]


def _is_for(entry: Entry, ceremony: str) -> bool:
    return entry.event == SEALED and entry.data.get("ceremony") == ceremony


def _read(entry: Entry, entries: Sequence[Entry], signers: dict[str, str]) -> Seal:
    data = read_members(entry.data, f"entry {entry.seq}", _MEMBERS)
    before = entries[entry.seq - 1].hash if entry.seq else GENESIS
    if (data["entries"], data["head"]) != (entry.seq, before):
        raise _wrong(entry, "it is over other entries than those before it", data["head"], before)
    text = f"Airlock transcript of {data['ceremony']}, {data['entries']} entries, head {data['head']}".encode()
    try:
        by = checksum_address(recover(personal_digest(text), bytes.fromhex(data["signature"].removeprefix("0x"))))
    except (Refusal, ValueError) as error:
        raise _wrong(entry, "its signature is nobody's", str(error), "65 bytes r, s, v") from error
    if by != data["address"]:
        raise _wrong(entry, "another key made its signature", by, data["address"])
    if by not in signers:
        raise _wrong(entry, "it is not by a signer of the plan", by, ", ".join(sorted(signers)))
    return Seal(entry.seq, before, by, signers[by], entry.at_ms)


def _wrong(entry: Entry, why: str, got: str, expected: str) -> DocumentError:
    return DocumentError("DOC-SEAL", f"the seal at entry {entry.seq} is wrong: {why}", got=got, expected=expected)
