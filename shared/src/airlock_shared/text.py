"""Untrusted text made safe for a screen: what is shown is what is there, and nothing in it acts on the terminal."""

from __future__ import annotations

import unicodedata

_SHOWN = {"L", "N", "P", "S"}  # letters, numbers, punctuation, symbols: Unicode general categories, first letter


def safe(text: str, *, limit: int = 2000) -> str:
    r"""Return text in which every character is visible and harmless, cut with its length named when over ``limit``.

    Control characters, ANSI and OSC sequences, directional marks, zero-width and combining characters, tags and line
    breaks become ``\u{…}``; a backslash becomes ``\\``, so that nothing can pretend to be an escape.
    """
    shown = "".join([_visible(character) for character in text[:limit]])
    return shown if len(text) <= limit else f"{shown} … [{len(text)} characters, {len(text) - limit} not shown]"


def _visible(character: str) -> str:
    if character == "\\":
        return "\\\\"
    if " " <= character <= "~":
        return character
    if character > "~" and unicodedata.category(character)[0] in _SHOWN and not _is_filler(character):
        return character
    return f"\\u{{{ord(character):x}}}"


def _is_filler(character: str) -> bool:
    """Tell the letters that Unicode calls letters and that show as nothing: Hangul fillers and the Braille blank."""
    return character in "\u115f\u1160\u3164\uffa0\u2800"
