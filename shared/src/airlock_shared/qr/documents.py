"""The documents that cross by QR codes: from a file's bytes to what is shown, and from what was read to a file's bytes.

A plan is TOML that people wrote, and its text is what they keep: it travels as it is, in a document of its own kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, NamedTuple
from zlib import crc32

from airlock_shared.documents.deployment import DEPLOYMENT_FORMAT as DEPLOYMENT
from airlock_shared.documents.deployment import parse_deployment
from airlock_shared.documents.hand_over import HAND_OVER_FORMAT as HAND_OVER
from airlock_shared.documents.hand_over import parse_hand_over
from airlock_shared.documents.requests import REQUESTS_FORMAT as REQUESTS
from airlock_shared.documents.requests import SIGNATURES_FORMAT as SIGNATURES
from airlock_shared.documents.requests import parse_requests, parse_signatures
from airlock_shared.errors import DocumentError, UsageError, quoted
from airlock_shared.plan.toml_positions import parse_written_plan
from airlock_shared.qr.symbol import DENSITIES, fragment_bytes_for
from airlock_shared.ur.decode import BYTES_AT_MOST, FRAMES_AT_MOST, Message
from airlock_shared.ur.envelope import UR_TYPE, unwrap, wrap
from airlock_shared.ur.fountain import choose_fragments, frame_count, frames
from airlock_shared.wire.strict_json import damaged, fingerprint, parse_json, to_json

# ---- transfer -------------------------------------------------------------------------------------------------------
# What is shown: one UR message, the names that people compare, and its frames as upper-case texts.


DEFAULT_PAUSE_MS = 200  # loses the fewest captures between two frames; shorter brings nothing

_ROUNDS = 3  # how many times the ideal number of fountain parts are made before a finite picture begins again
_DENSE_UP_TO = 128  # parts of a message: beyond it large mixtures take long to make, and bring less


class Transfer(NamedTuple):
    """A message to show. ``kind`` is a document's format or a UR type; ``fingerprint`` is 64 hex digits or empty."""

    ur_type: str
    cbor: bytes
    kind: str
    ceremony: str
    fingerprint: str


def ideal_count(transfer: Transfer, version: int) -> int:
    """Return how many frames carry the message when none is lost; 1 is a single still code."""
    return frame_count(transfer.cbor, fragment_bytes_for(version, transfer.ur_type))


def densities_of(transfer: Transfer) -> list[int]:
    """Return the versions to choose from: those whose number of frames a receiver accepts, and one alone for a still code.

    Raises ``UsageError`` when there is none.
    """
    counts = {version: ideal_count(transfer, version) for version in DENSITIES}
    still = [version for version, count in counts.items() if count == 1][1:]  # the smallest carries it all
    versions = [version for version, count in counts.items() if count <= FRAMES_AT_MOST and version not in still]
    if not versions or len(transfer.cbor) > BYTES_AT_MOST:
        raise UsageError(f"{len(transfer.cbor)} bytes are too many for codes", do="carry it as a file")
    return versions


def endless_texts(transfer: Transfer, version: int) -> Iterator[str]:
    """Yield frame texts for symbols of up to ``version``: one still code, or the plain parts in turn, then mixtures.

    Of our own documents, up to 128 parts long, only the mixtures of at least a third of the fragments are shown: a receiver
    that solves for all fragments at once, as ours does, then needs about 1.1 times the ideal instead of 1.25.
    Every part shown is one of BCR-2024-001. Other wallets' messages get all of them: their receivers may need small ones.
    """
    fragment_bytes = fragment_bytes_for(version, transfer.ur_type)
    count, checksum = ideal_count(transfer, version), crc32(transfer.cbor)
    least = count / 3 if transfer.ur_type == UR_TYPE and count <= _DENSE_UP_TO else 0
    texts = frames(transfer.ur_type, transfer.cbor, fragment_bytes=fragment_bytes)
    for number, text in enumerate(texts, start=1):
        if number <= count or len(choose_fragments(number, count, checksum)) >= least:
            yield text.upper()


def cycle_texts(transfer: Transfer, version: int) -> list[str]:
    """Return the texts of a finite picture that is played over and over: one, or :data:`_ROUNDS` times the ideal number."""
    return list(islice(endless_texts(transfer, version), _ROUNDS * ideal_count(transfer, version)))


