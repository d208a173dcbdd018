"""EIP-712 as the device does it: definitions and raw values come in one by one, hashes come out.

Written from EIP-712 and from the recorded exchanges, and shares nothing with ``airlock_shared.ethereum.eip712``: what one
of the two gets wrong, the other does not repeat.
"""

from __future__ import annotations

import json
from collections.abc import Generator
from io import BytesIO
from typing import NamedTuple

from airlock_shared.ethereum.signatures import keccak256
from airlock_software_ledger.answers import BAD_DATA, UNSPECIFIED, Failed, fail_if

# ---- field types ----------------------------------------------------------------------------------------------------
# The definition of an EIP-712 field as the app reads it: type code, custom struct or size, array levels, name.


_CUSTOM, INT, UINT, ADDRESS, BOOL, STRING, FIXED_BYTES, _BYTES = range(8)
DYNAMIC_TYPES = (STRING, _BYTES)

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


def _text_of(raw: bytes) -> str:
    """Return a name's text; only printable ASCII is a name."""
    fail_if(not raw or not all(0x21 <= byte <= 0x7E for byte in raw))
    return raw.decode("ascii")


def read_field(data: bytes) -> FieldType:
    """Read the definition of a field: type byte, custom name or size, array levels, name."""
    left = BytesIO(data)

    def taken(count: int) -> bytes:
        piece = left.read(count)
        fail_if(len(piece) < count)
        return piece

    def byte() -> int:
        return taken(1)[0]

    first = byte()
    code = first & _TYPE_MASK
    sized = bool(first & _SIZE_FLAG)
    fail_if(code > _BYTES or sized != (code in _SIZED))
    custom = _text_of(taken(byte())) if code == _CUSTOM else ""
    size = byte() if sized else 0
    levels: tuple[int | None, ...] = ()
    for _ in range(byte() if first & _ARRAY_FLAG else 0):
        kind = byte()
        fail_if(kind > 1)
        levels += (byte() if kind else None,)
    field = FieldType(code, custom, size, levels, _text_of(taken(byte())))
    fail_if(left.read())
    return field


# ---- typed stream ---------------------------------------------------------------------------------------------------


DOMAIN = "EIP712Domain"
_MAX_DEPTH = 16
_SIXTEEN = 16  # members of a nested struct, of which the released app loses count


class ReceivedValue(NamedTuple):
    """A value that came in: under which root struct, its field, and its raw bytes."""

    root: str
    field: FieldType
    raw: bytes


class _Wanted(NamedTuple):
    """What the stream waits for next: the count of an array level, or a value; ``path`` is as filters name it."""

    field: FieldType
    is_count: bool
    path: str


_Walk = Generator[_Wanted, bytes, bytes]


