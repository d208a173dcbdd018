"""What a text may hide from a reader: letters of two scripts in one word, letters that look like others, invisible ones.

Flags are warnings for people: they say where to look, and decide nothing. A referral code in other letters is refused
(``TEXT-SCRIPT``), whatever it looks like.
"""

from __future__ import annotations

import re
import unicodedata

from airlock_shared.text.safe import is_visible

_MOST_NAMED = 6
_LIKE = (  # look-alikes of ASCII letters and digits, above what they look like; the usual ones of Unicode TR #39
    ("аеёорсухѕіїјԁһԛԝӏгпкь", "aeeopcyxsiijdhqwlrnkb"),  # Cyrillic, small
    ("АЕЁОРСТУХЅІЇЈВКМНԌԚԜӀЬЗҮ", "AEEOPCTYXSIIJBKMHGQWIb3Y"),  # Cyrillic, capital
    ("αγεηικνορσςτυχωϲϳβ", "ayenikvopocTuxwcjB"),  # Greek, small
    ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹͿ", "ABEZHIKMNOPTYXCJ"),  # Greek, capital
    ("օսհոզցւաԼՏՍՕ", "ouhnqgLwLSUO"),  # Armenian
    ("ıɩɑɡʟɴʀꞵƖǀⅼⅽⅾⅿⅰⅴⅹ", "iiagLNRBIllcdmivx"),  # Latin letters, clicks and Roman numerals
)
_TABLE = {other: plain for others, plains in _LIKE for other, plain in zip(others, plains, strict=True)}
_EAST_ASIAN = frozenset({"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "BOPOMOFO", "HANGUL", "IDEOGRAPHIC"})


def flags(text: str) -> list[str]:
    """Return what is suspicious about a text, in ASCII; nothing for plain ASCII.

    Judged word by word: a word of two scripts, a word that reads as an ASCII word and is not one, and characters that
    do not show. East Asian scripts and Latin stand beside each other in honest texts and do not count as mixed.
    """
    if text.isascii() and text.isprintable():
        return []
    found = []
    if hidden := [c for c in text if not is_visible(c) and c not in "\n\t"]:
        found.append(f"characters that the screen does not show: {_named(hidden)}")
    words = [word for word in re.findall(r"\w+", text) if not word.isascii()]
    if mixed := sorted({name for word in words if len(names := _scripts(word)) > 1 for name in names}):
        found.append(f"letters of several scripts in one word: {', '.join(mixed)}")
    if alike := [c for word in words if looks_like(word).isascii() for c in word if not c.isascii()]:
        found.append(f"letters that look like others: {_named(alike, like=True)}")
    return found


def looks_like(word: str) -> str:
    """Return a word with every look-alike replaced by the ASCII characters that it looks like."""
    return "".join([character if character.isascii() else _plain(character) for character in word])


def code_points(text: str) -> str:
    """Return a text as its Unicode code points, ``U+0054 U+0052``."""
    return " ".join(f"U+{ord(character):04X}" for character in text)


def _plain(character: str) -> str:
    if character in _TABLE:
        return _TABLE[character]
    kind = unicodedata.decomposition(character).partition(" ")[0]
    # full-width forms, and the letters of mathematics in bold, script and the like: Unicode says what they stand for
    return unicodedata.normalize("NFKC", character) if kind in ("<wide>", "<font>") else character


def _scripts(word: str) -> set[str]:
    """Return the scripts of a word's letters, by the first word of their Unicode names; East Asian ones count as Latin."""
    names = {unicodedata.name(c, "UNKNOWN").partition(" ")[0] for c in word if unicodedata.category(c)[0] == "L"}
    return {"LATIN" if name in _EAST_ASIAN or name in ("FULLWIDTH", "HALFWIDTH") else name for name in names}


def _named(characters: list[str], *, like: bool = False) -> str:
    distinct = list(dict.fromkeys(characters))
    named = [f"{code_points(c)} like {_plain(c)!r}" if like else code_points(c) for c in distinct[:_MOST_NAMED]]
    more = len(distinct) - _MOST_NAMED
    return ", ".join(named) + (f" and {more} more" if more > 0 else "")
