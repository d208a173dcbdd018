"""Random but repeatable inputs: EIP-712 types with values, ABI types with values, JSON values."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

BITS = tuple(range(8, 257, 8))
ATOMS = (
    *(f"uint{bits}" for bits in BITS),
    *(f"int{bits}" for bits in BITS),
    *(f"bytes{size}" for size in range(1, 33)),
    "bytes", "string", "bool", "address",
)  # fmt: skip
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)  # no lone surrogates


def atoms() -> SearchStrategy[str]:
    """An atomic type, every kind as likely as another."""
    return st.one_of(*(st.sampled_from([a for a in ATOMS if a.rstrip("0123456789") == kind]) for kind in _KINDS))


_KINDS = ("uint", "int", "bytes", "string", "bool", "address")


def integers_of(kind: str) -> SearchStrategy[int]:
    """A number that an integer type can hold, often one of its ends."""
    bits = int(kind.lstrip("uint"))
    low, high = (0, 2**bits - 1) if kind.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return st.one_of(st.integers(low, high), st.sampled_from([low, high, 0]))


def plain_values(kind: str) -> SearchStrategy[Any]:
    """A value of an atomic type as Python has it: int, bool, bytes or str."""
    if kind in ("bool", "string"):
        return st.booleans() if kind == "bool" else TEXTS
    if kind == "address":
        return st.binary(min_size=20, max_size=20)
    if kind.startswith("bytes"):
        size = int(kind[5:] or 0)
        return st.binary(min_size=size, max_size=size or 70)
    return integers_of(kind)


# ---- EIP-712 --------------------------------------------------------------------------------------------------------


@st.composite
def typed_data(draw: DrawFn) -> dict[str, Any]:
    """An EIP-712 document with nested structs and arrays, in which every struct is used."""
    count = draw(st.integers(1, 4))
    names = [f"S{position}" for position in range(count)]
    types: dict[str, list[dict[str, str]]] = {}
    for position, name in enumerate(names):
        kinds = draw(st.lists(atoms(), min_size=0 if position + 1 < count else 1, max_size=4))
        kinds += names[position + 1 : position + 2]  # so that every struct is reached
        kinds += draw(st.lists(st.sampled_from(names[position + 1 :]), max_size=1)) if names[position + 1 :] else []
        members = [kind + draw(_suffixes()) for kind in kinds]
        order = draw(st.permutations(range(len(members))))
        types[name] = [{"name": f"m{n}", "type": members[n]} for n in order]
    domain = draw(_domains())
    return {"types": types, "primaryType": "S0", "domain": domain, "message": draw(_structs(types, "S0"))}


def _suffixes() -> SearchStrategy[str]:
    return st.lists(st.sampled_from(["[]", "[1]", "[2]", "[3]"]), max_size=2).map("".join) | st.just("")


def _domains() -> SearchStrategy[dict[str, Any]]:
    members: dict[str, SearchStrategy[Any]] = {
        "name": TEXTS,
        "version": TEXTS,
        "chainId": st.integers(0, 2**53 - 1),
        "verifyingContract": st.binary(min_size=20, max_size=20).map(lambda raw: "0x" + raw.hex()),
        "salt": st.binary(min_size=32, max_size=32).map(lambda raw: "0x" + raw.hex()),
    }
    return st.fixed_dictionaries({}, optional=members).filter(bool)


@st.composite
def _structs(draw: DrawFn, types: dict[str, Any], struct: str) -> dict[str, Any]:
    return {member["name"]: draw(_json_values(types, member["type"])) for member in types[struct]}


def _json_values(types: dict[str, Any], kind: str) -> SearchStrategy[Any]:
    if kind.endswith("]"):
        inner, _, length = kind[:-1].rpartition("[")
        size = int(length) if length else None
        return st.lists(_json_values(types, inner), min_size=size or 0, max_size=3 if size is None else size)
    if kind in types:
        return _structs(types, kind)
    if "int" in kind:
        return integers_of(kind).map(str)
    return plain_values(kind).map(lambda value: "0x" + value.hex() if isinstance(value, bytes) else value)


# ---- ABI ------------------------------------------------------------------------------------------------------------


def abi_types() -> SearchStrategy[str]:
    """An ABI type: an atom, or arrays and tuples of such."""
    return st.recursive(
        atoms(),
        lambda inner: st.one_of(
            st.tuples(inner, st.sampled_from(["[]", "[1]", "[3]"])).map("".join),
            st.lists(inner, min_size=1, max_size=3).map(lambda parts: f"({','.join(parts)})"),
        ),
        max_leaves=5,
    )


def abi_values(kind: str) -> SearchStrategy[Any]:
    """A value of an ABI type, tuples and arrays as lists."""
    if kind.endswith("]"):
        inner, _, length = kind[:-1].rpartition("[")
        size = int(length) if length else None
        return st.lists(abi_values(inner), min_size=size or 0, max_size=3 if size is None else size)
    if kind.startswith("("):
        return st.tuples(*(abi_values(part) for part in tuple_parts(kind))).map(list)
    return plain_values(kind)


def tuple_parts(kind: str) -> list[str]:
    """The component types of a tuple's text."""
    parts, depth = [""], 0
    for character in kind[1:-1]:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return parts


# ---- JSON -----------------------------------------------------------------------------------------------------------


def json_values(*, floats: bool = True, texts: SearchStrategy[str] = TEXTS) -> SearchStrategy[Any]:
    """A JSON value, not nested deeper than documents may be."""
    scalars: SearchStrategy[Any] = st.one_of(
        st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.integers(-300, 300), texts
    )
    if floats:
        scalars |= st.floats(allow_nan=False, allow_infinity=False)
    return st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
        max_leaves=12,
    )


def spaced(value: Any, draw: Callable[[SearchStrategy[Any]], Any]) -> str:
    """A JSON text of a value with other white space and escapes than usual, to be parsed to the same value."""
    blanks = st.text(" \t\r\n", max_size=2)
    if isinstance(value, dict):
        members = draw(st.permutations(list(value.items())))
        inside = ",".join(f"{draw(blanks)}{spaced(k, draw)}{draw(blanks)}:{spaced(v, draw)}" for k, v in members)
        return f"{draw(blanks)}{{{inside}{draw(blanks)}}}{draw(blanks)}"
    if isinstance(value, list):
        return f"{draw(blanks)}[{','.join(spaced(member, draw) for member in value)}{draw(blanks)}]"
    text = json.dumps(value, ensure_ascii=draw(st.booleans()))
    return f"{draw(blanks)}{text}{draw(blanks)}"
