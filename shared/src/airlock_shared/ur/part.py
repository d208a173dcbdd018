"""One frame's text: ``ur:TYPE/PAYLOAD`` or ``ur:TYPE/NUMBER-LENGTH/PAYLOAD`` (BCR-2020-005), its form alone."""

from __future__ import annotations

import re
from typing import NamedTuple

from airlock_shared.ur.bytewords import Style, decode, encode
from airlock_shared.wire.codec import damaged

MAX_TEXT = 4296  # ISO/IEC 18004, table 7: the most characters of the alphanumeric mode that a QR code holds (40-L)
SCHEME = "ur:"

_FORM = re.compile(
    r"ur:(?P<type>[a-z0-9-]{1,64})/(?:(?P<num>[1-9][0-9]{0,9})-(?P<len>[1-9][0-9]{0,9})/)?(?P<payload>[a-z]+)",
    re.ASCII,
)
_MOST = (1 << 32) - 1  # both numbers are 32 bits wide in the part itself


class Part(NamedTuple):
    """A frame's text, read: ``seq_num`` and ``seq_len`` are ``None`` when it carries a whole message."""

    type: str
    seq_num: int | None
    seq_len: int | None
    payload: bytes


def is_ur(text: str) -> bool:
    """Tell whether a text of some QR code says that it is a Uniform Resource."""
    return text[: len(SCHEME)].lower() == SCHEME


def parse_part(text: str) -> Part:
    """Return what a frame's text says, in upper or lower case; its checksum has been compared.

    ``seq_num`` above ``seq_len`` is as it should be: such a part mixes several fragments.

    Raises ``DocumentError`` with ``QR-FORM``, ``QR-CRC``, or ``QR-LIMIT`` for a text that no QR code can hold.
    """
    if len(text) > MAX_TEXT:
        raise damaged("QR-LIMIT", "a text longer than a QR code", got=f"{len(text)}", expected=f"<= {MAX_TEXT}")
    found = _FORM.fullmatch(text.lower()) if text.isascii() else None
    if found is None:
        raise damaged("QR-FORM", "not a ur:… text", do="check which code is before the camera")
    if found["num"] is None:
        return Part(found["type"], None, None, decode(found["payload"], Style.MINIMAL))
    seq_num, seq_len = int(found["num"]), int(found["len"])
    if max(seq_num, seq_len) > _MOST:
        raise damaged("QR-LIMIT", "a part's numbers are too large", got=f"{seq_num}-{seq_len}", expected=f"<= {_MOST}")
    return Part(found["type"], seq_num, seq_len, decode(found["payload"], Style.MINIMAL))


def part_text(part: Part) -> str:
    """Return the text of a frame, in lower case."""
    numbers = f"{part.seq_num}-{part.seq_len}/" if part.seq_num is not None else ""
    return f"{SCHEME}{part.type}/{numbers}{encode(part.payload, Style.MINIMAL)}"
