"""What this process must not say: every text to the screen, transcript or journal has its secrets left out here.

Until it is submitted a signature is a secret, and a service may echo what it was sent, in any case, cut, or within something
longer. So a text is searched for every piece of ``PIECE`` characters of a secret, and what it stands in is left out whole;
so is what has such a piece, or its bytes, in base64 (RFC 4648, both alphabets), wherever the secret begins in it.
"""

from __future__ import annotations

import re
from binascii import a2b_base64
from collections.abc import Iterator
from typing import Any

from airlock_shared.cli import terminal

PIECE = 16
LEFT_OUT = "[a secret of this machine]"
_RUN = re.compile(r"[0-9A-Za-z+/=_-]{16,}", re.ASCII)
_HEX = re.compile(r"(?:0[xX])?[0-9A-Fa-f]+", re.ASCII)
_URL_SAFE = str.maketrans("-_", "+/")
_GROUP = 4  # characters of base64 that stand for three bytes
_pieces: set[str] = set()


def keep_secret(text: str) -> None:
    """Let no later output of this process show a piece of a text. What is shorter than ``PIECE`` cannot be kept."""
    terminal.without_secrets, terminal.document_without_secrets = redact, redact_document
    for run in _RUN.findall(text):
        _pieces.update(piece for piece in _cut(run.lower()) if len(set(piece) - {"x"}) > 1)  # zeros are no secret


def redact(text: str) -> str:
    """Return a text without what is secret in it."""
    return _RUN.sub(_checked, text) if _pieces else text


def redact_document(value: Any) -> Any:
    """Return a value of JSON without what is secret in it. Of a number that has a piece of it, the rest becomes a text."""
    if isinstance(value, dict):
        return {redact(str(name)): redact_document(member) for name, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [redact_document(member) for member in value]
    if value is None or isinstance(value, bool):
        return value
    text = redact(str(value))
    return value if text == str(value) else text


def _checked(found: re.Match[str]) -> str:
    run = found[0]
    readings = (run, *(() if _HEX.fullmatch(run) else _decoded(run)))
    return LEFT_OUT if any(piece in _pieces for text in readings for piece in _cut(text.lower())) else run


def _decoded(run: str) -> Iterator[str]:
    """Yield what a run says in base64, from each place in which a group may begin: as hexadecimal, and as a text."""
    for part in run.translate(_URL_SAFE).split("="):
        for start in range(min(_GROUP, len(part))):
            data = a2b_base64(part[start:] + "A" * (-len(part[start:]) % _GROUP))
            yield data.hex()
            yield data.decode("latin-1")


def _cut(run: str) -> list[str]:
    return [run[start : start + PIECE] for start in range(len(run) - PIECE + 1)]
