"""SIG: a signature by the step's signer, over our own digest, in its one form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airlock_shared.checks.case import SIGNABLE, Case, Check
from airlock_shared.checks.descriptions import RAISED
from airlock_shared.errors import Refusal
from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.ethereum.recovery import recover

if TYPE_CHECKING:
    from airlock_shared.documents.signatures import Signed

SIG_IDS = ("SIG-LENGTH", "SIG-V", "SIG-RANGE", "SIG-LOW-S", "SIG-DIGEST", "SIG-SIGNER")
SIG_CHECKS = tuple(Check(name, SIGNABLE, lambda _: None, RAISED[name]) for name in SIG_IDS)
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
