"""Documents: sizes, depths and forms that the vectors cannot hold, and CBOR that is not the one form."""

import sys
import time
from typing import Any

import cbor2
import pytest

from airlock_shared.errors import DocumentError, Refusal
from airlock_shared.ethereum.typed_document import read_types
from airlock_shared.text.safe import wrapped
from airlock_shared.units import NATIVE, to_human
from airlock_shared.wire import strict_json
from airlock_shared.wire.cbor import from_cbor
from airlock_shared.wire.strict_json import (
    MAX_DEPTH,
    MAX_DOCUMENT_BYTES,
    MAX_ITEM_BYTES,
    MAX_ITEMS,
    parse_json,
    to_cbor,
)
from refusals import check_of


def _batch(items: str, count: int, header: str = "") -> bytes:
    return f'{{"format": "f", "header": {{"count": {count}{header}}}, "requests": [{items}]}}'.encode()


def _read(data: bytes) -> list[Any]:
    return strict_json.read_batch(data, format_name="f", list_name="requests")[1]


def test_a_document_over_the_cap_is_refused_before_it_is_parsed() -> None:
    assert parse_json(b"[]   ", max_bytes=5) == []
    assert check_of(parse_json, b"\xff" * 6, max_bytes=5) == "DOC-SIZE"


def test_a_batch_over_the_cap_is_refused() -> None:
    data = _batch('{"a": 1}', 1)
    assert len(_read(data + b" " * (MAX_DOCUMENT_BYTES - len(data)))) == 1
    assert check_of(_read, data + b" " * (MAX_DOCUMENT_BYTES - len(data) + 1)) == "DOC-SIZE"


def test_an_item_over_its_cap_is_refused() -> None:
    inside = MAX_ITEM_BYTES - len(to_cbor({"a": ""})) - 4  # the length takes four bytes more
    assert _read(_batch(f'{{"a": "{"x" * inside}"}}', 1))
    assert check_of(_read, _batch(f'{{"a": "{"x" * (inside + 1)}"}}', 1)) == "DOC-SIZE"


def test_too_many_items_are_refused_before_an_item_is_believed() -> None:
    assert _read(_batch("", 0)) == []
    most, more = (_batch(", ".join(["{}"] * count), count) for count in (MAX_ITEMS, MAX_ITEMS + 1))
    assert len(_read(most)) == MAX_ITEMS
    assert check_of(_read, more) == check_of(_read, _batch("", MAX_ITEMS + 1)) == "DOC-COUNT"


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'[{"a":'])
@pytest.mark.parametrize("limit", [1000, 100_000])
def test_deep_nesting_is_refused_whatever_the_recursion_limit(opening: bytes, limit: int) -> None:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(limit)
    try:
        assert check_of(parse_json, opening * 200_000) == "DOC-DEPTH"
        assert check_of(parse_json, b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1)) == "DOC-DEPTH"
        assert check_of(_read, b'{"format": "f", "header": ' + opening * 200_000) == "DOC-DEPTH"
        assert check_of(_read, _batch(f'{{"a": {"[" * 30}{"]" * 30}}}', 1)) == "DOC-DEPTH"
    finally:
        sys.setrecursionlimit(before)


def test_what_is_made_to_take_hours_is_answered_at_once() -> None:
    began = time.monotonic()
    members = ",".join(f'"{number}":0' for number in [*range(60_000), 59_999])
    assert check_of(parse_json, f"{{{members}}}".encode()) == "DOC-DUPLICATE"
    assert {check_of(parse_json, number) for number in (b"9" * 621, b"-0")} == {"DOC-NUMBER"}
    assert to_human(parse_json(b"9" * 620) ** 2, NATIVE)  # gas times its price
    assert sum(1 for _ in wrapped("\u6f22" * 80_000, 60)) == 2667  # each is two columns wide
    with pytest.raises(Refusal, match="nested more than 16 deep"):
        read_types({"A": [{"name": "a", "type": "uint256" + "[]" * 2_000_000}]})
    assert time.monotonic() - began < 5


def test_floats_are_allowed_under_meta_alone() -> None:
    assert _read(_batch('{"meta": {"openPrice": 62500.5, "deep": [1e3]}}', 1))
    assert check_of(_read, _batch('{"metadata": {"openPrice": 62500.5}}', 1)) == "DOC-FLOAT"
    assert check_of(_read, _batch('{"meta": 1.5}, {"a": 1.5}', 2)) == "DOC-FLOAT"
    assert check_of(_read, _batch('{"a": 1.5, "meta": {}}', 1)) == "DOC-FLOAT"
    assert check_of(_read, _batch("", 0, ', "x": 1.5')) == "DOC-FLOAT"


@pytest.mark.parametrize(("value", "where"), [([1, [0.5]], r"\[1\]\[0\]"), ({"a": [{"b": 1e9}]}, r"a\[0\]\.b")])
def test_a_float_within_a_list_is_refused_with_its_place(value: Any, where: str) -> None:
    with pytest.raises(DocumentError, match=rf"fractional number at {where}"):
        strict_json.refuse_floats(value)


@pytest.mark.parametrize(
    "data",
    [
        "1817",  # 23 in two bytes
        "190001",  # 1 in three bytes
        "a2616202616101",  # names out of order
        "a26261610161620b",  # the longer name first
        "fb3ff8000000000000",  # 1.5 in eight bytes
        "c24101",  # 1 as a big number
        "c249000000000000000001",  # with leading zeros
    ],
)
def test_another_form_than_the_deterministic_one_is_refused(data: str) -> None:
    assert check_of(from_cbor, bytes.fromhex(data), max_items=1000) == "DOC-CBOR"


@pytest.mark.parametrize(
    "value",
    [{"a": b"bytes"}, {1: 2}, cbor2.CBORTag(4711, "x"), {"set": {1, 2}}, float("nan"), [float("inf")]],
    ids=repr,
)
def test_what_json_cannot_say_is_refused(value: Any) -> None:
    assert check_of(from_cbor, cbor2.dumps(value, canonical=True), max_items=1000) in {"QR-CBOR", "DOC-CBOR"}


@pytest.mark.parametrize("value", ["\ud800", {"\udfff": 1}, [{"a": "\ud800"}]])
def test_a_lone_surrogate_has_no_fingerprint(value: Any) -> None:
    assert check_of(to_cbor, value) == "DOC-UTF8"
