"""How the software Ledger can be told to misbehave: each fault is a trap seen on the real app, or a thing people do."""

from __future__ import annotations

FAULTS = {
    "lock": "it is locked: every command is answered with 5515",
    "refuse": "the person rejects whatever is asked",
    "disconnect": "it is unplugged in the middle of signing",
    "wrong-account": "it derives another account than the one asked for",
    "wrong-seed": "it was set up with another seed",
    "wrong-hash": "it signs another hash than the one that it showed",
    "high-s": "it answers signatures in their malleable form",
    "empty-success": "it answers success with no data where a signature is due",
    "left-in-message": "typed data was left half-way before, after its first value",
    "left-in-definitions": "typed data was left half-way before, within its definitions",
    "wrong-app": "another app is open",
    "app-closed": "its home screen is open",
    "old-version": "the Ethereum app is 1.10.4",
}
