"""Struct types in their three forms: as the text of ``encodeType``, as the members that are walked, and as JSON has them.

Hashing, the ABI, the catalogue and the Ledger walk the members. The objects of JSON are only compared and sent, and the
text is what people pin. Source: EIP-712, "encodeType" and "Definition of domainSeparator".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

DOMAIN_TYPE = "EIP712Domain"


class Member(NamedTuple):
    """One member of a struct type."""

    name: str
    type: str


Structs = Mapping[str, tuple[Member, ...]]
"""Struct types by their names."""

TypesObject = dict[str, list[dict[str, str]]]
"""The ``types`` object of EIP-712, as JSON has it."""

_STRUCT_TEXT = re.compile(r"(\w+)\(([^)]*)\)")
_MEMBER = re.compile(r"(\([^)]*\)|[^ ,()]+) (\w+)")


def members_of(text: str) -> tuple[Member, ...]:
    """Return the members that a text such as ``address trader,uint256 nonce`` lists; a tuple's type is its own text."""
    return tuple(Member(name, kind) for kind, name in _MEMBER.findall(text))


def structs_of(encode_type: str) -> Structs:
    """Return the struct types that an ``encodeType`` text defines, its primary struct first."""
    return {name: members_of(members) for name, members in _STRUCT_TEXT.findall(encode_type)}


def types_of(encode_type: str) -> TypesObject:
    """Return the ``types`` object that an ``encodeType`` text defines, as JSON has it, without ``EIP712Domain``."""
    return {name: [each._asdict() for each in members] for name, members in structs_of(encode_type).items()}


def leaves_of(structs: Structs, struct: str, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the path (``_t.trader``) and the Solidity type of each leaf of a struct, in the order of its members."""
    for name, kind in structs[struct]:
        if kind in structs:
            yield from leaves_of(structs, kind, f"{prefix}{name}.")
        else:
            yield prefix + name, kind


DOMAIN_MEMBERS = members_of("string name,string version,uint256 chainId,address verifyingContract")
DOMAIN_DEFINITION = [member._asdict() for member in DOMAIN_MEMBERS]
"""The four members of every domain that is pinned, as a struct type and as JSON has them."""
