"""The form of a signature in DER: what a Ledger is told carries one of Ledger's, which the device judges."""

from __future__ import annotations


def is_signature(der: bytes) -> bool:
    """Tell whether these bytes are two integers of 1 to 33 bytes in a DER sequence, and nothing after it."""
    if len(der) < 8 or der[0] != 0x30 or der[1] != len(der) - 2:
        return False
    at = 2
    for _ in range(2):
        if len(der) < at + 2 or der[at] != 0x02 or not 1 <= der[at + 1] <= 33:
            return False
        at += 2 + der[at + 1]
    return at == len(der)
