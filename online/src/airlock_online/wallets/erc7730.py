"""The catalogue as ERC-7730 clear-signing descriptors, which a venue submits so that wallets show names and units.

Data in, data out: a pinned deployment and the catalogue of structs and calls become JSON documents of the second version of
the standard. Every leaf that is signed is displayed; none is hidden. Source: ERC-7730 and its registry's schema
``erc7730-v2.schema.json``; lengths from the Ledger Ethereum app, ``gtp_tx_info.h``, as the registry's linter has them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from airlock_shared.documents.deployment import Deployment
from airlock_shared.errors import UsageError
from airlock_shared.ethereum.signatures import checksum_address
from airlock_shared.plan.decisions import choices_of
from airlock_shared.units import ADDRESS, CHOICE, UNIX_S, UNLIMITED
from airlock_shared.venue.calls import DELEGATED_ACTION, Call
from airlock_shared.venue.structs import OPENED_MS, Field, Intent, is_custom
from airlock_shared.wire.strict_json import JsonObject

_SCHEMA = "../../specs/erc7730-v2.schema.json"  # from a venue's folder in the registry
OWNER_CHARACTERS = 22
URL_CHARACTERS = 26
LABEL_CHARACTERS = 20

_TRADING_ROUTER = "tradingRouter"
_USDC = "usdc"
_OWNER = re.compile(rf"[\x20-\x7e]{{1,{OWNER_CHARACTERS}}}", re.ASCII)
_URL = re.compile(rf"(?=.{{1,{URL_CHARACTERS}}}\Z)https://[a-z0-9.-]+\.[a-z]+(?:/[\x21-\x7e]*)?", re.ASCII)

DESCRIBED_INTENTS = {
    "OpenTradeReq": "Open a position, in USDC",
    "OpenTradeCoinExposureReq": "Open a position, in coins",
    "CloseTradeReq": "Close a position, in USDC",
    "CloseTradeCoinExposureReq": "Close a position, in coins",
    "IncreasePositionSizeReq": "Increase a position, in USDC",
    "IncreasePositionSizeWithCoinExposureReq": "Increase a position, in coins",
    "TpSlReq": "Arm a trigger that closes",
    "SetTraderReferralCodeByUserReq": "Adopt a referral code",
    "RegisterCodeReq": "Register a referral code",
    "TwapCancelReq": "Cancel a TWAP order",
    "DelegateReq": "Let a delegate key trade",
    "approve": "Let a contract take USDC",
    "setDelegate": "Let a delegate key trade",
    "removeDelegate": "End a delegate key",
    "setTraderReferralCodeByUser": "Adopt a referral code",
    "setPendingCodeOwnershipTransfer": "Nominate a code's next owner",
    "acceptCodeOwnership": "Accept a referral code",
    "cancelRequest": "Withdraw a request for a code",
    "claimTokens": "Pay out keeper rewards",
    "updateOpenLimitOrder": "Change a limit order",
    "increasePositionSize": "Increase a position, in USDC",
    "increasePositionSizeWithCoinExposure": "Increase a position, in coins",
    "openTrade": "Open a position, in USDC",
    "closeTradeMarket": "Close a position, in USDC",
    DELEGATED_ACTION: "Act for another account",
}
"""What a wallet says is being done, by struct or function; the catalogue's titles are longer than a Ledger shows."""

DESCRIPTOR_LABELS = {
    "trader": "Account",
    "pairIndex": "Pair number",
    "tradeIndex": "Position slot",
    "orderIndex": "Order slot",
    "index": "Slot, to be 0",
    "initialPosToken": "Unused size, to be 0",
    "timestamp": "Unused time, to be 0",
    "collateralUsdc": "Collateral",
    "additionalCollateralUsdc": "Collateral added",
    "collateralToCloseUsdc": "Collateral to close",
    "amountUsdc": "Allowance",
    "openPrice": "Reference price",
    "expectedPrice": "Expected price",
    "price": "Trigger price",
    "percentage": "Trigger percentage",
    "takeProfit": "Take profit",
    "stopLoss": "Stop loss",
    "side": "Long (else short)",
    "leverage": "Leverage",
    "minLeverage": "Lowest leverage",
    "maxLeverage": "Highest leverage",
    "coinExposure": "Exposure",
    "slippagePercent": "Slippage",
    "orderType": "Order type",
    "triggerType": "Trigger by",
    "kind": "Trigger kind",
    "openTimestamp": "Position opened",
    "signTimestamp": "Built at (unix ms)",
    "deadlineMs": "Deadline (unix ms)",
    "nonce": "Nonce",
    "code": "Referral code (hex)",
    "referee": "Adopting account",
    "referrer": "Code owner",
    "newOwner": "Next code owner",
    "twapId": "TWAP id",
    "delegate": "Delegate key",
    "expiry": "Delegate until",
    "terms_sha256": "Terms",
    "spender": "Spender",
}
"""The label of each leaf, by the plan's parameter that decides it, or by its own name where none does."""


