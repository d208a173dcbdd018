"""How a Ledger shows a personal message: a seal, or a proof that a key is held, and no item of a request.

Wording as recorded from the app (``tests/vectors/ledger``).
"""

from __future__ import annotations

from airlock_offline.ledger.models import Buttons, screen_of
from airlock_offline.ledger.screens import Page, Review, ScreenField, drawable, review_pages

MESSAGE_REVIEW = Review("Review message", "Sign message", "Sign message?", blind=False)


def message_fields(message: bytes, model: str) -> list[ScreenField]:
    """Return the field of a personal message, whole: its text, or lower-case hex when it is not printable ASCII."""
    is_text = all(0x20 <= byte <= 0x7E or byte in _SPACES for byte in message)
    text = message if is_text else b"0x" + message.hex().encode()
    if isinstance(screen_of(model).layout, Buttons):
        text = bytes(0x20 if byte in _SPACES else byte for byte in text)
    return [ScreenField("Message", drawable(text.decode("ascii")))]


def message_pages(message: bytes, model: str) -> list[Page]:
    """Return the pages for a personal message, up to the one that signs."""
    return review_pages(MESSAGE_REVIEW, message_fields(message, model), model)


_SPACES = b" \t\n\v\f\r"
