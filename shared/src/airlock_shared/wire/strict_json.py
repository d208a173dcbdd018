"""Documents that cross the gap: strict JSON in a file, deterministic CBOR on a screen, one fingerprint for both.

The fingerprint is SHA-256 over the deterministic CBOR form (RFC 8949, section 4.2.1), so it does not depend on white
space, escapes or the channel. A document is read whole.
"""

from __future__ import annotations

import hashlib
import json
import re
import struct
import sys
import tomllib
from collections.abc import Mapping, Sequence
from functools import partial
from json import JSONDecodeError
from math import isfinite
from typing import Any, NamedTuple

from airlock_shared.errors import DocumentError, quoted

JsonObject = dict[str, Any]
"""A JSON object: a document or a part of one, with its members by name."""

# ---- members --------------------------------------------------------------------------------------------------------
# Reading the shape of parsed JSON strictly: exactly these members, each of its type, nothing else.


HEX_32 = re.compile(r"[0-9a-f]{64}", re.ASCII)
_CHILD = r"(?:0|[1-9][0-9]{0,8}|1[0-9]{9}|20[0-9]{8})"
DERIVATION_PATH = re.compile(rf"m(?:/{_CHILD}'?){{1,10}}", re.ASCII)
"""A BIP-32 path such as ``m/44'/60'/0'/0/0``. Child numbers are below 2**31; we stop a little earlier, at 2,099,999,999."""

_MOST_QUOTED = 90  # characters of a value that is refused: an address or a digest, and less than a signature
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
LABEL = Form(
    re.compile(r"[!#-\[\]-~](?:[ !#-\[\]-~]{0,58}[!#-\[\]-~])?", re.ASCII),
    "1 to 60 printable ASCII characters without quotation marks and backslashes, no space at an end",
)
"""What a person gives a name to on a screen."""

_FORMAT = r"airlock/([a-z-]{1,40})@([0-9]{1,4})"


def other_format(found: object, needed: str, what: str, do: str) -> DocumentError:
    """Return the error of a document in another format than the one needed; of a newer version it says what to update."""
    told, wanted = (re.fullmatch(_FORMAT, str(name)) for name in (found, needed))
    if told and wanted and told[1] != wanted[1]:
        what = f"this is a {told[1]} document; a {wanted[1]} document is needed"
    elif told and wanted and int(told[2]) > int(wanted[2]):
        what, do = "a document of a newer version", "update Airlock on this machine to the other machine's version"
    return DocumentError("DOC-FORMAT", what, quoted(found), needed, do=do)


def require_format(value: object, needed: str, what: str, do: str = "check which file this is") -> None:
    """Raise ``DocumentError("DOC-FORMAT")`` for a parsed document in another format than the one needed."""
    if format_of(value) != needed:
        raise other_format(format_of(value), needed, what, do)


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
    known = {name: value[name] for name in required if name in value} if type(value) is dict else value
    read_members(known, where, required)
    return value


def read_matching(text: Any, where: str, pattern: re.Pattern[str], what: str) -> str:
    """Return ``text`` when it is a string that the pattern matches whole. Raises ``DocumentError("DOC-FIELD")``."""
    if type(text) is not str or not pattern.fullmatch(text):
        got = repr(text)
        raise _wrong(where, f"not {what}", got if len(got) <= _MOST_QUOTED else f"{len(got)} characters", what)
    return text


def read_list(value: Any, where: str, at_most: int) -> list[Any]:
    """Return ``value`` when it is a list of at most so many items. Raises ``DocumentError("DOC-FIELD")``."""
    if type(value) is not list or len(value) > at_most:
        raise _wrong(where, f"not a list of at most {at_most} items", type(value).__name__, "a list")
    return value


def error_at(check: str, do: str, where: str, what: str, got: object, expected: object) -> DocumentError:
    """Return the error of what stands at a place of a document; the reader of each kind of document says what to do."""
    return DocumentError(check, what, got, expected, do=do, where=where)


_wrong = partial(error_at, "DOC-FIELD", "ask for the document again, from its source")


# ---- saved as -------------------------------------------------------------------------------------------------------
# How a text file was saved, where that is not as Airlock reads it: editors write other forms without a word.
# A byte order mark is not skipped: a text has one form, in which everybody hashes and compares it.


ONLY = "UTF-8 without a byte order mark (BOM)"

_TOLD = {"utf-8": "", "utf-8-sig": "UTF-8 with a byte order mark"}


def other_encoding(data: bytes) -> str:
    """Return the form of a text that does not begin as :data:`ONLY` does; empty for one that does."""
    form = json.detect_encoding(data)
    return _TOLD.get(form, form.upper()[:6])


