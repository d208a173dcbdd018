"""The sections of a venue's services file, and their defaults: the closed list of what may differ.

The specification shows neither the meta document nor the pair catalogue, the relayer, the bodies of the core API and of the
TWAP service, nor the reads of a nonce and of a delegate: the defaults are those of comparable venues.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from airlock_shared.catalogue.actions import ACTIONS
from airlock_shared.catalogue.services import RELAY, RELAYER, ROUTES
from airlock_shared.wire.codec import fingerprint

FORMAT = "airlock/venue-services@1"

PARTS = ("primary_type", "encoded_intent", "signature", "digest", "signer", "trader", "contract", "nonce", "chain_id")
MESSAGE = "message"
"""What a body can have of a delivery; ``message`` is the struct as it was signed, ``message.NAME`` one of its members."""

METHODS = ("POST", "PUT")
TIMES = ("unix-s", "unix-ms", "iso")
PER_MINUTE_AT_MOST = 60_000

_DECIMALS_AT_MOST = 36

_NAME = r"[A-Za-z_][A-Za-z0-9_-]{0,63}"
_PLACE = rf"{_NAME}(?:\.{_NAME}){{0,7}}"
_MEMBER = re.compile(_NAME, re.ASCII)
_OF_MESSAGE = re.compile(rf"{MESSAGE}(?:\.{_NAME})?", re.ASCII)
_SEGMENT = "/[A-Za-z0-9_~-][A-Za-z0-9._~-]*"
_PATH_OF_ONE = rf"(?=(?:/[^/]+){{1,16}}$)(?:{_SEGMENT})*/\{{id\}}(?:{_SEGMENT})*"

T = TypeVar("T")
C = TypeVar("C", bound=type[tuple[object, ...]])


class Said(NamedTuple):
    """A member of a section: what it is, and what is wrong with a value (nothing, or a sentence each)."""

    what: str
    form: Callable[[Any], list[str]]


_said: list[Said] = []
"""The rows of the section that is being read, in their order; :func:`section` takes them."""


class Form(NamedTuple):
    """A form of a member. Called with a default and what the member is, it is the member's row in its section."""

    wrong: Callable[[Any], list[str]]

    def __call__(self, default: T, what: str) -> T:
        """Note a row, and return the default."""
        _said.append(Said(what, self.wrong))
        return default


# ---- forms ----------------------------------------------------------------------------------------------------------


def _where(good: Callable[[Any], object], told: str) -> Form:
    """Require what is ``good``; ``told`` is the sentence about another value, which it begins with."""
    return Form(lambda value: [] if good(value) else [f"{value!r} {told}"])


def _like(pattern: str, told: str) -> Form:
    """Require a text of this pattern."""
    known = re.compile(pattern, re.ASCII)
    return _where(lambda value: type(value) is str and known.fullmatch(value), told)


def _or_nothing(form: Form) -> Form:
    """Require this form, or an empty text."""
    return Form(lambda value: [] if value == "" and type(value) is str else form.wrong(value))


def _named(*parts: str, never: tuple[str, ...] = ()) -> Form:
    """Require a place whose last name says what it is, so that no other value is taken for it."""

    @Form
    def form(value: Any) -> list[str]:
        last = "".join(letter for letter in str(value).rpartition(".")[2].lower() if letter.isalnum())
        named_so = any(part in last for part in parts) and not any(part in last for part in never)
        told = f"{value!r} is named otherwise than what it is to be: its last name must say {' or '.join(parts)}"
        return place.wrong(value) or ([] if named_so else [told])

    return form


place = _like(_PLACE, "is not a place: names joined by dots")
place_or_none = _or_nothing(place)
path = _like(rf"(?:{_SEGMENT}){{1,16}}", "is not a path such as '/v2/nonce'")
path_of_one = _like(_PATH_OF_ONE, "is not a path with one {id}, such as '/intents/{id}'")
flag = _where(lambda value: type(value) is bool, "is not true or false")
per_minute = _where(
    lambda value: type(value) is int and 0 <= value <= PER_MINUTE_AT_MOST, f"is not 0 to {PER_MINUTE_AT_MOST}"
)
method = _where(lambda value: value in METHODS, f"is not one of {', '.join(METHODS)}")
first = _like("[01]?", "is neither '0' nor '1'")
form_of_time = _where(lambda value: value in TIMES, f"is not one of {', '.join(TIMES)}")


