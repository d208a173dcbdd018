"""What the parts of the software Ledger share: its settings, its faults, and what is to be shown and signed."""

from __future__ import annotations

from typing import NamedTuple

from airlock_offline.ledger.screens import Review, ScreenField


class AppSettings(NamedTuple):
    """The app's settings, by default as we advise: Raw messages on, Blind signing off."""

    raw_messages: bool = True
    blind_signing: bool = False
    smart_accounts: bool = False


class SigningRequest(NamedTuple):
    """What is shown and, once approved, signed: the key's path, the 32-byte hash, the lower value of v, the pages."""

    path: tuple[int, ...]
    digest: bytes
    first_v: int
    review: Review
    fields: list[ScreenField]


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
"""How it can be told to misbehave: each fault is a trap seen on the real app, or a thing people do."""

# ---- status words ---------------------------------------------------------------------------------------------------
# The status words with which the software Ledger ends a command, and the exception that carries one.


OK = 0x9000
UNSPECIFIED = 0x6A00
BAD_DATA = 0x6A80
PATH = 0x6A15
TRANSACTION_TYPE = 0x6501
ORDER = 0x6980
MISSING = 0x6A88
REFUSED = 0x6985
PARAMETERS = 0x6B00
INSTRUCTION = 0x6D00
CLASS = 0x6E00
LOCKED = 0x5515


class Failed(Exception):
    """The command ends with a status word other than 9000. Never leaves the software Ledger."""

    def __init__(self, sw: int) -> None:
        super().__init__(f"{sw:04x}")
        self.sw = sw


def fail_if(refused: object, sw: int = BAD_DATA) -> None:
    """End the command with a status word where the app refuses. Raises ``Failed``."""
    if refused:
        raise Failed(sw)
