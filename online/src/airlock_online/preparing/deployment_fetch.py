"""From what a venue says of itself to a deployment document. Nothing of it is believed until people have compared it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from airlock_online.clients.reply_values import PNL_ALLOWED, pnl_of, value_at, whole
from airlock_online.preparing.meta_forms import checksummed, enums_of, missing, named_contracts, told_scales
from airlock_shared.documents.deployment import CONTRACT_OF_DOMAIN, DEPLOYMENT_FORMAT, REHEARSAL_CHAINS, Deployment
from airlock_shared.errors import ServiceError
from airlock_shared.text.safe import safe
from airlock_shared.venue.profile_words import shipped
from airlock_shared.wire.strict_json import JsonObject

Replies = Mapping[str, Mapping[str, Any]]


def deployment_document(
    name: str,
    meta: JsonObject,
    meta_bytes: bytes,
    pairs: list[Any],
    urls: Mapping[str, str],
    fetched_at: str,
    replies: Replies,
    test_network: str | None = None,
) -> JsonObject:
    """Return the deployment document of a meta document and a pair catalogue; ``test_network`` is the operator's name.

    A slippage default is there when the venue tells one: the specification names none, and none is assumed.
    Raises ``ServiceError`` that names every value which is not where the configuration says, and where one of its kind is.
    """
    told = _VenueParts(meta, replies, {}, "meta", meta)
    document: JsonObject = {
        "format": DEPLOYMENT_FORMAT,
        "name": name,
        "rehearsal": (chain_id := told.part("chain_id", _integer)) in REHEARSAL_CHAINS,
        **({} if test_network is None else {"test_network": test_network}),
        "chain_id": chain_id,
        "domains": {of: told.part(f"{of}_domain", _domain) for of in CONTRACT_OF_DOMAIN},
        "contracts": told.part("contracts", _table, named_contracts),
        "enums": told.part("enums", _table, lambda table: enums_of(table, replies["meta"]["enum_first"])),
        "units": told_scales(value_at(meta, replies["meta"]["units"])),
        "defaults": {
            "intentDeadlineMs": told.part("intent_deadline_ms", _integer),
            **(told.part("slippage_percent", _slippage, find=_optional) or {}),
        },
        "pairs": [_pair(pair, told) for pair in pairs],
        "base_urls": dict(urls),
        "meta_sha256": hashlib.sha256(meta_bytes).hexdigest(),
        "fetched_at": fetched_at,
        "signed": shipped(),
    }
    told.require_all()
    for of, contract in CONTRACT_OF_DOMAIN.items():  # specification, rule 1 of "Signable intent payload"
        document["contracts"].setdefault(contract, document["domains"][of]["verifyingContract"])
    return document


def _at(document: Any, path: str) -> Any:
    if (value := value_at(document, path)) is None:
        raise missing("value")
    return value


class _VenueParts(NamedTuple):
    """What a venue told, read part by part; what is not where the configuration says is kept, and told at once.

    ``document`` is what is read: the meta document, or an entry of the catalogue, and ``reply`` its name in the
    services file.
    """

    meta: JsonObject
    replies: Replies
    faults: dict[tuple[str, str], str]
    reply: str
    document: Any

    def part(self, setting: str, *read: Callable[[Any], Any], find: Callable[[Any, str], Any] = _at) -> Any:
        """Return what is read of the value at a setting's place; None when it is not there."""
        try:
            value = find(self.document, self.replies[self.reply][setting])
            for each in read:
                value = each(value)
        except ServiceError as error:
            found = [safe(path, limit=80) for path, each in _below(self.meta) if _looks_like(setting, each)]
            elsewhere = f"; such a value is at {' and '.join(found[:4])}" if found else ""
            self.faults.setdefault((self.reply, setting), error.what + elsewhere)
            return None
        return value

    def require_all(self) -> None:
        """Raise ``ServiceError`` with a line for each setting whose value is not there."""
        if not self.faults:
            return
        lines = [
            f"[replies.{reply}] {name} = {self.replies[reply][name]!r}: {fault}"
            for (reply, name), fault in self.faults.items()
        ]
        count = "one value is" if len(lines) == 1 else f"{len(lines)} values are"
        raise ServiceError(
            f"of what the venue tells of itself, {count} not as the configuration has it. " + ". ".join(lines),
            do="correct these lines in the services file; `curl` shows the documents at its [paths] meta and pairs",
        )


