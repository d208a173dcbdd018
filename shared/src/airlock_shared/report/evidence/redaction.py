"""A signatures document for the files: each signature that is still a secret is left out, its SHA-256 stands in its place.

``{"format", "header", "signatures"}``. The header is that of the signatures document with its ``fingerprint`` beside; the
items are its items with ``signature_sha256``, and with an empty ``signature`` where it is withheld.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from airlock_shared.documents.requests import (
    Answer,
    SignaturesHeader,
    header_members,
    parse_signatures,
    read_header,
    read_signature,
    write_signatures,
)
from airlock_shared.errors import Refusal
from airlock_shared.wire.strict_json import (
    HEX_32,
    MAX_ITEMS,
    JsonObject,
    fingerprint,
    parse_json,
    read_list,
    read_matching,
    read_members,
    require_format,
    to_json,
)

_FORMAT = "airlock/withheld-signatures@1"
_STAND_IN = "0x00"  # reads as a signature while an item's other members are read


class Answers(NamedTuple):
    """What was answered to a requests document; ``fingerprint`` is that of the signatures document itself.

    The ``signature`` of an item is empty when it is withheld; ``sha256`` is of the 65 bytes of each, by its step. Without a
    document all of it is empty.
    """

    header: SignaturesHeader = SignaturesHeader("", "", False, "", 0)
    items: Sequence[Answer] = ()
    sha256: Mapping[str, str] = MappingProxyType({})
    fingerprint: str = ""

    def withheld(self) -> list[str]:
        """Return the steps whose signature is not in the document."""
        return [item.step for item in self.items if item.result == "signed" and not item.signature]


def withhold(data: bytes, ended: Container[str]) -> bytes:
    """Return the document for a signatures document: bytes are kept for the digests that have ``ended``, and no others.

    Raises ``DocumentError`` or ``Refusal`` as ``parse_signatures``.
    """
    header, items, mark = parse_signatures(data)
    rows = [_row(item, shown=item.digest in ended) for item in items]
    return to_json({"format": _FORMAT, "header": {**header_members(header), "fingerprint": mark}, "signatures": rows})


def _row(item: Answer, *, shown: bool) -> JsonObject:
    row: JsonObject = item.as_json()
    if item.result == "signed":
        row["signature_sha256"] = sha256_of(item.signature)
        row["signature"] = item.signature if shown else ""
    return row


def sha256_of(signature: str) -> str:
    """Return the SHA-256, in hex, over the bytes of a signature given as 0x-hex."""
    return hashlib.sha256(bytes.fromhex(signature[2:])).hexdigest()


def parse_withheld(data: bytes) -> Answers:
    """Read the document. Raises ``DocumentError``, or ``Refusal("REPORT-MATCH")`` when it contradicts itself."""
    value = parse_json(data)
    require_format(value, _FORMAT, "not a report's signatures")
    read_members(value, "signatures", {"format": str, "header": dict, "signatures": list})
    own = dict(value["header"])
    mark = read_matching(own.pop("fingerprint", None), "header.fingerprint", HEX_32, "a fingerprint in hex")
    header = read_header({"count": len(value["signatures"]), **own})
    rows = read_list(value["signatures"], "signatures", MAX_ITEMS)
    read = [_read(row, f"signatures[{position}]") for position, row in enumerate(rows)]
    answers = Answers(header, [item for item, _ in read], {item.step: sha256 for item, sha256 in read}, mark)
    _require_own(answers)
    return answers


def _read(row: Any, where: str) -> tuple[Answer, str]:
    """Return an item and the SHA-256 of its signature, both empty where there is none."""
    if type(row) is not dict or row.get("result") != "signed":
        return read_signature(row, where), ""
    members = dict(row)
    sha256 = read_matching(members.pop("signature_sha256", None), f"{where}.signature_sha256", HEX_32, "a SHA-256")
    if members.get("signature") != "":
        return read_signature(members, where), sha256
    return read_signature(members | {"signature": _STAND_IN}, where)._replace(signature=""), sha256


def _require_own(answers: Answers) -> None:
    """Refuse bytes with another SHA-256 than is said, and a whole document with another fingerprint than is said."""
    for item in answers.items:
        expected = answers.sha256[item.step]
        if item.signature and (got := sha256_of(item.signature)) != expected:
            what = f"the signature of step {item.step} is not the one that is named"
            raise Refusal("REPORT-MATCH", what, got=got, expected=expected)
    if answers.withheld():
        return
    found = fingerprint(parse_json(write_signatures(answers.header, [*answers.items])))
    if found != answers.fingerprint:
        what = "the signatures are not those of the document that is named"
        raise Refusal("REPORT-MATCH", what, got=found, expected=answers.fingerprint)


def with_bytes(answers: Answers, artefact: bytes, document: bytes) -> Answers:
    """Return the answers with every signature, after comparing them with the signatures document that they were made from.

    Raises ``Refusal("REPORT-MATCH")`` when it is another one, or as ``parse_signatures``.
    """
    _, items, mark = parse_signatures(document)
    shown = {item.digest for item in answers.items if item.signature}
    if mark != answers.fingerprint or withhold(document, shown) != artefact:
        raise Refusal(
            "REPORT-MATCH",
            "the signatures document is not the one that the report was made from",
            got=mark,
            expected=answers.fingerprint,
            do="give the signatures document of this ceremony",
        )
    return answers._replace(items=items)
