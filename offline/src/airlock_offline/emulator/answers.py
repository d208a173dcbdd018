"""What the parts of the software Ledger tell each other: its settings, and what is to be shown and signed."""

from __future__ import annotations

from typing import NamedTuple

from airlock_offline.ledger.typed_data_screens import Review, ScreenField


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
