"""A second opinion on digest and encoding, by other people's code, before a signature is asked of the device.

What is asked is written here as a document, and the answer is compared. Who gives it is ``ethereum.library_opinion``; where
that runs is the caller's choice. It never replaces our own hashing: common libraries sign what must be refused. A
disagreement is a refusal, not a choice.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from airlock_shared.checks.model import Case, IntentCase
from airlock_shared.errors import Refusal
from airlock_shared.venue.structs import types_of

OPINION_BYTES = 64


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


def compare_opinion(case: Case, opinion: bytes) -> None:
    """Compare an opinion of 64 bytes with an examined item.

    Its first 32 bytes are the digest, the others for an intent the SHA-256 of its ABI encoding, for a transaction the hash
    of its serialisation by another library. Raises ``Refusal`` with ``DIGEST-OPINION`` for another length, with
    ``DIGEST-DISAGREE`` or ``ENC-DISAGREE`` for an intent, ``TX-DISAGREE`` for a transaction.
    """
    if len(opinion) != OPINION_BYTES:
        raise no_opinion(f"{len(opinion)} bytes")
    digest, other = opinion[:32], opinion[32:]
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
        expected=f"{OPINION_BYTES} bytes",
        do="sign again; if it happens again, find out why before you sign on this machine",
    )
