"""Solidity's ABI encoding, strict and in its canonical form only.

A type is its canonical text, with tuples in parentheses: ``(address,uint256)``; nothing that is signed or sent has an
array, and an array is no type here. Values are those of :mod:`airlock_shared.ethereum.eip712`: int, bool, bytes (20 for
an address), str, and sequences for tuples.
Source of the rules: the Solidity contract ABI specification, "Formal Specification of the Encoding".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from airlock_shared.errors import Refusal
from airlock_shared.ethereum.eip712 import atomic_kind, integer_range

MAX_ENCODED_BYTES = 1 << 20


class AbiType(NamedTuple):
    """A type, read from its text. ``size`` is that of :func:`atomic_kind`, ``parts`` are a tuple's components.

    ``head_size`` is its size in the head of a tuple: 32 for every dynamic type.
    """

    name: str
    kind: str
    size: int
    parts: tuple[AbiType, ...]
    dynamic: bool
    head_size: int


def encode_abi(types: Sequence[str], values: Sequence[Any]) -> bytes:
    """Return ``abi.encode`` of the values, one per type. Source: the Solidity documentation, "Contract ABI Specification".

    A value that the type cannot hold is a programming error and raises ``ValueError``: values come from
    :mod:`airlock_shared.ethereum.eip712` or from :func:`decode_abi`, which have read them strictly.
    """
    return _encode(type_of(f"({','.join(types)})"), values)


def encode_struct(struct: str, values: Sequence[Any]) -> bytes:
    """Return ``abi.encode(struct)``: a dynamic struct begins with the offset word 0x20, a static one does not.

    Raises as :func:`encode_abi`.
    """
    read = type_of(struct)
    return (_number(32) if read.dynamic else b"") + _encode(read, values)


def decode_abi(types: Sequence[str], data: bytes) -> list[Any]:
    """Return the values that ``data`` encodes, accepting the canonical encoding only.

    Raises ``Refusal("ENC-CANONICAL")`` when data is short, has offsets, padding or bytes to spare, or a value out of
    its type's range.
    """
    if len(data) > MAX_ENCODED_BYTES:
        raise _not_canonical("too long", f"{len(data)} bytes", f"<= {MAX_ENCODED_BYTES} bytes")
    read = type_of(f"({','.join(types)})")
    values: list[Any] = _decode(read, data, 0)[0]
    again = _encode(read, values)
    if again != data:
        first = next(
            (i for i, (a, b) in enumerate(zip(again, data, strict=False)) if a != b), min(len(again), len(data))
        )
        raise _not_canonical(f"differs from its canonical form at byte {first}", f"{len(data)} bytes", f"{len(again)}")
    return values


def _not_canonical(what: str, got: str, expected: str) -> Refusal:
    return Refusal("ENC-CANONICAL", f"the encoding is not canonical: {what}", got=got, expected=expected)


def type_of(name: str) -> AbiType:
    """Return the type of a type text. Raises ``ValueError`` for a text that is not a type."""
    if name.startswith("(") and name.endswith(")"):
        parts = tuple(map(type_of, split_tuple(name)))
        dynamic = any(part.dynamic for part in parts)
        return AbiType(name, "tuple", 0, parts, dynamic, 32 if dynamic else sum(part.head_size for part in parts))
    if (found := atomic_kind(name)) is None:
        raise ValueError(f"not an ABI type: {name!r}")
    return AbiType(name, *found, (), found[0] in ("bytes", "string"), 32)


def split_tuple(type_name: str) -> list[str]:
    """Return the component types of a tuple type: of ``(address,(uint256,bool))`` ``address`` and ``(uint256,bool)``."""
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


def _number(value: int) -> bytes:
    return (value % (1 << 256)).to_bytes(32, "big")  # two's complement


def _encode(of: AbiType, value: Any) -> bytes:
    name, kind, size, parts, dynamic, _ = of
    if kind == "tuple":
        head, tail, head_size = b"", b"", sum(part.head_size for part in parts)
        for part, each in zip(parts, value, strict=True):
            encoded = _encode(part, each)
            if part.dynamic:
                head, tail = head + _number(head_size + len(tail)), tail + encoded
            else:
                head += encoded
        return head + tail
    if dynamic:
        _require(type(value) is (str if kind == "string" else bytes), name, value)
        raw: bytes = value.encode() if kind == "string" else value
        return _number(len(raw)) + raw + bytes(-len(raw) % 32)
    if kind in ("address", "bytesN"):
        _require(type(value) is bytes and len(value) == (size or 20), name, value)
        return bytes(value.rjust(32, b"\0") if kind == "address" else value.ljust(32, b"\0"))
    low, high = integer_range(kind, size)
    _require(type(value) is (bool if kind == "bool" else int) and low <= value <= high, name, value)
    return _number(value)


def _require(fits: bool, name: str, value: Any) -> None:
    """Raise ``ValueError`` for a value that its type cannot hold."""
    if not fits:
        raise ValueError(f"{name} cannot hold {value!r:.80}")


def _decode(of: AbiType, data: bytes, at: int) -> tuple[Any, int]:
    """Return the value whose encoding begins at a place, and where the encoding ends."""
    name, kind, size, parts, dynamic, _ = of
    if kind == "tuple":
        values, position, end = [], at, at + sum(part.head_size for part in parts)
        for part in parts:
            if part.dynamic:  # each tail begins where the one before it ends, so that no byte is decoded twice
                if (offset := _word(data, position)) != end - at:
                    what = f"the offset at byte {position} is not where the next part begins"
                    raise _not_canonical(what, str(offset), str(end - at))
                value, end = _decode(part, data, end)
            else:
                value, _ = _decode(part, data, position)
            values.append(value)
            position += part.head_size
        return values, end
    number = _word(data, at)
    if dynamic:
        raw = data[at + 32 : at + 32 + number] if number <= len(data) else b""
        if len(raw) != number:
            raise _not_canonical("a length points past the end", str(number), f"<= {len(data)}")
        try:
            return raw.decode() if kind == "string" else raw, at + 32 + number + -number % 32
        except UnicodeDecodeError as error:
            raise _not_canonical("a string is not UTF-8", raw[:32].hex(), "UTF-8") from error
    if kind in ("address", "bytesN"):
        return data[at + 12 : at + 32] if kind == "address" else data[at : at + size], at + 32
    if kind == "bool":
        return bool(number), at + 32
    number -= number >> 255 << 256 if kind == "int" else 0
    low, high = integer_range(kind, size)
    if not low <= number <= high:
        raise _not_canonical(f"{number} is outside {name}", str(number), f"{low} to {high}")
    return number, at + 32
