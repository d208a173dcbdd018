"""What Ledger signs for its device: message filters and token metadata, and which structs they cover."""

from __future__ import annotations

import hashlib
import json
import re
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from airlock_shared.errors import DocumentError
from airlock_shared.ethereum.eip712 import atomic_kind
from airlock_shared.ethereum.signatures import checksum_address
from airlock_shared.ethereum.struct_types import DOMAIN_DEFINITION, DOMAIN_TYPE, leaves_of, types_of
from airlock_shared.units import USDC
from airlock_shared.venue.structs import Intent
from airlock_shared.wire.strict_json import LABEL, Form, Kinds, error_at, read_list, read_members

if TYPE_CHECKING:
    from airlock_shared.documents.deployment import Deployment


# ---- der ------------------------------------------------------------------------------------------------------------
# The form of a signature in DER: what a Ledger is told carries one of Ledger's, which the device judges.


def is_signature(der: bytes) -> bool:
    """Tell whether these bytes are two integers of 1 to 33 bytes in a DER sequence, and nothing after it."""
    if len(der) < 8 or der[0] != 0x30 or der[1] != len(der) - 2:
        return False
    at = 2
    for _ in range(2):
        if len(der) < at + 2 or der[at] != 0x02 or not 1 <= der[at + 1] <= 33:
            return False
        at += 2 + der[at + 1]
    return at == len(der)


# ---- message filters ------------------------------------------------------------------------------------------------
# Ledger's signed message filters: which members of a typed message a Ledger shows, under which label, and how.
# A set is for one chain, one contract and one schema; Ledger's signatures cover all three, and the device judges
# them: here only the form is read. Sources: "EIP712 FILTERING" (INS 1E) in ``doc/ethapp.adoc``, and ``filtering.c``,
# of LedgerHQ/app-ethereum.


RAW_FORMAT, AMOUNT_FORMAT, TOKEN_FORMAT, DATETIME_FORMAT = FORMATS = ("raw", "amount", "token", "datetime")
"""What a value is shown as: itself, an amount of a token, that token (not shown itself), a date and a time in UTC."""

AT_THE_CONTRACT = 255
"""The place of the token of which amounts are, where it is the contract that the message is signed for (ERC-2612)."""

MAX_SETS, MAX_FIELDS, MAX_TOKENS = 64, 50, 5  # the last two are MAX_FILTERS and MAX_ASSETS of the app

_SIGNED_LABEL = {
    "label": LABEL,
    "signature": Form(re.compile(r"(?:[0-9a-f]{2}){8,72}", re.ASCII), "a signature in hex"),
}
_SET: Kinds = {
    "chain_id": int,
    "fields": list,
    "contract": Form(re.compile(r"0x[0-9a-f]{40}", re.ASCII), "an address in lower case"),
    "schema_hash": Form(re.compile(r"[0-9a-f]{56}", re.ASCII), "a SHA-224 in hex"),
    **_SIGNED_LABEL,
}
_PATH = re.compile(r"[A-Za-z_]\w{0,63}(?:\.[A-Za-z_]\w{0,63}){0,15}", re.ASCII)
_FIELD: Kinds = {"path": Form(_PATH, "a member's path without lists"), "format": str, **_SIGNED_LABEL}


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
    read_members(value, where, _SET)
    signature = _signature(value, where)
    entries = read_list(value["fields"], f"{where}.fields", MAX_FIELDS)
    fields = tuple(_read_field(entry, f"{where}.fields[{number}]") for number, entry in enumerate(entries))
    paths = [each.path for each in fields]
    if not paths:
        raise _wrong(f"{where}.fields", "no member is shown", "none", "at least one")
    if twice := sorted({path for path in paths if paths.count(path) > 1}):
        raise _wrong(f"{where}.fields", "a member twice", ", ".join(twice)[:120], "each once")
    joined = [(each.token, each.format) for each in fields if each.token is not None]
    places = sorted({place for place, _ in joined})
    pairs = [(place, kind) for place in places for kind in (AMOUNT_FORMAT, TOKEN_FORMAT)]
    if joined and places != [AT_THE_CONTRACT] and (sorted(joined) != pairs or places != list(range(len(places)))):
        expected = "one amount and one token for each place from 0 on, or the contract's token alone"
        raise _wrong(f"{where}.fields", "amounts without their tokens", str(joined)[:120], expected)
    contract = bytes.fromhex(value["contract"][2:])
    return MessageFilters(struct, value["chain_id"], contract, value["schema_hash"], value["label"], signature, fields)


