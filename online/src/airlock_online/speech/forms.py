"""What is wrong with a value of a services file: a sentence for each mistake, nothing for a good one.

A part begins with ``$``. A constant that has a part's name is refused: the mark was forgotten.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from airlock_online.speech.sections import (
    ACCOUNT,
    ALL,
    AS_NUMBER,
    BODIES,
    CARRIERS,
    EXECUTING,
    MARKET,
    MESSAGE,
    NEXT,
    NOT_SENT,
    OF_A_TRANSACTION,
    PARTS,
    PATHS,
    PLACEHOLDER,
    REPLACE,
    REPLIES,
    SERVICES_FORMAT,
    SHIPPED,
    SHIPPED_LEAF,
    STATUS,
    Speech,
    Tables,
    mistakes_in,
    part_name,
    plain_letters,
)
from airlock_shared.errors import UsageError
from airlock_shared.host.files import read_input
from airlock_shared.plan.toml_positions import line_of, lines_by_path
from airlock_shared.text.safe import safe
from airlock_shared.venue.actions import ACTIONS
from airlock_shared.venue.structs import CORE_API, RELAY, RELAYER, TWAP
from airlock_shared.wire.strict_json import parse_toml

PER_MINUTE_AT_MOST = 60_000
_AT_MOST, _DEEP_AT_MOST, _DECIMALS_AT_MOST = 64, 4, 36

_NAME = r"[A-Za-z_][A-Za-z0-9_-]{0,63}"
_SEGMENT = "/[A-Za-z0-9_~-][A-Za-z0-9._~-]*"
_HOLE = r"\{[A-Za-z_]\w{0,63}\}"
_MEMBER = re.compile(_NAME, re.ASCII)
_PLACE = re.compile(rf"({_NAME})(?:\.(?:({_NAME})|[0-9]{{1,3}})){{0,7}}", re.ASCII)
OF_STRUCT = re.compile(rf"({RELAYER}|{TWAP}|{CORE_API})-[A-Z]\w{{0,63}}", re.ASCII)
"""The name of what is said of one struct by a route."""
_NAMED_PART = re.compile(rf"{MESSAGE}|(?:{MESSAGE}|{SHIPPED_LEAF})(?:\.[A-Za-z_]\w{{0,63}}){{1,8}}", re.ASCII)
_DECIMALS = re.compile(r"(.+) with ([0-9]{1,2}) decimals", re.ASCII)

_SENT = {action.name: {p.sent for p in action.parameters if p.sent} | {"delegate"} for action in ACTIONS.values()} | {
    "nonce": {"trader", "check", "space"}, "delegation": {"trader", "delegate"}, "positions": {"trader", "page"},
    "referral": {"trader", "code"}, "pairs": {"page"}, "meta": set(),
}  # fmt: skip
_SENT[ALL] = set.union(*_SENT.values())
_MAY_LACK = _SENT.keys() - {"meta", "pairs"}
"""Each read and build that a venue may not have; without those two nothing is known of it."""


def meant(name: str, known: Collection[str]) -> str:
    """Return the nearest name that there is, or all of them."""
    near = get_close_matches(name, known, 1)
    return f"did you mean {near[0]}?" if near else f"there are {', '.join(sorted(known)) or 'none'}"


# ---- replies ---------------------------------------------------------------------------------------------------------

_OLD, _NEVER = "old|replaced|previous", "(?!)"
_NAMED = {
    "id": ("", _OLD),
    "replaced": (_OLD, "new"),
    "transaction": ("hash|tx|transaction", "block"),
    "block": ("block|height", "hash|time|gas|fee"),
    "used": ("used|spent|consumed|taken|invalidated", "un|not|avail|free"),
    "not used": ("available|unused|free|unspent|usable", "not|unavailable"),
    "enabled": ("enabled|active|registered", "dis|not|un|inactive"),
    "expiry": ("expir|until", _NEVER),
}
"""What the last name of a place must say, and what it must not, so that no other value is taken for it."""
_CHOICES = {"time": ("unix-s", "unix-ms", "iso"), "enum_first": ("", "0", "1")}
_MAY_BE_NONE = ("taken", "pnl", "busy")
_OF_ANY_PROXY = re.compile(r"\d*$|.*(?:unavailable|upstream|gateway|timeout|timedout|overload|connect|error|tryagain)")


def _shipped_reply(name: str) -> Mapping[str, Any]:
    """Return the reply that ships for one of this name: a route's, for that of a struct by it; empty for none."""
    of_struct = OF_STRUCT.fullmatch(name)
    return REPLIES.get(of_struct[1] if of_struct and of_struct[1] != RELAYER else name, {})


