"""What is sent for a struct of one venue alone: the plan's raw value, or the same with a decimal point."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airlock_online.preparing.prepare import with_decimals
from airlock_shared.errors import UsageError


@given(st.integers(-(10**78), 10**78), st.integers(1, 36))
def test_a_value_with_decimals_is_the_same_value(raw: int, decimals: int) -> None:
    sent = with_decimals(str(raw), decimals, "step")
    whole, _, part = sent.lstrip("-").partition(".")
    assert whole.isdecimal()
    assert part == "" or part.isdecimal()
    assert not part.endswith("0")
    sign, digits, exponent = Decimal(sent).as_tuple()
    value = int("".join(map(str, digits)))
    assert isinstance(exponent, int)
    assert value * 10 ** (exponent + decimals) * (-1 if sign else 1) == raw


@pytest.mark.parametrize("text", ["", "-", "1.5", "1e6", "0x10", "٣", " 1", "1" * 81])
def test_what_is_no_whole_number_is_sent_with_no_decimals(text: str) -> None:
    with pytest.raises(UsageError, match="is no whole number"):
        with_decimals(text, 6, "step")
