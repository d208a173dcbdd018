"""Our RLP encoder: the yellow paper's rules at their edges, what it refuses, and the library's agreement."""

from __future__ import annotations

from typing import Any

import pytest
import rlp
from hypothesis import given, settings
from hypothesis import strategies as st

from airlock_shared.ethereum.transactions import encode_rlp

repeatable = settings(derandomize=True, deadline=None, database=None, max_examples=300)


@pytest.mark.parametrize(
    ("item", "head"),
    [  # appendix B: a byte below 128 is itself; up to 55 bytes 128 + length; then 183 + the length's own length
        (b"", "80"), (b"\x00", "00"), (b"\x7f", "7f"), (b"\x80", "8180"), (b"dog", "83646f67"),
        (bytes(55), "b7"), (bytes(56), "b838"), (bytes(255), "b8ff"), (bytes(256), "b90100"),
        (bytes(2**16 - 1), "b9ffff"), (bytes(2**16), "ba010000"),
        ([], "c0"), ([b""], "c180"), ([[], [[]]], "c3c0c1c0"),
        ([b"\x00"] * 55, "f7"), ([b"\x00"] * 56, "f838"), ([b"\x00"] * 256, "f90100"), ([b"\x00"] * 2**16, "fa010000"),
        ((b"cat", b"dog"), "c88363617483646f67"),
    ],
)  # fmt: skip
def test_a_length_is_written_as_the_yellow_paper_says(item: Any, head: str) -> None:
    encoded = encode_rlp(item)
    assert encoded.hex().startswith(head)
    content = item if isinstance(item, bytes) else b"".join(map(encode_rlp, item))
    if len(content) > 55:
        assert encoded == bytes.fromhex(head) + content


@pytest.mark.parametrize(
    ("number", "expected"),
    [(0, "80"), (1, "01"), (127, "7f"), (128, "8180"), (255, "81ff"), (256, "820100"), (2**64, "89010000000000000000"),
     (2**256 - 1, "a0" + "ff" * 32)],
)  # fmt: skip
def test_a_number_has_no_leading_zeros(number: int, expected: str) -> None:
    assert encode_rlp(number).hex() == expected


@pytest.mark.parametrize(
    "item", [-1, -(2**64), True, False, None, "dog", 1.0, bytearray(b"dog"), {1: 2}, {b""}, [b"", "x"], [[None]]]
)
def test_what_is_neither_bytes_nor_a_whole_number_nor_a_list_is_not_encoded(item: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        encode_rlp(item)


_ITEMS = st.recursive(
    st.binary(max_size=80) | st.integers(0, 2**256), lambda inside: st.lists(inside, max_size=8), max_leaves=40
)


@repeatable
@given(_ITEMS)
def test_everything_is_encoded_as_the_library_does(item: Any) -> None:
    assert encode_rlp(item) == bytes(rlp.encode(item))
