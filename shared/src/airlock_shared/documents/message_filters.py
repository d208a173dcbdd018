"""Ledger's signed message filters: which members of a typed message a Ledger shows, under which label, and how.

A set is for one chain, one contract and one schema; Ledger's signatures cover all three, and the device judges them: here
only the form is read. Sources: "EIP712 FILTERING" (INS 1E) in ``doc/ethapp.adoc``, and ``filtering.c``, of
LedgerHQ/app-ethereum.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from airlock_shared.errors import DocumentError
from airlock_shared.wire.der import is_signature
from airlock_shared.wire.members import read_list, read_matching, read_members

RAW, AMOUNT, TOKEN, DATETIME = FORMATS = ("raw", "amount", "token", "datetime")
"""What a value is shown as: itself, an amount of a token, that token (not shown itself), a date and a time in UTC."""

AT_THE_CONTRACT = 255
"""The place of the token of which amounts are, where it is the contract that the message is signed for (ERC-2612)."""

MAX_SETS, MAX_FIELDS, MAX_TOKENS = 64, 50, 5  # the last two are MAX_FILTERS and MAX_ASSETS of the app

_CONTRACT = re.compile(r"0x[0-9a-f]{40}", re.ASCII)
_SCHEMA = re.compile(r"[0-9a-f]{56}", re.ASCII)
_PATH = re.compile(r"[A-Za-z_]\w{0,63}(?:\.[A-Za-z_]\w{0,63}){0,15}", re.ASCII)
_LABEL = re.compile(r"[!#-\[\]-~](?:[ !#-\[\]-~]{0,58}[!#-\[\]-~])?", re.ASCII)
_LABEL_IS = "1 to 60 printable ASCII characters without quotation marks and backslashes, no space at an end"
_SIGNATURE = re.compile(r"(?:[0-9a-f]{2}){8,72}", re.ASCII)
_TEXTS = {"path": str, "label": str, "format": str, "signature": str}


class FieldFilter(NamedTuple):
    """One member: its path, the device's label and format, the place of its token (amounts and tokens), the signature."""

    path: str
    label: str
    format: str
    token: int | None
    signature: bytes


class MessageFilters(NamedTuple):
    """The filters of one struct, for one chain, contract (20 bytes) and schema; ``label`` is what the contract is called."""

    struct: str
    chain_id: int
    contract: bytes
    schema_hash: str
    label: str
    signature: bytes
    fields: tuple[FieldFilter, ...]


def read_message_filters(value: Any) -> dict[str, MessageFilters]:
    """Read the sets of a deployment, by struct. Raises ``DocumentError("DOC-FIELD")``."""
    where = "device_metadata.messages"
    if type(value) is not dict or not 1 <= len(value) <= MAX_SETS:
        raise _wrong(where, "not sets of filters", type(value).__name__, f"1 to {MAX_SETS}")
    return {struct: _read_set(struct, entry, f"{where}.{struct[:80]}") for struct, entry in value.items()}


def _read_set(struct: str, value: Any, where: str) -> MessageFilters:
    texts = dict.fromkeys(("contract", "schema_hash", "label", "signature"), str)
    read_members(value, where, {"chain_id": int, "fields": list, **texts})
    contract = read_matching(value["contract"], f"{where}.contract", _CONTRACT, "an address in lower case")
    schema = read_matching(value["schema_hash"], f"{where}.schema_hash", _SCHEMA, "a SHA-224 in hex")
    label, signature = _signed_label(value, where)
    entries = read_list(value["fields"], f"{where}.fields", MAX_FIELDS)
    fields = tuple(_read_field(entry, f"{where}.fields[{number}]") for number, entry in enumerate(entries))
    _check_paths(fields, where)
    return MessageFilters(struct, value["chain_id"], bytes.fromhex(contract[2:]), schema, label, signature, fields)


def _read_field(value: Any, where: str) -> FieldFilter:
    placed = type(value) is dict and value.get("format") in (AMOUNT, TOKEN)
    read_members(value, where, {**_TEXTS, "token": int} if placed else _TEXTS)
    read_matching(value["path"], f"{where}.path", _PATH, "a member's path without lists")
    if value["format"] not in FORMATS:
        raise _wrong(f"{where}.format", "a format that Airlock does not know", value["format"][:80], ", ".join(FORMATS))
    place = value.get("token")
    if placed and place not in range(MAX_TOKENS) and (place, value["format"]) != (AT_THE_CONTRACT, AMOUNT):
        raise _wrong(
            f"{where}.token", "no place of a token", str(place)[:80], f"0 to {MAX_TOKENS - 1}, or 255 of an amount"
        )
    label, signature = _signed_label(value, where)
    return FieldFilter(value["path"], label, value["format"], place, signature)


def _signed_label(value: Any, where: str) -> tuple[str, bytes]:
    label = read_matching(value["label"], f"{where}.label", _LABEL, _LABEL_IS)
    signature = bytes.fromhex(read_matching(value["signature"], f"{where}.signature", _SIGNATURE, "a signature in hex"))
    if not is_signature(signature):
        raise _wrong(f"{where}.signature", "not a DER signature", value["signature"][:48], "two integers in a sequence")
    return label, signature


def _check_paths(fields: tuple[FieldFilter, ...], where: str) -> None:
    """Refuse what a device would show otherwise than it says: a path twice, or an amount without its one token."""
    paths = [each.path for each in fields]
    if not paths:
        raise _wrong(f"{where}.fields", "no member is shown", "none", "at least one")
    if twice := sorted({path for path in paths if paths.count(path) > 1}):
        raise _wrong(f"{where}.fields", "a member twice", ", ".join(twice)[:120], "each once")
    joined = [(each.token, each.format) for each in fields if each.token is not None]
    places = sorted({place for place, _ in joined})
    pairs = [(place, kind) for place in places for kind in (AMOUNT, TOKEN)]
    if joined and places != [AT_THE_CONTRACT] and (sorted(joined) != pairs or places != list(range(len(places)))):
        expected = "one amount and one token for each place from 0 on, or the contract's token alone"
        raise _wrong(f"{where}.fields", "amounts without their tokens", str(joined)[:120], expected)


def _wrong(where: str, what: str, got: str, expected: str) -> DocumentError:
    error = DocumentError("DOC-FIELD", what, got=got, expected=expected, do="take the file as Ledger publishes it")
    error.where = where
    return error
