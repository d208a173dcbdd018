"""A second opinion on digest and encoding, by other people's code, before a signature is asked of the device.

What is asked is written here as a document, and the answer compared; who gives it, and where it runs, is not decided here
(``ethereum.library_opinion``). It never replaces our own hashing: common libraries sign what must be refused. A
disagreement is a refusal, not a choice.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

from airlock_shared.checks.model import COPY, SIGNABLE, STOP, Case, Info, IntentCase, read_at_once
from airlock_shared.errors import Refusal
from airlock_shared.ethereum.signatures import checksum_address, recover
from airlock_shared.venue.structs import types_of

if TYPE_CHECKING:
    from airlock_shared.documents.signatures import Answer


ANSWER_BYTES = 64


def opinion_question(case: Case) -> dict[str, Any]:
    """Return what the second opinion is asked of an examined item, as JSON has it: types and values, not our hashes."""
    payload = case.request.payload
    if not isinstance(case, IntentCase):
        if case.request.transaction is None:
            return {"authorization": payload}
        from airlock_shared.ethereum.transactions import named_fields

        return {"transaction": named_fields(payload, case.request.transaction)}
    types = types_of(case.intent)
    return {
        "types": types,
        "primaryType": payload["primaryType"],
        "domain": payload["domain"],
        "message": payload["message"],
        "order": list(case.intent.abi_order) or [member["name"] for member in types[case.intent.name]],
    }


def compare_opinion(case: Case, answer: bytes) -> None:
    """Compare an answer of 64 bytes with an examined item.

    Its first 32 bytes are the digest, the others for an intent the SHA-256 of its ABI encoding, for a transaction the hash
    of its serialisation by another library. Raises ``Refusal`` with ``DIGEST-OPINION`` for another length, with
    ``DIGEST-DISAGREE`` or ``ENC-DISAGREE`` for an intent, ``TX-DISAGREE`` for a transaction.
    """
    if len(answer) != ANSWER_BYTES:
        raise no_opinion(f"{len(answer)} bytes")
    digest, other = answer[:32], answer[32:]
    if not isinstance(case, IntentCase):
        for library, found in (("eth-account", digest), ("rlp", other)):
            if found != case.digest:
                what = f"{library} computes another hash"
                raise Refusal("TX-DISAGREE", what, got=found.hex(), expected=case.digest.hex())
        return
    if digest != case.hashes.digest:
        what, expected = "eth-account computes another digest", case.hashes.digest.hex()
        raise Refusal("DIGEST-DISAGREE", what, got=digest.hex(), expected=expected)
    encoded = sha256(bytes.fromhex(case.request.payload["encodedIntent"][2:])).digest()
    if other != encoded:
        what = "eth-abi computes another encoding, as its SHA-256 shows"
        raise Refusal("ENC-DISAGREE", what, got=other.hex(), expected=encoded.hex())


def no_opinion(got: str) -> Refusal:
    """Return the refusal ``DIGEST-OPINION``: nobody else has said what the digest is."""
    return Refusal(
        "DIGEST-OPINION",
        "the second opinion on the digest is missing or malformed",
        got=got,
        expected=f"{ANSWER_BYTES} bytes",
        do="sign again; if it happens again, find out why before you sign on this machine",
    )


# ---- signature ------------------------------------------------------------------------------------------------------
# SIG: a signature by the step's signer, over our own digest, in its one form.


_SIG = {
    "SIG-LENGTH": Info("not 65 bytes", "A compact or damaged signature.", COPY),
    "SIG-V": Info("v is neither 27 nor 28", "A signature in another convention.", COPY),
    "SIG-RANGE": Info("r or s is not a number of the curve", "A made-up signature.", STOP),
    "SIG-LOW-S": Info("s is in the upper half", "A second valid form of the same signature.", STOP),
    "SIG-DIGEST": Info("signed over another digest", "A signature for something else.", STOP),
    "SIG-SIGNER": Info("signed by another key", "The wrong account, or a fault in the device.",
                       "Check the derivation path and that the right Ledger is plugged in."),
}  # fmt: skip
SIG_CHECKS = read_at_once(SIGNABLE, _SIG)
"""One look at the signature answers for all of them."""


def check_signature(case: Case, signed: Answer) -> None:
    """Refuse a signature that is not by the step's signer over our own digest. Raises ``Refusal`` of family ``SIG``."""
    digest = "0x" + case.digest.hex()
    if signed.digest != digest:
        raise Refusal("SIG-DIGEST", "signed over another digest", got=signed.digest, expected=digest)
    signer = recover(case.digest, bytes.fromhex(signed.signature[2:]))
    expected = checksum_address(case.step.signer.address)
    if signer != case.step.signer.address or signed.signer != expected:
        raise Refusal("SIG-SIGNER", "signed by another key", got=checksum_address(signer), expected=expected)