class TypedStream:
    """One EIP-712 flow. Every method raises ``Failed`` for what the app refuses; the flow is then thrown away."""

    def __init__(self) -> None:
        self.otherwise = False  # whether the app is known to sign another digest than EIP-712's for what came
        self.seen: list[ReceivedValue] = []
        self.hashes: dict[str, bytes] = {}
        self._structs: list[tuple[str, list[FieldType]]] = []
        self.root = ""  # the root struct whose values came last, or come now
        self._walk: _Walk  # where values are wanted
        self._wanted: _Wanted | None = None
        self._partial: bytes | None = None
        self._missing = 0

    # ---- definitions

    def define_struct(self, name: bytes) -> None:
        """Begin a struct. The name may be there already: then the older definition is the one that is found."""
        self._structs.append((_text_of(name), []))

    def define_field(self, data: bytes) -> None:
        """Add a field to the struct defined last."""
        fail_if(not self._structs)
        self._structs[-1][1].append(read_field(data))

    @property
    def awaited(self) -> tuple[str, FieldType] | None:
        """The path and the field of the value that comes next."""
        return (self._wanted.path, self._wanted.field) if self._wanted and not self._wanted.is_count else None

    @property
    def domain(self) -> dict[str, bytes]:
        """The raw values of the domain that came in, by their fields' names."""
        return {seen.field.name: seen.raw for seen in self.seen if seen.root == DOMAIN}

    def schema(self) -> bytes:
        """Return the definitions as JSON, in the order in which they came: what message filters are signed for."""
        types = {name: [{"name": f.name, "type": f.type_name()} for f in fields] for name, fields in self._structs}
        return json.dumps(types, separators=(",", ":")).encode("ascii")

    def _fields(self, name: str) -> list[FieldType]:
        for known, fields in self._structs:
            if known == name:
                return fields
        raise Failed(BAD_DATA)

    def _held_by(self, name: str) -> set[str]:
        """Return the structs that a struct holds, at any depth."""
        held: set[str] = set()
        pending = [name]
        while pending:
            more = {field.custom for field in self._fields(pending.pop()) if field.custom} - held
            held |= more
            pending += more
        return held

    def _encode_type(self, name: str) -> bytes:
        order = [name, *sorted(self._held_by(name) - {name})]
        return "".join(
            f"{struct}({','.join(f'{field.type_name()} {field.name}' for field in self._fields(struct))})"
            for struct in order
        ).encode("ascii")

    # ---- values

    def begin(self, root: bytes) -> None:
        """Begin the values of a root struct: ``EIP712Domain`` first, then the primary type."""
        name = _text_of(root)
        fail_if(self._wanted is not None)
        fail_if((name == DOMAIN) == bool(self.root) or len(self.hashes) == 2, UNSPECIFIED)
        self.root = name
        self._walk = self._walk_struct(name, "")
        self._advance(None)

    def count(self, data: bytes) -> None:
        """Take the number of elements of an array level."""
        if self._wanted is None or not self._wanted.is_count or len(data) != 1:
            raise Failed(BAD_DATA)
        self._advance(data)

    def value(self, data: bytes, *, more: bool) -> None:
        """Take a value, or a piece of one: its two-byte length comes first."""
        wanted = self._wanted
        if wanted is None or wanted.is_count:
            raise Failed(BAD_DATA)
        if self._partial is None:
            fail_if(len(data) < 2)
            self._missing, self._partial, data = int.from_bytes(data[:2], "big"), b"", data[2:]
        fail_if(len(data) > self._missing)
        self._partial += data
        self._missing -= len(data)
        fail_if(more != (self._missing > 0) or (more and wanted.field.code not in DYNAMIC_TYPES))
        if not more:
            raw, self._partial = self._partial, None
            self.seen.append(ReceivedValue(self.root, wanted.field, raw))
            self._advance(raw)

    def domain_and_message(self) -> tuple[bytes, bytes]:
        """Return both hashes when every value has come in."""
        fail_if(self._wanted is not None or len(self.hashes) != 2)
        domain, message = self.hashes.values()
        return domain, message

    def _advance(self, answer: bytes | None) -> None:
        try:
            self._wanted = next(self._walk) if answer is None else self._walk.send(answer)
        except StopIteration as finished:
            self._wanted = None
            self.hashes[self.root] = finished.value

    def _walk_struct(self, name: str, path: str) -> _Walk:
        fail_if(path.replace(".[]", "").count(".") > _MAX_DEPTH)
        fields = self._fields(name)
        fail_if(not fields, UNSPECIFIED)
        self.otherwise |= path != "" and len(fields) == _SIXTEEN
        words = [keccak256(self._encode_type(name))]
        for field in fields:
            word = yield from self._walk_field(field, field.levels, path + field.name)
            words.append(word)
        return keccak256(b"".join(words))

    def _walk_field(self, field: FieldType, levels: tuple[int | None, ...], path: str) -> _Walk:
        if levels:
            answer = yield _Wanted(field, True, path)
            fail_if(levels[-1] not in (None, answer[0]))
            words = []
            for _ in range(answer[0]):
                word = yield from self._walk_field(field, levels[:-1], f"{path}.[]")
                words.append(word)
            return keccak256(b"".join(words))
        if field.code == _CUSTOM:
            return (yield from self._walk_struct(field.custom, f"{path}."))
        raw = yield _Wanted(field, False, path)
        return encode_word(field, raw)


def encode_word(field: FieldType, raw: bytes) -> bytes:
    """Return the 32-byte word of a value's raw bytes."""
    if field.code in DYNAMIC_TYPES:
        return keccak256(raw)
    exact = {ADDRESS: 20, BOOL: 1}.get(field.code)
    fail_if(len(raw) > 32 or (exact is not None and len(raw) != exact) or (field.code == INT and not raw))
    if field.code == FIXED_BYTES:
        return raw + bytes(32 - len(raw))
    negative = field.code == INT and len(raw) == field.size and raw[0] >= 0x80
    return (b"\xff" if negative else b"\0") * (32 - len(raw)) + raw
