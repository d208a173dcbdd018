"""What the parts of the software Ledger say to each other: its settings, a status word, or what is to be signed."""

from __future__ import annotations

from typing import NamedTuple

from airlock_offline.ledger.typed_data_screens import Review, ScreenField

OK = 0x9000
UNSPECIFIED = 0x6A00
BAD_DATA = 0x6A80
PATH = 0x6A15
TRANSACTION_TYPE = 0x6501
ORDER = 0x6980
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
