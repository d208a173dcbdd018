"""The language of a venue's services file, and what ships: the closed list of what may differ, as data.

The specification shows neither the meta document nor the pair catalogue, the relayer, the bodies of the core API and of the
TWAP service, nor the reads of a nonce and of a delegate: the defaults are those of comparable venues. A name is a route, a
read, an action, or a struct or call that the venue alone has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from airlock_shared.venue.actions import ACTIONS
from airlock_shared.venue.structs import (
    AUTHORIZATION,
    BATCHED_MARKET,
    CORE_API,
    RELAY,
    RELAYER,
    RPC,
    SERVICES,
    TWAP,
)
from airlock_shared.wire.strict_json import JsonObject, fingerprint

# ---- routes ---------------------------------------------------------------------------------------------------------
# A route's requests are made by a module of ``airlock_online.delivery.routes``. A new route is a name in
# ``airlock_shared.venue.structs``, a row here and in the tables below, that module, and the struct that names it. Source:
# the specification, "Other execution services referenced".


ROUTES = {
    BATCHED_MARKET: SERVICES["batched"], RELAYER: SERVICES["relayer"], CORE_API: SERVICES["core"],
    TWAP: SERVICES["twap"], RELAY: SERVICES["builder"], RPC: SERVICES["rpc"],
}  # fmt: skip
"""The service that takes what goes by each route; a route's name stands in requests and in the journal."""

OF_TRANSACTIONS = frozenset({RELAY, RPC})
"""The routes of a signed transaction: the operator chooses, and the chain takes it once whichever it is."""

# ---- the file -------------------------------------------------------------------------------------------------------


SERVICES_FORMAT = "airlock/venue-services@1"

Tables = Mapping[str, Mapping[str, Any]]

MARKET, REPLACE, STATUS = "market", f"{CORE_API}-replace", "-status"
"""Names of the file: the batched market, the core API's replacing of a trigger, and what ends the name of a status read."""

PLACEHOLDER, AS_NUMBER, NOT_SENT, ACCOUNT = "$", " as number", "nothing", "account"
"""A text that begins with the mark is a part; every other value of a body or a request is a constant, sent as it stands."""

NEXT = "next."
"""Before a place: in a request, the mark of the next page that the reply before it has there; not in the first request."""

PAGED = {"pairs": "pair catalogue", "positions": "positions read"}
"""The reads that may come in pages, and how they are called."""

MESSAGE, SHIPPED_LEAF = "message", "shipped"
"""Parts with a name behind a dot: a member of the struct as it was signed, and one by its name in the shipped struct."""

PARTS = (
    "primary_type", "encoded_intent", "signature", "digest", "signer", "trader", "contract", "nonce", "chain_id",
)  # fmt: skip
EXECUTING = ("executing.to", "executing.data", "executing.value")
"""The contract's own call that executes an intent for whoever sends it (``setDelegateWithSig`` and the like)."""

OF_A_TRANSACTION = ("raw_transaction", "digest", "signer", "chain_id")
CARRIERS = ("signature", "executing.data", "raw_transaction")
"""The parts that have the signature in them: a body has exactly one of them."""

ALL = "all"
"""The name in ``[requests]`` of what holds for every request."""


PATHS = {
    "meta": "/v2/meta", "pairs": "/v2/pairs", "nonce": "/v2/nonce", "delegation": "/v2/reads/delegation",
    "positions": "/v2/positions", "referral": "/v2/reads/referral",
    MARKET: "/market/execute-batched", MARKET + STATUS: "/tracking-id/{id}/status",
    RELAYER: "/intents", RELAYER + STATUS: "/intents/{id}", RELAY: "/v2/relay", RELAY + STATUS: "/v2/relay/{id}",
    TWAP: "/twaps/cancel", CORE_API: "/price-triggers", REPLACE: "/price-triggers/{id}", TWAP + STATUS: "",
    **{action.name: action.path for action in ACTIONS.values() if action.name != AUTHORIZATION},
}  # fmt: skip
"""Every endpoint, with ``{id}`` for what is asked about; a route's own by its name. Empty: none is known."""

