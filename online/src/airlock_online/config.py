"""The online half's configuration: where the services' undocumented shapes are found. Every value has a default.

``config.toml`` in the online half's folder; unknown names are refused. The specification shows neither the meta document
nor the pair catalogue nor the relayer's endpoint: the defaults are those of comparable venues.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from airlock_shared.documents.services import RELAY, RELAYER, ROUTES
from airlock_shared.errors import UsageError
from airlock_shared.host.settings import read_settings

MAX_CONFIRMATIONS = 1000
CONFIRMED_BY = ("finalized", "depth")
_RELAYER = ROUTES[RELAYER]


class MetaPaths(NamedTuple):
    """Where each value is found in ``GET /v2/meta`` and ``GET /v2/pairs``: names joined by dots."""

    chain_id: str = "chainId"
    trading_domain: str = "eip712.trading"
    referral_domain: str = "eip712.referral"
    contracts: str = "addresses"
    enums: str = "enums"
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

    submit_path: str = _RELAYER.endpoints[0].path
    status_path: str = _RELAYER.endpoints[1].path
    body: Mapping[str, str] = {
        "primaryType": "primary_type",
        "userIntent": "encoded_intent",
        "userSignature": "signature",
    }


class ApiKeySettings(NamedTuple):
    """A venue's API key: the header's name, the file with its value, and the origins it is for, separated by blanks."""

    header: str = ""
    file: str = ""
    addresses: str = ""


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


class ReferralViews(NamedTuple):
    """The Referral contract's views, asked by the operator's node; their names differ between venues.

    Each takes one word, ``bytes32`` (the code) or ``address`` (the trader), and returns one.
    """

    owner: str = "codeOwners(bytes32)"
    pending_owner: str = "pendingCodeOwners(bytes32)"
    private: str = "isPrivate(bytes32)"
    adopted: str = "traderReferralCodes(address)"


class RpcSettings(NamedTuple):
    """The operator's own node: its JSON-RPC address, and which of its blocks are confirmed, so that nothing undoes them.

    ``confirmed_by`` is ``finalized``, the node's own word, or ``depth``; ``confirmations`` is that depth, also for a node
    that knows no such word.
    """

    url: str = ""
    confirmed_by: str = "finalized"
    confirmations: int = 12


class HttpSettings(NamedTuple):
    """How the services are reached. Of the environment nothing is taken.

    ``ca_file`` holds the only authorities that are trusted, in PEM; empty: the public ones. ``proxy`` is
    ``http://host:port``, for everything but this machine itself; it sees names, and of https nothing more. With
    ``plain_http``, addresses beyond this machine may be ``http://``.
    """

    ca_file: str = ""
    proxy: str = ""
    plain_http: bool = False


class OnlineConfig(NamedTuple):
    """The whole configuration."""

    meta: MetaPaths = MetaPaths()
    reads: ReadPaths = ReadPaths()
    relayer: RelayerTemplate = RelayerTemplate()
    rpc: RpcSettings = RpcSettings()
    referral: ReferralViews = ReferralViews()
    http: HttpSettings = HttpSettings()
    builder: BuilderMembers = BuilderMembers()
    bodies: RequestBodies = RequestBodies()
    api_key: ApiKeySettings = ApiKeySettings()


def read_config(path: Path) -> OnlineConfig:
    """Read ``config.toml``, or return the defaults when there is none. Raises ``UsageError`` for unknown names."""
    config = read_settings(path, OnlineConfig())
    if not 1 <= config.rpc.confirmations <= MAX_CONFIRMATIONS:
        raise UsageError(
            f"{path} [rpc] confirmations is {config.rpc.confirmations}", do=f"give 1 to {MAX_CONFIRMATIONS}"
        )
    if config.rpc.confirmed_by not in CONFIRMED_BY:
        raise UsageError(
            f"{path} [rpc] confirmed_by is {config.rpc.confirmed_by!r}", do=f"give {' or '.join(CONFIRMED_BY)}"
        )
    _require_members(path, config.builder.members)
    if config.http.proxy:
        require_proxy(config.http.proxy)
    return config


def _require_members(path: Path, members: Mapping[str, str]) -> None:
    """Refuse other names for members that are not known, or that two members would share. Raises ``UsageError``."""
    if not members:
        return
    from airlock_shared.catalogue.actions import ACTIONS

    known = {p.sent for action in ACTIONS.values() for p in action.parameters if p.sent} | {
        "check",
        "space",
        "delegate",
    }
    if unknown := sorted(members.keys() - known):
        raise UsageError(
            f"{path} [builder] members names {unknown[0]!r}, which is sent nowhere", do=f"use one of {sorted(known)}"
        )
    named = [members.get(name, name) for name in known if name not in ("check", "space")]
    texts = all(type(name) is str and name.isascii() and name.isidentifier() for name in members.values())
    if not texts or len(set(named)) != len(named):
        raise UsageError(
            f"{path} [builder] members gives two members one name, or a name that is none", do="correct config.toml"
        )


def require_proxy(proxy: str) -> None:
    """Refuse a proxy's address that is not ``http://host:port``. Raises ``UsageError``."""
    try:
        parts = urlsplit(proxy)
        good = parts.scheme == "http" and bool(parts.hostname) and (parts.port or 0) > 0
        bare = parts.path in ("", "/") and not (parts.query or parts.fragment or "@" in parts.netloc)
    except ValueError:
        good = bare = False
    if not good or not bare or not proxy.isascii() or not proxy.isprintable() or " " in proxy:
        raise UsageError("[http] proxy is not of the form http://host:port", do="correct config.toml")
