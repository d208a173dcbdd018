"""The pinned deployment: what a venue says about itself, fixed once by people, and never believed again from the wire.

The online half extracts it from ``GET /v2/meta`` and the pair catalogue; the offline half pins it after a person has
compared its fingerprint. Everything that decides whether a payload is genuine (chain id, domains, contracts, enums, pairs)
comes from here. Source: the builder's specification, "What the service does" (the meta document) and rule 1 of "Signable
intent payload".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

from airlock_shared.documents.ledger_metadata import (
    MessageFilters,
    TokenMetadata,
    read_message_filters,
    read_pinned_token,
    require_filters,
)
from airlock_shared.errors import DocumentError, Refusal, quoted
from airlock_shared.ethereum.eip712 import StructValues
from airlock_shared.ethereum.signatures import checksum_address, parse_address
from airlock_shared.ethereum.struct_types import DOMAIN_MEMBERS
from airlock_shared.units import COIN, LEVERAGE, PERCENT, PRICE, USDC
from airlock_shared.venue.calls import Calls
from airlock_shared.venue.profile import venue_at
from airlock_shared.venue.structs import SERVICES, Intent
from airlock_shared.wire.strict_json import (
    A_NAME,
    HEX_32,
    Form,
    JsonObject,
    error_at,
    fingerprint,
    parse_json,
    read_list,
    read_matching,
    read_members,
    read_some,
    refuse_floats,
    require_format,
)

DEPLOYMENT_FORMAT = "airlock/deployment@1"
_MAX_BYTES = 4 << 20
MAX_PAIRS = 10_000
MAX_INTEGER = 2**53 - 1  # the largest that every JSON reader holds exactly

_URL = Form(re.compile(r"(?i:https?)://[\x21-\x7e]{1,300}", re.ASCII), "an http address")
_LABEL = re.compile(r"[\x20-\x7e]{1,64}", re.ASCII)
_TEXTS = {"name": A_NAME, "meta_sha256": Form(HEX_32, "a SHA-256 in hex"), "fetched_at": Form(_LABEL, "a time")}
_PRINTABLE = Form(_LABEL, "a printable name")
_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}", re.ASCII)
_URL_NAMES = tuple(service.url_key for service in SERVICES.values())
_UNITS = {"price": PRICE, "leverage": LEVERAGE, "usdc": USDC, "coinExposure": COIN, "percentage": PERCENT}
SCALES = {name: f"1e{unit.decimals}" for name, unit in _UNITS.items()}
"""Airlock's scales, by the names that a deployment document has for the units."""

CONTRACT_OF_DOMAIN = {"trading": "tradingRouter", "referral": "referral"}
"""The contract that verifies under each domain, by the name that a deployment has for it."""


class Domain(NamedTuple):
    """A pinned EIP-712 domain; ``contract`` is 20 bytes."""

    name: str
    version: str
    chain_id: int
    contract: bytes

    @property
    def values(self) -> StructValues:
        """The domain's canonical values, by their names in EIP-712."""
        return dict(zip(dict(DOMAIN_MEMBERS), self, strict=True))


class Pair(NamedTuple):
    """A pair of the venue: its index, its name, and whether it is a PnL pair; None: the venue does not tell."""

    number: int
    name: str
    pnl: bool | None


class Deployment(NamedTuple):
    """A pinned deployment and its fingerprint; ``token`` is what a Ledger is told of USDC, None when nothing is.

    ``test_network`` is the name that the operator gave to a public test network, empty for everything else.
    ``filters`` are what it is told of messages, by struct. ``structs``, by primary type, and ``calls`` are what the venue's
    profile describes.
    """

    name: str
    rehearsal: bool
    test_network: str
    chain_id: int
    domains: dict[str, Domain]
    contracts: dict[str, bytes]
    enums: dict[str, dict[str, int]]
    pairs: dict[int, Pair]
    base_urls: dict[str, str]
    intent_deadline_ms: int
    fetched_at: str
    fingerprint: str
    document: JsonObject
    structs: Mapping[str, Intent]
    calls: Calls
    token: TokenMetadata | None
    filters: Mapping[str, MessageFilters]

    @property
    def worth_nothing(self) -> bool:
        """Whether a signature is worth nothing, in a rehearsal or on a test network: the software Ledger may make it."""
        return self.rehearsal or bool(self.test_network)

    @property
    def test_mark(self) -> str:
        """What every screen says of a test network; empty for everything else."""
        return f"TEST NETWORK {self.test_network}: signed by the software Ledger alone" if self.test_network else ""

    def pair_at(self, number: object) -> Pair | None:
        """Return the pair of this index, or None."""
        return self.pairs.get(number) if type(number) is int else None

    def pair_named(self, name: str) -> Pair | None:
        """Return the one pair whose name is this one, whatever the case and whether ``/``, ``-`` or ``_`` separates."""
        wanted = _plain(name)
        found = [pair for pair in self.pairs.values() if _plain(pair.name) == wanted]
        return found[0] if len(found) == 1 else None


