"""Texts that hide something from their reader: flagged for people, kept in their lines, and refused in a referral code."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airlock_shared.cli.terminal import explain_error, rows
from airlock_shared.errors import AirlockError, Refusal, ServiceError, UsageError
from airlock_shared.text.safe import (
    WIDTH,
    code_points,
    columns,
    flags,
    is_visible,
    looks_like,
    safe,
    safe_again,
    wrapped,
)
from airlock_shared.venue.referral_code import code_bytes, code_letters, is_plain_code
from draws import repeatable
from shared.make_payloads import NOW_MS, fingerprint, plan_fingerprint, seal
from shared.world import PLAN_TEXT, good, judge, replaced, situation


def _errors() -> list[AirlockError]:
    refusal = Refusal("MSG-INT", f"what {HOSTILE}", got=HOSTILE, expected=HOSTILE, do=HOSTILE).at(HOSTILE)
    return [refusal, ServiceError(HOSTILE, do=HOSTILE), UsageError(HOSTILE)]


HOSTILE = "\x1b[2J\x1b]0;owned\x07\n  do:       type Yes\r\u202e\u200b\x9b"


ANY_TEXT = st.text(st.characters() | st.sampled_from("\x1b\x9b\u200b\u202e\u0301無ａ  \U000e0041"), max_size=300)


# ---- flags ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["", "TREASURY", "Desk-7!!", "BTC/USD", "Gewähr", "São Tomé, naïve façade", "keine Gewähr — 無保証", "BTCの注文",
     "주문 BTC", "Привет, мир", "λόγος", "100 €", "½ m²", "«quoted»", "line\nline\n", "日本語"],
)  # fmt: skip
def test_an_honest_text_is_not_flagged_and_stays_readable(text: str) -> None:
    assert flags(text) == []
    assert safe(text.replace("\n", " ")) == text.replace("\n", " ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ТREASURY", "U+0422 like 'T'"),  # Cyrillic, with Latin
        ("TRЕASURY", "CYRILLIC, LATIN"),
        ("ВТС", "U+0412 like 'B', U+0422 like 'T', U+0421 like 'C'"),  # Cyrillic throughout
        ("оса", "U+043E like 'o'"),
        ("ΒΤC", "GREEK, LATIN"),
        ("ΑΒΕ", "U+0391 like 'A'"),
        ("ｔｒｅａｓｕｒｙ", "U+FF54 like 't'"),
        ("TREASURＹ", "U+FF39 like 'Y'"),
        ("𝐓𝐑𝐄𝐀𝐒𝐔𝐑𝐘", "like 'T'"),
        ("TREAЅURY", "U+0405 like 'S'"),
        ("ՏREASURY", "ARMENIAN, LATIN"),
        ("TREASURҮ", "U+04AE like 'Y'"),
        ("admın", "U+0131 like 'i'"),
        ("БTC", "CYRILLIC, LATIN"),  # nothing in ASCII looks like it, and it stands among Latin letters
        ("pay\u200bpal", "U+200B"),
        ("pay\u00adpal", "U+00AD"),
        ("\u202eYRUSAERT", "U+202E"),
        ("a\u0301\u0302\u0303", "U+0301, U+0302, U+0303"),
        ("T\U000e0041", "U+E0041"),
        ("\x1b[31mred", "U+001B"),
        ("\x9b31m", "U+009B"),
        ("a\u00a0b", "U+00A0"),
        ("a\u3164b", "U+3164"),
        ("שלום", "the screen does not show"),  # right-to-left letters reorder their neighbours, and are escaped
        ("\ud800", "U+D800"),
    ],
)
def test_what_a_reader_may_miss_is_flagged(text: str, said: str) -> None:
    assert any(said in flag for flag in flags(text)), flags(text)


@pytest.mark.parametrize(
    ("word", "plain"), [("ТRЕАSURY", "TREASURY"), ("рауpаl", "paypal"), ("ＢＴＣ", "BTC"), ("é", "é")]
)
def test_look_alikes_are_replaced_by_what_they_look_like(word: str, plain: str) -> None:
    assert looks_like(word) == plain


# ---- referral codes -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        b"",
        "ТREASURY".encode(),
        "ＴＲＥＡ".encode(),
        b"TREAS\0URY",
        b"\0TREASURY",
        b"TREASURY\x01",
        b"TREA SURY",
        b"TREASURY\xff",
        b"TREA\x1b[2J",
        "TREASURY\u200b".encode(),
        b"0x1234",
        b"x" * 32,
        bytes([0x80]) * 32,
    ],
)
def test_a_code_in_anything_else_is_not_plain(value: bytes) -> None:
    padded = value.ljust(32, b"\0")
    assert not is_plain_code(padded)
    assert all(is_visible(character) for character in safe(code_letters(padded)))


def _referral(letters: bytes, plan_code: str | None = None) -> set[str]:
    """Return what refuses a referral intent with these letters, under a plan with this code."""
    text = PLAN_TEXT if plan_code is None else replaced(PLAN_TEXT, [('code = "TREASURY"', f'code = "{plan_code}"')])
    document: dict[str, Any] = good("referral")
    item = document["requests"][0]
    item["payload"]["message"]["_code"] = "0x" + letters.ljust(32, b"\0").hex()
    seal(item["payload"])
    if plan_code is not None:
        item["fields"]["code"] = plan_code
    document["header"] |= {"plan": plan_fingerprint(text), "deployment": fingerprint(situation().deployment.document)}
    from airlock_shared.plan.reader import parse_plan

    return judge(document, situation()._replace(plan=parse_plan(text.encode()), now_ms=NOW_MS))


@pytest.mark.parametrize("letters", ["ТREASURY", "TREASURУ", "ＴREASURY", "TREASURY\u200b", "TREASUR\u0178"])
def test_a_code_in_other_letters_is_refused(letters: str) -> None:
    assert _referral(letters.encode()) == {"PLAN-FIELD", "TEXT-SCRIPT"}


@pytest.mark.parametrize("letters", [b"TREASURY\x01", b"\0TREASURY", b"\xffREASURY", b"x" * 32, b""])
def test_a_code_that_is_no_text_is_refused(letters: bytes) -> None:
    assert "TEXT-SCRIPT" in _referral(letters)


def test_a_code_in_other_letters_passes_when_the_plan_gives_all_its_bytes() -> None:
    letters = "ТREASURY".encode()
    assert _referral(letters, "0x" + letters.ljust(32, b"\0").hex()) == set()
    assert _referral(b"TREASURY", "0x" + letters.ljust(32, b"\0").hex()) == {"PLAN-FIELD"}


@repeatable
@given(ANY_TEXT)
def test_a_flag_is_short_plain_ascii_whatever_the_text(text: str) -> None:
    for flag in flags(text * 20):
        assert flag.isascii()
        assert flag.isprintable()
        assert len(flag) < 400


@repeatable
@given(ANY_TEXT)
def test_whatever_is_escaped_on_the_screen_is_flagged_too(text: str) -> None:
    hidden = [c for c in text if not is_visible(c) and c not in "\n\t"]
    assert any("the screen does not show" in flag for flag in flags(text)) == bool(hidden)


def test_code_points_are_named_in_order() -> None:
    assert code_points("Tе") == "U+0054 U+0435"


@repeatable
@given(ANY_TEXT, st.integers(4, 80))
def test_no_line_is_wider_than_it_may_be_and_nothing_is_lost(text: str, width: int) -> None:
    shown = safe(text)
    lines = list(wrapped(shown, width))
    assert all(columns(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == shown.replace(" ", "")


@pytest.mark.parametrize("attack", ["無" * 40 + "REFUSED", "x" * 200, " " * 70 + "plan 5: equal", "é" * 79, "a b" * 90])
def test_a_text_cannot_begin_a_line_of_its_own(attack: str) -> None:
    lines = list(rows("  got:      ", attack))
    assert all(line.startswith(("  got:", " " * 12)) for line in lines)
    assert all(columns(line) <= WIDTH for line in lines)


@pytest.mark.parametrize("error", _errors(), ids=lambda error: type(error).__name__)
def test_an_error_that_quotes_hostile_text_is_harmless(error: AirlockError) -> None:
    text = explain_error(error)
    assert all(is_visible(character) for character in text.replace("\n", ""))
    assert not any(line.startswith("  do:       type") for line in text.splitlines())


def test_a_text_that_was_made_safe_is_not_escaped_again() -> None:
    assert safe_again(safe("\x1b[2J")) == safe("\x1b[2J")


@pytest.mark.parametrize("code", ["A", "TREASURY", "Desk-7!!", "x" * 31, "~"])
def test_a_plain_code_is_plain(code: str) -> None:
    assert is_plain_code(code_bytes(code))


def test_a_plain_code_passes() -> None:
    assert _referral(b"TREASURY") == set()
