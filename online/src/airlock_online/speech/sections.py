"""The sections of a venue's services file, and their defaults: the closed list of what may differ.

The specification shows neither the meta document nor the pair catalogue, the relayer, the bodies of the core API and of the
TWAP service, nor the reads of a nonce and of a delegate: the defaults are those of comparable venues.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from airlock_shared.documents.services import RELAY, RELAYER, ROUTES
from airlock_shared.wire.codec import fingerprint

FORMAT = "airlock/venue-services@1"
_RELAYER = ROUTES[RELAYER]


class MetaPaths(NamedTuple):
    """Where each value is found in ``GET /v2/meta`` and ``GET /v2/pairs``: names joined by dots."""

    chain_id: str = "chainId"
    trading_domain: str = "eip712.trading"
    referral_domain: str = "eip712.referral"
    contracts: str = "addresses"
    enums: str = "enums"
    enum_first: str = ""
    units: str = "units"
    intent_deadline_ms: str = "defaults.intentDeadlineMs"
    slippage_percent: str = "defaults.slippagePercent"
    simulator: str = "simulator"
    pair_number: str = "index"
    pair_name: str = "symbol"
    pair_pnl: str = "isPnl"


class ReadPaths(NamedTuple):
    """The builder's read endpoints, whose names differ between venues."""

    nonce: str = "/v2/nonce"
    delegation: str = "/v2/reads/delegation"
    pairs: str = "/v2/pairs"
    referral: str = "/v2/reads/referral"  # in no specification; an expectation that it cannot tell stays open
    positions: str = "/v2/positions"
    relay: str = ROUTES[RELAY].endpoints[0].path


class RelayerTemplate(NamedTuple):
    """The relayer's endpoint, which no specification documents. ``body`` maps its members to a delivery's fields."""

    submit_method: str = _RELAYER.endpoints[0].method
    submit_path: str = _RELAYER.endpoints[0].path
    status_path: str = _RELAYER.endpoints[1].path
    body: Mapping[str, str] = {
        "primaryType": "primary_type",
        "userIntent": "encoded_intent",
        "userSignature": "signature",
    }


class RequestBodies(NamedTuple):
    """Bodies of requests that no specification documents. Empty: as comparable venues take it."""

    price_trigger: Mapping[str, str] = {}
    twap_cancel: Mapping[str, str] = {
        "trader": "message.trader",
        "twapId": "message.twapId",
        "nonce": "message.nonce",
        "deadline": "message.deadline",
        "signature": "signature",
    }


class BuilderMembers(NamedTuple):
    """How the builder calls members of requests that no specification shows: Airlock's name to the venue's."""

    members: Mapping[str, str] = {}


class BuildPaths(NamedTuple):
    """Where the builder builds what no document has a path for; and what may stand beside a payload.

    ``paths`` has the catalogue's actions; ``own`` the structs and calls of this venue alone, each with path and members.
    """

    paths: Mapping[str, str] = {}
    own: Mapping[str, Mapping[str, Any]] = {}
    beside: tuple[str, ...] = ()


class Words(NamedTuple):
    """What a status word means, in every service alike."""

    meanings: Mapping[str, str] = {}


class RelayerReply(NamedTuple):
    """Where the relayer's reply has what; without ``envelope``, its members stand in the reply itself."""

    envelope: bool = True
    id: str = "id"
    status: str = "status"
    transaction: str = "hash"
    block: str = "blockNumber"


class RelayReply(NamedTuple):
    """Where the relay's reply has what, within the builder's envelope."""

    status: str = "status"
    transaction: str = "hash"
    block: str = "blockNumber"
    reason: str = "decodedError"


class TwapReply(NamedTuple):
    """Where the TWAP service's reply has what; ``queued`` is true in one that only takes the cancellation.

    ``status_path`` is where it then tells of a TWAP by its id; empty where no read of it is known.
    """

    twap: str = "twapId"
    transaction: str = "hash"
    block: str = "blockNumber"
    queued: str = ""
    status_path: str = ""


class CoreReply(NamedTuple):
    """Where the core API's reply has what; with ``whole_numbers``, an id may be one."""

    entity: str = "entityId"
    new_entity: str = "newEntityId"
    old_entity: str = "oldEntityId"
    whole_numbers: bool = False


class NonceReply(NamedTuple):
    """Where the builder's read of a nonce has what; ``available`` says the opposite of ``used``."""

    used: str = "used"
    available: str = ""


class DelegationReply(NamedTuple):
    """Where the builder's read of a delegate has what, and how it writes the time: ``unix-s``, ``unix-ms`` or ``iso``."""

    enabled: str = "isEnabled"
    expiry: str = "expiry"
    time: str = "unix-s"


class RateLimits(NamedTuple):
    """How many requests a minute the builder takes; 0: this machine keeps no limit by itself."""

    builder: int = 0


class Replies(NamedTuple):
    """What a route needs to read a reply: the venue's words, and where each service has what."""

    words: Mapping[str, str] = {}
    relayer: RelayerReply = RelayerReply()
    relay: RelayReply = RelayReply()
    twap: TwapReply = TwapReply()
    core: CoreReply = CoreReply()


SECTIONS: Mapping[str, tuple[object, ...]] = {
    "meta": MetaPaths(),
    "reads": ReadPaths(),
    "relayer": RelayerTemplate(),
    "builder": BuilderMembers(),
    "bodies": RequestBodies(),
    "builds": BuildPaths(),
    "words": Words(),
    "relayer_reply": RelayerReply(),
    "relay_reply": RelayReply(),
    "twap_reply": TwapReply(),
    "core_reply": CoreReply(),
    "nonce_reply": NonceReply(),
    "delegation_reply": DelegationReply(),
    "limits": RateLimits(),
}
"""Every section, with what ships."""

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
