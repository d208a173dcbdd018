"""How a venue writes its contracts and enums, brought to the one form that a deployment document has.

The specification shows neither. A form beyond doubt is taken, and people compare the result. A list of names alone is not
one: it may count from 0 or from 1, and the operator says which.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from airlock_online.clients.reply_values import first_of, whole
from airlock_shared.documents.deployment import SCALES
from airlock_shared.errors import Refusal, ServiceError
from airlock_shared.ethereum.signatures import in_eip55
from airlock_shared.text.safe import safe
from airlock_shared.venue.actions import ACTIONS
from airlock_shared.wire.strict_json import JsonObject

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
        return in_eip55(value if type(value) is str else "")
    except Refusal as refusal:
        raise missing(f"address ({refusal.what})") from refusal


# ---- enums ----------------------------------------------------------------------------------------------------------


def enums_of(table: Mapping[str, Any], first: str) -> JsonObject:
    """Return the enums, each as names and numbers; ``first`` is the number of the first name of a list, empty: not said.

    Of an enum that a plan uses, the names are ours, and other names of the same numbers are left out. One that no plan
    uses is left out unless it has the plain form. Raises ``ServiceError`` for a list of names of which nobody says more.
    """
    found: JsonObject = {}
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
# The scales are Airlock's own (the specification gives them), so a venue's word on them decides nothing: where it tells a
# number it is compared, and another one is refused; where it tells none, or only words, nothing is compared.


_SCALE = re.compile(
    r"\b(?:(?:1e|10\^|10\*\*)([0-9]{1,2})|1((?:[,_]?0){2,30})|([0-9]{1,2})[ -]?decimals?)\b", re.ASCII | re.IGNORECASE
)
_NUMBER = re.compile(r"-?[0-9][0-9,_]*(?:\.[0-9]+)?", re.ASCII)


def told_scales(units: Any) -> dict[str, str]:
    """Return the scales that a venue tells of our units, as ``1e6``, or as they stand where they are no powers of ten.

    ``units`` is what stands in the meta document, in any form; a unit whose scale is not told as a number is left out.
    """
    ours = {name.lower(): name for name in SCALES}
    table = units if type(units) is dict else {}
    told = {ours.get(name.lower()): " and ".join(sorted(_scales(value))) for name, value in table.items()}
    return {name: scale for name, scale in told.items() if name and scale}


def _scales(value: Any) -> set[str]:
    """Return each scale that a value tells. A number below 100 is the count of decimals: no scale of ours is so small."""
    if type(value) is dict:
        decimals = {f"1e{value[name]}" for name in ("decimals", "precision") if type(value.get(name)) is int}
        return decimals.union(*(_scales(value[name]) for name in ("scale", "factor") if name in value))
    text = str(int(value) if type(value) is float and value.is_integer() else value)
    if scales := {f"1e{int(power or decimals or zeros.count('0'))}" for power, zeros, decimals in _SCALE.findall(text)}:
        return scales
    number = _NUMBER.fullmatch(text)
    return {f"1e{int(text)}" if text.isdigit() and len(text) < 3 else text} if number else set()
