"""Venues whose structs have message filters that Ledger has signed and published, and messages of theirs.

Every set is as the package has it. What is signed here is worth nothing: the domains have our version "1".
"""

import copy
import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from airlock_shared.documents.deployment import Deployment, parse_deployment
from airlock_shared.ethereum.signatures import checksum_address
from airlock_shared.venue.profile_words import resolve_profile
from shared.make_payloads import DOMAIN_TYPE, TREASURY
from shared.token_records import MAINNET_USDC, USDC_RECORD
from shared.world import DEPLOYMENT_TEXT, VECTORS, to_bytes

SETS = (VECTORS / "device-metadata/eip712_v2.json").read_bytes()
USDC = checksum_address(MAINNET_USDC)
SPENDER = checksum_address(bytes.fromhex("22" * 20))
OTHER_TOKEN = checksum_address(bytes.fromhex("dAC17F958D2ee523a2206206994597C13D831ec7"))


class FilteredVenue(NamedTuple):
    """A venue: the key of its set, the struct's text, which members are account and nonce, and values of a message."""

    key: str
    encode_type: str
    account: str
    nonce: str
    values: dict[str, str]

    @property
    def struct(self) -> str:
        return self.encode_type.partition("(")[0]

    @property
    def chain_id(self) -> int:
        return int(self.key.split(":")[0])

    @property
    def contract(self) -> str:
        return checksum_address(bytes.fromhex(self.key.split(":")[1][2:]))

    @property
    def published(self) -> dict[str, Any]:
        """The set as the package has it."""
        found: dict[str, Any] = json.loads(SETS)[self.key]
        return copy.deepcopy(found)


def _key(start: str) -> str:
    [key] = [key for key in json.loads(SETS) if key.startswith(start)]
    return str(key)


_PERMIT = "Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)"
_PERMITTED = {"owner": TREASURY, "spender": SPENDER, "value": "2500000000", "nonce": "7", "deadline": "1790000000"}
PERMIT = FilteredVenue(_key("1:0xa0b86991"), _PERMIT, "owner", "nonce", _PERMITTED)
"""USDC on Ethereum: an amount of the contract's own token, a date, and a nonce that is hidden."""

ON_ARBITRUM = FilteredVenue(_key("42161:0x912ce591"), _PERMIT, "owner", "nonce", _PERMITTED)
"""The same on Arbitrum, for a token of which our deployment has no record."""

RFQ = FilteredVenue(
    _key("1:0xe92b5866"),
    "Order(uint256 nonceAndMeta,uint128 expiry,address makerAsset,address takerAsset,address maker,address taker,"
    "uint256 makerAmount,uint256 takerAmount)",
    "maker",
    "nonceAndMeta",
    {"nonceAndMeta": "7", "expiry": "1790000000", "makerAsset": USDC, "takerAsset": OTHER_TOKEN, "maker": TREASURY,
     "taker": SPENDER, "makerAmount": "2500000000", "takerAmount": "2499"},
)  # fmt: skip
"""AugustusRFQ on Ethereum: every member, each raw."""

LIMIT = FilteredVenue(
    _key("1:0x11111112"),
    "Order(uint256 salt,address maker,address receiver,address makerAsset,address takerAsset,uint256 makingAmount,"
    "uint256 takingAmount,uint256 makerTraits)",
    "maker",
    "salt",
    {"salt": "7", "maker": TREASURY, "receiver": SPENDER, "makerAsset": USDC, "takerAsset": OTHER_TOKEN,
     "makingAmount": "2500000000", "takingAmount": "2499", "makerTraits": "0"},
)  # fmt: skip
"""1inch on Ethereum: two amounts, each with its token; salt and traits are hidden."""

VENUES = {"permit": PERMIT, "rfq": RFQ, "limit": LIMIT}


def unfiltered_document(venue: FilteredVenue) -> dict[str, Any]:
    """Return a deployment with the venue's struct in its profile, as a rehearsal's, and without anything for a Ledger."""
    document: dict[str, Any] = json.loads(DEPLOYMENT_TEXT)
    domain = {"name": "Filtered", "version": "1", "chainId": venue.chain_id, "verifyingContract": venue.contract}
    leaves = dict.fromkeys(venue.values, "raw") | {venue.account: "trader", venue.nonce: "nonce"}
    struct = {
        "encode_type": venue.encode_type, "leaves": leaves, "domain": "trading", "signer_rule": "trader-only",
        "route": "relayer",
    }  # fmt: skip
    profile = {"format": "airlock/venue-signed@1", "structs": {venue.struct: struct}, "calls": {}}
    document["domains"]["trading"] = domain
    document["domains"]["referral"]["chainId"] = venue.chain_id
    document["contracts"] |= {"tradingRouter": venue.contract, "usdc": USDC}
    changed = {"chain_id": venue.chain_id, "rehearsal": True, "name": "filtered", "signed": resolve_profile(profile)}
    return document | changed


def filtered_document(venue: FilteredVenue, published: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the same with the token's record and the venue's set, as ``deployment fetch`` makes it."""
    chain, contract, schema = venue.key.split(":")
    entry = published or venue.published
    fields = [{"token" if key == "coin_ref" else key: value for key, value in each.items()} for each in entry["fields"]]
    filters = {"chain_id": int(chain), "contract": contract, "schema_hash": schema, **entry["contractName"]}
    filters["fields"] = fields
    told = {"usdc": "0x" + USDC_RECORD.hex(), "messages": {venue.struct: filters}}
    return unfiltered_document(venue) | {"device_metadata": told}


def deployed(document: dict[str, Any]) -> Deployment:
    return parse_deployment(to_bytes(document))


def typed(venue: FilteredVenue, **values: str) -> dict[str, Any]:
    members = venue.encode_type.partition("(")[2].rstrip(")").split(",")
    types = {venue.struct: [dict(zip(("type", "name"), member.split(" "), strict=True)) for member in members]}
    domain = {"name": "Filtered", "version": "1", "chainId": venue.chain_id, "verifyingContract": venue.contract}
    types["EIP712Domain"] = DOMAIN_TYPE
    return {"types": types, "primaryType": venue.struct, "domain": domain, "message": venue.values | values}


def changed_set(venue: FilteredVenue, *changes: tuple[Iterable[Any], Any]) -> dict[str, Any]:
    """Return the venue's set after changes: where, and the new value."""
    found = venue.published
    for place, new in changes:
        *way, last = place
        at: Any = found
        for step in way:
            at = at[step]
        at[last] = new
    return found
