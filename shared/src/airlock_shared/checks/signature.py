"""SIG: a signature by the step's signer, over our own digest, in its one form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airlock_shared.checks.case import COPY, SIGNABLE, STOP, Case, Info, read_at_once
from airlock_shared.errors import Refusal
from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.ethereum.recovery import recover

if TYPE_CHECKING:
    from airlock_shared.documents.signatures import Signed

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


def check_signature(case: Case, signed: Signed) -> None:
    """Refuse a signature that is not by the step's signer over our own digest. Raises ``Refusal`` of family ``SIG``."""
    digest = "0x" + case.digest.hex()
    if signed.digest != digest:
        raise Refusal("SIG-DIGEST", "signed over another digest", got=signed.digest, expected=digest)
    signer = recover(case.digest, bytes.fromhex(signed.signature[2:]))
    expected = checksum_address(case.step.signer.address)
    if signer != case.step.signer.address or signed.signer != expected:
        raise Refusal("SIG-SIGNER", "signed by another key", got=checksum_address(signer), expected=expected)