BODIES: Tables = {
    MARKET: {"orderType": "$order_type", "erc712": {"userIntent": "$encoded_intent", "userSignature": "$signature"}},
    RELAYER: {"primaryType": "$primary_type", "userIntent": "$encoded_intent", "userSignature": "$signature"},
    RELAY: {"rawTransaction": "$raw_transaction"},
    TWAP: {
        "trader": "$shipped.trader", "twapId": "$shipped.twapId", "nonce": "$shipped.nonce",
        "deadline": "$shipped.deadline", "signature": "$signature",
    },
    CORE_API: {
        "trader": "$shipped.trader", "buy": "$shipped.buy", "coinSize": "$shipped.coinSize", "price": "$shipped.price",
        "percentage": "$shipped.percentage", "nonce": "$shipped.nonce", "pairIndex": "$shipped.pairIndex as number",
        "index": "$shipped.index as number", "triggerType": "$shipped.triggerType as number",
        "timestamp": "$shipped.timestamp as number", "signTimestamp": "$shipped.signTimestamp as number",
        "orderType": "$shipped.orderType as number", "signedMessage": "$signature",
    },
}  # fmt: skip
"""What is sent to each service: members, tables within tables, parts and constants."""

REPLIES: Tables = {
    "meta": {
        "chain_id": "chainId", "trading_domain": "eip712.trading", "referral_domain": "eip712.referral",
        "contracts": "addresses", "enums": "enums", "enum_first": "", "units": "units",
        "intent_deadline_ms": "defaults.intentDeadlineMs", "slippage_percent": "defaults.slippagePercent",
        "simulator": "simulator",
    },
    "pairs": {"id": "index", "name": "symbol", "pnl": "isPnl"},
    "positions": {"pnl": "isPnl"},
    "builder": {"extra_members": []},
    "nonce": {"used": "used"},
    "delegation": {"enabled": "isEnabled", "expiry": "expiry", "time": "unix-s"},
    RELAYER: {"id": "id", "status": "status", "transaction": "hash", "block": "blockNumber", "busy": ""},
    RELAY: {"status": "status", "transaction": "hash", "block": "blockNumber", "error": "decodedError"},
    TWAP: {"id": "twapId", "transaction": "hash", "block": "blockNumber", "taken": ""},
    CORE_API: {"id": "entityId"},
    REPLACE: {"id": "newEntityId", "replaced": "oldEntityId"},
}  # fmt: skip
"""Where each reply has what: names joined by dots; a whole number counts in a list."""


class Speech(NamedTuple):
    """How the services of a venue speak, as it is in force."""

    paths: Mapping[str, str] = PATHS
    bodies: Tables = BODIES
    replies: Tables = REPLIES
    requests: Tables = MappingProxyType({})
    words: Mapping[str, str] = {}
    limits: Mapping[str, int] = {"builder": 0}

    def reply(self, route: str, struct: str) -> Mapping[str, Any]:
        """Return where a route's reply about a struct has what."""
        return self.replies.get(f"{route}-{struct}", self.replies[route])

    def request(self, name: str) -> JsonObject:
        """Return what differs of a request to the builder: what holds for all that ship, and for the one of this name."""
        return {**(self.requests.get(ALL, {}) if name in PATHS else {}), **self.requests.get(name, {})}

    @property
    def rows(self) -> dict[tuple[str, str], Any]:
        """Every value by its table and its name."""
        tables = self._asdict()
        tables |= {f"replies.{name}": table for name, table in tables.pop("replies").items()}
        return {(section, name): value for section, table in tables.items() for name, value in table.items()}

    @property
    def differences(self) -> set[tuple[str, str]]:
        """Table and name of each value that is not what ships."""
        ships = SHIPPED.rows
        return {row for row, value in self.rows.items() if ships.get(row) != value}

    @property
    def fingerprint(self) -> str:
        """The fingerprint of how services speak: of the whole that is in force, whatever of it stands in a file."""
        return fingerprint({"format": SERVICES_FORMAT, **{".".join(row): value for row, value in self.rows.items()}})


