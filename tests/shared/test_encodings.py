"""Encodings and texts at their edges: ABI, RLP, CBOR, addresses, units, TOML."""

from typing import Any

import cbor2
import pytest
import rlp
from hypothesis import example, given
from hypothesis import strategies as st

from airlock_shared import units
from airlock_shared.errors import Refusal
from airlock_shared.ethereum.eip712 import MAX_ENCODED_BYTES, decode_abi, encode_abi
from airlock_shared.ethereum.signatures import checksum_address, encode_rlp, parse_address
from airlock_shared.units import COIN, LEVERAGE, PERCENT, PRICE, USDC, Unit, code_bytes, code_text, to_raw
from airlock_shared.wire.cbor import read
from airlock_shared.wire.strict_json import MAX_BRACKETS, MAX_KEY_PARTS, parse_toml
from draws import repeatable
from refusals import check_of, error_of
from shared.strategies import abi_struct, by_place, json_values


def _word(number: int) -> str:
    return f"{number % 2**256:064x}"


@pytest.mark.parametrize(
    ("types", "words", "why"),
    [
        (["uint8"], [_word(256)], "beyond uint8"),
        (["int8"], [_word(128)], "beyond int8"),
        (["int8"], [f"{0x80:064x}"], "a sign that is not extended"),
        (["bool"], [_word(2)], "neither 0 nor 1"),
        (["address"], ["01" + "00" * 31], "bytes before the address"),
        (["bytes4"], ["00" * 31 + "01"], "bytes behind the four"),
        (["uint256"], [], "nothing"),
        (["uint256"], [_word(1), _word(0)], "a word too many"),
        (["string"], [_word(64), _word(0), _word(0)], "a gap before the text"),
        (["string"], [_word(33), _word(0), "00"], "an offset between words"),
        (["string"], [_word(2**255)], "an offset past the end"),
        (["string"], [_word(32), _word(2**255)], "a length past the end"),
        (["string"], [_word(32), _word(1), "61" + "00" * 30 + "01"], "padding that is not zero"),
        (["string"], [_word(32), _word(1), "ff" + "00" * 31], "not UTF-8"),
        (["string", "string"], [_word(64), _word(64), _word(0)], "two offsets to one text"),
        (["string", "string"], [_word(96), _word(64), _word(0), _word(0)], "texts in another order"),
        (["(uint8,uint8)"], [_word(1)], "one component of two"),
    ],
)
def test_bytes_that_are_not_canonical_are_refused(types: list[str], words: list[str], why: str) -> None:
    assert check_of(decode_abi, abi_struct(types), bytes.fromhex("".join(words))) == "ENC-CANONICAL", why


def test_offsets_that_share_one_tail_do_not_multiply_it() -> None:
    """Hostile bytes of 68 KB whose every offset leads to one text: what is decoded must not become gigabytes."""
    count, text = 1000, 32_000
    heads = [_word(32 * count)] * count
    data = bytes.fromhex("".join(heads) + _word(text)) + b"a" * text
    import tracemalloc

    tracemalloc.start()
    try:
        with pytest.raises(Refusal):
            decode_abi(abi_struct(["string"] * count), data)
        assert tracemalloc.get_traced_memory()[1] < 20 * len(data)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("kind", "value"),
    [("uint8", 256), ("uint8", -1), ("int8", 128), ("int8", -129), ("bytes4", b"12345"), ("bytes4", b"123"),
     ("address", bytes(21)), ("address", bytes(19)), ("(uint8,uint8)", [1]), ("bool", 2), ("uint8[]", [])],
)  # fmt: skip
def test_a_value_that_the_type_cannot_hold_is_never_encoded(kind: str, value: Any) -> None:
    with pytest.raises((ValueError, OverflowError)):
        encode_abi(abi_struct([kind]), by_place([value]))


@pytest.mark.parametrize("kind", ["uint8[]", "(uint8,bool)[]", "((uint8[]),bool)"])
def test_an_array_is_no_type(kind: str) -> None:
    with pytest.raises(ValueError, match="not an ABI type"):
        decode_abi(abi_struct([kind]), bytes(64))


def test_a_canonical_encoding_beyond_the_cap_is_refused() -> None:
    value = bytes(MAX_ENCODED_BYTES - 64)
    structs = abi_struct(["bytes"])
    data = encode_abi(structs, {"0": value})
    assert len(data) == MAX_ENCODED_BYTES
    assert decode_abi(structs, data) == {"0": value}
    with pytest.raises(Refusal, match="too long"):
        decode_abi(structs, encode_abi(structs, {"0": value + b"\0"}))