def _read_field(value: Any, where: str) -> FieldFilter:
    placed = type(value) is dict and value.get("format") in (AMOUNT_FORMAT, TOKEN_FORMAT)
    read_members(value, where, {**_FIELD, "token": int} if placed else _FIELD)
    if value["format"] not in FORMATS:
        raise _wrong(f"{where}.format", "a format that Airlock does not know", value["format"][:80], ", ".join(FORMATS))
    place = value.get("token")
    if placed and place not in range(MAX_TOKENS) and (place, value["format"]) != (AT_THE_CONTRACT, AMOUNT_FORMAT):
        raise _wrong(
            f"{where}.token", "no place of a token", str(place)[:80], f"0 to {MAX_TOKENS - 1}, or 255 of an amount"
        )
    return FieldFilter(value["path"], value["label"], value["format"], place, _signature(value, where))


def _signature(value: Any, where: str) -> bytes:
    signature = bytes.fromhex(value["signature"])
    if not is_signature(signature):
        raise _wrong(f"{where}.signature", "not a DER signature", value["signature"][:48], "two integers in a sequence")
    return signature


_wrong = partial(error_at, "DOC-FIELD", "take the file as Ledger publishes it")


# ---- token metadata -------------------------------------------------------------------------------------------------
# Ledger's signed record of a token: what a Ledger needs to show an amount of it (INS 0A of the Ethereum app).
# One length byte, the ticker, 20 bytes of address, decimals and chain id in four bytes each, and Ledger's signature
# over all of that but the first byte. Source: "PROVIDE ERC20 TOKEN INFORMATION" in ``doc/ethapp.adoc`` of
# LedgerHQ/app-ethereum. The signature is the device's to judge: here only its form is read.


_MAX_BYTES = 255  # of a command to the device
_MAX_TICKER = 50  # MAX_TICKER_LEN of the device's SDK, less its end
_FIXED = 20 + 4 + 4
_RECORD = Form(
    re.compile(rf"0x(?:[0-9a-f]{{2}}){{1,{_MAX_BYTES}}}", re.ASCII), f"a record of at most {_MAX_BYTES} bytes in hex"
)
_TICKER = re.compile(rb"[!-~]{1,50}")


class TokenMetadata(NamedTuple):
    """A signed record: what it says, ``address`` of 20 bytes, and ``record``, the bytes that the device takes."""

    ticker: str
    address: bytes
    decimals: int
    chain_id: int
    record: bytes


def read_token_metadata(record: bytes) -> TokenMetadata:
    """Read a signed record. Raises ``DocumentError("DOC-FIELD")`` for another form, or more than 255 bytes."""
    length = record[0] if record else 0
    ticker, rest = record[1 : 1 + length], record[1 + length :]
    formed = len(record) <= _MAX_BYTES and length <= _MAX_TICKER and _TICKER.fullmatch(ticker)
    if not formed or not is_signature(rest[_FIXED:]):  # it has 8 bytes: so the rest has more than the fixed ones
        expected = "ticker, address, decimals, chain id and a DER signature, at most 255 bytes"
        raise _wrong("", "not a signed record of a token", f"{len(record)} bytes: {record[:24].hex()}", expected)
    decimals, chain_id = int.from_bytes(rest[20:24], "big"), int.from_bytes(rest[24:28], "big")
    return TokenMetadata(ticker.decode("ascii"), rest[:20], decimals, chain_id, record)


