"""Typed data of which the Ethereum app signs another digest than EIP-712's: told before anything is shown or sent.

Measured on the released app 1.22.0 in the emulator, on Flex and Nano S Plus; public as pull request 1060 of LedgerHQ's
app-ethereum. Such a signature recovers to nobody's address, so that it would be refused afterwards all the same. No newer
release was measured: each is taken to do as 1.22.0 does until one was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from airlock_offline.ledger.status import SignedOtherwise
from airlock_shared.ethereum.eip712 import TypedData
from airlock_shared.ethereum.eip712_types import Member, Value, split_array

Structs = Mapping[str, tuple[Member, ...]]

FAULTS_DO = (
    'no setting of the app changes this: have the signer sign by hashes (show = "hashes", needs Blind signing), or do not '
    "sign this with a Ledger"
)
EXPECTED = "data that the Ethereum app hashes as EIP-712 says"
_MEASURED = "1.22.0"
_MEMBERS = 16  # of a nested struct


EMPTY_ARRAY = (
    f"an empty array before a struct, or at an element's beginning, is signed over another hash (app {_MEASURED})"
)
"""What the values show, and not the types."""


def _base(member: Member) -> str:
    return member.type.partition("[")[0]


def _reached(structs: Structs, name: str, seen: frozenset[str] = frozenset()) -> frozenset[str]:
    """Return the structs that a struct holds, itself only when it is within itself."""
    for member in structs[name]:
        if (base := _base(member)) in structs and base not in seen:
            seen = _reached(structs, base, seen | {base})
    return seen


def type_faults(structs: Structs, primary: str) -> list[str]:
    """Return a sentence for each fault that the types alone bring."""
    within = sorted(_reached(structs, primary))
    every = sorted({primary, *within})
    found = {
        f"a struct of {_MEMBERS} members within another is signed over another hash": [
            name for name in within if len(structs[name]) == _MEMBERS
        ],
        "an array of arrays of structs is signed over another hash": [
            f"{name}.{member.name} ({member.type})"
            for name in every
            for member in structs[name]
            if _base(member) in structs and member.type.count("[") > 1
        ],
        "a struct within itself is signed over another hash": [
            name for name in every if name in _reached(structs, name)
        ],
        "a struct without members is refused": [name for name in every if not structs[name]],
    }
    return [f"{what} (app {_MEASURED}): {', '.join(places)}" for what, places in found.items() if places]


def faults_of(typed_data: TypedData) -> list[str]:
    """Return a sentence for each fault that typed data brings."""
    told = type_faults(typed_data.structs, typed_data.primary_type)
    steps = list(_steps(typed_data.structs, typed_data.primary_type, typed_data.message, ""))
    places = [where for (kind, where), (after, _) in pairwise(steps) if (kind, after) in _HIT]
    return told + ([f"{EMPTY_ARRAY}: {', '.join(places)}"] if places else [])


_HIT = {("none", "struct"), ("none", "element"), ("element", "none")}


def _steps(
    structs: Structs, type_name: str, value: Value, where: str, *, element: bool = False
) -> Iterator[tuple[str, str]]:
    """Yield what the app meets, in its order: a ``struct``, an array's ``element`` that is one, ``none`` for no elements."""
    if array := split_array(type_name):
        yield ("some" if value else "none", where)
        for each in value:
            yield from _steps(structs, array[0], each, f"{where}[]", element=True)
    elif type_name in structs:
        yield ("element" if element else "struct", where)
        for member in structs[type_name]:
            yield from _steps(structs, member.type, value[member.name], f"{where}.{member.name}".lstrip("."))
    else:
        yield ("value", where)


def require_no_fault(typed_data: TypedData) -> None:
    """Raise ``SignedOtherwise`` for typed data of which the app signs another digest, or that it refuses."""
    if faults := faults_of(typed_data):
        raise SignedOtherwise(f"the Ethereum app does not sign this as it is: {'; '.join(faults)}", do=FAULTS_DO)
