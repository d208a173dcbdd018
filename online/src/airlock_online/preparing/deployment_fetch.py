"""From what a venue says of itself to a deployment document. Nothing of it is believed until people have compared it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple

from airlock_online.config import MetaPaths
from airlock_online.preparing.unit_scales import one_spelling
from airlock_shared.documents.deployment import FORMAT, Deployment
from airlock_shared.errors import Refusal, ServiceError
from airlock_shared.ethereum.addresses import checksum_address, parse_address
from airlock_shared.text.safe import safe


def deployment_document(
    name: str,
    meta: dict[str, Any],
    meta_bytes: bytes,
    pairs: Any,
    urls: Mapping[str, str],
    fetched_at: str,
    paths: MetaPaths,
) -> dict[str, Any]:
    """Return the deployment document of a meta document and a pair catalogue.

    A slippage default is there when the venue tells one: the specification names none, and none is assumed.
    Raises ``ServiceError`` when a value is not where the configuration says it is.
    """
    return {
        "format": FORMAT,
        "name": name,
        "rehearsal": meta.get(paths.simulator) is True,
        "chain_id": _integer(meta, paths.chain_id),
        "domains": {
            "trading": _domain(_at(meta, paths.trading_domain), paths.trading_domain),
            "referral": _domain(_at(meta, paths.referral_domain), paths.referral_domain),
        },
        "contracts": _contracts(meta, paths.contracts),
        "enums": _table(meta, paths.enums),
        "units": one_spelling(_table(meta, paths.units)),
        "defaults": {"intentDeadlineMs": _integer(meta, paths.intent_deadline_ms), **_slippage(meta, paths)},
        "pairs": [_pair(pair, paths) for pair in _list(pairs)],
        "base_urls": dict(urls),
        "meta_sha256": hashlib.sha256(meta_bytes).hexdigest(),
        "fetched_at": fetched_at,
    }


class MetaDifference(NamedTuple):
    """A part of the meta document that is not as it was pinned, as JSON text."""

    where: str
    now: str
    pinned: str


_DECISIVE = ("chain_id", "domains", "contracts", "enums", "units", "defaults")


def decisive_differences(meta: dict[str, Any], pinned: Deployment, paths: MetaPaths) -> list[MetaDifference]:
    """Return what a meta document says otherwise than the pinned deployment (rule A4). Raises as deployment_document."""
    now = deployment_document(pinned.name, meta, b"", [], {}, "", paths)
    differences = []
    for part in _DECISIVE:
        old, new = _flat(pinned.document[part], part), _flat(now[part], part)
        if part == "defaults":  # a deployment may hold more of them than are read from the venue
            old = {where: value for where, value in old.items() if where in new}
        for where in sorted(old.keys() | new.keys()):
            if old.get(where) != new.get(where):
                said, meant = (
                    safe(str(new.get(where, "nothing")), limit=80),
                    safe(str(old.get(where, "nothing")), limit=80),
                )
                differences.append(MetaDifference(safe(where, limit=80), said, meant))
    return differences


def _flat(value: Any, where: str) -> dict[str, Any]:
    if type(value) is not dict:
        return {where: value}
    return {path: leaf for name, member in value.items() for path, leaf in _flat(member, f"{where}.{name}").items()}


def _missing(path: str, what: str) -> ServiceError:
    return ServiceError(
        f"the venue's meta document or pair catalogue has no {what} at {path!r}",
        do="look at `airlock-online call` on it, and set the path in config.toml, section [meta]",
    )


def _at(document: Any, path: str) -> Any:
    value = document
    for name in path.split("."):
        if type(value) is not dict or name not in value:
            raise _missing(path, "value")
        value = value[name]
    return value


def _integer(document: Any, path: str) -> int:
    value = _at(document, path)
    if type(value) is str and value.isascii() and value.isdecimal():
        value = int(value)
    if type(value) is not int:
        raise _missing(path, "whole number")
    return value


def _table(document: Any, path: str) -> dict[str, Any]:
    value = _at(document, path)
    if type(value) is not dict:
        raise _missing(path, "table")
    return dict(value)


_CONTRACTS = ("tradingRouter", "tradingStorage", "usdc", "referral")


def _contracts(meta: Any, path: str) -> dict[str, str]:
    """Return the contracts by the names that Airlock has for them, whatever their case (``TradingRouter``, ``USDC``)."""
    ours = {name.lower(): name for name in _CONTRACTS}
    table = _table(meta, path)
    named = [ours.get(label.lower(), label) for label in table]
    if twice := next((name for name in named if named.count(name) > 1), None):
        raise _missing(path, f"one contract of the name {twice}, but two")
    return {name: _address(text, path) for name, text in zip(named, table.values(), strict=True)}


def _slippage(meta: Any, paths: MetaPaths) -> dict[str, str]:
    """Return the default slippage where the venue tells one; where it should be, another thing is refused."""
    holder, _, name = paths.slippage_percent.rpartition(".")
    found = (_at(meta, holder) if holder else meta).get(name)
    if found is None:
        return {}
    if type(found) not in (str, int, float):
        raise _missing(paths.slippage_percent, "percentage")
    return {"slippagePercent": str(found)}


def _address(value: Any, path: str) -> str:
    try:
        return checksum_address(parse_address(value if type(value) is str else ""))
    except Refusal as refusal:
        raise _missing(path, f"address ({refusal.what})") from refusal


def _domain(value: Any, path: str) -> dict[str, Any]:
    return {
        "name": str(_at(value, "name")),
        "version": str(_at(value, "version")),
        "chainId": _integer(value, "chainId"),
        "verifyingContract": _address(_at(value, "verifyingContract"), path),
    }


def _list(value: Any) -> list[Any]:
    if type(value) is not list:
        raise _missing("the pair catalogue", "list")
    return value


def _pair(value: Any, paths: MetaPaths) -> dict[str, Any]:
    pnl = value.get(paths.pair_pnl, False) if type(value) is dict else False
    if type(pnl) is not bool:
        raise _missing(paths.pair_pnl, "flag")
    return {"index": _integer(value, paths.pair_number), "name": str(_at(value, paths.pair_name)), "pnl": pnl}
