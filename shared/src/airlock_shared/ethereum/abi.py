"""Solidity's ABI encoding, strict and in its canonical form only.

A type is its canonical text, with tuples in parentheses: ``(address,uint256)[]``. Values are those of
:mod:`airlock_shared.ethereum.eip712_types`: int, bool, bytes (20 for an address), str, and sequences for arrays and tuples.
Source of the rules: the Solidity contract ABI specification, "Formal Specification of the Encoding".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

from airlock_shared.errors import Refusal
from airlock_shared.ethereum.eip712_types import MAX_ARRAY_LENGTH, atomic_kind, split_array

MAX_ENCODED_BYTES = 1 << 20
MAX_NESTING = 16
_OFFSET = (32).to_bytes(32, "big")


class AbiCodec(NamedTuple):
    """How one type is encoded. ``head_size`` is its size in the head of a tuple: 32 for every dynamic type.

    ``decode`` takes the data and where the encoding begins, and returns the value and where the encoding ends.
    """

    dynamic: bool
    head_size: int
    encode: Callable[[Any], bytes]
    decode: Callable[[bytes, int], tuple[Any, int]]


def encode(types: Sequence[str], values: Sequence[Any]) -> bytes:
    """Return ``abi.encode`` of the values, one per type.

    A value that the type cannot hold is a programming error and raises ``ValueError``: values come from
    :mod:`airlock_shared.ethereum.eip712_types` or from :func:`decode`, which have read them strictly.
    """
    return codec_of(f"({','.join(types)})").encode(values)


def encode_struct(struct: str, values: Sequence[Any]) -> bytes:
    """Return ``abi.encode(struct)``: a dynamic struct begins with the offset word 0x20, a static one does not.

    Raises as :func:`encode`.
    """
    codec = codec_of(struct)
    return (_OFFSET if codec.dynamic else b"") + codec.encode(values)


def decode(types: Sequence[str], data: bytes) -> list[Any]:
    """Return the values that ``data`` encodes, accepting the canonical encoding only.

    Raises ``Refusal("ENC-CANONICAL")`` when data is short, has offsets, padding or bytes to spare, or a value out of
    its type's range.
    """
    if len(data) > MAX_ENCODED_BYTES:
        raise _not_canonical("too long", f"{len(data)} bytes", f"<= {MAX_ENCODED_BYTES} bytes")
    codec = codec_of(f"({','.join(types)})")
    values: list[Any] = codec.decode(data, 0)[0]
    again = codec.encode(values)
    if again != data:
        first = next(
            (i for i, (a, b) in enumerate(zip(again, data, strict=False)) if a != b), min(len(again), len(data))
        )
        raise _not_canonical(f"differs from its canonical form at byte {first}", f"{len(data)} bytes", f"{len(again)}")
    return values


def _not_canonical(what: str, got: str, expected: str) -> Refusal:
    return Refusal("ENC-CANONICAL", f"the encoding is not canonical: {what}", got=got, expected=expected)


@lru_cache(maxsize=256)
def codec_of(type_name: str) -> AbiCodec:
    """Return the codec of a type text. Raises ``ValueError`` for a text that is not a type."""
    if array := split_array(type_name):
        return _array_codec(codec_of(array[0]), array[1])
    if type_name.startswith("(") and type_name.endswith(")"):
        if max(accumulate((c == "(") - (c == ")") for c in type_name)) > MAX_NESTING:
            message = f"tuples nested more than {MAX_NESTING} deep"
            raise ValueError(message)
        return _tuple_codec([codec_of(t) for t in split_tuple(type_name)])
    return _atomic_codec(type_name)


def split_tuple(type_name: str) -> list[str]:
    """Return the component types of a tuple type text such as ``(address,(uint256,bool)[])``."""
    parts, depth, start = [], 0, 1
    for position, character in enumerate(type_name[1:-1], start=1):
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append(type_name[start:position])
            start = position + 1
    return [*parts, type_name[start:-1]] if len(type_name) > 2 else []


def _word(data: bytes, at: int) -> int:
    if at + 32 > len(data):
        raise _not_canonical(f"it ends before byte {at + 32}", f"{len(data)} bytes", f">= {at + 32} bytes")
    return int.from_bytes(data[at : at + 32], "big")


def _held(fits: bool, type_name: str, value: Any) -> Any:
    """Return a value that is to be encoded, once it is known that its type can hold it."""
    if not fits:
        message = f"{type_name} cannot hold {value!r:.80}"
        raise ValueError(message)
    return value


def _atomic_codec(type_name: str) -> AbiCodec:
    kind, size = atomic_kind(type_name) or ("", 0)
    if kind in ("uint", "int"):
        return _integer_codec(type_name, kind == "int", size)
    if kind in ("bytes", "string"):
        return _bytes_codec(kind == "string")
    if kind == "bool":
        return AbiCodec(False, 32, lambda v: _held(type(v) is bool, kind, v).to_bytes(32, "big"),
                        lambda data, at: (bool(_word(data, at)), at + 32))  # fmt: skip
    if kind == "address":
        return AbiCodec(False, 32, lambda v: _held(type(v) is bytes and len(v) == 20, kind, v).rjust(32, b"\0"),
                        lambda data, at: (_word(data, at).to_bytes(32, "big")[12:], at + 32))  # fmt: skip
    if kind == "bytesN":
        return AbiCodec(False, 32, lambda v: _held(type(v) is bytes and len(v) == size, type_name, v).ljust(32, b"\0"),
                        lambda data, at: (_word(data, at).to_bytes(32, "big")[:size], at + 32))  # fmt: skip
    message = f"not an ABI type: {type_name!r}"
    raise ValueError(message)


def _integer_codec(type_name: str, signed: bool, bits: int) -> AbiCodec:
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)

    def encode_integer(value: int) -> bytes:
        if type(value) is not int or not low <= value <= high:
            _held(False, type_name, value)
        return (value if value >= 0 else value + (1 << 256)).to_bytes(32, "big")  # two's complement

    def decode_integer(data: bytes, at: int) -> tuple[int, int]:
        number = _word(data, at)
        number -= (number >> 255 << 256) if signed else 0
        if not low <= number <= high:
            raise _not_canonical(f"{number} is outside {type_name}", str(number), f"{low} to {high}")
        return number, at + 32

    return AbiCodec(False, 32, encode_integer, decode_integer)


def _bytes_codec(text: bool) -> AbiCodec:
    kind, name = (str, "string") if text else (bytes, "bytes")

    def encode_bytes(value: bytes | str) -> bytes:
        _held(type(value) is kind, name, value)
        raw = value.encode() if isinstance(value, str) else value
        return len(raw).to_bytes(32, "big") + raw + bytes(-len(raw) % 32)

    def decode_bytes(data: bytes, at: int) -> tuple[bytes | str, int]:
        length = _word(data, at)
        raw = data[at + 32 : at + 32 + length] if length <= len(data) else b""
        if len(raw) != length:
            raise _not_canonical("a length points past the end", str(length), f"<= {len(data)}")
        try:
            return raw.decode() if text else raw, at + 32 + length + -length % 32
        except UnicodeDecodeError as error:
            raise _not_canonical("a string is not UTF-8", raw[:32].hex(), "UTF-8") from error

    return AbiCodec(True, 32, encode_bytes, decode_bytes)


def _tuple_codec(parts: list[AbiCodec]) -> AbiCodec:
    dynamic = any(p.dynamic for p in parts)
    head_size = sum(p.head_size for p in parts)
    encoders = [p.encode for p in parts]

    def encode_tuple(values: Sequence[Any]) -> bytes:
        if not dynamic:
            return b"".join([encode(value) for encode, value in zip(encoders, values, strict=True)])
        head, tail = b"", b""
        for part, value in zip(parts, values, strict=True):
            if part.dynamic:
                head += (head_size + len(tail)).to_bytes(32, "big")
                tail += part.encode(value)
            else:
                head += part.encode(value)
        return head + tail

    def decode_tuple(data: bytes, at: int) -> tuple[list[Any], int]:
        values, position, end = [], at, at + head_size
        for part in parts:
            if part.dynamic:  # each tail begins where the one before it ends, so that no byte is decoded twice
                _require_offset(data, position, end - at)
                value, end = part.decode(data, end)
            else:
                value, _ = part.decode(data, position)
            values.append(value)
            position += part.head_size
        return values, end

    return AbiCodec(dynamic, 32 if dynamic else head_size, encode_tuple, decode_tuple)


def _require_offset(data: bytes, at: int, expected: int) -> None:
    offset = _word(data, at)
    if offset != expected:
        raise _not_canonical(f"the offset at byte {at} is not where the next part begins", str(offset), str(expected))


def _array_codec(element: AbiCodec, length: int | None) -> AbiCodec:
    def encode_array(values: Sequence[Any]) -> bytes:
        _held(length in (None, len(values)), f"an array of {length}", values)
        body = _tuple_codec([element] * len(values)).encode(values)
        return body if length is not None else len(values).to_bytes(32, "big") + body

    def decode_array(data: bytes, at: int) -> tuple[list[Any], int]:
        count = length if length is not None else _word(data, at)
        if count > min(MAX_ARRAY_LENGTH, len(data) // 32):
            raise _not_canonical("an array is longer than the data", str(count), f"<= {len(data) // 32}")
        return _tuple_codec([element] * count).decode(data, at if length is not None else at + 32)

    dynamic = length is None or element.dynamic
    return AbiCodec(dynamic, 32 if dynamic else element.head_size * (length or 0), encode_array, decode_array)
