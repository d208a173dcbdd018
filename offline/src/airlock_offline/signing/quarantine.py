"""A signature that does not recover to the expected address over our own digest: recorded as such, and kept nowhere.

It proves that the device signed something else than what was shown here, or with another key. It may be valid for whatever
that was, so it is neither written to a file nor printed; the transcript says over which digest it was asked and whom it
recovered to.
"""

from __future__ import annotations

from airlock_offline.home import OfflineHome
from airlock_shared.checks.case import Case
from airlock_shared.checks.signature import check_signature
from airlock_shared.documents.signatures import Signed
from airlock_shared.errors import Refusal
from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.ethereum.recovery import recover

QUARANTINED = "signature-quarantined"
_DO = (
    "the signature is quarantined: it was not kept, and the transcript says so. Find out why before you sign again "
    "with this Ledger: check the account, the path, and the Ethereum app's version"
)


def recovered_by(digest: bytes, signature: bytes) -> str:
    """Return the address (EIP-55) that made a 65-byte signature over a digest, or why it is nobody's."""
    try:
        return checksum_address(recover(digest, signature))
    except Refusal as refusal:
        return f"no key: {refusal.check}"


def require_signature(case: Case, signed: Signed, state: OfflineHome, at_ms: int) -> None:
    """Check a case's signature over our own digest; one that fails is quarantined.

    Raises ``Refusal`` of family ``SIG``, after the transcript has recorded it.
    """
    try:
        check_signature(case, signed)
    except Refusal as refusal:
        signature = bytes.fromhex(signed.signature[2:])
        data = {
            "step": case.request.step,
            "check": refusal.check,
            "digest": "0x" + case.digest.hex(),
            "recovered": recovered_by(case.digest, signature),
            "expected": checksum_address(case.step.signer.address),
        }
        state.transcript.record(QUARANTINED, data, at_ms)
        refusal.do = _DO
        raise
