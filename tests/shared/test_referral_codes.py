"""Referral codes: a mistake is named with its place, and what two people compare cannot be the same for two codes."""

from __future__ import annotations

import pytest

from airlock_shared.cli.comparison_lines import plan_lines
from airlock_shared.errors import PlanError, Refusal
from airlock_shared.plan.reader import parse_plan
from airlock_shared.venue.referral_code import code_bytes, code_rows
from shared.world import PLAN_TEXT, replaced

MISTAKES = [
    ("", "it is empty"),
    ("TREA SURY", "character 5 of 9 is U+0020 (a space)"),
    (" TREASURY", "character 1 of 9 is U+0020 (a space)"),
    ("TREASURY\n", "character 9 of 9 is U+000A (a line break)"),
    ("TREASURY\r", "character 9 of 9 is U+000D (a carriage return)"),
    ("TREA\tSURY", "character 5 of 9 is U+0009 (a tab)"),
    ("TREASURY\x00", "character 9 of 9 is U+0000 (an invisible character)"),
    ("TREASURY\x1b[2J", "character 9 of 12 is U+001B (an invisible character)"),
    ("TRE\u0410SURY", "character 4 of 8 is U+0410 (CYRILLIC CAPITAL LETTER A), which looks like 'A'"),
    ("\uff34REASURY", "character 1 of 8 is U+FF34 (FULLWIDTH LATIN CAPITAL LETTER T), which looks like 'T'"),
    ("TREA\u200bSURY", "character 5 of 9 is U+200B (ZERO WIDTH SPACE)"),
    ("\u00dcBER", "character 1 of 4 is U+00DC (LATIN CAPITAL LETTER U WITH DIAERESIS)"),
    ("T" * 32, "it has 32 characters, 1 too many"),
    ("T" * 64, "it has 64 characters, 33 too many"),
    ("0x", "0x and 0 hex digits instead of 64; a shorter code could mean text or bytes"),
    ("0x5452", "0x and 4 hex digits instead of 64; a shorter code could mean text or bytes"),
    ("0x" + "5" * 65, "0x and 65 hex digits instead of 64; a shorter code could mean text or bytes"),
    ("0xTREASURY", "character 3 of 10 is 'T', not a hex digit; a code that begins with 0x is hex"),
    ("0x54 52", "character 5 of 7 is U+0020 (a space), not a hex digit; a code that begins with 0x is hex"),
    ("0X" + "5" * 64, "character 2 of 66 is 'X'; write 0x with a small x"),
]


@pytest.mark.parametrize(("code", "mistake"), MISTAKES, ids=[ascii(code)[:20] for code, _ in MISTAKES])
def test_a_mistake_is_named_with_its_place(code: str, mistake: str) -> None:
    with pytest.raises(Refusal) as caught:
        code_bytes(code)
    assert (caught.value.check, caught.value.what) == ("PLAN-CODE", f"not a referral code: {mistake}")
    assert caught.value.what.isascii()


@pytest.mark.parametrize("code", ["TREA SURY", "TRE\u0410SURY", "0x5452"])
def test_a_plan_with_a_mistake_in_a_code_says_where_it_is(code: str) -> None:
    with pytest.raises(PlanError) as caught:
        parse_plan(replaced(PLAN_TEXT, [('code = "TREASURY"', f'code = "{code}"')]).encode())
    assert caught.value.check == "PLAN-CODE"
    assert dict(MISTAKES)[code] in caught.value.what
    assert ".fields.code" in caught.value.where


@pytest.mark.parametrize(
    ("one", "other"),
    [("TREASURY", "Treasury"), ("TREASURY", "TREASURYY"), ("DESK0", "DESKO"), ("DESK1", "DESKl"), ("DESKI", "DESKl")],
)
def test_two_codes_never_look_the_same_to_those_who_compare_them(one: str, other: str) -> None:
    rows = [list(code_rows(code_bytes(code))) for code in (one, other)]
    assert rows[0][0] != rows[1][0]
    assert rows[0][2] != rows[1][2]
    assert rows[0][3:] != rows[1][3:]


def test_a_code_is_shown_as_bytes_code_points_and_kinds_of_characters() -> None:
    assert list(code_rows(code_bytes("Desk-01"))) == [
        "hex 4465 736b 2d30 3100 0000 0000 0000 0000",
        "and 0000 0000 0000 0000 0000 0000 0000 0000",
        "code points U+0044 U+0065 U+0073 U+006B U+002D U+0030 U+0031",
        "7 characters: 1 capital letter, 3 small letters, 2 digits, 1 other sign",
        "character 6 is 0, the digit zero",
        "character 7 is 1, the digit one",
    ]


def test_the_plan_as_it_is_shown_has_the_code_s_bytes_within_80_columns() -> None:
    for code in ("TREASURY", "W" * 31, "0x" + "d090".ljust(64, "0")):
        lines = list(plan_lines(parse_plan(replaced(PLAN_TEXT, [('code = "TREASURY"', f'code = "{code}"')]).encode())))
        digits = code_bytes(code).hex()
        assert any("hex " + " ".join(digits[at : at + 4] for at in range(0, 32, 4)) in line for line in lines)
        assert any("code points U+" in line for line in lines)
    assert any("WARNING: letters that look like others: U+0410" in line for line in lines)
    assert max(len(line) for line in lines if "code points" in line or "hex " in line or "WARNING" in line) <= 80
