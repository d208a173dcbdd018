"""ABI encoding: the canonical form only."""

from __future__ import annotations

from typing import Any

import pytest

from airlock_shared.errors import Refusal
from airlock_shared.ethereum.abi import MAX_ENCODED_BYTES, decode_abi, encode_abi


def _word(number: int) -> str:
    return f"{number % 2**256:064x}"


@pytest.mark.parametrize(
    ("types", "words", "why"),
    [
        (["uint8"], [_word(256)], "beyond uint8"),
        (["uint8"], [_word(-1)], "a negative uint8"),
        (["int8"], [_word(128)], "beyond int8"),
        (["int8"], [_word(-129)], "below int8"),
        (["int8"], [f"{0x80:064x}"], "a sign that is not extended"),
        (["bool"], [_word(2)], "neither 0 nor 1"),
        (["address"], ["01" + "00" * 31], "bytes before the address"),
        (["bytes4"], ["00" * 31 + "01"], "bytes behind the four"),
        (["uint256"], [], "nothing"),
        (["uint256"], ["00" * 31], "31 bytes"),
        (["uint256"], [_word(1), "00"], "a byte too many"),
        (["uint256"], [_word(1), _word(0)], "a word too many"),
        (["string"], [_word(64), _word(0), _word(0)], "a gap before the text"),
        (["string"], [_word(0)], "an offset to itself"),
        (["string"], [_word(33), _word(0), "00"], "an offset between words"),
        (["string"], [_word(2**255)], "an offset past the end"),
        (["string"], [_word(32), _word(2**255)], "a length past the end"),
        (["string"], [_word(32), _word(1), "61" + "00" * 30], "padding cut"),
        (["string"], [_word(32), _word(1), "61" + "00" * 30 + "01"], "padding that is not zero"),
        (["string"], [_word(32), _word(1), "ff" + "00" * 31], "not UTF-8"),
        (["string", "string"], [_word(64), _word(64), _word(0)], "two offsets to one text"),
        (["string", "string"], [_word(96), _word(64), _word(0), _word(0)], "texts in another order"),
        (["(uint8,uint8)"], [_word(1)], "one component of two"),
        (["(uint8,bytes)"], [_word(32), _word(1), _word(64), _word(1), "01"], "padding missing in a tuple"),
    ],
)
def test_bytes_that_are_not_canonical_are_refused(types: list[str], words: list[str], why: str) -> None:
    with pytest.raises(Refusal) as caught:
        decode_abi(types, bytes.fromhex("".join(words)))
    assert caught.value.check == "ENC-CANONICAL", why


def test_too_many_bytes_are_refused() -> None:
    with pytest.raises(Refusal) as caught:
        decode_abi(["bytes"], bytes(MAX_ENCODED_BYTES + 1))
    assert caught.value.check == "ENC-CANONICAL"


def test_offsets_that_share_one_tail_do_not_multiply_it() -> None:
    """Hostile bytes of 68 KB whose every offset leads to one text: what is decoded must not become gigabytes."""
    count, text = 1000, 32_000
    heads = [_word(32 * count)] * count
    data = bytes.fromhex("".join(heads) + _word(text)) + b"a" * text
    import tracemalloc

    tracemalloc.start()
    try:
        with pytest.raises(Refusal):
            decode_abi(["string"] * count, data)
        assert tracemalloc.get_traced_memory()[1] < 20 * len(data)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("kind", "value"),
    [("uint8", 256), ("uint8", -1), ("int8", 128), ("int8", -129), ("uint256", 2**256), ("bytes4", b"12345"),
     ("bytes4", b"123"), ("address", bytes(21)), ("address", bytes(19)), ("(uint8,uint8)", [1, 2, 3]),
     ("(uint8,uint8)", [1]), ("bool", 2)],
)  # fmt: skip
def test_a_value_that_the_type_cannot_hold_is_never_encoded(kind: str, value: Any) -> None:
    with pytest.raises((ValueError, OverflowError)):
        encode_abi([kind], [value])


@pytest.mark.parametrize("kind", ["uint8[]", "uint8[2]", "(uint8,bool)[]", "((uint8[]),bool)"])
def test_an_array_is_no_type(kind: str) -> None:
    with pytest.raises(ValueError, match="not an ABI type"):
        encode_abi([kind], [[]])
    with pytest.raises(ValueError, match="not an ABI type"):
        decode_abi([kind], bytes(64))


def test_a_canonical_encoding_beyond_the_cap_is_refused() -> None:
    value = bytes(MAX_ENCODED_BYTES - 64)
    data = encode_abi(["bytes"], [value])
    assert len(data) == MAX_ENCODED_BYTES
    assert decode_abi(["bytes"], data) == [value]
    with pytest.raises(Refusal, match="too long"):
        decode_abi(["bytes"], encode_abi(["bytes"], [value + b"\0"]))