REHEARSAL_CHAINS = (31337, 1337)
"""The chain ids of local development chains (Hardhat and Foundry; Geth's and Ganache's dev mode).

``trust`` pins a rehearsal on one of them alone, so that a signature made in it is valid nowhere else, whatever a venue
says of itself.
"""

TEST_ACCOUNTS = (
    "0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D",
    "0x463e4e114AA57F54f2Fd2C3ec03572C6f75d84C2",
    "0x5DD37a819253D52EC6c31f0323bd17C20c1B4CC2",
)
"""The software Ledger's first accounts, at ``m/44'/60'/0'/0/0`` and the same with 1' and 2'. Their seed is public."""


def valid_elsewhere(deployment: Deployment, others: Iterable[Deployment]) -> list[str]:
    """Return a note for each other deployment at which a signature for this one is valid too: one chain id, one contract.

    A test network that is a fork of the main one is such a deployment.
    """
    contracts = {domain.contract for domain in deployment.domains.values()}
    return [
        f"NOTE: a signature for {deployment.name} is valid at {other.name} too: the same chain id and contract."
        for other in others
        if other.name != deployment.name
        and other.chain_id == deployment.chain_id
        and not contracts.isdisjoint(domain.contract for domain in other.domains.values())
    ]


def all_worth_nothing(deployments: Iterable[Deployment]) -> bool:
    """Tell whether all of these deployments are worth nothing; with none, the answer is no."""
    known = [deployment.worth_nothing for deployment in deployments]
    return bool(known) and all(known)


def _plain(name: str) -> str:
    return re.sub(r"[/_-]", "/", name).upper()


def parse_deployment(data: bytes) -> Deployment:
    """Read a deployment document, with all that is signed at its venue, and the filters for that.

    Raises ``DocumentError``, ``DOC-VENUE`` for a profile that Airlock does not take, or ``Refusal("MSG-ADDRESS")`` for a
    wrong address.
    """
    return read_deployment(parse_json(data, max_bytes=_MAX_BYTES))


def read_deployment(value: Any) -> Deployment:
    """Read a parsed deployment document. Raises as :func:`parse_deployment`."""
    require_format(value, DEPLOYMENT_FORMAT, "not a deployment document")
    refuse_floats(value)
    read_members(
        value,
        "deployment",
        {
            "format": str, "name": str, "rehearsal": bool, "chain_id": int, "domains": dict, "contracts": dict,
            "enums": dict, "units": dict, "defaults": dict, "pairs": list, "base_urls": dict, "meta_sha256": str,
            "fetched_at": str, "signed": dict,
        },
        {"device_metadata": dict, "test_network": str},
    )  # fmt: skip
    read_some(value, "", _TEXTS | ({"test_network": A_NAME} if "test_network" in value else {}))
    if value["rehearsal"] and "test_network" in value:
        named = value["test_network"]
        raise _contradiction("test_network", "a rehearsal is no test network", named, "one of the two")
    read_members(value["domains"], "domains", {"trading": dict, "referral": dict})
    domains = {name: _read_domain(domain, f"domains.{name}") for name, domain in value["domains"].items()}
    contracts = {
        read_matching(name, "contracts", _LABEL, "a name"): _address(text, f"contracts.{name}")
        for name, text in value["contracts"].items()
    }
    _check_domains(domains, value["chain_id"], contracts)
    for name, scale in SCALES.items():  # of another scale, every amount on the screen would be wrong
        if value["units"].get(name, scale) != scale:
            got = quoted(value["units"][name])
            raise _contradiction(f"units.{name}", "another scale than Airlock's", got, scale)
    read_members(value["base_urls"], "base_urls", {}, dict.fromkeys(_URL_NAMES, _URL))
    read_members(
        value["defaults"],
        "defaults",
        {"intentDeadlineMs": int},
        dict.fromkeys(("slippagePercent", "executionFeeWei"), str),
    )
    told, token = dict(value.get("device_metadata", {})), None
    filters = read_message_filters(told.pop("messages")) if "messages" in told else {}
    if "device_metadata" in value and (told or not filters):
        token = read_pinned_token(told, value["chain_id"], contracts.get("usdc"))
    mark = fingerprint(value)
    deployment = Deployment(
        name=value["name"],
        rehearsal=value["rehearsal"],
        test_network=value.get("test_network", ""),
        chain_id=value["chain_id"],
        domains=domains,
        contracts=contracts,
        enums={name: _read_enum(name, enum) for name, enum in value["enums"].items()},
        pairs=_read_pairs(value["pairs"]),
        base_urls=value["base_urls"],
        intent_deadline_ms=value["defaults"]["intentDeadlineMs"],
        fetched_at=value["fetched_at"],
        fingerprint=mark,
        document=value,
        **venue_at(value["signed"], contracts)._asdict(),
        token=token,
        filters=filters,
    )
    require_filters(deployment)
    return deployment


