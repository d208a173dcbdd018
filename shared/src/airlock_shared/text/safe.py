"""Untrusted text made safe for a screen: what is shown is what is there, and nothing in it acts on the terminal.

Below: fingerprints as people read them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

WIDTH = 80
"""Columns of every screen and page: a terminal of the oldest kind, and a line that can be read aloud."""

_SHOWN = {"L", "N", "P", "S"}  # letters, numbers, punctuation, symbols: Unicode general categories, first letter
_RIGHT_TO_LEFT = {"R", "AL", "AN"}  # letters and numbers that reorder their neighbours: UAX #9, table 4
_BEYOND_ASCII = re.compile(r"[^\n\x20-\x7e]")
_BLANK = frozenset("\u115f\u1160\u3164\uffa0\u2800\U0001d159\U00013441\U00013442")
"""What Unicode calls letters or symbols and shows as nothing: fillers, the Braille blank, the null notehead, blank signs."""


def safe(text: str, *, limit: int = 2000) -> str:
    r"""Return text in which every character is visible and harmless, cut with its length named when over ``limit``.

    Control characters, ANSI and OSC sequences, directional marks, right-to-left letters, zero-width and combining
    characters, tags and line breaks become ``\u{…}``; a backslash becomes ``\\``, so that nothing can pretend to be an
    escape. Two texts are shown alike only when they are alike.
    """
    shown = "".join([_visible(character) for character in text[:limit]])
    return shown if len(text) <= limit else f"{shown} … [{len(text)} characters, {len(text) - limit} not shown]"


def safe_again(text: str, *, limit: int = 2000) -> str:
    """Return a sentence of ours as :func:`safe` does, but for backslashes: parts of it may have been made safe before."""
    return safe(text, limit=limit).replace("\\\\", "\\")


def harmless(lines: str) -> str:
    r"""Return lines of ours in which nothing acts on a terminal, whatever was put into them without :func:`safe`.

    The last guard before a screen. It cannot tell a foreign line break from ours: who shows a foreign text makes it safe.
    """
    return _BEYOND_ASCII.sub(lambda match: match[0] if is_visible(match[0]) else f"\\u{{{ord(match[0]):x}}}", lines)


def is_visible(character: str) -> bool:
    """Tell whether a character shows by itself, in its place, and changes nothing around it."""
    if character <= "~":
        return character >= " "
    return (
        unicodedata.category(character)[0] in _SHOWN
        and unicodedata.bidirectional(character) not in _RIGHT_TO_LEFT
        and character not in _BLANK
    )


def _visible(character: str) -> str:
    if character == "\\":
        return "\\\\"
    return character if is_visible(character) else f"\\u{{{ord(character):x}}}"


# ---- columns of a terminal ------------------------------------------------------------------------------------------


def columns(text: str) -> int:
    """Return how many columns a safe text takes at most; a character that some terminals draw wide counts two (UAX #11)."""
    return sum(map(_width, text))


def _width(character: str) -> int:
    return 2 if unicodedata.east_asian_width(character) in "WFA" else 1


def wrapped(text: str, width: int) -> Iterator[str]:
    """Yield a safe text in lines of at most ``width`` columns, broken at spaces where there are any.

    The terminal itself must never break a line of untrusted text: what stood after the break would begin at the first
    column, where only our own lines begin.
    """
    line, taken = "", 0
    for word in text.split(" "):
        size = columns(word)
        if line and taken + 1 + size > width:
            yield line.rstrip(" ")
            line, taken = "", 0
        elif taken or line:
            line, taken = line + " ", taken + 1
        while size > width - taken:
            part = _head(word, width - taken)
            yield line + part
            word, size = word[len(part) :], size - columns(part)
            line, taken = "", 0
        line, taken = line + word, taken + size
    yield line.rstrip(" ")


def labelled_rows(label: str, text: str, *, width: int = WIDTH) -> Iterator[str]:
    """Yield a text beside its label in rows of ``width`` columns that stay in their column: none of it begins a row.

    This is how every untrusted text becomes a row. What is safe already stays as it is; what is not is made safe here.
    """
    label = safe_again(label, limit=len(label))
    for line in wrapped(safe_again(text, limit=len(text)), width - columns(label)):
        yield f"{label}{line}"
        label = " " * columns(label)


def hanging(text: str) -> Iterator[str]:
    """Yield a text in rows of 80 columns, all but the first set in: no row begins with what stands in the text."""
    text = safe_again(text, limit=len(text))
    inner = text.lstrip(" ")
    set_in = len(text) - len(inner)
    first, *rest = wrapped("." * set_in + inner, WIDTH if columns(text) <= WIDTH else WIDTH - 2)
    yield " " * set_in + first[set_in:]
    yield from (f"  {row}" for row in rest)


def _head(word: str, width: int) -> str:
    """Return as much of a word as fits, at least one character."""
    taken = 0
    for position, character in enumerate(word):
        taken += _width(character)
        if taken > width:
            return word[: max(position, 1)]
    return word


# ---- confusables ----------------------------------------------------------------------------------------------------
# What a text may hide from a reader: letters of two scripts in one word, letters that look like others, invisible
# ones. Flags are warnings for people: they say where to look, and decide nothing. A referral code in other letters is
# refused (``TEXT-SCRIPT``), whatever it looks like.


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


# ---- fingerprints ---------------------------------------------------------------------------------------------------
# Fingerprints for people: hex in groups of four, and twenty-four numbered words to read aloud, in three rows.
#
# The words are Bytewords (BCR-2020-012): 256 four-letter words, one for each byte, chosen to sound apart. Twenty-four words
# say the first 192 bits: also an author who prepares two documents beforehand needs about 2^96 tries for two that share them
# (docs/adr/0017). The hex says all 256.


BYTEWORDS = tuple(
    """
    able acid also apex aqua arch atom aunt away axis back bald barn belt beta bias blue body brag brew bulb buzz calm cash
    cats chef city claw code cola cook cost crux curl cusp cyan dark data days deli dice diet door down draw drop drum dull
    duty each easy echo edge epic even exam exit eyes fact fair fern figs film fish fizz flap flew flux foxy free frog fuel
    fund gala game gear gems gift girl glow good gray grim guru gush gyro half hang hard hawk heat help high hill holy hope
    horn huts iced idea idle inch inky into iris iron item jade jazz join jolt jowl judo jugs jump junk jury keep keno kept
    keys kick kiln king kite kiwi knob lamb lava lazy leaf legs liar limp lion list logo loud love luau luck lung main many
    math maze memo menu meow mild mint miss monk nail navy need news next noon note numb obey oboe omit onyx open oval owls
    paid part peck play plus poem pool pose puff puma purr quad quiz race ramp real redo rich road rock roof ruby ruin runs
    rust safe saga scar sets silk skew slot soap solo song stub surf swan taco task taxi tent tied time tiny toil tomb toys
    trip tuna twin ugly undo unit urge user vast very veto vial vibe view visa void vows wall wand warm wasp wave waxy webs
    what when whiz wolf work yank yawn yell yoga yurt zaps zero zest zinc zone zoom
    """.split()
)

SPOKEN_BYTES = 24
_A_ROW = 8  # words: 63 columns with their numbers


def spoken(fingerprint: str) -> str:
    """Return the twenty-four words of a fingerprint given as 64 hex digits."""
    return " ".join(_words(fingerprint))


def spoken_rows(fingerprint: str) -> list[str]:
    """Return the same words as three rows of eight, each word behind its number, 1 to 24."""
    words = [f"{at:>2} {word}" for at, word in enumerate(_words(fingerprint), 1)]
    return [" ".join(words[at : at + _A_ROW]) for at in range(0, len(words), _A_ROW)]


def _words(fingerprint: str) -> list[str]:
    return [BYTEWORDS[byte] for byte in bytes.fromhex(fingerprint)[:SPOKEN_BYTES]]


def grouped(hex_digits: str) -> str:
    """Return hex digits in groups of four; a ``0x`` in front is left out."""
    digits = hex_digits.removeprefix("0x")
    return " ".join(digits[i : i + 4] for i in range(0, len(digits), 4))


def fingerprint_lines(label: str, fingerprint: str) -> Iterator[str]:
    """Yield a fingerprint for comparing: hex in groups of four over two lines, then words to read aloud over three."""
    yield f"{label} fingerprint"
    yield f"  {grouped(fingerprint[:32])}"
    yield f"  {grouped(fingerprint[32:])}"
    for row in spoken_rows(fingerprint):
        yield f"  {row}"


def name_lines(kind: str, ceremony: str, fingerprint: str) -> Iterator[str]:
    """Yield the names that people compare on both screens; what has no fingerprint of ours is named without."""
    yield f"{safe(kind)}, ceremony {safe(ceremony)}" if ceremony else safe(kind)
    if fingerprint:
        yield from fingerprint_lines("document", fingerprint)