@Form
def body(value: Any) -> list[str]:
    """Require a table from members to parts of a delivery."""
    if type(value) is not dict or len(value) > 64:
        return ["it is not a table of members and their parts"]
    wrong = [f"{name!r} is not the name of a member" for name in value if not _MEMBER.fullmatch(name)]
    for name, part in value.items():
        known = type(part) is str and (part in PARTS or _OF_MESSAGE.fullmatch(part))
        wrong += [] if known else [f"{name} = {part!r} is no part of a delivery: {', '.join(PARTS)}, {MESSAGE}"]
    return wrong


@Form
def signed_body(value: Any) -> list[str]:
    """Require a body that has the signature once, or none at all where what ships is meant."""
    wrong = body.wrong(value)
    if not wrong and value and list(value.values()).count("signature") != 1:
        wrong = ["the signature must be in it, once"]
    return wrong


@Form
def words(value: Any) -> list[str]:
    """Require a table from words to texts; whether these are meanings is told beside it (``meanings.mistakes_in``)."""
    good = type(value) is dict and all(type(meaning) is str for meaning in value.values())
    return [] if good else ["it is not a table of words and their meanings"]


@Form
def renames(value: Any) -> list[str]:
    """Require a table from Airlock's names of request members to the venue's."""
    if type(value) is not dict:
        return ["it is not a table of members and their names"]
    known = {p.sent for action in ACTIONS.values() for p in action.parameters if p.sent}
    known |= {"check", "space", "delegate"}
    wrong = [f"{name!r} is sent nowhere; there are {', '.join(sorted(known))}" for name in sorted(value.keys() - known)]
    sent = [value.get(name, name) for name in known - {"check", "space"}]
    texts = all(type(name) is str and name.isascii() and name.isidentifier() for name in value.values())
    if not texts or len({str(name) for name in sent}) != len(sent):
        wrong.append("it gives two members one name, or a name that is none")
    return wrong


@Form
def build_paths(value: Any) -> list[str]:
    """Require a table from actions without a documented path to paths."""
    if type(value) is not dict:
        return ["it is not a table of actions and their paths"]
    open_ones = [action.name for action in ACTIONS.values() if not action.path]
    wrong = []
    for action, where in value.items():
        if action not in open_ones:
            wrong.append(f"{action!r} is no action without a documented path; there are {', '.join(open_ones)}")
        else:
            wrong += [f"{action}: {each}" for each in _build_path(where)]
    return wrong


@Form
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
    if not path.wrong(value) and "relay" in str(value).lower().split("/"):
        return [f"{value!r}: nothing is built where signed transactions are sent"]
    return path.wrong(value)


def _sources(table: Mapping[str, Any]) -> list[str]:
    wrong = [f"{name!r} is not the name of a member" for name in table if not _MEMBER.fullmatch(name)]
    for name, source in table.items():
        leaf, decimals = (source.get("leaf"), source.get("decimals")) if type(source) is dict else (source, 0)
        known = type(source) is str or (type(source) is dict and source.keys() == {"leaf", "decimals"})
        if not known or place.wrong(leaf) or type(decimals) is not int or not 0 <= decimals <= _DECIMALS_AT_MOST:
            wrong.append(f"{name} = {source!r} is no leaf, nor a leaf with decimals from 0 to {_DECIMALS_AT_MOST}")
    return wrong


@Form
def names(value: Any) -> list[str]:
    """Require a list of names."""
    good = type(value) is list and len(value) <= 64 and all(type(n) is str and _MEMBER.fullmatch(n) for n in value)
    return [] if good else ["it is not a list of names"]


# ---- the sections ----------------------------------------------------------------------------------------------------

_RELAYER = ROUTES[RELAYER]
_BLOCK = _named("block", "height", never=("hash", "time", "gas", "fee"))
_HASH = _named("hash", "tx", "transaction", never=("block",))
_SPENT = _named("used", "spent", "consumed", "taken", "invalidated", never=("un", "not", "avail", "free"))
_FREE = _named("available", "unused", "free", "unspent", "usable", never=("not", "unavailable"))
_ENABLED = _named("enabled", "active", "registered", never=("dis", "not", "un", "inactive"))

SECTIONS: dict[str, tuple[object, ...]] = {}
"""Every section, with what ships."""

MEMBERS: dict[str, dict[str, Said]] = {}
"""By section and name: what each member is, and the form that it must have. The reference is made of this table."""