# ---- codec ----------------------------------------------------------------------------------------------------------


MAX_DOCUMENT_BYTES = 8 << 20
MAX_DEPTH = 24
_MOST_DIGITS = 620  # of an integer, with its sign: the product of two is still written by Python, which stops at 4300
SAFE_RECURSION_LIMIT = 2000  # Python's default is 1000; far below what overflows a thread's stack
_SPACE = " \t\r\n"  # RFC 8259, section 2


def damaged(
    check: str,
    what: str,
    got: object = "",
    expected: object = "",
    *,
    do: str = "name the document's own file, which ends in .json, or fetch or copy it again",
) -> DocumentError:
    """Return the error of a document that is not as it should be; by default it has to be brought again."""
    return DocumentError(check, what, got, expected, do=do)


def _pairs(pairs: list[tuple[str, Any]]) -> JsonObject:
    members = dict(pairs)
    if len(members) != len(pairs):
        twice = next(name for name, _ in pairs if members.pop(name, pairs) is pairs)
        raise damaged("DOC-DUPLICATE", f"the member {twice[:80]!r} appears twice in one object")
    return members


def _float(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise damaged("DOC-NUMBER", "a number is too large", text[:40])
    return value


def _integer(text: str) -> int:
    if len(text) > _MOST_DIGITS or text == "-0":
        raise damaged("DOC-NUMBER", "a number is too long, or -0")
    return int(text)


def _constant(text: str) -> object:
    raise damaged("DOC-NUMBER", f"{text} is not JSON")


_decoder = json.JSONDecoder(object_pairs_hook=_pairs, parse_float=_float, parse_int=_integer, parse_constant=_constant)


def parse_json(data: bytes, *, max_bytes: int = MAX_DOCUMENT_BYTES, max_depth: int = MAX_DEPTH) -> Any:
    """Return the value of a JSON text, refusing what two parsers could read differently.

    Raises ``DocumentError`` with ``DOC-SIZE``, ``DOC-JSON``, ``DOC-UTF8``, ``DOC-DUPLICATE``, ``DOC-NUMBER`` or
    ``DOC-DEPTH``.
    """
    if len(data) > max_bytes:
        raise damaged("DOC-SIZE", "too large", f"{len(data)} bytes", f"<= {max_bytes} bytes")
    text = _utf8(data).strip(_SPACE)
    value, end = _decode(text)
    if end < len(text):
        raise damaged("DOC-JSON", "something follows the document", repr(text[end : end + 40]))
    check_depth(value, max_depth)
    return value


def _utf8(data: bytes) -> str:
    form = other_encoding(data)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        if not form:
            raise damaged("DOC-UTF8", f"no text, perhaps a picture: not UTF-8 at byte {error.start}") from error
        text = ""
    if form:
        check = "DOC-JSON" if text else "DOC-UTF8"
        raise damaged(check, f"saved as {form}", expected=ONLY, do="save it in that form, or copy it again")
    return text


def _decode(text: str) -> tuple[Any, int]:
    """Return the JSON value at the beginning of a text, and where it ends.

    Python 3.11's JSON reader recurses in C, and the recursion limit is all that keeps a deep text from ending the process.
    The limit is global, and a library may have raised it (eth-account does, when it is imported): not while this reads.
    """
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(min(limit, SAFE_RECURSION_LIMIT))
    try:
        return _decoder.raw_decode(text)
    except json.JSONDecodeError as error:
        raise damaged(
            "DOC-JSON",
            f"no document, perhaps a plan or a printed sheet: not JSON at character {error.pos}: {error.msg}",
        ) from error
    except RecursionError as error:
        raise _too_deep() from error
    finally:
        sys.setrecursionlimit(limit)


def check_depth(value: Any, max_depth: int = MAX_DEPTH) -> None:
    """Raise ``DocumentError("DOC-DEPTH")`` for lists and objects nested deeper than ``max_depth``."""
    level = [value]
    for _ in range(max_depth):
        level = [
            child
            for node in level
            for child in (node.values() if type(node) is dict else node if type(node) is list else ())
            if type(child) is dict or type(child) is list
        ]
        if not level:
            return
    raise _too_deep(max_depth)


def _too_deep(levels: int = MAX_DEPTH) -> DocumentError:
    return damaged("DOC-DEPTH", "nested too deep", expected=f"<= {levels} levels")


def refuse_floats(value: Any, where: str = "") -> None:
    """Raise ``DocumentError("DOC-FLOAT")``, with the place, for a fraction or exponent outside a member ``meta``."""
    if type(value) is float:
        raise damaged("DOC-FLOAT", f"a fractional number at {where}", repr(value), "a decimal string")
    if type(value) is dict:
        for name, member in value.items():
            if name != "meta":
                refuse_floats(member, f"{where}.{name}" if where else name)
    elif type(value) is list:
        for position, member in enumerate(value):
            refuse_floats(member, f"{where}[{position}]")


# ---- one form, one fingerprint ------------------------------------------------------------------------------------


_INTEGER, _NEGATIVE, BYTES, _TEXT, ARRAY, MAP, TAG = range(0, 0xE0, 0x20)  # RFC 8949, section 3.1: the major types
_SIMPLE = {False: b"\xf4", True: b"\xf5", None: b"\xf6"}  # section 3.3
BIG, BIG_NEGATIVE = 2, 3  # section 3.4.3: tags of the integers beyond 64 bits


def to_cbor(value: Any) -> bytes:
    """Return the deterministic CBOR form of a JSON value.

    Raises ``DocumentError("DOC-UTF8")`` for a text that has no UTF-8 form, ``TypeError`` for what JSON cannot say.
    """
    try:
        return _cbor(value)
    except UnicodeEncodeError as error:
        raise damaged("DOC-UTF8", "a text holds a lone surrogate") from error


def _cbor(value: Any) -> bytes:
    kind = type(value)
    if kind is str:
        text: bytes = value.encode()
        return cbor_head(_TEXT, len(text)) + text
    if kind is dict:  # its names in the bytewise order of their forms (section 4.2.1)
        if not all(type(name) is str for name in value):
            raise TypeError("a member's name is no text")
        names = sorted((_cbor(name), name) for name in value)
        return cbor_head(MAP, len(value)) + b"".join(form + _cbor(value[name]) for form, name in names)
    if kind is list:
        return cbor_head(ARRAY, len(value)) + b"".join(map(_cbor, value))
    if kind is bool or value is None:
        return _SIMPLE[value]
    if kind is int:
        number = value if value >= 0 else -1 - value
        if number < 1 << 64:
            return cbor_head(_INTEGER if value >= 0 else _NEGATIVE, number)
        digits: bytes = number.to_bytes((number.bit_length() + 7) // 8, "big")
        return cbor_head(TAG, BIG if value >= 0 else BIG_NEGATIVE) + cbor_head(BYTES, len(digits)) + digits
    if kind is float and isfinite(
        value
    ):  # rare, in a builder's ``meta``: the shortest form that holds it (section 4.2.1)
        for head, layout in ((b"\xf9", ">e"), (b"\xfa", ">f")):
            try:
                form = struct.pack(layout, value)
            except OverflowError:
                continue
            if struct.unpack(layout, form) == (value,):
                return head + form
        return b"\xfb" + struct.pack(">d", value)
    raise TypeError(f"not a value of JSON: {kind.__name__}")


def cbor_head(major: int, number: int) -> bytes:
    """Return the head of a CBOR item in its shortest form: a major type and its length or value (section 3)."""
    if number < 24:
        return bytes((major | number,))
    size = 0 if number < 1 << 8 else 1 if number < 1 << 16 else 2 if number < 1 << 32 else 3
    return bytes((major | 24 + size,)) + number.to_bytes(1 << size, "big")


def fingerprint(value: Any) -> str:
    """Return the fingerprint of a document, 64 lower-case hex digits: SHA-256 over its CBOR form (:func:`to_cbor`)."""
    return hashlib.sha256(to_cbor(value)).hexdigest()


def to_json(value: Any) -> bytes:
    """Return the JSON text of a document as Airlock writes it: one list item a line, UTF-8, a final newline.

    Raises ``DocumentError("DOC-UTF8")`` for a text that has no UTF-8 form: JSON can say half a character by an escape.
    """
    try:
        return _json_text(value).encode()
    except UnicodeEncodeError as error:
        raise damaged("DOC-UTF8", "a text holds a lone surrogate") from error


def _json_text(value: Any) -> str:
    if type(value) is dict and value:
        last = list(value)[-1]
        if type(value[last]) is list and value[last]:
            head = json.dumps({n: v for n, v in value.items() if n != last}, ensure_ascii=False)[:-1]
            head += ", " if len(value) > 1 else ""
            items = ",\n".join(json.dumps(item, ensure_ascii=False) for item in value[last])
            return f"{head}{json.dumps(last)}: [\n{items}\n]}}\n"
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


# ---- batch ----------------------------------------------------------------------------------------------------------
# Batch documents: ``{"format", "header", LIST}`` in this order, with ``header.count`` items in its list.


MAX_ITEM_BYTES = 256 << 10  # of its CBOR form
MAX_ITEMS = 1000


def read_batch(data: bytes, *, format_name: str, list_name: str) -> tuple[JsonObject, list[JsonObject], str]:
    """Return ``(header, items, fingerprint)`` of a batch document.

    Raises ``DocumentError`` as :func:`parse_json` does, and with ``DOC-TRUNCATED``, ``DOC-FORMAT``, ``DOC-COUNT``,
    ``DOC-SIZE`` or ``DOC-FLOAT``.
    """
    document = _parsed(data)
    if type(document) is not dict:
        raise damaged("DOC-JSON", "not an object")
    names = ["format", "header", list_name]
    is_other = any(name != found for name, found in zip(names, document, strict=False))
    if is_other or format_of(document) != format_name:
        what = "not the kind or version of document that is needed"
        raise other_format(format_of(document), format_name, what, "check that you opened the right file")
    if list(document) != names or type(document[list_name]) is not list:
        raise damaged("DOC-JSON", "not a format, a header and a list", quoted(list(document)))
    header, items = document["header"], document[list_name]
    refuse_floats(header, "header")
    count = header.get("count") if type(header) is dict else None
    if type(count) is not int or not 0 <= count <= MAX_ITEMS:
        raise damaged("DOC-COUNT", "header.count is not a number of items", expected=f"0 to {MAX_ITEMS}")
    if len(items) != count:
        what = "header.count is not the number of items"
        raise damaged("DOC-COUNT", what, f"{len(items)} items", f"{count} items")
    for position, item in enumerate(items, start=1):
        place = f"item {position}"
        if type(item) is not dict:
            raise damaged("DOC-JSON", f"{place} is not an object")
        refuse_floats(item, place)
        try:
            size = len(to_cbor(item))
        except DocumentError as error:
            error.at(place)
            raise
        if size > MAX_ITEM_BYTES:
            raise damaged("DOC-SIZE", f"{place} is too large", expected=f"<= {MAX_ITEM_BYTES} bytes")
    return header, items, fingerprint(document)


def write_batch(format_name: str, header: Mapping[str, Any], list_name: str, items: list[Any]) -> bytes:
    """Return a batch document's file form, UTF-8. Raises as :func:`to_json`."""
    return to_json({"format": format_name, "header": {"count": len(items), **header}, list_name: items})


def _parsed(data: bytes) -> Any:
    try:
        return parse_json(data)
    except DocumentError as error:
        wrong = error.__cause__
        if isinstance(wrong, JSONDecodeError) and (wrong.pos == len(wrong.doc) or "Unterminated" in wrong.msg):
            raise damaged("DOC-TRUNCATED", "the document ends too early") from error
        raise


# ---- TOML -----------------------------------------------------------------------------------------------------------
# TOML read under bounds that are looked at first: Python's own reader takes minutes over one key of thousands of parts.
#
# A key of ``n`` parts costs ``tomllib`` about ``n`` squared steps, brackets inside one another cost stack. Both are counted
# before anything is parsed. Source of the grammar: TOML 1.0.0.


Table = dict[str, Any]
"""A table of TOML, by its keys."""

MAX_KEY_PARTS = 24  # as deep as a document may be
MAX_BRACKETS = 24
_PIECE = re.compile(
    r"""(?P<string>"{3}(?:[^"\\]++|\\.|"(?!""))*+(?:"{3,5})?+|'{3}(?:[^']++|'(?!''))*+(?:'{3,5})?+)"""
    r"""|(?P<part>[A-Za-z0-9_-]++|"(?:[^"\\\n]++|\\[^\n])*+"?+|'[^'\n]*+'?+)"""
    r"""|(?P<dot>[ \t]*+\.[ \t]*+)|(?P<open>[\[{])|(?P<close>[\]}])|\#[^\n]*+|[^A-Za-z0-9_.\[\]{}"'\#-]++|.""",
    re.DOTALL,
)
"""Every start matches, so that the pass is linear; what the grammar has no place for, ``tomllib`` refuses anyway."""


def parse_toml(data: bytes) -> Table:
    """Return the table of a TOML text in UTF-8. Raises ``ValueError`` with the reason in words."""
    if form := other_encoding(data):
        raise ValueError(f"it is saved as {form}: save it as {ONLY}")
    text = data.decode()
    parts = depth = 0
    for piece in _PIECE.finditer(text):
        kind = piece.lastgroup
        if kind == "dot":
            parts += 1
        elif kind != "part":
            parts = 0
            depth = max(depth + (kind == "open") - (kind == "close"), 0)
        if parts >= MAX_KEY_PARTS:
            line = text.count("\n", 0, piece.start()) + 1
            raise ValueError(f"a key of more than {MAX_KEY_PARTS} parts (at line {line})")
        if depth > MAX_BRACKETS:
            raise ValueError(f"nested deeper than {MAX_BRACKETS} levels")
    return tomllib.loads(text)
