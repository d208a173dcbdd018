"""One step's good document, its signature, and what it takes to make a bad one of it."""

from __future__ import annotations

import copy
import random
from typing import Any, NamedTuple

from airlock_rehearsal.chain.deploy import Sender
from airlock_rehearsal.chain.venue import ChainVenue
from airlock_shared.documents.signatures import Answer
from airlock_software_ledger.keys import sign
from online.chain.ground import TREASURY_SENDER, Ground, document, signer_of
from shared.make_payloads import seal

SEED = 31337

Payload = dict[str, Any]


class Altered(NamedTuple):
    """One alteration: the document and the signature that the gate is shown; the contract gets ``encodedIntent``."""

    kind: str
    what: str
    document: dict[str, Any]
    signature: bytes
    signed: Answer

    @property
    def payload(self) -> Payload:
        payload: Payload = self.document["requests"][0]["payload"]
        return payload

    @property
    def intent(self) -> bytes:
        return bytes.fromhex(self.payload["encodedIntent"][2:])


class Bench:
    """One step's good document, its digest and signature, from which the bad ones are made."""

    def __init__(self, venue: ChainVenue, step: str) -> None:
        self.step = step
        self.venue = venue
        self.good = document(venue, step)
        self.payload: Payload = self.good["requests"][0]["payload"]
        self.struct: str = self.payload["primaryType"]
        self.signer = signer_of(step)
        self.signature = signature_by(self.signer, self.payload)
        self.pick = random.Random(f"{SEED} {step}")

    def document(self) -> tuple[dict[str, Any], Payload]:
        """Return a copy of the good document, and its payload."""
        made = copy.deepcopy(self.good)
        return made, made["requests"][0]["payload"]

    def altered(
        self,
        kind: str,
        what: str,
        *,
        made: dict[str, Any] | None = None,
        signature: bytes | None = None,
        digest: str = "",
        signer: Sender | None = None,
    ) -> Altered:
        """Return an alteration; what is not given is as in the good document."""
        made, signature = made or self.good, self.signature if signature is None else signature
        address = (signer or self.signer).address
        text = "0x" + signature.hex()
        signed = Answer(self.step, "signed", "", digest or self.payload["digest"], text, address, "fields", "1.22.0")
        return Altered(kind, what, made, signature, signed)

    def resigned(self, kind: str, what: str, made: dict[str, Any], signer: Sender | None = None) -> Altered:
        """Return an alteration whose payload was sealed and signed after it was altered."""
        payload = made["requests"][0]["payload"]
        signer = signer or self.signer
        signature = signature_by(signer, payload)
        return self.altered(kind, what, made=made, signature=signature, digest=payload["digest"], signer=signer)


def signature_by(signer: Sender, payload: Payload, *, high_s: bool = False) -> bytes:
    """Return the 65 bytes by which a key signs a payload's digest."""
    parity, rs = sign(signer.key, bytes.fromhex(payload["digest"][2:]), high_s=high_s)
    return rs + bytes([27 + parity])


def intent_of(ground: Ground, step: str, **message: object) -> tuple[str, bytes, bytes]:
    """Return a step's struct, its encoding and signature, with other members of its message."""
    made = document(ground.venue, step)
    payload = made["requests"][0]["payload"]
    payload["message"] |= {name: str(value) for name, value in message.items()}
    seal(payload)
    signature = signature_by(TREASURY_SENDER, payload)
    return payload["primaryType"], bytes.fromhex(payload["encodedIntent"][2:]), signature
