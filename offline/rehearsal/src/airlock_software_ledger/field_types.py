"""The definition of an EIP-712 field as the app reads it: type code, custom struct or size, array levels, name."""

from __future__ import annotations

from io import BytesIO
from typing import NamedTuple

from airlock_software_ledger.status_words import BAD_DATA, Failed

CUSTOM, INT, UINT, ADDRESS, BOOL, STRING, FIXED_BYTES, BYTES = range(8)
DYNAMIC_TYPES = (STRING, BYTES)

_NAMES = ("", "int", "uint", "address", "bool", "string", "bytes", "bytes")
_SIZED = (INT, UINT, FIXED_BYTES)
_ARRAY_FLAG, _SIZE_FLAG, _TYPE_MASK = 0x80, 0x40, 0x0F


class FieldType(NamedTuple):
    """One field's definition: type code, custom struct name or "", bytes of a sized type, array levels, name."""

    code: int
    custom: str
    size: int
    levels: tuple[int | None, ...]
    name: str

    def type_name(self) -> str:
        """Return the type as ``encodeType`` spells it."""
        bits_or_bytes = self.size if self.code == FIXED_BYTES else self.size * 8
        base = self.custom or _NAMES[self.code] + (str(bits_or_bytes) if self.code in _SIZED else "")
        return base + "".join("[]" if level is None else f"[{level}]" for level in self.levels)


def text_of(raw: bytes) -> str:
    """Return a name's text; only printable ASCII is a name."""
    if not raw or not all(0x21 <= byte <= 0x7E for byte in raw):
        raise Failed(BAD_DATA)
    return raw.decode("ascii")


def read_field(data: bytes) -> FieldType:
    """Read the definition of a field: type byte, custom name or size, array levels, name."""
    left = BytesIO(data)

    def taken(count: int) -> bytes:
        piece = left.read(count)
        if len(piece) < count:
            raise Failed(BAD_DATA)
        return piece

    def byte() -> int:
        return taken(1)[0]

    first = byte()
    code = first & _TYPE_MASK
    sized = bool(first & _SIZE_FLAG)
    if code > BYTES or sized != (code in _SIZED):
        raise Failed(BAD_DATA)
    custom = text_of(taken(byte())) if code == CUSTOM else ""
    size = byte() if sized else 0
    levels: tuple[int | None, ...] = ()
    for _ in range(byte() if first & _ARRAY_FLAG else 0):
        kind = byte()
        if kind > 1:
            raise Failed(BAD_DATA)
        levels += (byte() if kind else None,)
    field = FieldType(code, custom, size, levels, text_of(taken(byte())))
    if left.read():
        raise Failed(BAD_DATA)
    return field
