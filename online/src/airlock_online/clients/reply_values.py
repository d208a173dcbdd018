"""What a service's reply says, where the specification shows no shape: numbers, hashes, and words with their place.

A word that is not known here is no end, and never passed over in silence: it is named with the place where it stood.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from airlock_online.speech.sections import KNOWN, REPLIES
from airlock_shared.errors import ServiceError
from airlock_shared.text.safe import safe
from airlock_shared.wire.strict_json import JsonObject

_HEX = re.compile(r"0x[0-9a-fA-F]{1,16}", re.ASCII)
_DIGITS_AT_MOST = 78  # of a uint256
HASH_NAMES = ("hash", "transactionHash", "txHash")
"""Under which a service names a transaction. Each that is there is compared; none is followed instead of our own."""


PNL_ALLOWED = "PnL allowed"
"""What is told of a pair on which PnL orders may be made, and others as well: an order says itself what it is."""
_MAY_BE = re.compile("allow|support|permit|enabl")

_DELEGATION = REPLIES["delegation"]
_ENABLED = _DELEGATION["enabled"]
_STATUS = "status"
"""Where a status stands at comparable venues. What stands there is read as well, wherever a file says that it stands."""


def value_at(data: object, place: str) -> Any:
    """Return what stands at a place of a reply, names joined by dots, numbers for a list; None for nothing."""
    value: Any = data
    for name in place.split("."):
        if type(value) is list and name.isdecimal():
            value = value[int(name)] if int(name) < len(value) else None
        else:
            value = value.get(name) if type(value) is dict else None
    return value


def first_of(members: Mapping[str, Any], names: Iterable[str], kind: type) -> Any:
    """Return the first value under one of these names that is of this type; None without one."""
    return next((members[name] for name in names if type(members.get(name)) is kind), None)


def id_text(value: object) -> object:
    """Return an id as a text where it came as a whole number; else as it came."""
    return str(value) if type(value) is int and value >= 0 else value


class StatusWord(NamedTuple):
    """What a status means, empty when that is not known here, and what to tell a person of it.

    ``word`` is the venue's own where the services file explains it; empty where Airlock knows it without a file.
    """

    meaning: str
    text: str
    unknown: bool
    word: str = ""


def block_number(value: object) -> int | None:
    """Return a block's number, told as an integer, as a decimal text or as 0x-hex; None for anything else."""
    return int(value, 16) if type(value) is str and _HEX.fullmatch(value) else whole(value)


def whole(value: object) -> int | None:
    """Return a number from 0 on that came as an integer or a decimal text, or None."""
    if type(value) is int:
        return value if 0 <= value < 10**_DIGITS_AT_MOST else None
    if type(value) is str and value.isascii() and value.isdecimal() and len(value) <= _DIGITS_AT_MOST:
        return int(value)
    return None


def pnl_of(entry: Mapping[str, Any], place: str) -> object:
    """Return a flag for PnL orders: as it is told, but :data:`PNL_ALLOWED` for one that says only that they may be made.

    A place says that by its name, such as ``isPnlTypeAllowed``. A flag is told as true and false or as 1 and 0; with ``?``
    behind its place, one that is not there is false.
    """
    value = value_at(entry, place.removesuffix("?"))
    if value is None and place.endswith("?"):
        value = False
    flag = bool(value) if type(value) is int and value in (0, 1) else value
    return PNL_ALLOWED if flag is True and _MAY_BE.search(place.rpartition(".")[2].lower()) else flag


def hashes_named(data: Mapping[str, Any], place: str) -> list[Any]:
    """Return every transaction hash that a reply names, as it came; ``place`` is where the venue has it, first."""
    places = dict.fromkeys((place, *HASH_NAMES))
    return [found for found in (value_at(data, each) for each in places) if found is not None]


def hash_named(data: Mapping[str, Any], place: str) -> Any:
    """Return the first transaction hash that a reply names, as it came; None without one."""
    return next(iter(hashes_named(data, place)), None)