def in_reply(name: str, values: Any) -> Iterator[tuple[str, str]]:
    """Yield the member and the sentence of each mistake in what a file says of a reply."""
    ships = _shipped_reply(name)
    if not ships or type(values) is not dict:
        yield "", "it is not a table of members and their places" if ships else f"is no reply; {meant(name, REPLIES)}"
        return
    for member, value in values.items():
        if wrong := _in_member(member, value) if member in ships else f"it is unknown; {meant(member, ships)}":
            yield member, wrong
    places: dict[str, str] = {}
    for member, value in {**ships, **values}.items():
        placed = type(value) is str and value and member not in (*_CHOICES, "extra_members", "busy")
        if placed and (other := places.setdefault(value, member)) != member:
            yield member, f"{value!r} is the place of {other} already"


def _in_member(member: str, value: Any) -> str:
    if member == "extra_members":
        good = (
            type(value) is list
            and len(value) <= _AT_MOST
            and all(type(name) is str and _MEMBER.fullmatch(name) for name in value)
        )
        return "" if good else "it is not a list of names"
    if type(value) is not str:
        return f"{value!r} is not a text"
    if choices := _CHOICES.get(member):
        return "" if value in choices else f"{value!r} is not one of {', '.join(map(repr, choices))}"
    if value == "" and member in _MAY_BE_NONE:
        return ""
    if member == "busy":
        by_any = _OF_ANY_PROXY.match(plain_letters(value))
        return f"{value!r} is what any proxy says: a word of the service alone is needed" if by_any else ""
    if member == "used" and value.startswith("not "):
        return _place(value[4:], "not used")
    return _place(value.removesuffix("?") if member == "pnl" else value, member)


def _place(value: str, member: str = "") -> str:
    if not (found := _PLACE.fullmatch(value)):
        return f"{value!r} is not a place: names joined by dots"
    last = plain_letters(found[2] or found[1])
    says, never = _NAMED.get(member, ("", _NEVER))
    named_so = re.search(says, last) and not re.search(never, last)
    told = f"its last name must say {says.replace('|', ' or ') or 'what is new'}"
    return "" if named_so else f"{value!r} is named otherwise than what it is to be: {told}"


# ---- paths -----------------------------------------------------------------------------------------------------------

_PLAIN, _OF_ONE, _BY_PUT, _HOLED = (
    (f"(?:{_SEGMENT}){{1,16}}/?", "'/v2/nonce'"),
    (rf"(?=(?:/[^/]+){{1,16}}/?$)(?:{_SEGMENT})*/\{{id\}}(?:{_SEGMENT})*/?", "'/intents/{id}', with {id} once"),
    (f"(?:(?:POST|PUT) )?(?:{_SEGMENT}){{1,16}}/?", "'/intents' or 'PUT /intents'"),
    (
        rf"(?:(?:POST|PUT) )?(?:/(?:[A-Za-z0-9_~-]|{_HOLE})(?:[A-Za-z0-9._~-]|{_HOLE})*){{1,16}}/?",
        "'/twaps/open' or 'PUT /price-triggers/{pairIndex}'",
    ),
)
"""Each form of a path, and one such."""


def in_path(name: str, value: Any, tables: Tables) -> Iterator[str]:
    """Yield what is wrong with an endpoint. A struct or call of the venue alone has its request among the file's too."""
    of_struct = OF_STRUCT.fullmatch(name)
    if name not in PATHS and not of_struct and (wrong := _own(name, "requests", tables)):
        yield wrong
        return
    if value == "" and name in _MAY_LACK:
        return
    of_one = _OF_ONE if name == REPLACE or name.endswith(STATUS) else _PLAIN
    form, such = _HOLED if of_struct else _BY_PUT if name == RELAYER else of_one
    if not re.fullmatch(form, str(value), re.ASCII):
        yield f"{value!r} is not a path such as {such}"
    elif not (of_struct or name.startswith(RELAY)) and "relay" in value.lower().split("/"):
        yield f"{value!r}: nothing is asked where signed transactions are sent"


