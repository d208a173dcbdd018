"""Untrusted text on a screen, and fingerprints to read aloud."""

from __future__ import annotations

import re
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airlock_shared.cli import terminal as console
from airlock_shared.text.safe import WIDTH, harmless, safe
from airlock_shared.text.words import SPOKEN_BYTES, spoken, spoken_rows
from draws import repeatable

NASTY = (
    "\x1b\x9b\x07\x08\x00\r\n\t\x7f\x85"
    "\u200b\u200d\u2028\u2029\u202a\u202e\u2066\u2069\u061c\ufeff\u00ad\u034f\u180e\U000e0041\ud800\\{}u"
)
ANY_TEXT = st.text(st.characters() | st.sampled_from(NASTY), max_size=60)
HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Mn", "Me", "Mc"}


def test_no_hidden_character_of_unicode_reaches_a_screen() -> None:
    shown = {character for n in range(sys.maxunicode + 1) if (character := chr(n)) in safe(character)}
    assert not [f"{ord(character):x}" for character in shown if unicodedata.category(character) in HIDDEN]
    assert not [f"{ord(character):x}" for character in shown if character.isspace() and character != " "]
    assert set(map(chr, range(0x20, 0x7F))) <= shown


@pytest.mark.parametrize(
    "character", ["\u115f", "\u1160", "\u3164", "\uffa0", "\u2800", "\U0001d159"], ids=lambda c: f"{ord(c):x}"
)  # two Egyptian hieroglyphs are blank too, and unknown to Python 3.11's Unicode
def test_no_letter_or_symbol_that_shows_as_nothing_reaches_a_screen(character: str) -> None:
    assert safe(character) == f"\\u{{{ord(character):x}}}"


@pytest.mark.parametrize("character", ["א", "ب", "٣", "\u07c0"], ids=lambda c: f"{ord(c):x}")
def test_no_character_that_reorders_its_neighbours_reaches_a_screen(character: str) -> None:
    assert unicodedata.bidirectional(character) in {"R", "AL", "AN"}
    assert character not in safe(f"pay 1 {character} 2")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J", "\\u{1b}[2J"),
        ("\x1b]8;;http://x\x07", "\\u{1b}]8;;http://x\\u{7}"),
        ("a\u202eb", "a\\u{202e}b"),
        ("\\u{1b}", "\\\\u{1b}"),
        ("line\r\nline", "line\\u{d}\\u{a}line"),
        ("a\u0301", "a\\u{301}"),
        ("\ud800", "\\u{d800}"),
        ("é無😀", "é無😀"),
    ],
)
def test_a_text_is_shown_as_what_is_there(text: str, shown: str) -> None:
    assert safe(text) == shown


@repeatable
@given(ANY_TEXT)
def test_every_text_can_be_read_back_from_what_is_shown(text: str) -> None:
    def character(match: re.Match[str]) -> str:
        return "\\" if match[0] == "\\\\" else chr(int(match[1], 16))

    assert re.sub(r"\\\\|\\u\{([0-9a-f]+)\}", character, safe(text)) == text


# ---- words ----------------------------------------------------------------------------------------------------------


def test_a_fingerprint_is_spoken_as_its_first_twenty_four_bytes() -> None:
    assert spoken("00" * 31 + "ff") == " ".join(["able"] * 24)
    assert spoken("c7098580125e2ab0981253468b2dbc52" + "00" * 16) == (  # Bytewords of the standard's own example
        "slot axis limp lava brag holy door puff monk brag guru frog luau drop roof grim" + 8 * " able"
    )
    assert len(spoken("ab" * 32).split()) == SPOKEN_BYTES


def test_two_documents_that_an_author_made_alike_in_96_bits_are_read_aloud_differently() -> None:
    one, other = "c7" * 12 + "00" * 20, "c7" * 12 + "01" + "00" * 19
    assert spoken(one).split()[:12] == spoken(other).split()[:12]
    assert spoken(one) != spoken(other)
    assert spoken_rows(one) != spoken_rows(other)


def test_a_cut_text_shows_no_more_than_its_limit() -> None:
    assert safe("a" * 30 + "b" * 70, limit=30).startswith("a" * 30 + " …")
    assert "b" not in safe("a" * 30 + "b" * 70, limit=30)


# ---- the last guard before a screen -----------------------------------------------------------------------------------


def test_what_is_said_or_shown_without_being_made_safe_does_not_act_on_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for write in (console.say, console.show):
        write(f"a{NASTY}b")
        seen = "".join(capsys.readouterr())
        assert not [c for c in NASTY if c in seen and c not in "\n\\{}u"]


def test_a_long_name_does_not_go_on_at_the_first_column(capsys: pytest.CaptureFixture[str]) -> None:
    console.say("Wrote " + "x" * 300)
    first, *rest = capsys.readouterr().err.splitlines()
    assert len(first) <= WIDTH
    assert all(line.startswith("  ") and len(line) <= WIDTH for line in rest)


@repeatable
@given(ANY_TEXT)
def test_the_guard_leaves_what_is_visible_and_our_own_lines_as_they_are(text: str) -> None:
    assert harmless(safe(text)) == safe(text)
    assert harmless(f"a\n{safe(text)}\n  b") == f"a\n{safe(text)}\n  b"
    assert safe(harmless(text.replace("\n", "")).replace("\\", "")) == harmless(text.replace("\n", "")).replace(
        "\\", ""
    )