def part_name(value: Any) -> str | None:
    """Return the name of the part that a value of a body or a request is; None for a constant, and for a table."""
    return value.removeprefix(PLACEHOLDER) if str(value).startswith(PLACEHOLDER) else None


SHIPPED = Speech()
"""What is in force without a file."""

# ---- meanings -------------------------------------------------------------------------------------------------------
# What a service's word can mean: a closed list. What proves a state is code, and in no file.
# The specification shows no status of a relayer or of a relay ("Endpoints named but whose shapes are not shown"). A
# venue's file may say what such a word means; it cannot say what follows from it
# (:mod:`airlock_online.delivery.routes.posting`).


_PENDING, CONFIRMED, REVERTED, FAILED = "pending", "confirmed", "reverted", "failed"

MEANINGS = {
    _PENDING: "the service has it, and nothing is decided: it is asked again",
    CONFIRMED: "its transaction is in a block. It counts with its transaction and its block in the same reply, without a "
    "sign of failure beside it, and where a node of the operator's is configured, with that node's receipt",
    REVERTED: "its transaction failed in a block. By itself this ends nothing: the chain, or the deadline, does",
    FAILED: "the service gives up. By itself this ends nothing: the chain, or the deadline, does",
}
"""The closed list, and what follows from each."""

KNOWN = (_PENDING, CONFIRMED, REVERTED)
"""The words that are known without any file: each means itself."""

OF_EVENTS = frozenset(
    {
        "MarketOrderAccepted", "AttemptFailed", "MarketOrderInitiated", "IncreasePositionRequested", "MarketOrderExecuted",
        "PositionSizeIncreased", "MarketOrderCanceled", "Error",
    }
)  # fmt: skip
"""The market's events, whose meanings are the specification's: no file has them."""

_PLAIN = {
    "fail|revert|error|reject|drop|expire|abort|declin|invalid|denied|timeout|timedout|unsuccess|notconfirm|notexecut"
    "|replaced": frozenset({REVERTED, FAILED}),
    "pending|queue|submit|sent|sending|broadcast|processing|progress|wait|accept|receiv|schedul|mempool|unconfirm|unmined"
    "|notyet|notmined|inflight": frozenset({_PENDING}),
    "success|succeed|confirm|complet|execut|finali|mined|done": frozenset({CONFIRMED, _PENDING}),
}
"""What a word plainly says in English, by a part of it; the first row that fits decides what it may mean."""


def plain_letters(word: str) -> str:
    """Return a word's letters and digits, whatever its case and whatever stands between them."""
    return "".join(letter for letter in word.casefold() if letter.isalnum())


def may_mean(word: str) -> frozenset[str]:
    """Return what a file may say that a word means: a word that says something plainly means that, and nothing else.

    The meanings' own names have one meaning in every file; ``failed`` is the specification's ("Events", row ``Error``).
    """
    letters = plain_letters(word)
    if letters in MEANINGS:
        return frozenset({letters})
    return next((means for said, means in _PLAIN.items() if re.search(said, letters)), frozenset(MEANINGS))


def mistakes_in(words: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each word of a file with which something is wrong, and what that is."""
    seen = dict[str, str]()
    for word, meaning in words.items():
        letters = plain_letters(word)
        if not letters or not re.fullmatch("[ -~]{1,64}", word):
            yield word, "it is not a word of 1 to 64 printable ASCII characters"
        elif meaning not in list(MEANINGS):
            yield word, f"it means {meaning!r}, and it can mean {', '.join(MEANINGS)}"
        elif letters in map(plain_letters, OF_EVENTS):
            yield word, "it is an event of the market, which the specification explains"
        elif meaning not in (may := may_mean(word)):
            yield word, f"it cannot mean {meaning}: it says {' or '.join(sorted(may))}"
        elif seen.setdefault(letters, meaning) != meaning:
            yield word, f"it has two meanings: {seen[letters]} and {meaning}"