def make_descriptors(deployment: Deployment, owner: str | None, url: str | None) -> dict[str, JsonObject]:
    """Return the descriptors of a deployment, by file name: one for each domain, and one for each contract that is called.

    ``owner`` is who the wallet says is behind the contracts (default: the trading domain's name), ``url`` their web site.
    Raises ``UsageError`` for an owner or an address of a site that a Ledger would cut short.
    """
    named = owner if owner is not None else deployment.domains["trading"].name
    if not _OWNER.fullmatch(named):
        raise UsageError(
            f"the owner's name is not 1 to {OWNER_CHARACTERS} plain characters, as a Ledger shows them",
            do="give a shorter one with --owner",
        )
    if url is not None and not _URL.fullmatch(url):
        raise UsageError(
            f"not the address of a web site of at most {URL_CHARACTERS} characters, as a Ledger shows them",
            do="give one like https://venue.example with --url",
        )
    metadata = {"owner": named} | ({"info": {"url": url}} if url is not None else {})
    files, known = {}, deployment.calls
    for name in deployment.domains:
        intents = [each for each in deployment.structs.values() if each.domain == name and not is_custom(each)]
        files[f"eip712-{name}.json"] = _of_domain(deployment, name, intents, metadata)
    for name, address in deployment.contracts.items():
        if calls := [call for call in known.values() if call.contract == name and not call.is_own]:
            files[f"calldata-{name}.json"] = _of_contract(deployment, name, address, calls, metadata)
    return files


def _of_domain(deployment: Deployment, name: str, intents: list[Intent], metadata: JsonObject) -> JsonObject:
    domain = deployment.domains[name]
    bound = {
        "domain": {"name": domain.name, "version": domain.version},
        "deployments": [{"chainId": domain.chain_id, "address": checksum_address(domain.contract)}],
    }
    formats = {
        intent.encode_type: _format(intent.name, [_field(f, deployment) for f in intent.fields]) for intent in intents
    }
    return _document({"$id": domain.name, "eip712": bound}, metadata | _enums(intents, deployment), formats)


def _of_contract(
    deployment: Deployment, name: str, address: bytes, calls: list[Call], metadata: JsonObject
) -> JsonObject:
    bound = {"deployments": [{"chainId": deployment.chain_id, "address": checksum_address(address)}]}
    formats = {
        call.signature: _format(call.name, [_argument(f, call, deployment) for f in call.fields]) for call in calls
    }
    if name == _TRADING_ROUTER:
        formats[f"{DELEGATED_ACTION}(address trader,bytes call)"] = _delegated()
    metadata = metadata | {"contractName": name} | _enums(calls, deployment)
    return _document({"$id": name, "contract": bound}, metadata, formats)


def _document(context: JsonObject, metadata: JsonObject, formats: JsonObject) -> JsonObject:
    return {"$schema": _SCHEMA, "context": context, "metadata": metadata, "display": {"formats": formats}}


def _format(name: str, fields: list[JsonObject]) -> JsonObject:
    """Return how a wallet shows a struct or a call."""
    return {"intent": DESCRIBED_INTENTS[name], "fields": fields}


def label_of(field: Field) -> str:
    """Return the label under which a wallet shows a leaf."""
    if field.kind == OPENED_MS:
        return "Opened at (unix ms)"
    name = field.path.rsplit(".", 1)[-1]
    return DESCRIPTOR_LABELS.get(field.rule.parameter or name, name[:LABEL_CHARACTERS])


def _field(field: Field, deployment: Deployment) -> JsonObject:
    shown = {"path": field.path, "label": label_of(field), "visible": "always"}
    unit, parameter = field.unit, field.rule.parameter
    if unit.is_amount:
        return shown | {"format": "unit", "params": {"base": unit.name, "decimals": unit.decimals}}
    if unit is ADDRESS:
        return shown | _address()
    if unit is UNIX_S:
        return shown | {"format": "date", "params": {"encoding": "timestamp"}}
    if unit is CHOICE and choices_of(parameter, deployment):
        return shown | {"format": "enum", "params": {"$ref": f"$.metadata.enums.{parameter}"}}
    return shown | {"format": "raw"}  # milliseconds, flags and bytes32 have no format of their own in the standard


def _address() -> JsonObject:
    return {"format": "addressName", "params": {"types": ["wallet", "eoa", "contract"], "sources": ["local", "ens"]}}


def _argument(field: Field, call: Call, deployment: Deployment) -> JsonObject:
    """Return a call's field; an amount of the token that is called itself is the wallet's to know the decimals of."""
    shown = _field(field, deployment)
    if call.contract != _USDC or not field.unit.is_amount:
        return shown
    params = {"tokenPath": "@.to", "threshold": f"0x{UNLIMITED:x}", "message": "Unlimited"}
    return shown | {"format": "tokenAmount", "params": params}


def _delegated() -> JsonObject:
    trader = {"path": "trader", "label": DESCRIPTOR_LABELS["trader"], "visible": "always"} | _address()
    inner = {
        "path": "call",
        "label": "Call",
        "visible": "always",
        "format": "calldata",
        "params": {"calleePath": "@.to"},
    }
    return _format(DELEGATED_ACTION, [trader, inner])


def _enums(described: Iterable[Intent | Call], deployment: Deployment) -> JsonObject:
    """Return the enums that a document's fields refer to: names by number, as the standard wants them."""
    parameters = sorted({field.rule.parameter for each in described for field in each.fields if field.unit is CHOICE})
    enums = {
        parameter: {str(number): name for name, number in choices.items()}
        for parameter in parameters
        if (choices := choices_of(parameter, deployment))
    }
    return {"enums": enums} if enums else {}
