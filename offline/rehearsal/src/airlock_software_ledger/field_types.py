"""The definition of an EIP-712 field as the app reads it: type code, custom struct or size, array levels, name."""

from __future__ import annotations

from typing import NamedTuple

from airlock_software_ledger.status_words import BAD_DATA, Failed

CUSTOM, INT, UINT, ADDRESS, BOOL, STRING, FIXED_BYTES, BYTES = range(8)
DYNAMIC_TYPES = (STRING, BYTES)

_NAMES = {
    INT: "int",
    UINT: "uint",
    ADDRESS: "address",
    BOOL: "bool",
    STRING: "string",
    FIXED_BYTES: "bytes",
    BYTES: "bytes",
}
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


class _DefinitionReader:
    """Takes bytes off a field's definition and fails when they run out."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def take(self, count: int) -> bytes:
        if len(self._data) < count:
            raise Failed(BAD_DATA)
        taken, self._data = self._data[:count], self._data[count:]
        return taken

    def byte(self) -> int:
        return self.take(1)[0]

    def name(self) -> str:
        return text_of(self.take(self.byte()))

    def end(self) -> None:
        if self._data:
            raise Failed(BAD_DATA)


def read_field(data: bytes) -> FieldType:
    """Read the definition of a field: type byte, custom name or size, array levels, name."""
    reader = _DefinitionReader(data)
    first = reader.byte()
    code = first & _TYPE_MASK
    sized = bool(first & _SIZE_FLAG)
    if code > BYTES or sized != (code in _SIZED):
        raise Failed(BAD_DATA)
    custom = reader.name() if code == CUSTOM else ""
    size = reader.byte() if sized else 0
    levels: tuple[int | None, ...] = ()
    if first & _ARRAY_FLAG:
        for _ in range(reader.byte()):
            kind = reader.byte()
            if kind > 1:
                raise Failed(BAD_DATA)
            levels += (reader.byte() if kind else None,)
    field = FieldType(code, custom, size, levels, reader.name())
    reader.end()
    return field
