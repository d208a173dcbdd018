"""What the process that reads pictures says: records of a kind, a length and a value. It is read as hostile.

A record is one byte, its kind; four bytes, a length; and so much JSON in UTF-8. ``T`` has a picture's texts, ``S`` a remark,
``E`` the error that it ended with; ``.`` is the end.
"""

from __future__ import annotations

import json
from typing import Any

from airlock_shared.errors import AirlockError, DocumentError, UsageError
from airlock_shared.wire.codec import parse_json

TEXTS, REMARK, ERROR, END = b"T", b"S", b"E", b"."
MAX_BYTES = 1 << 20
MAX_TEXTS, MAX_LENGTH = 256, 8192  # codes in a picture; the longest code has 7,089 digits (ISO/IEC 18004)
CHECKS = ("QR-IMAGE", "QR-LIMIT", "DOC-LINK", "DOC-FILE", "DOC-SIZE")  # what a picture may be refused with


def record(kind: bytes, value: Any = None) -> bytes:
    """Return a record."""
    data = json.dumps(value).encode()
    return kind + len(data).to_bytes(4, "big") + data


def error_value(error: AirlockError) -> dict[str, str]:
    """Return an error as the value of a record."""
    found = error.as_json()
    return {name: str(found.get(name, "")) for name in ("check", "what", "got", "expected", "do")}


def read_texts(data: bytes) -> list[str]:
    """Return a picture's texts. Raises ``DocumentError("QR-IMAGE")``."""
    value = _value(data)
    if not isinstance(value, list) or len(value) > MAX_TEXTS or not all(_is_text(text) for text in value):
        raise broken("texts that are not texts")
    return value


def read_remark(data: bytes) -> str:
    """Return a remark. Raises ``DocumentError("QR-IMAGE")``."""
    value = _value(data)
    if not _is_text(value):
        raise broken("a remark that is not a text")
    return str(value)


def read_error(data: bytes) -> AirlockError:
    """Return an error: a refusal that a picture may have, a wrong use, or that the process is broken."""
    value = _value(data)
    if not isinstance(value, dict) or not all(_is_text(value.get(name)) for name in error_value(AirlockError(""))):
        return broken("an error that is malformed")
    if not value["check"]:
        return UsageError(value["what"], do=value["do"])
    if value["check"] not in CHECKS:
        return broken("an error that reading a picture cannot give")
    return DocumentError(value["check"], value["what"], got=value["got"], expected=value["expected"], do=value["do"])


def broken(got: str) -> DocumentError:
    """Return the refusal of a process that does not say what it should."""
    do = "take the pictures again; if it happens again, bring the document by file"
    return DocumentError("QR-IMAGE", "the process that reads pictures failed", got=got, expected="texts", do=do)


def _value(data: bytes) -> Any:
    try:
        return parse_json(data, max_bytes=MAX_BYTES, max_depth=2)
    except DocumentError as error:
        raise broken(error.what) from error


def _is_text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= MAX_LENGTH
