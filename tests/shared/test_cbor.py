"""The bounded reader of CBOR, against cbor2 and against what a stranger may write."""

from __future__ import annotations

from typing import Any

import cbor2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from airlock_shared.errors import DocumentError
from airlock_shared.wire.cbor import read
from draws import repeatable

ATOMS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(1 << 300), 1 << 300),
    st.floats(allow_nan=False, allow_infinity=False),
    st.binary(max_size=40),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
)
VALUES = st.recursive(
    ATOMS,
    lambda values: st.one_of(
        st.lists(values, max_size=5),
        st.dictionaries(st.one_of(st.text("abc", max_size=3), st.integers(-9, 99)), values, max_size=5),
    ),
    max_leaves=20,
)


@repeatable
@given(VALUES)
def test_what_cbor2_writes_is_read_the_same(value: Any) -> None:
    assert repr(read(cbor2.dumps(value), max_items=1000)) == repr(value)


BAD = {
    "nothing": "",
    "ends in a head": "18",
    "ends in a text": "6261",
    "ends in a list": "8201",
    "ends in a map": "a101",
    "ends after a tag": "d825",
    "something follows": "0000",
    "a list of 2^64 - 1 items": "9bffffffffffffffff",
    "a list of a milliard items": "9a3b9aca00",
    "a map of 2^63 members": "bb8000000000000000",
    "bytes of 2^64 - 1": "5bffffffffffffffff",
    "a text of a milliard": "7a3b9aca00",
    "an indefinite list": "9f01ff",
    "an indefinite map": "bf0101ff",
    "indefinite bytes": "5f4101ff",
    "an indefinite text": "7f6161ff",
    "a break alone": "ff",
    "reserved length 28": "1c",
    "reserved length 30": "5e",
    "undefined": "f7",
    "simple value 255": "f8ff",
    "a text that is not UTF-8": "61ff",
    "a lone surrogate": "63eda080",
    "the same member twice": "a201010102",
    "a name that is a list": "a18000",
    "a name that is bytes": "a1410100",
    "a name that is true": "a1f500",
    "a name that is a fraction": "a1f93c0000",
    "a name that is a map": "a1a000",
    "a big integer of a text": "c26161",
    "a big integer of 257 bytes": "c2590101" + "ff" * 257,
    "nested too deep": "81" * 26,
    "tagged too deep": "c6" * 26 + "00",
    "too many items": "8f" + "00" * 15,
}


@pytest.mark.parametrize("cbor", BAD.values(), ids=BAD.keys())
def test_what_is_not_read_here_is_refused(cbor: str) -> None:
    with pytest.raises(DocumentError, match="QR-CBOR"):
        read(bytes.fromhex(cbor), max_items=15)