def section(name: str) -> Callable[[C], C]:
    """Make a class the section of this name. Each of its members is a row: a form, called with a default and what it is."""

    def known(values: C) -> C:
        SECTIONS[name] = values()
        MEMBERS[name] = dict(zip(values._fields, _said, strict=True))  # type: ignore[attr-defined]
        _said.clear()
        return values

    return known


@section("meta")
class MetaPaths(NamedTuple):
    """Where each value is found in ``GET /v2/meta`` and ``GET /v2/pairs``: names joined by dots."""

    chain_id: str = place("chainId", "path of the chain id in `GET /v2/meta`: names joined by dots")
    trading_domain: str = place("eip712.trading", "path of the trading domain")
    referral_domain: str = place("eip712.referral", "path of the referral domain")
    contracts: str = place("addresses", "path of the contracts' addresses")
    enums: str = place("enums", "path of the enums")
    enum_first: str = first(
        "", 'the number of the first name of an enum that is a list: `"0"` or `"1"`; `""`: not said'
    )
    units: str = place("units", "path of the units")
    intent_deadline_ms: str = place("defaults.intentDeadlineMs", "path of the venue's usual deadline")
    slippage_percent: str = place("defaults.slippagePercent", "path of the venue's usual slippage")
    simulator: str = place("simulator", "path of the mark of a simulator, which is only told")
    pair_number: str = place("index", "member of a pair: its index")
    pair_name: str = place("symbol", "member of a pair: its name")
    pair_pnl: str = place_or_none("isPnl", 'member of a pair: whether it is a PnL pair; `""`: the venue has none')


@section("reads")
class ReadPaths(NamedTuple):
    """The builder's read endpoints, whose names differ between venues.

    That of a referral code is in no specification; an expectation that it cannot tell stays open.
    """

    nonce: str = path("/v2/nonce", "the builder's read of a nonce")
    delegation: str = path("/v2/reads/delegation", "its read of a delegation")
    pairs: str = path("/v2/pairs", "its catalogue of pairs")
    referral: str = path("/v2/reads/referral", "its read of a referral code")
    positions: str = path("/v2/positions", "its read of positions")
    relay: str = path(ROUTES[RELAY].endpoints[0].path, "its relay of transactions")


@section("relayer")
class RelayerTemplate(NamedTuple):
    """The relayer's endpoint, which no specification documents. ``body`` maps its members to a delivery's fields."""

    submit_method: str = method(
        _RELAYER.endpoints[0].method, "by which method the relayer takes an intent: `POST` or `PUT`"
    )
    submit_path: str = path(_RELAYER.endpoints[0].path, "where it takes one")
    status_path: str = path_of_one(_RELAYER.endpoints[1].path, "where it gives the outcome of one")
    body: Mapping[str, str] = signed_body(
        {
            "primaryType": "primary_type",
            "userIntent": "encoded_intent",
            "userSignature": "signature",
        },
        "the members of its request, and the part of a delivery in each",
    )


@section("builder")
class BuilderMembers(NamedTuple):
    """How the builder calls members of requests that no specification shows: Airlock's name to the venue's."""

    members: Mapping[str, str] = renames(
        {}, "other names for members of the builder's requests: Airlock's name to the venue's"
    )


@section("bodies")
class RequestBodies(NamedTuple):
    """Bodies of requests that no specification documents. Empty: as comparable venues take it."""

    price_trigger: Mapping[str, str] = signed_body(
        {}, "the members of the core API's request; empty: as comparable venues take it"
    )
    twap_cancel: Mapping[str, str] = signed_body(
        {
            "trader": "message.trader",
            "twapId": "message.twapId",
            "nonce": "message.nonce",
            "deadline": "message.deadline",
            "signature": "signature",
        },
        "the members of the TWAP service's request",
    )


@section("builds")
class BuildPaths(NamedTuple):
    """Where the builder builds what no document has a path for; and what may stand beside a payload.

    ``paths`` has the catalogue's actions; ``own`` the structs and calls of this venue alone, each with path and members.
    """

    paths: Mapping[str, str] = build_paths({}, "where the builder builds an action that no document has a path for")
    own: Mapping[str, Mapping[str, Any]] = own_builds(
        {}, "for each struct or call of this venue alone: the path, and the request's members"
    )
    beside: tuple[str, ...] = names((), "members beside a payload that are expected: recorded, and not told each time")


