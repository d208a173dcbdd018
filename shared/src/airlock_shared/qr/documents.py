"""The documents that cross the gap by light: from a file's bytes to what is shown, and from what was read to a file's bytes.

A plan is TOML that people wrote, and its text is what they keep: it travels as it is, in a document of its own kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from airlock_shared.documents.deployment import FORMAT as DEPLOYMENT
from airlock_shared.documents.deployment import parse_deployment
from airlock_shared.documents.hand_over import FORMAT as HAND_OVER
from airlock_shared.documents.hand_over import parse_hand_over
from airlock_shared.documents.requests import FORMAT as REQUESTS
from airlock_shared.documents.requests import parse_requests
from airlock_shared.documents.signatures import FORMAT as SIGNATURES
from airlock_shared.documents.signatures import parse_signatures
from airlock_shared.errors import DocumentError
from airlock_shared.plan.reader import parse_plan
from airlock_shared.qr.transfer import Transfer
from airlock_shared.ur.decode import Message
from airlock_shared.ur.envelope import UR_TYPE, unwrap, wrap
from airlock_shared.wire.codec import damaged, fingerprint, parse_json, to_json

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
        plan = parse_plan(data).fingerprint
    return ReceivedDocument(envelope.kind, envelope.ceremony, envelope.fingerprint, data, plan)


def file_name(kind: str, fingerprint: str) -> str:
    """Return what a document's file is called, without its ending: the kind in a word, and 64 bits of its fingerprint."""
    word = re.sub(r"[^a-z0-9-]+", "-", kind.removeprefix("airlock/").partition("@")[0])
    return f"{word}-{fingerprint[:16]}"


def _plan_document(data: bytes) -> dict[str, str]:
    parse_plan(data)  # a plan with a mistake is not shown
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
    PLAN_TEXT: lambda data: parse_plan(_text_of(data)).id,
    HAND_OVER: lambda data: parse_hand_over(data)[0],
    REQUESTS: lambda data: parse_requests(data)[0].ceremony,
    SIGNATURES: lambda data: parse_signatures(data)[0].ceremony,
}


def _unknown(kind: object, *kinds: str) -> DocumentError:
    expected = " or ".join(kinds or CEREMONIES)
    do = "check what the other screen shows, and for which command"
    return damaged("QR-ENVELOPE", "a document of another kind", got=repr(kind)[:80], expected=expected, do=do)