def _own(name: str, section: str, tables: Tables) -> str:
    """Return why a name is not that of a struct or call of the venue alone; empty when it is."""
    if not _MEMBER.fullmatch(name) or name in {action.result for action in ACTIONS.values()}:
        return f"it is no struct or call of this venue alone; {meant(name, PATHS)}"
    if name in tables.get(section, {}):
        return ""
    return f"it is unknown; a struct or call of this venue alone has [{section}] {name} as well; {meant(name, PATHS)}"


# ---- bodies and requests ---------------------------------------------------------------------------------------------


def _constant(name: str, value: Any, parts: Collection[str]) -> Iterator[str]:
    if type(value) is str and (value in parts or value.startswith(NEXT) or _NAMED_PART.fullmatch(value)):
        yield f"{name} = {value!r} has the name of a part: write {PLACEHOLDER + value!r}, or another text"
    text = type(value) is str and len(value) <= 200 and value.isprintable()
    if not text and not (isinstance(value, int) and abs(value) < 1 << 53):
        yield f"{name} = {value!r} is neither a part nor a constant: a text of 200 characters, a whole number, true or false"


def in_body(name: str, value: Any, _: Tables) -> Iterable[str]:
    """Return what is wrong with what is sent to a service: the signature must be deliverable by it, exactly once."""
    if name not in BODIES and name != REPLACE and not OF_STRUCT.fullmatch(name):
        return [f"it is unknown; {meant(name, BODIES)}"]
    parts = OF_A_TRANSACTION if name == RELAY else (*PARTS, *EXECUTING, *(("order_type",) if name == MARKET else ()))
    found: list[str] = []
    wrong = list(_in_table(value, parts, found, 1))
    if not wrong and sum(part in CARRIERS for part in found) != 1:
        wrong = [
            f"the signature must be in it, once: {' or '.join(PLACEHOLDER + each for each in CARRIERS if each in parts)}"
        ]
    return wrong


def _in_table(table: Any, parts: tuple[str, ...], found: list[str], depth: int) -> Iterator[str]:
    if type(table) is not dict or len(table) > _AT_MOST or depth > _DEEP_AT_MOST:
        yield f"it is not a table of at most {_AT_MOST} members, at most {_DEEP_AT_MOST} deep"
        return
    for name, value in table.items():
        if not _MEMBER.fullmatch(name):
            yield f"{name!r} is not the name of a member"
        elif type(value) is dict:
            yield from _in_table(value, parts, found, depth + 1)
        elif (source := part_name(value)) is None:
            yield from _constant(name, value, (*PARTS, *EXECUTING, *OF_A_TRANSACTION, "order_type"))
        else:
            found.append(part := source.removesuffix(AS_NUMBER))
            if part not in parts and (parts is OF_A_TRANSACTION or not _NAMED_PART.fullmatch(part)):
                yield f"{name} = {value!r} is no part of a delivery: {', '.join(PLACEHOLDER + each for each in parts)}"


def in_request(name: str, value: Any, tables: Tables) -> Iterable[str]:
    """Return what is wrong with what differs of a request to the builder; that of an own struct or call is whole."""
    known = _SENT.get(name)
    if known is None and (wrong := _own(name, "paths", tables)):
        return [wrong]
    if type(value) is not dict or len(value) > _AT_MOST:
        return ["it is not a table of members"]
    told = [each for member, source in value.items() for each in _in_source(member, source, known)]
    if known is None or told:
        return told
    sources = map(part_name, value.values())
    moved = Counter("page" if source.startswith(NEXT) else source for source in sources if source)
    return [
        f"{each!r}: it gives two members one name, or one member two"
        for each in sorted(known)
        if moved[each] > 1 or (each in value and not moved[each] and value[each] != PLACEHOLDER + NOT_SENT)
    ]


def _in_source(member: str, source: Any, known: Collection[str] | None) -> Iterator[str]:
    """Yield what is wrong with a request's member; ``known`` are those that are sent, None for leaves of any name."""
    part = part_name(source)
    if not _MEMBER.fullmatch(member):
        yield f"{member!r} is not the name of a member"
    elif part is None:
        yield from _constant(member, source, known or ())
    elif part == NOT_SENT and member not in (known or ()):
        yield f"{member} = {source!r}: it is not sent anyway"
    elif known is None:
        leaf, decimals = split_decimals(part)
        if _place(leaf) or decimals > _DECIMALS_AT_MOST:
            yield f"{member} = {source!r} is no leaf, nor a leaf with at most {_DECIMALS_AT_MOST} decimals"
    elif "page" in known and part.startswith(NEXT):
        if wrong := _place(part.removeprefix(NEXT)):
            yield f"{member} = {source!r}: {wrong}"
    elif part not in {*known, NOT_SENT, ACCOUNT}:
        yield f"{member} = {source!r} is sent nowhere; {meant(part, known)}"


