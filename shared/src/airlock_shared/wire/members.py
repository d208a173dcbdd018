"""Reading the shape of parsed JSON strictly: exactly these members, each of its type, nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from airlock_shared.errors import DocumentError

HEX_32 = re.compile(r"[0-9a-f]{64}", re.ASCII)
_CHILD = r"(?:0|[1-9][0-9]{0,8}|1[0-9]{9}|20[0-9]{8})"
DERIVATION_PATH = re.compile(rf"m(?:/{_CHILD}'?){{1,10}}", re.ASCII)
"""A BIP-32 path such as ``m/44'/60'/0'/0/0``. Child numbers are below 2**31; we stop a little earlier, at 2,099,999,999."""

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}", re.ASCII)
ENTITY_ID = re.compile(r"[\x21-\x7e]{1,200}", re.ASCII)
"""The id that the core API gave a stored price trigger."""


class Form(NamedTuple):
    """What a text of a member has to look like: a pattern that matches it whole, and what such a text is called."""

    pattern: re.Pattern[str]
    what: str


Kinds = Mapping[str, type | Form]
"""What an object's members are, by name."""

A_NAME, A_FINGERPRINT = Form(NAME, "a name in lower case"), Form(HEX_32, "a fingerprint in hex")
STEP_ID = Form(NAME, "a step's id")

_FORMAT = r"airlock/([a-z-]{1,40})@([0-9]{1,4})"


def other_format(found: object, needed: str, what: str, do: str = "check which file this is") -> DocumentError:
    """Return the error of a document in another format than the one needed; of a newer version it says what to update."""
    told, wanted = (re.fullmatch(_FORMAT, str(name)) for name in (found, needed))
    if told and wanted and told[1] != wanted[1]:
        what = f"this is a {told[1]} document; a {wanted[1]} document is needed"
    elif told and wanted and int(told[2]) > int(wanted[2]):
        what, do = "a document of a newer version", "update Airlock on this machine to the other machine's version"
    return DocumentError("DOC-FORMAT", what, got=repr(found)[:80], expected=needed, do=do)


def format_of(value: object) -> object:
    """Return the member ``format`` of a parsed document; None for what is no object, or has none."""
    return value.get("format") if isinstance(value, dict) else None


def read_members(value: Any, where: str, required: Kinds, optional: Kinds | None = None) -> Any:
    """Return ``value`` after checking that it is an object with the required members, perhaps the optional ones, no others.

    A type must match exactly, so that ``true`` is no integer; a form is a text's. Raises ``DocumentError("DOC-FIELD")``.
    """
    if type(value) is not dict:
        raise _wrong(where, "not an object", type(value).__name__, "an object")
    known = {**required, **(optional or {})}
    types = {name: str if isinstance(kind, Form) else kind for name, kind in known.items()}
    wrong = []
    if unknown := [name for name in value if name not in known]:
        wrong.append(_wrong(where, "unknown members", repr(unknown)[:120], repr(list(known))))
        wrong[0].unknown, wrong[0].known = unknown, known
    if missing := [name for name in required if name not in value]:
        wrong.append(_wrong(where, "members are missing", repr(list(value))[:120], repr(missing)))
    for name, member in value.items():
        got, needed = type(member), types.get(name, type(member))
        if got is not needed:
            wrong.append(_wrong(f"{where}.{name}".lstrip("."), "of the wrong type", got.__name__, needed.__name__))
    raise_first(wrong)
    for name, form in known.items():
        if isinstance(form, Form) and name in value:
            read_matching(value[name], f"{where}.{name}".lstrip("."), *form)
    return value


def raise_first(wrong: Sequence[DocumentError]) -> None:
    """Raise the first of the mistakes that a reader found, with the others as its ``more``; without one do nothing."""
    if wrong:
        wrong[0].more = wrong[1:]
        raise wrong[0]


def read_some(value: Any, where: str, required: Kinds) -> Any:
    """Return ``value`` after checking that it is an object with the required members; others are somebody else's to judge.

    Raises ``DocumentError("DOC-FIELD")``.
    """
    if type(value) is not dict:
        raise _wrong(where, "not an object", type(value).__name__, "an object")
    read_members({name: value[name] for name in required if name in value}, where, required)
    return value


def read_matching(text: Any, where: str, pattern: re.Pattern[str], what: str) -> str:
    """Return ``text`` when it is a string that the pattern matches whole. Raises ``DocumentError("DOC-FIELD")``."""
    if type(text) is not str or not pattern.fullmatch(text):
        raise _wrong(where, f"not {what}", repr(text)[:120], what)
    return text


def read_list(value: Any, where: str, at_most: int) -> list[Any]:
    """Return ``value`` when it is a list of at most so many items. Raises ``DocumentError("DOC-FIELD")``."""
    if type(value) is not list or len(value) > at_most:
        raise _wrong(where, f"not a list of at most {at_most} items", type(value).__name__, "a list")
    return value


def _wrong(where: str, what: str, got: str, expected: str) -> DocumentError:
    do = "ask for the document again, from its source"
    return DocumentError("DOC-FIELD", what, got=got, expected=expected, do=do, where=where)
