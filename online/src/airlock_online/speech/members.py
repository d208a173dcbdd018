"""The members of a services file: what each is, and the form that it must have. The reference is made of this table."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from airlock_shared.catalogue.actions import ACTIONS

PARTS = ("primary_type", "encoded_intent", "signature", "digest", "signer", "trader", "contract", "nonce", "chain_id")
MESSAGE = "message"
"""What a body can have of a delivery; ``message`` is the struct as it was signed, ``message.NAME`` one of its members."""

METHODS = ("POST", "PUT")
TIMES = ("unix-s", "unix-ms", "iso")
PER_MINUTE_AT_MOST = 60_000

_DECIMALS_AT_MOST = 36

_NAME = r"[A-Za-z_][A-Za-z0-9_-]{0,63}"
_PLACE = re.compile(rf"{_NAME}(?:\.{_NAME}){{0,7}}", re.ASCII)
_MEMBER = re.compile(_NAME, re.ASCII)
_SEGMENT = r"(?:[A-Za-z0-9_~-][A-Za-z0-9._~-]*|\{id\})"
_PATH = re.compile(rf"(?:/{_SEGMENT}){{1,16}}", re.ASCII)

Form = Callable[[Any], list[str]]


class Said(NamedTuple):
    """A member of a section: what it is, and what is wrong with a value (nothing, or a sentence each)."""

    what: str
    form: Form


# ---- forms ----------------------------------------------------------------------------------------------------------


def place(value: Any) -> list[str]:
    """Require names joined by dots."""
    good = type(value) is str and _PLACE.fullmatch(value)
    return [] if good else [f"{value!r} is not a place: names joined by dots"]


def place_or_none(value: Any) -> list[str]:
    """Require a place, or nothing."""
    return [] if value == "" and type(value) is str else place(value)


def _named(*parts: str, never: tuple[str, ...] = (), optional: bool = False) -> Form:
    """Require a place whose last name says what it is, so that no other value is taken for it."""

    def form(value: Any) -> list[str]:
        if wrong := (place_or_none if optional else place)(value):
            return wrong
        last = "".join(letter for letter in str(value).rpartition(".")[2].lower() if letter.isalnum())
        if value and (not any(part in last for part in parts) or any(part in last for part in never)):
            return [f"{value!r} is named otherwise than what it is to be: its last name must say {' or '.join(parts)}"]
        return []

    return form


def path(value: Any) -> list[str]:
    """Require a path of a service, without a query."""
    good = type(value) is str and _PATH.fullmatch(value) and "{id}" not in value
    return [] if good else [f"{value!r} is not a path such as '/v2/nonce'"]


def path_of_one(value: Any) -> list[str]:
    """Require a path with one ``{id}``."""
    good = type(value) is str and _PATH.fullmatch(value) and value.count("{id}") == 1
    return [] if good else [f"{value!r} is not a path with one {{id}}, such as '/intents/{{id}}'"]


def path_of_one_or_none(value: Any) -> list[str]:
    """Require a path with one ``{id}``, or nothing."""
    return [] if value == "" and type(value) is str else path_of_one(value)


def body(value: Any) -> list[str]:
    """Require a table from members to parts of a delivery."""
    if type(value) is not dict or len(value) > 64:
        return ["it is not a table of members and their parts"]
    wrong = [f"{name!r} is not the name of a member" for name in value if not _MEMBER.fullmatch(name)]
    for name, part in value.items():
        known = type(part) is str and (part in PARTS or part == MESSAGE or _is_of_message(part))
        wrong += [] if known else [f"{name} = {part!r} is no part of a delivery: {', '.join(PARTS)}, {MESSAGE}"]
    return wrong


def _is_of_message(part: str) -> bool:
    head, _, rest = part.partition(".")
    return head == MESSAGE and bool(_MEMBER.fullmatch(rest))


def signed_body(value: Any) -> list[str]:
    """Require a body that has the signature once, or none at all where what ships is meant."""
    wrong = body(value)
    if not wrong and value and list(value.values()).count("signature") != 1:
        wrong = ["the signature must be in it, once"]
    return wrong


def words(value: Any) -> list[str]:
    """Require a table from words to texts; whether these are meanings is told beside it (``meanings.mistakes_in``)."""
    good = type(value) is dict and all(type(meaning) is str for meaning in value.values())
    return [] if good else ["it is not a table of words and their meanings"]


def members(value: Any) -> list[str]:
    """Require a table from Airlock's names of request members to the venue's."""
    if type(value) is not dict:
        return ["it is not a table of members and their names"]
    known = sent_members()
    wrong = [f"{name!r} is sent nowhere; there are {', '.join(sorted(known))}" for name in sorted(value.keys() - known)]
    named = [value.get(name, name) for name in known if name not in ("check", "space")]
    texts = all(type(name) is str and name.isascii() and name.isidentifier() for name in value.values())
    if not texts or len({str(name) for name in named}) != len(named):
        wrong.append("it gives two members one name, or a name that is none")
    return wrong


def sent_members() -> set[str]:
    """Return the names under which Airlock sends what the builder is asked."""
    own = {p.sent for action in ACTIONS.values() for p in action.parameters if p.sent}
    return own | {"check", "space", "delegate"}


def build_paths(value: Any) -> list[str]:
    """Require a table from actions without a documented path to paths."""
    if type(value) is not dict:
        return ["it is not a table of actions and their paths"]
    open_ones = undocumented()
    wrong = []
    for action, where in value.items():
        if action not in open_ones:
            wrong.append(f"{action!r} is no action without a documented path; there are {', '.join(open_ones)}")
        else:
            wrong += [f"{action}: {each}" for each in _build_path(where)]
    return wrong


def own_builds(value: Any) -> list[str]:
    """Require a table from structs and calls of the venue alone to the ``path`` and the ``members`` of their requests.

    A member is a leaf of the plan's step, as it stands there; or ``{leaf, decimals}``: with a decimal point.
    """
    if type(value) is not dict or len(value) > 64:
        return ["it is not a table of structs and calls"]
    shipped = {action.result for action in ACTIONS.values()}
    wrong = []
    for name, build in value.items():
        if not _MEMBER.fullmatch(name) or name in shipped:
            wrong.append(f"{name!r} is no struct or call of this venue alone")
        elif type(build) is not dict or build.keys() != {"path", "members"} or type(build["members"]) is not dict:
            wrong.append(f"{name}: it has a path and a table of members, and nothing else")
        else:
            wrong += [f"{name}: {each}" for each in _build_path(build["path"]) + _sources(build["members"])]
    return wrong


def _build_path(value: Any) -> list[str]:
    if not path(value) and "relay" in str(value).lower().split("/"):
        return [f"{value!r}: nothing is built where signed transactions are sent"]
    return path(value)


def _sources(table: Mapping[str, Any]) -> list[str]:
    wrong = [f"{name!r} is not the name of a member" for name in table if not _MEMBER.fullmatch(name)]
    for name, source in table.items():
        leaf, decimals = (source.get("leaf"), source.get("decimals")) if type(source) is dict else (source, 0)
        known = type(source) is str or (type(source) is dict and source.keys() == {"leaf", "decimals"})
        if not known or place(leaf) or type(decimals) is not int or not 0 <= decimals <= _DECIMALS_AT_MOST:
            wrong.append(f"{name} = {source!r} is no leaf, nor a leaf with decimals from 0 to {_DECIMALS_AT_MOST}")
    return wrong


def undocumented() -> list[str]:
    """Return the actions for which no document shows a path of the builder."""
    return [action.name for action in ACTIONS.values() if not action.path]


def names(value: Any) -> list[str]:
    """Require a list of names."""
    good = type(value) is list and len(value) <= 64 and all(type(n) is str and _MEMBER.fullmatch(n) for n in value)
    return [] if good else ["it is not a list of names"]


def flag(value: Any) -> list[str]:
    """Require true or false."""
    return [] if type(value) is bool else [f"{value!r} is not true or false"]


def per_minute(value: Any) -> list[str]:
    """Require a number of requests a minute."""
    good = type(value) is int and 0 <= value <= PER_MINUTE_AT_MOST
    return [] if good else [f"{value!r} is not 0 to {PER_MINUTE_AT_MOST}"]


def method(value: Any) -> list[str]:
    """Require a method by which something is sent."""
    return [] if value in METHODS else [f"{value!r} is not one of {', '.join(METHODS)}"]


def first(value: Any) -> list[str]:
    """Require the number from which a list counts, or nothing."""
    return [] if value in ("", "0", "1") and type(value) is str else [f"{value!r} is neither '0' nor '1'"]


def time(value: Any) -> list[str]:
    """Require one of the forms of a time."""
    return [] if value in TIMES else [f"{value!r} is not one of {', '.join(TIMES)}"]


# ---- the members ----------------------------------------------------------------------------------------------------

_BLOCK = _named("block", "height", never=("hash", "time", "gas", "fee"))
_HASH = _named("hash", "tx", "transaction", never=("block",))

MEMBERS: Mapping[str, Mapping[str, Said]] = {
    "meta": {
        "chain_id": Said("path of the chain id in `GET /v2/meta`: names joined by dots", place),
        "trading_domain": Said("path of the trading domain", place),
        "referral_domain": Said("path of the referral domain", place),
        "contracts": Said("path of the contracts' addresses", place),
        "enums": Said("path of the enums", place),
        "enum_first": Said('the number of the first name of an enum that is a list: `"0"` or `"1"`; `""`: not said', first),
        "units": Said("path of the units", place),
        "intent_deadline_ms": Said("path of the venue's usual deadline", place),
        "slippage_percent": Said("path of the venue's usual slippage", place),
        "simulator": Said("path of the mark of a simulator", place),
        "pair_number": Said("member of a pair: its index", place),
        "pair_name": Said("member of a pair: its name", place),
        "pair_pnl": Said('member of a pair: whether it is a PnL pair; `""`: the venue has none', place_or_none),
    },
    "reads": {
        "nonce": Said("the builder's read of a nonce", path),
        "delegation": Said("its read of a delegation", path),
        "pairs": Said("its catalogue of pairs", path),
        "referral": Said("its read of a referral code", path),
        "positions": Said("its read of positions", path),
        "relay": Said("its relay of transactions", path),
    },
    "relayer": {
        "submit_method": Said("by which method the relayer takes an intent: `POST` or `PUT`", method),
        "submit_path": Said("where it takes one", path),
        "status_path": Said("where it gives the outcome of one", path_of_one),
        "body": Said("the members of its request, and the part of a delivery in each", signed_body),
    },
    "builder": {
        "members": Said("other names for members of the builder's requests: Airlock's name to the venue's", members),
    },
    "bodies": {
        "price_trigger": Said("the members of the core API's request; empty: as comparable venues take it", signed_body),
        "twap_cancel": Said("the members of the TWAP service's request", signed_body),
    },
    "builds": {
        "paths": Said("where the builder builds an action that no document has a path for", build_paths),
        "own": Said("for each struct or call of this venue alone: the path, and the request's members", own_builds),
        "beside": Said("members beside a payload that are expected: recorded, and not told each time", names),
    },
    "words": {
        "meanings": Said("what a status word means, at every service: one of the meanings below", words),
    },
    "relayer_reply": {
        "envelope": Said("whether its reply has the builder's envelope; else its members stand in the reply itself", flag),
        "id": Said("where the id of an intent is", place),
        "status": Said("where its status is", place),
        "transaction": Said("where the transaction's hash is, beside `hash`, `transactionHash` and `txHash`", _HASH),
        "block": Said("where the block's number is", _BLOCK),
    },
    "relay_reply": {
        "status": Said("where the status of a relayed transaction is", place),
        "transaction": Said("where its hash is, beside `hash`, `transactionHash` and `txHash`", _HASH),
        "block": Said("where the block's number is", _BLOCK),
        "reason": Said("where the contract's reason of a revert is", place),
    },
    "twap_reply": {
        "twap": Said("where the id of the cancelled TWAP is", place),
        "transaction": Said("where the transaction's hash is, beside `hash`, `transactionHash` and `txHash`", _HASH),
        "block": Said("where the block's number is", _BLOCK),
        "queued": Said("a member that is `true` where the cancellation is only taken: not on the chain", place_or_none),
        "status_path": Said("where it then tells of the TWAP, by its id; empty: nowhere", path_of_one_or_none),
    },
    "core_reply": {
        "entity": Said("where the id of a stored trigger is", _named("id")),
        "new_entity": Said("where the new id of a replaced trigger is", _named("id", never=("old",))),
        "old_entity": Said("where its old id is", _named("id", never=("new",))),
        "whole_numbers": Said("whether an id may be a whole number", flag),
    },
    "nonce_reply": {
        "used": Said(
            "where it says that a nonce is used",
            _named("used", "spent", "consumed", "taken", "invalidated", never=("un", "not", "avail", "free")),
        ),
        "available": Said(
            "where it says the opposite; where both are told, they must agree",
            _named("available", "unused", "free", "unspent", "usable", never=("not", "unavailable"), optional=True),
        ),
    },
    "delegation_reply": {
        "enabled": Said(
            "where it says whether the delegate is enabled",
            _named("enabled", "active", "registered", never=("dis", "not", "un", "inactive")),
        ),
        "expiry": Said("where it says until when", _named("expir", "until")),
        "time": Said("in which form: `unix-s`, `unix-ms`, or `iso` (ISO 8601 with an offset)", time),
    },
    "limits": {
        "builder": Said("requests a minute that the builder is asked at most; 0: no limit is kept", per_minute),
    },
}  # fmt: skip
"""By section and name."""