@pytest.mark.parametrize("item", [-1, True, None, "dog", 1.0, bytearray(b"dog"), {1: 2}, [[None]]])
def test_what_is_neither_bytes_nor_a_whole_number_nor_a_list_is_not_encoded(item: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        encode_rlp(item)


LENGTHS = (0, 1, 55, 56, 255, 256, 2**16 - 1, 2**16)
_ITEMS = st.recursive(
    st.binary(max_size=80) | st.integers(0, 2**256), lambda inside: st.lists(inside, max_size=8), max_leaves=40
)


@repeatable
@given(_ITEMS)
@example([0, 1, 127, 128, 255, 256, 2**64, 2**256 - 1, b"\0", b"\x7f", b"\x80", (b"cat", b"dog")])
@example([bytes(length) for length in LENGTHS])
@example([[b"\0"] * length for length in LENGTHS])
def test_everything_is_encoded_as_the_library_does(item: Any) -> None:
    assert encode_rlp(item) == bytes(rlp.encode(item))


@repeatable
@given(json_values() | st.integers(-(1 << 300), 1 << 300) | st.binary(max_size=40))
@example(-(1 << 70))
def test_what_cbor2_writes_is_read_the_same(value: Any) -> None:
    assert repr(read(cbor2.dumps(value), max_items=1000)) == repr(value)


BAD = {
    "nothing": "",
    "ends in a head": "18",
    "ends after a tag": "d825",
    "something follows": "0000",
    "a list of 2^64 - 1 items": "9bffffffffffffffff",
    "a text of a milliard": "7a3b9aca00",
    "an indefinite list": "9f01ff",
    "indefinite bytes": "5f4101ff",
    "a break alone": "ff",
    "reserved length 28": "1c",
    "undefined": "f7",
    "a text that is not UTF-8": "61ff",
    "a lone surrogate": "63eda080",
    "an overlong form of a text": "62c0af",
    "the same member twice": "a201010102",
    "a name that is a list": "a18000",
    "a name that is a fraction": "a1f93c0000",
    "a big integer of a text": "c26161",
    "a big integer of 257 bytes": "c2590101" + "ff" * 257,
    "nested too deep": "81" * 26,
    "tagged too deep": "c6" * 26 + "00",
    "tagged deeper than Python's stack": "c1" * 100_000 + "01",
    "too many items": "8f" + "00" * 15,
}


@pytest.mark.parametrize("cbor", BAD.values(), ids=BAD.keys())
def test_what_is_not_read_here_is_refused(cbor: str) -> None:
    assert check_of(read, bytes.fromhex(cbor), max_items=15) == "QR-CBOR"


# EIP-55's own examples
ONE_CASE = ["0x52908400098527886E0F7030069857D2E4169EE7", "0xde709f2102306220921060314715629080e2fb77"]
NORMAL = ["0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359"]


@pytest.mark.parametrize("text", [*ONE_CASE, *NORMAL])
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
        error = error_of(Refusal, parse_address, typed)
        assert error.expected == ""
        assert text not in f"{error}{error.as_json()}"


@pytest.mark.parametrize("text", ["", "0x", "0X" + "ab" * 20, "ab" * 20, "0x" + "ab" * 21, "0x" + "g" * 40])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(Refusal, match="not an address"):
        parse_address(text)


AMOUNTS = (USDC, PRICE, LEVERAGE, COIN, PERCENT)


@pytest.mark.parametrize(
    ("text", "unit", "raw"),
    [
        ("250.000001", USDC, 250_000_001),
        ("64000.5", PRICE, 640_005_000_000_000),
        ("-10", PERCENT, -100_000_000_000),
        ("0.0000000001", COIN, 1),
        ("10", LEVERAGE, 100_000_000_000),
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
    assert check_of(to_raw, text, USDC) == "PLAN-AMOUNT"


@pytest.mark.parametrize("unit", AMOUNTS)
def test_one_decimal_more_than_the_unit_holds_is_refused_even_when_it_is_zero(unit: Unit) -> None:
    assert unit.decimals is not None
    assert to_raw("1." + "0" * unit.decimals, unit) == 10**unit.decimals
    with pytest.raises(Refusal):
        to_raw("1." + "0" * (unit.decimals + 1), unit)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (60, "1 min"), (3_661, "1 h 1 min"), (90_061, "1 d 1 h"), (-90, "-1 min 30 s"), (86_401, "1 d 1 s")],
)
def test_a_span_is_shown_in_its_two_largest_units(seconds: int, text: str) -> None:
    assert units.span_text(seconds) == text


@pytest.mark.parametrize(("number", "is_seconds"), [(0, True), (1_790_000_000, True), (10**11, False)])
def test_the_magnitudes_of_seconds_and_milliseconds_are_told_apart(number: int, is_seconds: bool) -> None:
    assert units.looks_like_seconds(number) is is_seconds


@repeatable
@given(st.binary(min_size=32, max_size=32) | st.binary(max_size=6).map(lambda raw: raw.ljust(32, b"\0")))
def test_the_text_of_every_code_gives_its_bytes_back(raw: bytes) -> None:
    assert code_bytes(code_text(raw)) == raw


PLAIN = (
    'id = "close-0"\n'
    'fields = { trader = "0x52908400098527886E0F7030069857D2E4169EE7", at = { at_least = "1.5" }, n = 0 }\n'
)
LONG = "".join(f"[[steps]]\n{PLAIN}" for _ in range(200))
KEY = ".".join("k" * MAX_KEY_PARTS)
LONGER_KEY = f"{KEY}.k"
DEEP = "[" * MAX_BRACKETS + "]" * MAX_BRACKETS


@pytest.mark.parametrize("before", ["", LONG])
@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (f"{LONGER_KEY} = 1\n", "key of more than"),
        (f"[{LONGER_KEY}]\n", "key of more than"),
        (f"x = {{ {LONGER_KEY} = 1 }}\n", "key of more than"),
        (f"x = {{ a = {{ {LONGER_KEY} = 1 }} }}\n", "key of more than"),
        (f"x = [{DEEP}]\n", "nested deeper"),
        (f"x = {{ a = [{DEEP}] }}\n", "nested deeper"),
        ("x = " + "[\n" * (MAX_BRACKETS - 1) + "[[x]]\n" + "]" * (MAX_BRACKETS - 1) + "\n", "nested deeper"),
        ('x = """\n' + LONG + f'"""\n{LONGER_KEY} = 1\n', "key of more than"),
        ("x = '''\n" + LONG + f"'''\ny = [{DEEP}]\n", "nested deeper"),
        (f'x = {{ a = """ " # """, {LONGER_KEY} = 1 }}\n', "key of more than"),  # no comment begins in a text
        (f"x = {{ a = ''' ' # ''', b = [{DEEP}] }}\n", "nested deeper"),
    ],
)
def test_what_breaks_a_bound_is_refused_wherever_it_stands(before: str, bad: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_toml((before + bad).encode())
