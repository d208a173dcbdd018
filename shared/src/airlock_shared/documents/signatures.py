"""The signatures document: what comes back from the air-gapped half (``airlock/signatures@1``).

``{"format", "header", "signatures"}``. Until it is submitted, a signature is a secret: it is in this file and in no log.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from airlock_shared.errors import Refusal
from airlock_shared.wire.members import A_FINGERPRINT, A_NAME, STEP_ID, Form, Kinds, read_members
from airlock_shared.wire.strict_json import read_batch, to_json

SIGNATURES_FORMAT = "airlock/signatures@1"
_LIST = "signatures"

_HEADER: Kinds = {
    "count": int, "ceremony": A_NAME, "requests": A_FINGERPRINT, "rehearsal": bool, "transcript_head": A_FINGERPRINT,
    "created_ms": int,
}  # fmt: skip
_RESULT = Form(re.compile("signed|refused|declined"), "a known result")
_NOT_SIGNED: Kinds = {"step": STEP_ID, "result": _RESULT, "why": str}
_SIGNED: Kinds = {
    "step": STEP_ID, "result": _RESULT,
    "digest": Form(re.compile(r"0x[0-9a-f]{64}", re.ASCII), "32 bytes in hex"),
    "signature": Form(re.compile(r"0x(?:[0-9a-f]{2}){1,130}", re.ASCII), "bytes in hex"),
    "signer": str, "shown": str, "app": str,
}  # fmt: skip


class SignaturesHeader(NamedTuple):
    """What the whole document says of itself; ``requests`` is the fingerprint of the requests it answers.

    ``machine`` is the id of the machine whose ``transcript_head`` it is; empty from another wallet.
    """

    ceremony: str
    requests: str
    rehearsal: bool
    transcript_head: str
    created_ms: int
    machine: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the members of the document's header, without the count; ``machine`` stands there where it is known."""
        return {name: value for name, value in self._asdict().items() if name != "machine" or value}


class Answer(NamedTuple):
    """What became of one request: ``result`` is ``signed``, ``refused`` or ``declined`` (``why`` says by whom).

    Of a refused one ``why`` is a check's id, or the error that ended the command before or while it was signed. ``digest``
    is 32 bytes and ``signature`` 65 bytes ``r || s || v``, both 0x-hex; ``shown`` is what the Ledger showed (``fields``,
    ``filters``, ``hashes``, ``transaction`` or ``authorization``), or ``by another wallet``.
    """

    step: str
    result: str
    why: str = ""
    digest: str = ""
    signature: str = ""
    signer: str = ""
    shown: str = ""
    app: str = ""

    def as_json(self) -> dict[str, str]:
        """Return the item as the document holds it."""
        names = _SIGNED if self.result == "signed" else _NOT_SIGNED
        return {name: value for name, value in self._asdict().items() if name in names}


def read_header(value: Any) -> SignaturesHeader:
    """Read the header. Raises ``DocumentError("DOC-FIELD")``."""
    read_members(value, "header", _HEADER, {"machine": A_FINGERPRINT})
    return SignaturesHeader(**{name: member for name, member in value.items() if name != "count"})


def read_signature(value: Any, where: str = "item") -> Answer:
    """Read one item. Raises ``DocumentError("DOC-FIELD")``."""
    signed = type(value) is dict and value.get("result") == "signed"
    return Answer(**read_members(value, where, _SIGNED if signed else _NOT_SIGNED))


def parse_signatures(data: bytes) -> tuple[SignaturesHeader, list[Answer], str]:
    """Return ``(header, items, fingerprint)`` of a whole document; the fingerprint is 64 hex digits.

    Raises ``DocumentError`` as :func:`airlock_shared.wire.strict_json.read_batch`, or ``DOC-FIELD`` with the place, and
    ``Refusal("PLAN-STEPS")`` for a step that comes twice.
    """
    header, items, fingerprint = read_batch(data, format_name=SIGNATURES_FORMAT, list_name=_LIST)
    read = [read_signature(item, f"item {n}") for n, item in enumerate(items, start=1)]
    steps = [item.step for item in read]
    if len(set(steps)) != len(steps):
        raise Refusal("PLAN-STEPS", "a step appears twice in the signatures", got=repr(steps)[:200])
    return read_header(header), read, fingerprint


def write_signatures(header: SignaturesHeader, items: list[Answer]) -> bytes:
    """Return the document's file form, UTF-8. Until it is submitted, this is a secret."""
    return to_json(
        {
            "format": SIGNATURES_FORMAT,
            "header": {"count": len(items), **header.as_json()},
            _LIST: [item.as_json() for item in items],
        }
    )
