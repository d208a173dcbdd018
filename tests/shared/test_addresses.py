"""Address texts: what EIP-55 says of letters' case, and what a refusal may say of a mistyped one."""

from __future__ import annotations

import pytest

from airlock_shared.errors import Refusal
from airlock_shared.ethereum.signatures import checksum_address, parse_address

# EIP-55's own examples
ALL_CAPS = ["0x52908400098527886E0F7030069857D2E4169EE7", "0x8617E340B3D01FA5F11F306F4090FD50E238070D"]
ALL_LOWER = ["0xde709f2102306220921060314715629080e2fb77", "0x27b1fdb04752bbc536007a920d24acb045561c26"]
NORMAL = ["0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359"]


@pytest.mark.parametrize("text", [*ALL_CAPS, *ALL_LOWER, *NORMAL])
def test_the_examples_of_the_standard_are_addresses_in_one_case_too(text: str) -> None:
    assert checksum_address(parse_address(text)) == text
    for other in ("0x" + text[2:].lower(), "0x" + text[2:].upper()):
        assert parse_address(other) == parse_address(text)


@pytest.mark.parametrize("text", NORMAL)
def test_one_letter_in_the_other_case_is_refused_and_no_case_that_fits_is_told(text: str) -> None:
    for place in range(2, len(text)):
        typed = text[:place] + text[place].swapcase() + text[place + 1 :]
        if typed == text:
            continue
        with pytest.raises(Refusal) as caught:
            parse_address(typed)
        assert caught.value.expected == ""
        assert text not in f"{caught.value}{caught.value.as_json()}"


@pytest.mark.parametrize("text", ["", "0x", "0X" + "ab" * 20, "ab" * 20, "0x" + "ab" * 21, "0x" + "g" * 40])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(Refusal, match="not an address"):
        parse_address(text)
