"""A transcript sealed by the signer's Ledger: its head signed as a personal message, and recorded as its next entry.

Who changes a sealed transcript has to find another chain with the same head, or the signer's key. The text that is signed
can be read whole on the device. Source: EIP-191, version 0x45; DESIGN section 7.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from airlock_shared.documents.transcript import GENESIS, Entry
from airlock_shared.errors import DocumentError, Refusal
from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.ethereum.recovery import personal_digest, recover
from airlock_shared.plan.model import Plan

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

    def as_data(self, address: bytes, rsv: bytes) -> dict[str, Any]:
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
        raise DocumentError("DOC-SEAL", "the transcript is not sealed by a signer of the plan", got=by,
                            expected=", ".join(sorted(signers)))  # fmt: skip
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