@section("words")
class Words(NamedTuple):
    """What a status word means, in every service alike."""

    meanings: Mapping[str, str] = words({}, "what a status word means, at every service: one of the meanings below")


@section("relayer_reply")
class RelayerReply(NamedTuple):
    """Where the relayer's reply has what; without ``envelope``, its members stand in the reply itself."""

    envelope: bool = flag(
        True, "whether its reply has the builder's envelope; else its members stand in the reply itself"
    )
    id: str = place("id", "where the id of an intent is")
    status: str = place("status", "where its status is")
    transaction: str = _HASH("hash", "where the transaction's hash is, beside `hash`, `transactionHash` and `txHash`")
    block: str = _BLOCK("blockNumber", "where the block's number is")


@section("relay_reply")
class RelayReply(NamedTuple):
    """Where the relay's reply has what, within the builder's envelope."""

    status: str = place("status", "where the status of a relayed transaction is")
    transaction: str = _HASH("hash", "where its hash is, beside `hash`, `transactionHash` and `txHash`")
    block: str = _BLOCK("blockNumber", "where the block's number is")
    reason: str = place("decodedError", "where the contract's reason of a revert is")


@section("twap_reply")
class TwapReply(NamedTuple):
    """Where the TWAP service's reply has what; ``queued`` is true in one that only takes the cancellation.

    ``status_path`` is where it then tells of a TWAP by its id; empty where no read of it is known.
    """

    twap: str = place("twapId", "where the id of the cancelled TWAP is")
    transaction: str = _HASH("hash", "where the transaction's hash is, beside `hash`, `transactionHash` and `txHash`")
    block: str = _BLOCK("blockNumber", "where the block's number is")
    queued: str = place_or_none("", "a member that is `true` where the cancellation is only taken: not on the chain")
    status_path: str = _or_nothing(path_of_one)("", "where it then tells of the TWAP, by its id; empty: nowhere")


@section("core_reply")
class CoreReply(NamedTuple):
    """Where the core API's reply has what; with ``whole_numbers``, an id may be one."""

    entity: str = _named("id")("entityId", "where the id of a stored trigger is")
    new_entity: str = _named("id", never=("old",))("newEntityId", "where the new id of a replaced trigger is")
    old_entity: str = _named("id", never=("new",))("oldEntityId", "where its old id is")
    whole_numbers: bool = flag(False, "whether an id may be a whole number")


@section("nonce_reply")
class NonceReply(NamedTuple):
    """Where the builder's read of a nonce has what; ``available`` says the opposite of ``used``."""

    used: str = _SPENT("used", "where it says that a nonce is used")
    available: str = _or_nothing(_FREE)("", "where it says the opposite; where both are told, they must agree")


@section("delegation_reply")
class DelegationReply(NamedTuple):
    """Where the builder's read of a delegate has what, and how it writes the time: ``unix-s``, ``unix-ms`` or ``iso``."""

    enabled: str = _ENABLED("isEnabled", "where it says whether the delegate is enabled")
    expiry: str = _named("expir", "until")("expiry", "where it says until when")
    time: str = form_of_time("unix-s", "in which form: `unix-s`, `unix-ms`, or `iso` (ISO 8601 with an offset)")


@section("limits")
class RateLimits(NamedTuple):
    """How many requests a minute the builder takes; 0: this machine keeps no limit by itself."""

    builder: int = per_minute(0, "requests a minute that the builder is asked at most; 0: no limit is kept")


class Replies(NamedTuple):
    """What a route needs to read a reply: the venue's words, and where each service has what."""

    words: Mapping[str, str] = {}
    relayer: RelayerReply = RelayerReply()
    relay: RelayReply = RelayReply()
    twap: TwapReply = TwapReply()
    core: CoreReply = CoreReply()


IN_CONFIG = ("meta", "reads", "relayer", "builder", "bodies")
"""The sections that may stand in ``config.toml``, where no services file is named."""


def fingerprint_of(sections: Mapping[str, Any]) -> str:
    """Return the fingerprint of how services speak: of the whole that is in force, whatever of it stands in a file."""
    whole = {section: _plain(values._asdict()) for section, values in sections.items()}
    return fingerprint({"format": FORMAT, **whole})


def differences(sections: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the section and the name of each value that is not what ships."""
    return [
        (section, name)
        for section, values in sections.items()
        for name, value in values._asdict().items()
        if value != getattr(SECTIONS[section], name)
    ]


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: list(value) if type(value) is tuple else value for name, value in values.items()}
