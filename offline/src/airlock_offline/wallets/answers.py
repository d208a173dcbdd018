"""The answer that a hot wallet waits for: the signature over what it asked, in the form that it takes."""

from __future__ import annotations

import uuid

from airlock_offline.wallets.pending import WalletRequest
from airlock_shared.documents.signatures import SignaturesHeader, Signed
from airlock_shared.errors import Refusal, UsageError
from airlock_shared.ethereum.recovery import recover
from airlock_shared.ur.eth import DataType, Signature

ORIGIN = "Airlock"


def answer_of(asked: WalletRequest, header: SignaturesHeader, signed: list[Signed]) -> Signature:
    """Return the signature as the wallet takes it: v is the parity for a transaction, 27 or 28 for typed data.

    Raises ``Refusal``: ``PLAN-STEPS``, ``SIG-DIGEST``, ``SIG-SIGNER`` when the document does not answer what was asked;
    ``UsageError`` when the step was not signed.
    """
    if [item.step for item in signed] != [asked.step]:
        got = ", ".join(item.step for item in signed)
        raise Refusal("PLAN-STEPS", "the steps are not those of the request", got=got[:200], expected=asked.step)
    item = signed[0]
    if item.result != "signed":
        what = f"step {item.step} of {header.ceremony} was not signed: {item.result}"
        raise UsageError(what, do="decline the request in the wallet; there is no signature to show")
    if item.digest != asked.digest:
        raise Refusal("SIG-DIGEST", "not signed over the digest of the request", got=item.digest, expected=asked.digest)
    rsv = bytes.fromhex(item.signature[2:])
    signer = "0x" + recover(bytes.fromhex(asked.digest[2:]), rsv).hex()
    if signer != asked.signer.lower():
        raise Refusal("SIG-SIGNER", "not signed by the key of the request", got=signer, expected=asked.signer)
    by_parity = asked.data_type == DataType.TYPED_TRANSACTION
    v = rsv[64] - 27 if by_parity else rsv[64]
    request_id = uuid.UUID(asked.request_id) if asked.request_id else None
    return Signature(rsv[:64] + bytes([v]), request_id, ORIGIN)
