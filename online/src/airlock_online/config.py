"""The online half's configuration: how this machine reaches the services, and how they speak. Every value has a default.

``config.toml`` in the online half's folder; unknown names are refused. How the services of a venue speak stands in a file of
its own (:mod:`airlock_online.speech`), and nowhere else.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from airlock_online.addresses import http_address
from airlock_online.speech.sections import SHIPPED, Speech
from airlock_shared.errors import UsageError
from airlock_shared.host.files import read_settings

MAX_CONFIRMATIONS = 1000
CONFIRMED_BY = ("finalized", "depth")


class ApiKeySettings(NamedTuple):
    """A venue's API key: the ``header`` in which the venue wants it (empty: none), and the ``file`` with its value.

    The file holds nothing else, and its owner alone may read it (mode 0600). ``addresses`` are the origins that the key is
    sent to, separated by blanks, such as ``https://builder.example https://market.example``: https, or this machine.
    """

    header: str = ""
    file: str = ""
    addresses: str = ""


class VenueSettings(NamedTuple):
    """The services file, which says how the venue's services speak; empty: none."""

    services: str = ""


class ReferralViews(NamedTuple):
    """The Referral contract's views, asked by the operator's node; their names differ between venues.

    They tell a code's owner, who may accept it, whether it is private, and what a trader has adopted. Each takes one word,
    ``bytes32`` (the code) or ``address`` (the trader), and returns one.
    """

    owner: str = "codeOwners(bytes32)"
    pending_owner: str = "pendingCodeOwners(bytes32)"
    private: str = "isPrivate(bytes32)"
    adopted: str = "traderReferralCodes(address)"


class RpcSettings(NamedTuple):
    """The operator's own node: its JSON-RPC address (empty: none), and which of its blocks are confirmed.

    ``confirmed_by`` is ``finalized``, the node's own word, or ``depth``; ``confirmations`` is that depth, 1 to 1000, also
    for a node that knows no such word.
    """

    url: str = ""
    confirmed_by: str = "finalized"
    confirmations: int = 12


class HttpSettings(NamedTuple):
    """How the services are reached. Of the environment nothing is taken, such as ``HTTPS_PROXY`` and ``SSL_CERT_FILE``.

    ``ca_file`` holds the only authorities that are trusted, in PEM; empty: the public ones. ``proxy`` is
    ``http://host:port``, for everything but this machine itself; it sees names, and of https nothing more. With
    ``plain_http``, addresses beyond this machine may be ``http://``, and every command that connects says so.
    """

    ca_file: str = ""
    proxy: str = ""
    plain_http: bool = False


class OnlineConfig(NamedTuple):
    """The whole configuration; ``speech`` is the services file's."""

    rpc: RpcSettings = RpcSettings()
    referral: ReferralViews = ReferralViews()
    http: HttpSettings = HttpSettings()
    api_key: ApiKeySettings = ApiKeySettings()
    venue: VenueSettings = VenueSettings()
    speech: Speech = SHIPPED


def read_config(path: Path) -> OnlineConfig:
    """Read ``config.toml``, or return the defaults when there is none; the services file that it names is not read.

    Raises ``UsageError`` for unknown names.
    """
    config = read_settings(path, OnlineConfig(), "speech")
    if not 1 <= config.rpc.confirmations <= MAX_CONFIRMATIONS:
        raise UsageError(
            f"{path} [rpc] confirmations is {config.rpc.confirmations}", do=f"give 1 to {MAX_CONFIRMATIONS}"
        )
    if config.rpc.confirmed_by not in CONFIRMED_BY:
        raise UsageError(
            f"{path} [rpc] confirmed_by is {config.rpc.confirmed_by!r}", do=f"give {' or '.join(CONFIRMED_BY)}"
        )
    if config.http.proxy:
        require_proxy(config.http.proxy)
    return config


def require_proxy(proxy: str) -> None:
    """Refuse a proxy's address that is not ``http://host:port``. Raises ``UsageError``."""
    parts = http_address(proxy)
    plain = parts is not None and parts.scheme == "http" and parts.port and parts.path in ("", "/")
    if parts is None or not plain or parts.query or parts.fragment or "@" in parts.netloc:
        raise UsageError("[http] proxy is not of the form http://host:port", do="correct config.toml")
