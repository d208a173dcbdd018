"""What this process must not say: every text on its way out comes by here, and a secret in it is left out.

Until it is submitted a signature is a secret, and a service may echo what it was sent, in any case, cut, or within something
longer. So a text is searched for every piece of ``PIECE`` characters of a secret, and what it stands in is left out whole.
"""

from __future__ import annotations

import re

PIECE = 16
LEFT_OUT = "[a secret of this machine]"
_RUN = re.compile(r"[0-9A-Za-z+/=_-]{16,}", re.ASCII)
_pieces: set[str] = set()


def keep_secret(text: str) -> None:
    """Let no later output of this process show a piece of a text. What is shorter than ``PIECE`` cannot be kept."""
    for run in _RUN.findall(text):
        _pieces.update(piece for piece in _cut(run.lower()) if len(set(piece) - {"x"}) > 1)  # zeros are no secret


def redact(text: str) -> str:
    """Return a text without what is secret in it."""
    return _RUN.sub(_checked, text) if _pieces else text


def _checked(found: re.Match[str]) -> str:
    run = found[0].lower()
    return LEFT_OUT if any(piece in _pieces for piece in _cut(run)) else found[0]


def _cut(run: str) -> list[str]:
    return [run[start : start + PIECE] for start in range(len(run) - PIECE + 1)]
