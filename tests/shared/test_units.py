"""Amounts and times: exact, and never rounded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airlock_shared.errors import Refusal
from airlock_shared.units import COIN, LEVERAGE, PERCENT, PRICE, USDC, Unit, looks_like_seconds, span_text, to_raw
from airlock_shared.venue.referral_code import code_bytes, code_text
from draws import repeatable

AMOUNTS = (USDC, PRICE, LEVERAGE, COIN, PERCENT)


@pytest.mark.parametrize(
    ("text", "unit", "raw"),
    [
        ("1", USDC, 1_000_000),
        ("0.000001", USDC, 1),
        ("250.000001", USDC, 250_000_001),
        ("64000.5", PRICE, 640_005_000_000_000),
        ("15", PERCENT, 150_000_000_000),
        ("-10", PERCENT, -100_000_000_000),
        ("0.0000000001", COIN, 1),
        ("10", LEVERAGE, 100_000_000_000),
        ("0", USDC, 0),
        ("0.30", COIN, 3_000_000_000),
        ("9007199254740993", USDC, 9_007_199_254_740_993_000_000),  # 2^53 + 1: no double holds it
    ],
)
def test_an_amount_is_scaled_exactly(text: str, unit: Unit, raw: int) -> None:
    assert to_raw(text, unit) == raw


@pytest.mark.parametrize(
    "text",
    ["", " ", "1 ", " 1", "1\n", "+1", "--1", "-", ".5", "5.", "01", "00", "1,000", "1_000", "1e3", "0x10", "NaN", "inf",
     "1.2.3", "١", "１", "½", "1.0000001", "1.00000000000", "$1", "1%", "1 USDC", "9" * 61, "-01", "1.-5"],
)  # fmt: skip
def test_another_spelling_or_more_decimals_is_refused(text: str) -> None:
    with pytest.raises(Refusal) as caught:
        to_raw(text, USDC)
    assert caught.value.check == "PLAN-AMOUNT"


@pytest.mark.parametrize("unit", AMOUNTS)
def test_one_decimal_more_than_the_unit_holds_is_refused_even_when_it_is_zero(unit: Unit) -> None:
    assert unit.decimals is not None
    assert to_raw("1." + "0" * unit.decimals, unit) == 10**unit.decimals
    with pytest.raises(Refusal):
        to_raw("1." + "0" * (unit.decimals + 1), unit)


def test_the_magnitudes_of_seconds_and_milliseconds_are_told_apart() -> None:
    assert looks_like_seconds(1_790_000_000)
    assert looks_like_seconds(0)
    assert not looks_like_seconds(1_790_000_000_000)
    assert not looks_like_seconds(10**11)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (59, "59 s"), (60, "1 min"), (61, "1 min 1 s"), (3_661, "1 h 1 min"), (90_061, "1 d 1 h"),
     (-90, "-1 min 30 s"), (86_401, "1 d 1 s")],
)  # fmt: skip
def test_a_span_is_shown_in_its_two_largest_units(seconds: int, text: str) -> None:
    assert span_text(seconds) == text


@pytest.mark.parametrize("code", ["A", "TREASURY", "a" * 31, "x0x", "100%", '"quoted\\'])
def test_a_plain_code_is_left_aligned_and_reads_back(code: str) -> None:
    raw = code_bytes(code)
    assert raw == code.encode() + bytes(32 - len(code))
    assert code_text(raw) == code


@pytest.mark.parametrize(
    "code", ["", "a" * 32, "0x", "0xff", "0X" + "00" * 32, "0x" + "0" * 63, "a b", "a\n", "é", "\x7f", "a\0"]
)
def test_a_code_that_could_be_read_otherwise_is_refused(code: str) -> None:
    with pytest.raises(Refusal) as caught:
        code_bytes(code)
    assert caught.value.check == "PLAN-CODE"


@repeatable
@given(st.binary(min_size=32, max_size=32) | st.binary(max_size=6).map(lambda raw: raw.ljust(32, b"\0")))
def test_the_text_of_every_code_gives_its_bytes_back(raw: bytes) -> None:
    assert code_bytes(code_text(raw)) == raw
