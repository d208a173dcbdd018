"""A deployment's message filters beside the structs that they are for, and in the words that people pin them by.

What a Ledger shows of a message then is Ledger's statement: a label stands here beside the member's own name, never alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from airlock_shared.catalogue.encode_types import leaves_of, types_of
from airlock_shared.catalogue.intents import DOMAIN_MEMBERS, Intent
from airlock_shared.documents.message_filters import (
    AMOUNT,
    AT_THE_CONTRACT,
    DATETIME,
    RAW,
    TOKEN,
    FieldFilter,
    MessageFilters,
)
from airlock_shared.errors import DocumentError
from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.ethereum.eip712 import DOMAIN_TYPE
from airlock_shared.ethereum.eip712_types import atomic_kind

if TYPE_CHECKING:
    from airlock_shared.documents.deployment import Deployment

_NOT_SHOWN = "NOT SHOWN by the Ledger"


def schema_hash(intent: Intent) -> str:
    """Return the hash by which Ledger names a struct's types: SHA-224 of ``types`` as JSON, the structs by name."""
    types = {DOMAIN_TYPE: [{"name": name, "type": kind} for name, kind in DOMAIN_MEMBERS]} | types_of(intent)
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
            raise _other(f"{where}.chain_id", "filters for another chain", str(filters.chain_id), str(domain.chain_id))
        if filters.contract != domain.contract:
            got, expected = checksum_address(filters.contract), checksum_address(domain.contract)
            raise _other(f"{where}.contract", "filters for another contract", got, expected)
        if filters.schema_hash != (schema := schema_hash(intent)):
            raise _other(f"{where}.schema_hash", "filters for other types", filters.schema_hash, schema)
        leaves = dict(leaves_of(types_of(intent), name))
        for each in filters.fields:
            _require_shown(f"{where}.fields", each, leaves)
        _require_tokens(where, deployment, filters, list(leaves))


def _require_tokens(where: str, deployment: Deployment, filters: MessageFilters, paths: list[str]) -> None:
    """Refuse amounts whose token the device would look for in another place than it is told of it."""
    in_order = sorted(filters.fields, key=lambda each: paths.index(each.path))
    places = list(dict.fromkeys(each.token for each in in_order if each.token is not None))
    if places != sorted(places):
        raise _other(where, "tokens in another order than their places", str(places), str(sorted(places)))
    told = deployment.token.address if deployment.token else b""
    if AT_THE_CONTRACT in places and told != filters.contract:
        expected = f"the record of {checksum_address(filters.contract)} in device_metadata.usdc"
        raise _other(where, "amounts of a token of which the Ledger is not told", "no record of it", expected)


def _require_shown(where: str, each: FieldFilter, leaves: Mapping[str, str]) -> None:
    if each.path not in leaves:
        raise _other(where, "a filter for a member that is not there", each.path[:120], ", ".join(leaves)[:400])
    found, wanted = atomic_kind(leaves[each.path]), "address" if each.format == TOKEN else "uint"
    if found is None or (each.format != RAW and found[0] != wanted):
        raise _other(f"{where}.{each.path}", f"not shown as {each.format}", leaves[each.path], wanted)


def filter_words(deployment: Deployment) -> Iterator[str]:
    """Yield in words, for the people who pin it, what a Ledger shows of each message that has filters, and what not."""
    structs = deployment.structs
    for name, filters in deployment.filters.items():
        yield f"{name}: shown by message filters that Ledger has signed; the device judges the signatures"
        yield f'{name}: the contract {checksum_address(filters.contract)} is called "{filters.label}"'
        shown = {each.path: each for each in filters.fields}
        for path, _ in leaves_of(types_of(structs[name]), name):
            yield f"{name}: member {path} is {shown_as(shown[path], filters) if path in shown else _NOT_SHOWN}"
        yield f"{name}: the domain is {_NOT_SHOWN}, but for the network's name; {MUST_BE_OFF}"


MUST_BE_OFF = "Raw messages must be off for it"
"""The setting with which the app heeds filters. With it on, it shows every member as without them."""


def shown_as(each: FieldFilter, filters: MessageFilters) -> str:
    """Return in words how a Ledger shows a member that has a filter."""
    if each.format == TOKEN:
        return f"{_NOT_SHOWN} itself: its ticker stands beside the amount, or ??? for a token that it is not told of"
    if each.format == AMOUNT:
        token = next(
            (other.path for other in filters.fields if other.format == TOKEN and other.token == each.token), ""
        )
        return f'shown as "{each.label}", an amount of the token {token or "that is the contract"}'
    return f'shown as "{each.label}", {"a date and time in UTC" if each.format == DATETIME else "raw"}'


def _other(where: str, what: str, got: str, expected: str) -> DocumentError:
    error = DocumentError(
        "DOC-DEPLOYMENT", what, got=got, expected=expected, do="fetch it again with the right filters"
    )
    error.where = where
    return error
