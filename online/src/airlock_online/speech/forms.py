"""What is wrong with a value of a services file: a sentence for each mistake, nothing for a good one.

A part begins with ``$``. A constant that has a part's name is refused: the mark was forgotten.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from airlock_online.speech.sections import (
    ACCOUNT,
    ALL,
    AS_NUMBER,
    BODIES,
    CARRIERS,
    EXECUTING,
    MARK,
    MARKET,
    MESSAGE,
    NOT_SENT,
    OF_A_TRANSACTION,
    PARTS,
    PATHS,
    REPLACE,
    REPLIES,
    SHIPPED_LEAF,
    STATUS,
    TIMES,
)
from airlock_shared.catalogue.actions import ACTIONS
from airlock_shared.documents.services import CORE_API, RELAY, RELAYER, TWAP

Mistakes = list[str]
PER_MINUTE_AT_MOST = 60_000
_AT_MOST, _DEEP_AT_MOST, _DECIMALS_AT_MOST = 64, 4, 36

_NAME = r"[A-Za-z_][A-Za-z0-9_-]{0,63}"
_STEP = rf"(?:{_NAME}|[0-9]{{1,3}})"
_MEMBER = re.compile(_NAME, re.ASCII)
_PLACE = re.compile(rf"{_NAME}(?:\.{_STEP}){{0,7}}", re.ASCII)
_SEGMENT = "/[A-Za-z0-9_~-][A-Za-z0-9._~-]*"
_HOLED = r"/(?:[A-Za-z0-9_~-]|\{[A-Za-z_]\w{0,63}\})(?:[A-Za-z0-9._~-]|\{[A-Za-z_]\w{0,63}\})*"
_PLAIN_PATH = re.compile(rf"(?:{_SEGMENT}){{1,16}}", re.ASCII)
_PATH_OF_ONE = re.compile(rf"(?=(?:/[^/]+){{1,16}}$)(?:{_SEGMENT})*/\{{id\}}(?:{_SEGMENT})*", re.ASCII)
_PATH_OF_STRUCT = re.compile(rf"(?:(?:POST|PUT) )?(?:{_HOLED}){{1,16}}", re.ASCII)
_SENT_PATH = re.compile(rf"(?:(?:POST|PUT) )?(?:{_SEGMENT}){{1,16}}", re.ASCII)
_OF_STRUCT = re.compile(rf"({RELAYER}|{TWAP}|{CORE_API})-[A-Z]\w{{0,63}}", re.ASCII)
_NAMED_PART = re.compile(
    rf"(?:{MESSAGE}|{SHIPPED_LEAF})\.[A-Za-z_]\w{{0,63}}(?:\.[A-Za-z_]\w{{0,63}}){{0,7}}", re.ASCII
)
_DECIMALS = re.compile(r"(.+) with ([0-9]{1,2}) decimals", re.ASCII)

_RESULTS = {action.result for action in ACTIONS.values()}
_SENT = {action.name: {p.sent for p in action.parameters if p.sent} | {"delegate"} for action in ACTIONS.values()}
_SENT |= {
    "nonce": {"trader", "check", "space"}, "delegation": {"trader", "delegate"}, "positions": {"trader"},
    "referral": {"trader", "code"}, "pairs": {"page"}, "meta": set(),
}  # fmt: skip
_SENT[ALL] = set.union(*_SENT.values())


# ---- places ----------------------------------------------------------------------------------------------------------


def _place(value: Any, named: str = "", parts: tuple[str, ...] = (), never: tuple[str, ...] = ()) -> Mistakes:
    """Require a place whose last name says what it is, so that no other value is taken for it."""
    if type(value) is not str or not _PLACE.fullmatch(value):
        return [f"{value!r} is not a place: names joined by dots"]
    names = [name for name in value.split(".") if not name.isdecimal()]
    last = "".join(letter for letter in names[-1].lower() if letter.isalnum())
    named_so = any(part in last for part in parts or ("",)) and not any(part in last for part in never)
    told = (
        f"{value!r} is named otherwise than what it is to be: {named or 'its last name must say ' + ' or '.join(parts)}"
    )
    return [] if named_so else [told]


def _used(value: Any) -> Mistakes:
    if type(value) is str and value.startswith("not "):
        return _place(value[4:], "", ("available", "unused", "free", "unspent", "usable"), ("not", "unavailable"))
    return _place(value, "", ("used", "spent", "consumed", "taken", "invalidated"), ("un", "not", "avail", "free"))


def _or_none(value: Any, form: Callable[[Any], Mistakes] = _place) -> Mistakes:
    return [] if value == "" and type(value) is str else form(value)


def _pnl(value: Any) -> Mistakes:
    return _or_none(value.removesuffix("?") if type(value) is str else value)


def _one_of(*known: object) -> Callable[[Any], Mistakes]:
    def form(value: Any) -> Mistakes:
        good = any(value == each and type(value) is type(each) for each in known)
        return [] if good else [f"{value!r} is not one of {', '.join(repr(each) for each in known)}"]

    return form


def _names(value: Any) -> Mistakes:
    good = (
        type(value) is list and len(value) <= _AT_MOST and all(type(n) is str and _MEMBER.fullmatch(n) for n in value)
    )
    return [] if good else ["it is not a list of names"]


def _busy(value: Any) -> Mistakes:
    if type(value) is not str or not (len(value) <= 100 and value.isascii() and value.isprintable()):
        return [f"{value!r} is not a text of at most 100 printable ASCII characters"]
    said = "".join(letter for letter in value.lower() if letter.isalnum())
    by_any = said and (said.isdecimal() or any(part in said for part in _OF_ANY_PROXY))
    return [f"{value!r} is what any proxy says: a word of the service alone is needed"] if by_any else []


_OF_ANY_PROXY = (
    "unavailable",
    "upstream",
    "gateway",
    "timeout",
    "timedout",
    "overload",
    "connect",
    "error",
    "tryagain",
)

_OLD = ("old", "replaced", "previous")
_OF_REPLIES: Mapping[str, Callable[[Any], Mistakes]] = {
    "id": lambda value: _place(value, "it says that it is an old one", never=_OLD),
    "replaced": lambda value: _place(value, "", _OLD, ("new",)),
    "transaction": lambda value: _place(value, "", ("hash", "tx", "transaction"), ("block",)),
    "block": lambda value: _place(value, "", ("block", "height"), ("hash", "time", "gas", "fee")),
    "used": _used,
    "enabled": lambda value: _place(value, "", ("enabled", "active", "registered"), ("dis", "not", "un", "inactive")),
    "expiry": lambda value: _place(value, "", ("expir", "until")),
    "time": _one_of(*TIMES),
    "taken": _or_none,
    "busy": _busy,
    "beside": _names,
    "enum_first": _one_of("", "0", "1"),
    "pnl": _pnl,
}
"""The form of a member of a reply; of every other it is a place."""
_NO_PLACE = ("time", "enum_first", "beside", "busy")


def base_of(name: str) -> str:
    """Return the reply that ships for one of this name: a route's, for that of a struct by it; empty for none."""
    of_struct = _OF_STRUCT.fullmatch(name)
    return of_struct[1] if of_struct and of_struct[1] != RELAYER else name if name in REPLIES else ""


