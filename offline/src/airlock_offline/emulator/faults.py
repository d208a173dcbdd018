"""How the software Ledger can be told to misbehave: each fault is a trap seen on the real app, or a thing people do."""

from __future__ import annotations

FAULTS = {
    "lock": "it is locked: every command is answered with 5515",
    "refuse": "the person rejects every request",
    "disconnect": "it is unplugged in the middle of signing",
    "wrong-account": "it derives the wrong account",
    "wrong-seed": "it was set up with another seed",
    "wrong-hash": "it signs a hash that it did not show",
    "high-s": "it answers signatures in their malleable form",
    "empty-success": "it answers success without a signature",
    "left-in-message": "an earlier typed-data request stopped after its first value",
    "left-in-definitions": "an earlier typed-data request stopped within its definitions",
    "wrong-app": "another app is open",
    "app-closed": "its home screen is open",
    "old-version": "the Ethereum app is 1.10.4",
}