def _below(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    for name, member in value.items() if type(value) is dict else ():
        yield f"{path}{name}", member
        yield from _below(member, f"{path}{name}.")


def _looks_like(setting: str, value: Any) -> bool:
    """Tell how a value looks whose place is asked for. What it means is for people to say: nothing is taken from there."""
    if type(value) is not dict:
        return False
    if setting.endswith("_domain"):
        return _DOMAIN.keys() <= value.keys()
    return setting == "contracts" and len(value) > 1 and all(_ADDRESS.fullmatch(str(text)) for text in value.values())


_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}", re.ASCII)


class MetaDifference(NamedTuple):
    """A part of the meta document that is not as it was pinned, as JSON text."""

    where: str
    now: str
    pinned: str


_DECISIVE = ("chain_id", "domains", "contracts", "enums", "units", "defaults")


def decisive_differences(meta: JsonObject, pinned: Deployment, replies: Replies) -> list[MetaDifference]:
    """Return what a meta document says otherwise than the pinned deployment. Raises as deployment_document."""
    now = deployment_document(pinned.name, meta, b"", [], {}, "", replies)
    differences = []
    for part in _DECISIVE:
        old, new = (
            {path: leaf for path, leaf in _below({part: each[part]}) if type(leaf) is not dict}
            for each in (pinned.document, now)
        )
        # a deployment may hold more defaults than are read from the venue, which may tell its slippage no more
        read = {"defaults.slippagePercent", *new} if part == "defaults" else old.keys() | new.keys()
        for where in sorted(read):
            if old.get(where) != new.get(where):
                told = [where, *(str(each.get(where, "nothing")) for each in (new, old))]
                differences.append(MetaDifference(*(safe(each, limit=80) for each in told)))
    return differences


def _integer(value: Any) -> int:
    if (number := whole(value)) is None:
        raise missing("whole number")
    return number


def _table(value: Any) -> JsonObject:
    if type(value) is not dict:
        raise missing("table")
    return value


def _optional(document: Any, path: str) -> Any:
    """Return what stands at a place whose table is there; None where the venue does not tell it."""
    table, _, name = path.rpartition(".")
    return value_at(_at(document, table) if table else document, name)


def _slippage(found: Any) -> dict[str, str]:
    """Return the default slippage where the venue tells one; where it should be, another thing is refused."""
    if found is None:
        return {}
    if type(found) not in (str, int, float):
        raise missing("percentage")
    return {"slippagePercent": str(found)}


def _domain(value: Any) -> JsonObject:
    return {name: read(_at(value, name)) for name, read in _DOMAIN.items()}


_DOMAIN: dict[str, Callable[[Any], Any]] = {
    "name": str, "version": str, "chainId": _integer, "verifyingContract": checksummed,
}  # fmt: skip


def _pair(pair: Any, told: _VenueParts) -> JsonObject:
    """Return an entry of the catalogue; one that does not say whether it is a PnL pair is asked about, and not guessed."""
    told = told._replace(reply="pairs", document=pair)
    index, name, pnl = told.part("id", _integer), told.part("name", str), told.part("pnl", find=_flag)
    return {"index": index, "name": name, **({} if pnl is None else {"pnl": pnl})}


def _flag(pair: Any, path: str) -> bool | None:
    """Return whether it is a PnL pair; None where PnL orders are allowed, beside others.

    An empty path is the operator's word that this venue has none.
    """
    if not path:
        return False
    value = pnl_of(pair, path)
    if value == PNL_ALLOWED:
        return None
    if type(value) is not bool:
        raise missing(
            f"flag in the pair {safe(str(pair), limit=80)} that says whether it is a PnL pair; name the member, or write "
            'pnl = "" for a venue that has no PnL pairs, or a ? behind its name where one without it is none'
        )
    return value