def in_reply(name: str, values: Any) -> Iterator[tuple[str, str]]:
    """Yield the member and the sentence of each mistake in what a file says of a reply."""
    if type(values) is not dict:
        yield "", "it is not a table of members and their places"
        return
    ships = REPLIES[base_of(name)]
    for member, value in values.items():
        if member not in ships:
            yield member, f"it is unknown; {meant(member, ships)}"
        else:
            yield from ((member, told) for told in _OF_REPLIES.get(member, _place)(value))
    places: dict[str, str] = {}
    for member, value in {**ships, **values}.items():
        if type(value) is str and value and member not in _NO_PLACE:
            other = places.setdefault(value, member)
            if other != member:
                yield member, f"{value!r} is the place of {other} already"


# ---- paths -----------------------------------------------------------------------------------------------------------


def in_path(name: str, value: Any, requests: Mapping[str, Any]) -> Mistakes:
    """Return what is wrong with an endpoint. A struct or call of the venue alone has its request in ``requests`` too."""
    of_struct = _OF_STRUCT.fullmatch(name)
    if name not in PATHS and not of_struct and (wrong := _own(name, requests, "requests")):
        return [wrong]
    form, such = _PLAIN_PATH, "'/v2/nonce'"
    if of_struct:
        form, such = _PATH_OF_STRUCT, "'/twaps/open' or 'PUT /price-triggers/{pairIndex}'"
    elif name == REPLACE or name.endswith(STATUS):
        form, such = _PATH_OF_ONE, "'/intents/{id}', with {id} once"
    elif name == RELAYER:
        form, such = _SENT_PATH, "'/intents' or 'PUT /intents'"
    if type(value) is not str or not form.fullmatch(value):
        return [f"{value!r} is not a path such as {such}"]
    if not (of_struct or name.startswith((RELAY, RELAYER))) and "relay" in value.lower().split("/"):
        return [f"{value!r}: nothing is asked where signed transactions are sent"]
    return []


def _own(name: str, beside: Mapping[str, Any], section: str) -> str:
    """Return why a name is not that of a struct or call of the venue alone; empty when it is."""
    if not _MEMBER.fullmatch(name) or name in _RESULTS:
        return f"it is no struct or call of this venue alone; {meant(name, PATHS)}"
    if name not in beside:
        return (
            f"it is unknown; {meant(name, PATHS)}; a struct or call of this venue alone has [{section}] {name} as well"
        )
    return ""


# ---- bodies ----------------------------------------------------------------------------------------------------------