# ---- documents ------------------------------------------------------------------------------------------------------


PLAN_TEXT = "airlock/plan-text@1"


class ReceivedDocument(NamedTuple):
    """A document as it came, whole: ``data`` is its file, ``plan`` the fingerprint of a plan, or empty."""

    kind: str
    ceremony: str
    fingerprint: str
    data: bytes
    plan: str


def transfer_of(data: bytes) -> Transfer:
    """Return the transfer of a deployment, a plan (TOML), requests or signatures, given as the file's bytes.

    Raises ``DocumentError`` for what is none of them, is damaged or is too long; ``PlanError`` for a plan with a mistake.
    """
    document = parse_json(data) if data.lstrip()[:1] == b"{" else _plan_document(data)
    kind = str(document.get("format"))
    if kind not in CEREMONIES:
        raise _unknown(kind)
    text = to_json(document)
    ceremony = CEREMONIES[kind](text)
    return Transfer(UR_TYPE, wrap(text, ceremony=ceremony), kind, ceremony, fingerprint(document))


def received(message: Message, *kinds: str) -> ReceivedDocument:
    """Return the document in a message, parsed as its kind to see that it is whole; without ``kinds``, any known one.

    Raises ``DocumentError``: ``QR-TYPE`` for a code of another kind, ``QR-ENVELOPE`` for a document of another kind or
    ceremony, and as :func:`airlock_shared.ur.envelope.unwrap` and the document's own parser.
    """
    envelope = unwrap(message.expect(UR_TYPE))
    wanted = kinds or tuple(CEREMONIES)
    if envelope.kind not in wanted:
        raise _unknown(envelope.kind, *kinds)
    own = CEREMONIES[envelope.kind](envelope.document_json)
    if own != envelope.ceremony:
        do = "stop: show and scan it again, and compare the fingerprint on both screens"
        what = "the document is of another ceremony than its envelope"
        raise damaged("QR-ENVELOPE", what, got=own, expected=envelope.ceremony, do=do)
    data, plan = envelope.document_json, ""
    if envelope.kind == PLAN_TEXT:
        data = _text_of(envelope.document_json)
        plan = parse_written_plan(data).fingerprint
    return ReceivedDocument(envelope.kind, envelope.ceremony, envelope.fingerprint, data, plan)


def file_name(kind: str, fingerprint: str) -> str:
    """Return what a document's file is called, without its ending: the kind in a word, and 64 bits of its fingerprint."""
    word = re.sub(r"[^a-z0-9-]+", "-", kind.removeprefix("airlock/").partition("@")[0])
    return f"{word}-{fingerprint[:16]}"


def _plan_document(data: bytes) -> dict[str, str]:
    parse_written_plan(data)  # a plan with a mistake is not shown
    return {"format": PLAN_TEXT, "text": data.decode()}


def _text_of(document_json: bytes) -> bytes:
    """Return the TOML of a plan's document. Raises ``DocumentError("QR-ENVELOPE")`` for one that is not in its form."""
    document = parse_json(document_json)
    text = document.get("text")
    if set(document) != {"format", "text"} or type(text) is not str:
        expected = "a text and nothing else"
        raise damaged("QR-ENVELOPE", "not a plan's document", got=", ".join(document)[:80], expected=expected)
    return text.encode()


CEREMONIES: dict[Any, Callable[[bytes], str]] = {  # a kind of document -> the name that its envelope bears
    DEPLOYMENT: lambda data: parse_deployment(data).name,
    PLAN_TEXT: lambda data: parse_written_plan(_text_of(data)).id,
    HAND_OVER: lambda data: parse_hand_over(data)[0],
    REQUESTS: lambda data: parse_requests(data)[0].ceremony,
    SIGNATURES: lambda data: parse_signatures(data)[0].ceremony,
}


def _unknown(kind: object, *kinds: str) -> DocumentError:
    expected = " or ".join(kinds or CEREMONIES)
    do = "check what the other screen shows, and for which command"
    return damaged("QR-ENVELOPE", "a document of another kind", got=quoted(kind), expected=expected, do=do)
