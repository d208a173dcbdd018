"""Signatures over a digest: their one accepted form, and who made them.

65 bytes ``r || s || v``, v 27 or 28, s in the lower half of the curve's order. Sources: the builder's specification, rule
3 of "Signable intent payload"; EIP-2 for the lower half.
"""

from __future__ import annotations

from airlock_shared.errors import Refusal
from airlock_shared.ethereum.keccak import keccak256

_PERSONAL = b"\x19Ethereum Signed Message:\n"  # EIP-191, version 0x45 (E)
CURVE_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141  # SEC 2, secp256k1


def personal_digest(text: bytes) -> bytes:
    """Return the 32-byte hash of a personal message (EIP-191, version 0x45): what a wallet's ``personal_sign`` signs."""
    return keccak256(_PERSONAL + str(len(text)).encode() + text)


def check_form(signature: bytes) -> None:
    """Refuse a signature that is not in its one form: ``SIG-LENGTH``, ``SIG-V``, ``SIG-RANGE`` or ``SIG-LOW-S``."""
    if len(signature) != 65:
        raise Refusal("SIG-LENGTH", "not a 65-byte signature", got=f"{len(signature)} bytes", expected="65 bytes")
    if signature[64] not in (27, 28):
        raise Refusal("SIG-V", "v is neither 27 nor 28", got=str(signature[64]), expected="27 or 28")
    r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:64], "big")
    if not (0 < r < CURVE_ORDER and 0 < s < CURVE_ORDER):
        raise Refusal("SIG-RANGE", "r or s is not a number of the curve", expected="1 to the curve's order - 1")
    if s > CURVE_ORDER // 2:
        raise Refusal("SIG-LOW-S", "s is in the upper half: a second valid form of another signature")


def recover(digest: bytes, signature: bytes) -> bytes:
    """Return the 20-byte address whose key signed the 32-byte digest.

    Raises ``Refusal`` as :func:`check_form`, or ``SIG-SIGNER`` when no key at all could have made the signature.
    """
    from coincurve import PublicKey

    check_form(signature)
    try:
        key = PublicKey.from_signature_and_message(signature[:64] + bytes([signature[64] - 27]), digest, hasher=None)
    except ValueError as error:
        raise Refusal("SIG-SIGNER", "no key could have made this signature over this digest") from error
    return keccak256(key.format(compressed=False)[1:])[12:]