def in_body(name: str, value: Any) -> Mistakes:
    """Return what is wrong with what is sent to a service: the signature must be deliverable by it, exactly once."""
    if name not in BODIES and name != REPLACE and not _OF_STRUCT.fullmatch(name):
        return [f"it is unknown; {meant(name, BODIES)}"]
    if type(value) is not dict:
        return ["it is not a table of members and their parts"]
    parts = OF_A_TRANSACTION if name == RELAY else (*PARTS, *EXECUTING, *(("order_type",) if name == MARKET else ()))
    found: list[str] = []
    wrong = list(_in_table(value, parts, found, 1))
    if not wrong and sum(part in CARRIERS for part in found) != 1:
        wrong = [f"the signature must be in it, once: {' or '.join(MARK + each for each in CARRIERS if each in parts)}"]
    return wrong


def _in_table(table: Mapping[str, Any], parts: tuple[str, ...], found: list[str], depth: int) -> Iterator[str]:
    if len(table) > _AT_MOST or depth > _DEEP_AT_MOST:
        yield f"a table has more than {_AT_MOST} members, or tables are more than {_DEEP_AT_MOST} deep"
        return
    for name, value in table.items():
        if not _MEMBER.fullmatch(name):
            yield f"{name!r} is not the name of a member"
        elif type(value) is dict:
            yield from _in_table(value, parts, found, depth + 1)
        elif is_part(value):
            part = value[1:].removesuffix(AS_NUMBER)
            found.append(part)
            named = _NAMED_PART.fullmatch(part) or part == MESSAGE
            if part not in parts and (not named or parts is OF_A_TRANSACTION):
                yield f"{name} = {value!r} is no part of a delivery: {', '.join(MARK + each for each in parts)}"
        else:
            yield from _constant(name, value, (*PARTS, *EXECUTING, *OF_A_TRANSACTION, "order_type", MESSAGE))


def is_part(value: Any) -> bool:
    """Tell whether a value of a body or a request is a part; every other is a constant, or a table."""
    return type(value) is str and value.startswith(MARK)


def _constant(name: str, value: Any, parts: tuple[str, ...]) -> Iterator[str]:
    if type(value) is str and (value in parts or value.startswith((f"{MESSAGE}.", f"{SHIPPED_LEAF}."))):
        yield f"{name} = {value!r} has the name of a part: write {MARK + value!r}, or another text"
    elif type(value) not in (str, int, bool) or (
        type(value) is str and not (len(value) <= 200 and value.isprintable())
    ):
        yield f"{name} = {value!r} is neither a part nor a constant: a text of 200 characters, a whole number, true or false"
    elif type(value) is int and abs(value) >= 1 << 53:
        yield f"{name} = {value!r} is a number that a reader of JSON may not keep"


# ---- requests --------------------------------------------------------------------------------------------------------


def in_request(name: str, value: Any, paths: Mapping[str, Any]) -> Mistakes:
    """Return what is wrong with what differs of a request to the builder; that of an own struct or call is whole."""
    own = name not in _SENT
    if own and (wrong := _own(name, paths, "paths")):
        return [wrong]
    if type(value) is not dict or len(value) > _AT_MOST:
        return ["it is not a table of members"]
    told = list(_in_members(value, None if own else _SENT[name]))
    if own or told:
        return told
    moved = {source[1:] for source in value.values() if is_part(source)}
    taken = [member for member in value if member in _SENT[name] - moved and value[member] != MARK + NOT_SENT]
    twice = [source for source in moved - {ACCOUNT, NOT_SENT} if [*value.values()].count(MARK + source) > 1]
    return [f"{each!r}: it gives two members one name, or one member two" for each in taken + twice]


def _in_members(table: Mapping[str, Any], known: set[str] | None) -> Iterator[str]:
    """Yield what is wrong with the members of a request; ``known`` are those that are sent, None for leaves of any name."""
    for member, source in table.items():
        if not _MEMBER.fullmatch(member):
            yield f"{member!r} is not the name of a member"
        elif not is_part(source):
            yield from _constant(member, source, tuple(known or ()))
        elif source == MARK + ACCOUNT:
            continue
        elif source == MARK + NOT_SENT:
            if known is None or member not in known:
                yield f"{member} = {source!r}: it is not sent anyway"
        elif known is not None:
            if source[1:] not in known:
                yield f"{member} = {source!r} is sent nowhere; {meant(source[1:], sorted(known))}"
        else:
            leaf, decimals = split_decimals(source[1:])
            if _place(leaf) or decimals > _DECIMALS_AT_MOST:
                yield f"{member} = {source!r} is no leaf, nor a leaf with at most {_DECIMALS_AT_MOST} decimals"


def split_decimals(source: str) -> tuple[str, int]:
    """Return a leaf, and how many decimals it is sent with."""
    found = _DECIMALS.fullmatch(source)
    return (found[1], int(found[2])) if found else (source, 0)


# ---- the rest --------------------------------------------------------------------------------------------------------


def in_limit(name: str, value: Any) -> Mistakes:
    """Return what is wrong with a limit."""
    if name != "builder":
        return ["it is unknown; did you mean builder?"]
    good = type(value) is int and 0 <= value <= PER_MINUTE_AT_MOST
    return [] if good else [f"{value!r} is not 0 to {PER_MINUTE_AT_MOST}"]


def meant(name: str, known: Any) -> str:
    """Return the nearest name that there is, or all of them."""
    near = get_close_matches(name, known, 1)
    return f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
