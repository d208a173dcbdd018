"""How a venue writes its contracts and enums, brought to the one form that a deployment document has.

The specification shows neither. A form beyond doubt is taken, and people compare the result. A list of names alone is not
one: it may count from 0 or from 1, and the operator says which.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from airlock_online.clients.connection import first_of
from airlock_online.clients.reply_values import whole
from airlock_shared.documents.deployment import SCALES
from airlock_shared.errors import Refusal, ServiceError
from airlock_shared.ethereum.signatures import checksum_address, parse_address
from airlock_shared.text.safe import safe
from airlock_shared.venue.actions import ACTIONS

_CONTRACTS = {name.lower(): name for name in ("tradingRouter", "tradingStorage", "usdc", "referral")}
_DEPTH_AT_MOST = 3
_ENUMS = {
    name.lower(): (name, next(each.choices for each in ACTIONS[action].parameters if each.name == parameter))
    for name, action, parameter in (
        ("openOrderType", "open", "orderType"),
        ("triggerType", "tpsl-partial", "triggerType"),
    )
}
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}", re.ASCII)


# ---- contracts ------------------------------------------------------------------------------------------------------


def named_contracts(table: Mapping[str, Any]) -> dict[str, str]:
    """Return the contracts by the names that Airlock has for them, whatever their case, from tables within tables too.

    A contract may be an address or an object with one; null is none. Raises ``ServiceError``.
    """
    found: dict[str, str] = {}
    for label, value in _leaves(table, _DEPTH_AT_MOST):
        name = _CONTRACTS.get(label.lower(), label)
        if name in found:
            raise missing(f"one contract of the name {safe(name, limit=80)}, but two")
        found[name] = checksummed(value)
    return found


def _leaves(table: Mapping[str, Any], depth: int) -> Iterator[tuple[str, Any]]:
    for label, value in table.items():
        if type(value) is dict and "address" in value:
            yield label, value["address"]
        elif type(value) is dict and depth:
            yield from _leaves(value, depth - 1)
        elif value is not None:
            yield label, value


def checksummed(value: Any) -> str:
    """Return an address in its checksum form. Raises ``ServiceError``."""
    try:
        return checksum_address(parse_address(value if type(value) is str else ""))
    except Refusal as refusal:
        raise missing(f"address ({refusal.what})") from refusal


# ---- enums ----------------------------------------------------------------------------------------------------------


def enums_of(table: Mapping[str, Any], first: str) -> dict[str, Any]:
    """Return the enums, each as names and numbers; ``first`` is the number of the first name of a list, empty: not said.

    Of an enum that a plan uses, the names are ours, and other names of the same numbers are left out. One that no plan
    uses is left out unless it has the plain form. Raises ``ServiceError`` for a list of names of which nobody says more.
    """
    found: dict[str, Any] = {}
    for told, value in table.items():
        name, choices = _ENUMS.get(told.replace("_", "").lower(), (told, ()))
        enum = _numbered(value, first, name if choices else "")
        if choices and not enum:
            raise missing(f"name and number of each choice of {name}")
        if choices:
            found[name] = _ours(enum, choices)
        elif enum and len(set(enum.values())) == len(enum) and all(map(_PLAIN.fullmatch, (name, *enum))):
            found[name] = enum
    return found


def _numbered(value: Any, first: str, used: str) -> dict[str, int]:
    """Return names and numbers; nothing for what is neither. ``used`` is the enum's name where a plan uses it."""
    ways: list[list[tuple[Any, Any]]] = []
    kinds = set(map(type, value)) if type(value) is list else set()
    if type(value) is dict:
        ways = [[(member, name) for name, member in value.items()], [*value.items()]]
    elif kinds == {dict}:
        names, numbers = ("name", "key", "label", "id"), ("value", "number", "code", "index")
        ways = [[(first_of(entry, names, str), first_of(entry, numbers, int)) for entry in value]]
    elif kinds == {str} and (first or used):
        if not first:
            raise missing(
                f"number of the names of {used}, which is a list; say from which number it counts: enum_first, 0 or 1"
            )
        ways = [[(entry, int(first) + number) for number, entry in enumerate(value)]]
    for pairs in ways:
        found = {name: number for name, told in pairs if type(name) is str and (number := whole(told)) is not None}
        if len(found) == len(pairs):
            return found
    return {}


def _ours(enum: Mapping[str, int], choices: tuple[str, ...]) -> dict[str, int]:
    """Return the names that a plan can use, under their own spelling, and others of numbers that no such name has."""
    named: dict[str, int] = {}
    for told, number in enum.items():
        plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[-\s]", "_", told).lower()
        name = plain if plain in choices else told
        if name in named:
            raise missing("one number for each name, but two spellings of one name")
        if _PLAIN.fullmatch(name):
            named[name] = number
    numbers = [*named.values()]
    kept = {name: number for name, number in named.items() if name in choices or numbers.count(number) == 1}
    return {name: kept[name] for name in enum if name in kept} | kept


def missing(what: str) -> ServiceError:
    """Return the error of what a venue does not tell."""
    return ServiceError(f"there is no {what}")


# ---- unit scales ----------------------------------------------------------------------------------------------------
# How a venue writes the scale of an amount, brought to the one spelling that a deployment document has (``1e6``).
# The specification gives the scales and calls the meta document's members "unit conventions", without their form.
# What names a scale beyond doubt is taken; a bare 6 is not one: it may be the decimals, or the scale itself.


_SCALE = re.compile(r"(?:1[eE]|10\^|10\*\*)([0-9]{1,2})|1(0{2,30})", re.ASCII)


def one_spelling(units: Mapping[str, Any]) -> dict[str, Any]:
    """Return a venue's table of units, the scales that are known here as ``1e6``; the rest as it was told."""
    ours = {name.lower(): name for name in SCALES}
    return {ours.get(name.lower(), name): _spelled(value) for name, value in units.items()}


def _spelled(value: Any) -> Any:
    if type(value) is dict:
        spelled = {f"1e{value[name]}" for name in ("decimals", "precision") if type(value.get(name)) is int}
        spelled |= {_spelled(value[name]) for name in ("scale", "factor") if type(value.get(name)) in (int, str)}
        return spelled.pop() if len(spelled) == 1 else value
    if type(value) is float and value.is_integer():
        value = int(value)
    scale = _SCALE.fullmatch(str(value))
    return f"1e{int(scale[1] or len(scale[2]))}" if scale else value