def read_pinned_token(value: Any, chain_id: int, contract: bytes | None) -> TokenMetadata:
    """Read a deployment's ``device_metadata`` beside the chain and the USDC contract that it pins.

    Raises ``DocumentError``: ``DOC-FIELD`` for another form, ``DOC-DEPLOYMENT`` for a record of another token, of which the
    device would show amounts.
    """
    where = "device_metadata.usdc"
    text = read_members(value, "device_metadata", {"usdc": _RECORD})["usdc"]
    try:
        token = read_token_metadata(bytes.fromhex(text[2:]))
    except DocumentError as error:
        error.where = where
        raise
    if (token.ticker, token.decimals, token.address, token.chain_id) != (USDC.name, USDC.decimals, contract, chain_id):
        raise error_at(
            "DOC-DEPLOYMENT",
            "fetch it again with the record of this token",
            where,
            "a record of another token than the pinned one",
            f"{token.ticker}, {token.decimals} decimals, {checksum_address(token.address)} on chain {token.chain_id}",
            f"{USDC.name}, {USDC.decimals} decimals, {checksum_address(contract or bytes(20))} on chain {chain_id}",
        )
    return token


# ---- filtered structs -----------------------------------------------------------------------------------------------
# A deployment's message filters beside the structs that they are for, and in the words that people pin them by.
# What a Ledger shows of a message then is Ledger's statement: a label stands here beside the member's own name, never
# alone.


def schema_hash(intent: Intent) -> str:
    """Return the hash by which Ledger names a struct's types: SHA-224 of ``types`` as JSON, the structs by name."""
    types = {DOMAIN_TYPE: DOMAIN_DEFINITION} | types_of(intent.encode_type)
    return hashlib.sha224(json.dumps(dict(sorted(types.items())), separators=(",", ":")).encode()).hexdigest()


def require_filters(deployment: Deployment) -> None:
    """Refuse filters of another chain, contract or struct, and one that says of a member what the device cannot show.

    Raises ``DocumentError("DOC-DEPLOYMENT")``.
    """
    structs = deployment.structs
    for name, filters in deployment.filters.items():
        where = f"device_metadata.messages.{name[:80]}"
        intent = structs.get(name)
        if intent is None:
            raise _other(where, "filters for a struct that is not signed here", name[:80], ", ".join(structs))
        domain = deployment.domains[intent.domain]
        if filters.chain_id != domain.chain_id:
            raise _other(f"{where}.chain_id", "filters for another chain", filters.chain_id, domain.chain_id)
        if filters.contract != domain.contract:
            got, expected = checksum_address(filters.contract), checksum_address(domain.contract)
            raise _other(f"{where}.contract", "filters for another contract", got, expected)
        if filters.schema_hash != (schema := schema_hash(intent)):
            raise _other(f"{where}.schema_hash", "filters for other types", filters.schema_hash, schema)
        leaves = dict(leaves_of(intent.structs, name))
        for each in filters.fields:
            if each.path not in leaves:
                what = "a filter for a member that is not there"
                raise _other(f"{where}.fields", what, each.path[:120], ", ".join(leaves)[:400])
            found, wanted = atomic_kind(leaves[each.path]), "address" if each.format == TOKEN_FORMAT else "uint"
            if found is None or (each.format != RAW_FORMAT and found[0] != wanted):
                place = f"{where}.fields.{each.path}"
                raise _other(place, f"not shown as {each.format}", leaves[each.path], wanted)
        in_order = sorted(filters.fields, key=lambda each: list(leaves).index(each.path))
        places = list(dict.fromkeys(each.token for each in in_order if each.token is not None))
        if places != sorted(places):
            raise _other(where, "tokens in another order than their places", places, sorted(places))
        told = deployment.token.address if deployment.token else b""
        if AT_THE_CONTRACT in places and told != filters.contract:
            record = f"the record of {checksum_address(filters.contract)} in device_metadata.usdc"
            raise _other(where, "amounts of a token of which the Ledger is not told", "no record of it", record)


_other = partial(error_at, "DOC-DEPLOYMENT", "fetch it again with the right filters")