def _read_domain(value: Any, where: str) -> Domain:
    read_members(value, where, {"name": _PRINTABLE, "version": str, "chainId": int, "verifyingContract": str})
    contract = _address(value["verifyingContract"], f"{where}.verifyingContract")
    return Domain(value["name"], value["version"], value["chainId"], contract)


def _check_domains(domains: dict[str, Domain], chain_id: int, contracts: dict[str, bytes]) -> None:
    """Refuse a deployment that contradicts itself: it would make two intents interchangeable."""
    if not 0 < chain_id <= MAX_INTEGER:
        raise _contradiction("chain_id", "not a chain id", chain_id, f"1 to {MAX_INTEGER}")
    for name, domain in domains.items():
        where, contract = f"domains.{name}", contracts.get(CONTRACT_OF_DOMAIN[name], domain.contract)
        if domain.chain_id != chain_id:
            raise _contradiction(f"{where}.chainId", "another chain", domain.chain_id, chain_id)
        if domain.version != "1":
            raise _contradiction(f"{where}.version", "another version", domain.version, "1")
        if domain.contract != contract:
            got, expected = checksum_address(domain.contract), checksum_address(contract)
            raise _contradiction(f"{where}.verifyingContract", f"not the {CONTRACT_OF_DOMAIN[name]}", got, expected)
    if domains["trading"].contract == domains["referral"].contract:
        raise _contradiction(
            "domains.referral.verifyingContract", "one contract twice", "the trading contract", "another contract"
        )


_contradiction = partial(error_at, "DOC-DEPLOYMENT", "ask the venue, and fetch it again")


def _address(text: Any, where: str) -> bytes:
    if type(text) is not str:
        raise DocumentError("DOC-FIELD", "not an address", type(text).__name__, "a string").at(where)
    try:
        address = parse_address(text)
    except Refusal as refusal:
        raise refusal.at(where) from None
    if address == bytes(20):
        raise _contradiction(where, "the zero address is no contract", text, "a contract's address")
    return address


def _read_enum(name: str, value: Any) -> dict[str, int]:
    where = f"enums.{read_matching(name, 'enums', _IDENTIFIER, 'a plain name')}"
    if type(value) is not dict or not all(type(number) is int and 0 <= number < 256 for number in value.values()):
        raise DocumentError("DOC-FIELD", "not a mapping of names to small numbers").at(where)
    for choice in value:
        read_matching(choice, where, _IDENTIFIER, "a plain name")
    if len(set(value.values())) != len(value):
        raise _contradiction(where, "two names for one number", repr(value)[:120], "one name each")
    return dict(value)


def _read_pairs(value: Any) -> dict[int, Pair]:
    pairs = {}
    for position, entry in enumerate(read_list(value, "pairs", MAX_PAIRS)):
        where = f"pairs[{position}]"
        read_members(entry, where, {"index": int, "name": _PRINTABLE}, {"pnl": bool})
        if not 0 <= entry["index"] <= MAX_INTEGER:
            expected = f"0 to {MAX_INTEGER}"
            raise DocumentError("DOC-FIELD", "not an index", entry["index"], expected).at(where)
        if entry["index"] in pairs:
            raise _contradiction(where, "one index twice", entry["index"], "each index once")
        pairs[entry["index"]] = Pair(entry["index"], entry["name"], entry.get("pnl"))
    return pairs