def split_decimals(source: str) -> tuple[str, int]:
    """Return a leaf, and how many decimals it is sent with."""
    found = _DECIMALS.fullmatch(source)
    return (found[1], int(found[2])) if found else (source, 0)


def in_limit(name: str, value: Any, _: Tables) -> Iterator[str]:
    """Yield what is wrong with a limit."""
    if name != "builder":
        yield "it is unknown; did you mean builder?"
    elif type(value) is not int or not 0 <= value <= PER_MINUTE_AT_MOST:
        yield f"{value!r} is not 0 to {PER_MINUTE_AT_MOST}"


IN_TABLE = {"paths": in_path, "bodies": in_body, "requests": in_request, "limits": in_limit}
"""What is wrong with a value, by its table; it gets the value's name and every table of the file."""

# ---- reader ---------------------------------------------------------------------------------------------------------
# A services file (``airlock/venue-services@1``): read as a whole, refused as a whole, every mistake told with its
# line.
# The file holds differences; what is in force is the whole, and the whole has the fingerprint. It never leaves this
# machine.


_MAX_BYTES = 64 << 10
_MISTAKES_SHOWN = 40


def read_services(file: Path) -> Speech:
    """Return how services speak with a file. Raises ``UsageError`` that names every mistake at once."""
    shown = safe(str(file))
    try:
        data = read_input(file, max_bytes=_MAX_BYTES)
        table = parse_toml(data)
    except ValueError as error:
        raise UsageError(f"{shown} is not TOML: {error}", do="correct the file") from error
    return resolve_services(table, shown, data.decode())


def resolve_services(table: Mapping[str, Any], file: str = "services", text: str = "") -> Speech:
    """Return how services speak with a file's table; ``text`` is the file's. Raises ``UsageError``."""
    if mistakes := [*_mistakes(table)]:
        found = lines_by_path(text) if text else {}
        raise UsageError(
            mistakes_text(file, [f"{_where(found, section, name)}{told}" for section, name, told in mistakes]),
            do="correct the file; docs/reference/venue-services.md has its members and meanings",
        )
    whole = {section: {**ships, **table.get(section, {})} for section, ships in SHIPPED._asdict().items()}
    whole["replies"] |= {name: {**_shipped_reply(name), **said} for name, said in table.get("replies", {}).items()}
    return Speech(**whole)


def _mistakes(table: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield the section, the name and the sentence of each mistake."""
    if table.get("format") != SERVICES_FORMAT:
        yield "", "format", f"is {table.get('format')!r}, and this program reads {SERVICES_FORMAT!r}"
    tables = {section: values for section, values in table.items() if type(values) is dict}
    for section, values in table.items():
        if section == "format":
            continue
        if section not in SHIPPED._fields:
            yield section, "", f"is no section; {meant(section, SHIPPED._fields)}"
        elif section not in tables:
            yield "", section, "is not a section"
        elif section == "words":
            yield from ((section, word, told) for word, told in mistakes_in(values))
        elif section == "replies":
            for name, said in values.items():
                yield from ((f"replies.{name}", member, told) for member, told in in_reply(name, said))
        else:
            for name, value in values.items():
                yield from ((section, name, told) for told in IN_TABLE[section](name, value, tables))


def _where(found: dict[str, int], section: str, name: str) -> str:
    """Return where a member stands: the line of it, or of the table that it is missing in, and its name."""
    number = line_of(found, f"{section}.{name}".strip("."))
    line = f"line {number}: " if number else ""
    return line + (f"[{section}] {name}: " if section and name else f"[{section}] " if section else f"{name} ")


def mistakes_text(file: str, wrong: list[str]) -> str:
    """Return every mistake of a file as one text, escaped; the first 40 of more."""
    count = "one mistake" if len(wrong) == 1 else f"{len(wrong)} mistakes"
    more = [f"and {len(wrong) - _MISTAKES_SHOWN} more"] if len(wrong) > _MISTAKES_SHOWN else []
    told = ". ".join(safe(each, limit=400) for each in [*wrong[:_MISTAKES_SHOWN], *more])
    return f"{file} has {count}, and nothing of it is used. {told}"