def status_word(data: Mapping[str, Any], words: Mapping[str, str], place: str, within: str = "data.") -> StatusWord:
    """Return what a reply says at the ``place`` of its status; ``words`` are those that a services file explains.

    A word at the usual place that means something else contradicts it: then nothing is decided.
    """
    found = _word_at(data, words, place, within)
    if place == _STATUS or found.unknown:
        return found
    usual = _word_at(data, words, _STATUS, within)
    if not usual.unknown and usual.meaning != found.meaning:
        return StatusWord("", f"{found.text}, and {usual.text}: these contradict each other", True)
    value = value_at(data, place)
    return found._replace(word=found.word or str(value))


def delegation_read(reply: Any, places: Mapping[str, str]) -> Any:
    """Return a delegation read with its flag and its time where Airlock has them, the time in unix seconds.

    What ships is read as well: where the venue's own flag contradicts it, there is none. So are the members beside that
    flag, such as the names of whom it is about: where they contradict the reply's own, both are told, which names nobody.
    Another reply stays as it is.
    """
    if type(reply) is not dict or places == _DELEGATION:
        return reply
    grant = value_at(reply, places["enabled"].rpartition(".")[0])
    own = {name: value for name, value in grant.items() if value is not None} if type(grant) is dict else {}
    both = {name for name in own if reply.get(name) not in (None, own[name]) and not _same(own[name], str(reply[name]))}
    told = reply | own | {name: [reply[name], own[name]] for name in both}
    flags = {flag for flag in (value_at(reply, places["enabled"]), reply.get(_ENABLED)) if type(flag) is bool}
    told.pop(_ENABLED, None)
    told |= {_ENABLED: flags.pop()} if len(flags) == 1 else {}
    return told | {"expiry": _unix_s(value_at(reply, places["expiry"]), places["time"])}


def _unix_s(value: object, form: str) -> object:
    """Return a time in unix seconds; None for one in another form, or of a part of a second."""
    if form == "iso":
        try:
            moment = datetime.fromisoformat(str(value))
        except ValueError:
            return None
        return None if moment.tzinfo is None or moment.microsecond else int(moment.timestamp())
    if form == "unix-s":
        return value
    number = whole(value)
    return None if number is None or number >= 10**16 or number % 1000 else number // 1000


def _word_at(data: Mapping[str, Any], words: Mapping[str, str], place: str, within: str) -> StatusWord:
    value, where = value_at(data, place), f"{within}{place}"
    if type(value) is str and value in KNOWN:
        return StatusWord(value, value, False)
    if type(value) is str and value in words:
        told = f"the reply says {safe(value, limit=100)!r} at {where}, which the services file calls {words[value]}"
        return StatusWord(words[value], told, False, value)
    if value is None:
        return StatusWord("", f"the reply says nothing at {where}", True)
    known = ", ".join([*KNOWN, *sorted(words)])
    said = safe(str(value), limit=100)
    return StatusWord("", f"the reply says {said!r} at {where}, a word that Airlock does not know ({known})", True)


# ---- echo -----------------------------------------------------------------------------------------------------------
# What a reply says that it is about, compared with what was asked: a read proves only what it names.
# A venue may not know a query member and pass over it; a cache may answer with another one's reply. So the members of
# the question are looked for in the answer. Addresses and hashes are compared whatever their case, numbers whatever
# their form.


def reply_names(reply: object, **asked: str) -> bool | None:
    """Tell whether a reply names all that was asked: False when it names something else, None when it leaves one out."""
    members: JsonObject = reply if type(reply) is dict else {}
    told = {name: members[name] for name in asked if members.get(name) is not None}
    if any(not _same(value, asked[name]) for name, value in told.items()):
        return False
    return True if len(told) == len(asked) else None


def require_named(what: str, reply: object, **asked: str) -> None:
    """Raise ``ServiceError`` when a reply names something else than was asked; one that names nothing passes."""
    for name, value in asked.items():
        if reply_names(reply, **{name: value}) is False:
            told = safe(str(reply[name]), limit=80) if type(reply) is dict else ""
            raise ServiceError(
                f"the {what} is about {name} {told}, and {value} was asked for",
                do="ask the service's operator; until it answers what it is asked, it proves nothing",
            )


def _same(value: object, asked: str) -> bool:
    if type(value) is int:
        return str(value) == asked
    if type(value) is not str or len(value) > max(_DIGITS_AT_MOST, len(asked)):
        return False
    return value.casefold() == asked.casefold()
