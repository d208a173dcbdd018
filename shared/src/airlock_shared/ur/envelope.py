"""Airlock's own documents as ``ur:bytes``: deflated, in deterministic CBOR, under the whole document's fingerprint.

The payload is a CBOR byte string that holds an array of three: the envelope's version, the document's fingerprint (32
bytes), and a raw deflate stream (RFC 1951), begun with the version's dictionary, of the array of the ceremony's id and
the document. The fingerprint is the document's own, the same as of its file: it decides what CRC-32, which can be forged,
cannot.
"""

from __future__ import annotations

import json
import zlib
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from airlock_shared.errors import DocumentError, quoted
from airlock_shared.wire.cbor import from_cbor, read, write
from airlock_shared.wire.strict_json import NAME, damaged, fingerprint, format_of, parse_json, to_cbor, to_json

# ---- dictionary -----------------------------------------------------------------------------------------------------
# The preset dictionary of the deflate stream (RFC 1950, section 2.2): what every Airlock document says anyway.
# It saves a single intent a third of its frames. Both sides must have the same one, byte for byte: a test pins its
# SHA-256 together with the envelope's version, which has to change with it. A struct that ships later is not in it.


@cache
def dictionary() -> bytes:
    """Return the dictionary: what is in ``dictionary.json``, the definitions of structs and then the documents' members."""
    parts = json.loads((files("airlock_shared.ur") / "dictionary.json").read_text())
    return b"".join(map(to_cbor, parts))


# ---- envelope -------------------------------------------------------------------------------------------------------


UR_TYPE = "bytes"
ENVELOPE_VERSION = 1
MAX_INFLATED = 4 << 20  # bytes; some 1,300 intents. What is longer goes by file
_MAX_ITEMS = 1 << 18  # texts, numbers, lists and maps in a document

_RAW = -15  # no header, no checksum: the frames and the fingerprint have theirs


class Envelope(NamedTuple):
    """A document as it came: ``kind`` is its ``format``, ``fingerprint`` (hex) has been recomputed."""

    kind: str
    ceremony: str
    fingerprint: str
    document_json: bytes


def wrap(document_json: bytes, *, ceremony: str) -> bytes:
    """Return the payload of ``ur:bytes`` for a document's JSON text.

    Raises ``DocumentError`` with an id of the ``DOC`` family, ``QR-ENVELOPE`` for a ceremony's id that is none or not the
    document's, ``QR-LIMIT`` for a document too long for codes.
    """
    document = parse_json(document_json)
    _kind(document)
    _require_ceremony(document, ceremony)
    content = to_cbor([ceremony, document])
    if len(content) > MAX_INFLATED:
        got, expected = f"{len(content)} bytes", f"<= {MAX_INFLATED} bytes"
        raise damaged(
            "QR-LIMIT", "the document is too long for codes", got=got, expected=expected, do="take it by file"
        )
    read(content, max_items=_MAX_ITEMS)  # what is shown can be received
    packer = zlib.compressobj(9, zlib.DEFLATED, _RAW, 9, zlib.Z_DEFAULT_STRATEGY, dictionary())
    deflated = packer.compress(content) + packer.flush()
    return write(write([ENVELOPE_VERSION, bytes.fromhex(fingerprint(document)), deflated]))


def unwrap(cbor: bytes) -> Envelope:
    """Return the document in a payload of ``ur:bytes``, with its fingerprint recomputed and compared.

    Raises ``DocumentError``: ``QR-CBOR``, ``QR-ENVELOPE``, ``QR-INFLATE``, ``QR-FINGERPRINT``, or ``DOC-CBOR`` for a
    document in another than the deterministic form.
    """
    payload = read(cbor, max_items=1)
    members = read(payload, max_items=4) if type(payload) is bytes else None
    if type(members) is not list or [type(member) for member in members] != [int, bytes, bytes]:
        raise _not_one("not an Airlock document")
    version, claimed, deflated = members
    if version != ENVELOPE_VERSION:
        raise _not_one("another version of the envelope", got=version, expected=ENVELOPE_VERSION)
    value = from_cbor(_inflate(deflated), max_items=_MAX_ITEMS)
    if type(value) is not list or len(value) != 2:
        raise _not_one("not a ceremony's id and a document")
    ceremony, document = value
    actual = fingerprint(document)
    if actual != claimed.hex():
        do = "stop: this is not the document that was shown. Scan it again, and compare the fingerprint on both screens"
        raise damaged(
            "QR-FINGERPRINT", "the document's fingerprint is wrong", got=actual, expected=claimed.hex(), do=do
        )
    _require_ceremony(document, ceremony)
    return Envelope(_kind(document), ceremony, actual, to_json(document))


def _inflate(deflated: bytes) -> bytes:
    unpacker = zlib.decompressobj(_RAW, dictionary())
    try:
        content = unpacker.decompress(deflated, MAX_INFLATED + 1)
    except zlib.error as error:
        raise damaged("QR-INFLATE", "not a deflate stream", do="scan it again") from error
    if len(content) > MAX_INFLATED:
        raise damaged("QR-INFLATE", "it becomes too large when it is decompressed", expected=f"<= {MAX_INFLATED} bytes")
    if not unpacker.eof or unpacker.unused_data:
        raise damaged("QR-INFLATE", "a deflate stream that does not end where it should", do="scan it again")
    return content


def _kind(document: Any) -> str:
    kind = format_of(document)
    if type(kind) is not str or not kind.startswith("airlock/"):
        raise _not_one("the document does not say what it is", got=quoted(kind), expected="a format airlock/…")
    return kind


def _require_ceremony(document: Any, ceremony: Any) -> None:
    """Refuse a document that names its own ceremony and travels under another's id."""
    if type(ceremony) is not str or not NAME.fullmatch(ceremony):
        raise _not_one("not a ceremony's id", got=quoted(ceremony), expected="a name in lower case")
    header = document.get("header") if type(document) is dict else None
    own = header.get("ceremony", ceremony) if type(header) is dict else ceremony
    if own != ceremony:
        raise _not_one("the document is of another ceremony than its envelope", got=quoted(own), expected=ceremony)


def _not_one(what: str, *, got: object = "", expected: object = "") -> DocumentError:
    do = "check what the other screen shows, and that both machines run the same version"
    return damaged("QR-ENVELOPE", what, got=got, expected=expected, do=do)
