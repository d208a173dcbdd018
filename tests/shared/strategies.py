"""Random but repeatable inputs: EIP-712 types with values, ABI types with values, JSON values."""

import copy
import json
import random
from collections.abc import Iterable, Iterator
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from airlock_shared.errors import AirlockError
from airlock_shared.ethereum.struct_types import Member, Structs
from airlock_shared.wire.strict_json import parse_json
from shared.make_payloads import seal
from shared.make_transactions import parts_of

BITS = tuple(range(8, 257, 8))
ATOMS = (
    *(f"uint{bits}" for bits in BITS),
    *(f"int{bits}" for bits in BITS),
    *(f"bytes{size}" for size in range(1, 33)),
    "bytes", "string", "bool", "address",
)  # fmt: skip
_SUFFIXES = st.lists(st.sampled_from(["[]", "[1]", "[2]", "[3]"]), max_size=2).map("".join) | st.just("")
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


@st.composite
def typed_data(draw: DrawFn, *, arrays: bool = True) -> dict[str, Any]:
    """An EIP-712 document with nested structs, and arrays, in which every struct is used."""
    count = draw(st.integers(1, 4))
    names = [f"S{position}" for position in range(count)]
    types: dict[str, list[dict[str, str]]] = {}
    for position, name in enumerate(names):
        kinds = draw(st.lists(atoms(), min_size=0 if position + 1 < count else 1, max_size=4))
        kinds += names[position + 1 : position + 2]  # so that every struct is reached
        kinds += draw(st.lists(st.sampled_from(names[position + 1 :]), max_size=1)) if names[position + 1 :] else []
        members = [kind + draw(_SUFFIXES if arrays else st.just("")) for kind in kinds]
        order = draw(st.permutations(range(len(members))))
        types[name] = [{"name": f"m{n}", "type": members[n]} for n in order]
    domain = draw(_domains())
    return {"types": types, "primaryType": "S0", "domain": domain, "message": draw(_structs(types, "S0"))}


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
    return {member["name"]: draw(values_of(types, member["type"])) for member in types[struct]}


def values_of(types: dict[str, Any], kind: str) -> SearchStrategy[Any]:
    if kind.endswith("]"):
        inner, _, length = kind[:-1].rpartition("[")
        size = int(length) if length else None
        return st.lists(values_of(types, inner), min_size=size or 0, max_size=3 if size is None else size)
    if kind in types:
        return _structs(types, kind)
    if "int" in kind:
        return integers_of(kind).map(str)
    return plain_values(kind).map(lambda value: "0x" + value.hex() if isinstance(value, bytes) else value)


def abi_types() -> SearchStrategy[str]:
    """An ABI type: an atom, or tuples of such."""
    return st.recursive(
        atoms(),
        lambda inner: st.lists(inner, min_size=1, max_size=3).map(lambda parts: f"({','.join(parts)})"),
        max_leaves=5,
    )


def abi_values(kind: str) -> SearchStrategy[Any]:
    """A value of an ABI type, tuples as lists."""
    if kind.startswith("("):
        return st.tuples(*(abi_values(part) for part in parts_of(kind[1:-1]))).map(list)
    return plain_values(kind)


def abi_struct(kinds: list[str]) -> Structs:
    """Types as the members 0, 1 and so on of a struct without a name, and each tuple as a struct of its own."""
    tuples = {kind: abi_struct(parts_of(kind[1:-1])) for kind in kinds if kind.endswith(")")}
    structs = {name or kind: members for kind, inner in tuples.items() for name, members in inner.items()}
    return structs | {"": tuple(Member(str(place), kind) for place, kind in enumerate(kinds))}


def by_place(value: Any) -> Any:
    """Values as those of such structs, from tuples and lists."""
    return {str(n): by_place(each) for n, each in enumerate(value)} if isinstance(value, tuple | list) else value


def json_values(*, floats: bool = True, texts: SearchStrategy[str] = TEXTS) -> SearchStrategy[Any]:
    """A JSON value, not nested deeper than documents may be."""
    scalars: SearchStrategy[Any] = st.one_of(
        st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.integers(-300, 300), texts
    )
    if floats:
        scalars |= st.floats(allow_nan=False, allow_infinity=False)
    return st.recursive(
        scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=12
    )


# ---- documents changed inside ---------------------------------------------------------------------------------------

ANY_TEXT = st.text(st.characters(), max_size=20)  # lone surrogates too: JSON can say them
_EDGES = [2**64, -(2**64) - 1, 2**256, "", "0x", "\ud800", "9" * 78, "1" * 79, [], {"": None}, "\n"]
ODD = json_values(texts=ANY_TEXT) | st.sampled_from(_EDGES)

Place = tuple[Any, ...]


def places(value: Any, path: Place = ()) -> list[Place]:
    """The path of every member inside a value."""
    found: list[Place] = [path] if path else []
    if isinstance(value, dict | list):
        for key, member in value.items() if isinstance(value, dict) else enumerate(value):
            found += places(member, (*path, key))
    return found


def at(value: Any, place: Iterable[Any]) -> Any:
    for part in place:
        value = value[part]
    return value


def leaves(value: dict[str, Any]) -> list[tuple[Place, Any]]:
    """Every member inside a table that is no table itself, and its path."""
    found = [(path, at(value, path)) for path in places(value)]
    return [(path, leaf) for path, leaf in found if not isinstance(leaf, dict)]


def mutated(document: Any, data: st.DataObject, odd: SearchStrategy[Any] = ODD) -> Any:
    """A copy of a document with one to three members, anywhere in it, replaced, dropped or doubled."""
    document = copy.deepcopy(document)
    for _ in range(data.draw(st.integers(1, 3))):
        found = places(document)
        if not found:
            break
        *parents, last = data.draw(st.sampled_from(found))
        node = at(document, parents)
        change = data.draw(st.sampled_from(["set", "set", "set", "drop", "add"]))
        if change == "set":
            node[last] = copy.deepcopy(data.draw(odd))
        elif change == "drop":
            del node[last]
        elif isinstance(node, dict):
            node[data.draw(ANY_TEXT)] = copy.deepcopy(data.draw(odd))
        else:
            node.insert(last, copy.deepcopy(node[last]))
    return document


def of_its_kind(value: Any, others: SearchStrategy[str] = ANY_TEXT) -> SearchStrategy[Any]:
    """Another value of the JSON type of ``value``: what a form that fixes types alone lets pass."""
    if isinstance(value, bool):
        return st.just(not value)
    if isinstance(value, int):
        return st.integers(-(2**64), 2**64 - 1) | st.sampled_from([value + 1, value - 1, -value])
    if isinstance(value, str):
        edited = st.sampled_from([value[:-1], value + "0", value.swapcase(), " " + value, value[::-1], "0x" + value])
        return edited | digits_of(value) | others
    return json_values(texts=ANY_TEXT).filter(lambda other: type(other) is type(value))


def digits_of(text: str) -> SearchStrategy[str]:
    """A text with one of its characters another hex digit."""
    if not text:
        return st.just("0")
    return st.tuples(st.integers(0, len(text) - 1), st.sampled_from("0123456789abcdef")).map(
        lambda change: text[: change[0]] + change[1] + text[change[0] + 1 :]
    )


def is_readable(value: Any) -> bool:
    try:
        parse_json(json.dumps(value).encode())
    except AirlockError:
        return False
    return True


READABLE = (json_values(floats=False) | st.sampled_from(_EDGES)).filter(is_readable)  # fractions are in meta alone
READABLE_TEXT = TEXTS.filter(is_readable)
LOOSE = [  # the members of a requests document of which its reader fixes no more than the JSON type
    *(("header", name) for name in ("plan", "deployment", "rehearsal", "created_ms")),
    *(("requests", 0, name) for name in ("action", "fields")),
    *(("requests", 0, "payload", name) for name in ("intent", "signerRule", "primaryType", "digest", "encodedIntent")),
    *(("requests", 0, "payload", name) for name in ("domain", "types", "message", "meta")),
    *(("requests", 0, "route", name) for name in ("to", "order_type", "reason")),
    ("requests", 0, "signer", "address"),
    *(("requests", 0, "delegation", name) for name in ("isEnabled", "expiry")),
]  # fmt: skip


def changed_inside(document: dict[str, Any], data: st.DataObject) -> None:
    """Change a requests document of typed data so that its reader takes it still: a lie in its form, for the checks.

    Half are lies that the builder sealed: other values of the message's own types under their own digest and encoding.
    """
    payload = document["requests"][0]["payload"]
    for _ in range(data.draw(st.integers(1, 3))):
        if data.draw(st.booleans()):
            _change_leaf(payload["types"], payload["primaryType"], payload["message"], data)
            seal(payload)
            continue
        there = set(places(document))
        *parents, last = data.draw(st.sampled_from([place for place in LOOSE if place in there]))
        node = at(document, parents)
        if isinstance(node[last], dict) and last != "fields":
            node[last] = mutated(node[last], data, READABLE)
        elif last == "fields":
            node[last][data.draw(st.sampled_from(list(node[last])) | READABLE_TEXT)] = data.draw(READABLE_TEXT)
        else:
            hexadecimal = last in ("plan", "deployment")
            node[last] = data.draw(digits_of(node[last]) if hexadecimal else of_its_kind(node[last], READABLE_TEXT))
        return


def _change_leaf(types: dict[str, Any], struct: str, message: dict[str, Any], data: st.DataObject) -> None:
    member = data.draw(st.sampled_from(types[struct]))
    if member["type"] in types:
        _change_leaf(types, member["type"], message[member["name"]], data)
    else:
        message[member["name"]] = data.draw(values_of(types, member["type"]))


def changed_leaf(value: Any, pick: random.Random) -> Iterator[Any]:
    """Yield other values for a leaf of a payload: flipped, rescaled, spelled otherwise, retyped."""
    if isinstance(value, bool):
        yield from (not value, str(value).lower(), int(value))
    elif isinstance(value, str) and value.startswith("0x"):
        place = pick.randrange(2, len(value))
        yield value[:place] + f"{int(value[place], 16) ^ 1 << pick.randrange(4):x}" + value[place + 1 :]
        yield from (value[:-2], value + "00", value[2:], value.upper(), value + "\n", " " + value, int(value, 16), "")
    elif isinstance(value, int) or value.removeprefix("-").isdigit():
        number = int(value)
        others = [number ^ 1 << pick.randrange(8), number + 1, number - 1, -number - 1, number * 10 + 7]
        others += [number * 10**10 + 1, number * 1000 + 1, number // 1000 + 1_000_003, 2**256 + number]
        yield from map(str, others)
        yield from (f"0{number}", f"+{number}", f"{number}.0", f"{number}e0", hex(number), f" {number}", f"{number}\n")
        yield from (number + 1, float(number % 2**40), {"value": value}, True, "")
    else:
        place = pick.randrange(len(value) + 1)
        yield from (value[:place] + "x" + value[place:], value + " ", value + "\u200b", 5)
        if value:
            yield from (value[:-1], value.swapcase())
    yield from (None, [value])
