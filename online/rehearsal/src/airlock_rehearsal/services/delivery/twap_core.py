"""The TWAP service's ``POST /twaps/cancel`` and the core API's price triggers.

The specification names the endpoints ("Other execution services referenced"); the bodies are those of comparable venues.
A stored trigger holds its nonce for ever: the signed intent stays valid on the chain until the nonce is spent, and a
replaced one does too.
"""

from __future__ import annotations

from eth_utils.address import is_checksum_address
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from airlock_rehearsal.chain.evm import Reverted
from airlock_rehearsal.services.builder.fields import integer
from airlock_rehearsal.services.envelope import Json, Read, Refused, request_fields
from airlock_rehearsal.services.runtime import Runtime
from airlock_rehearsal.services.transport import served, told_hash
from airlock_rehearsal.services.venue.eip712_peer import Message
from airlock_rehearsal.services.venue.submission import SignedIntent, exact_object, verified
from airlock_rehearsal.services.venue.venue_state import VenueState

_TRIGGER_NUMBERS = ("pairIndex", "index", "triggerType", "timestamp", "signTimestamp", "orderType")
_TRIGGER_TEXTS = ("coinSize", "price", "percentage", "nonce")


def cancel_twap(state: VenueState, body: Read) -> SignedIntent:
    """Validate a body of ``POST /twaps/cancel``. Raises ``Refused``."""
    exact_object(body, "body", {"trader", "twapId", "nonce", "deadline", "signature"})
    message = _accounted(body)
    message |= {name: _uint(name, body[name]) for name in ("twapId", "nonce", "deadline")}
    return verified(state, "TwapCancelReq", message, body["signature"])


def read_trigger(state: VenueState, body: Read) -> SignedIntent:
    """Validate a price trigger. Raises ``Refused``."""
    exact_object(body, "body", {"trader", "buy", "signedMessage", *_TRIGGER_NUMBERS, *_TRIGGER_TEXTS})
    message = _accounted(body) | {"buy": body["buy"]}
    if type(body["buy"]) is not bool:
        raise Refused("buy must be a boolean")
    for name in _TRIGGER_NUMBERS + _TRIGGER_TEXTS:
        kind, what = (int, "number") if name in _TRIGGER_NUMBERS else (str, "string")
        if type(body[name]) is not kind:
            raise Refused(f"{name} must be a {what}")
        text = str(body[name])
        sign = "-" if name == "percentage" and text.startswith("-") else ""
        message[name] = sign + _uint(name, text.removeprefix(sign))
    signed = verified(state, "TpSlReq", message, body["signedMessage"])
    try:
        state.check(*signed.entry)
    except Reverted as error:
        raise Refused(error.name) from error
    return signed


def _accounted(body: Read) -> Message:
    trader = body["trader"]
    if not isinstance(trader, str) or not is_checksum_address(trader):
        raise Refused("trader must be an EIP-55 address")
    return {"trader": trader}


def _uint(name: str, value: object) -> str:
    try:
        return str(integer(value))
    except ValueError as error:
        raise Refused(f"{name} is {error}") from error


def _nonce_in(fields: Read) -> str:
    """Return the nonce that a POST or PUT is counted by."""
    return str(fields["nonce"])[:80]


def store(state: VenueState, signed: SignedIntent) -> str:
    """Keep a price trigger; return its ``entityId``."""
    entity_id = state.draw_id("entity")
    state.reserved_nonces.add(signed.spends)
    state.triggers[entity_id] = signed.message
    return entity_id


def twap_routes(runtime: Runtime) -> list[Route]:
    """Return the TWAP service's routes, without their prefix."""

    async def cancel(request: Request) -> Response:
        signed = cancel_twap(runtime.state, await request_fields(request))
        try:
            receipt = runtime.state.submit(*signed.entry).receipt
        except Reverted as error:
            raise Refused(error.name, status=404 if error.name == "NoTwap" else 400) from error
        told = {"twapId": int(signed.message["twapId"]), "transactionHash": told_hash(runtime, "twap", receipt.hash)}
        return Json(told | {"blockNumber": receipt.block_number}, status_code=201)

    return [served(runtime, "twap", "POST /twaps/cancel", cancel, key_of=_nonce_in)]


def core_routes(runtime: Runtime) -> list[Route]:
    """Return the core API's routes, without their prefix."""
    state = runtime.state

    async def create(request: Request) -> Response:
        signed = read_trigger(state, await request_fields(request))
        return Json({"entityId": store(state, signed)}, status_code=201)

    async def replace(request: Request) -> Response:
        old = request.path_params["entity_id"]
        if old not in state.triggers:
            raise Refused("no price trigger has this entityId", status=404)
        signed = read_trigger(state, await request_fields(request))
        del state.triggers[old]
        return Json({"oldEntityId": old, "newEntityId": store(state, signed)})

    return [
        served(runtime, "core", "POST /price-triggers", create, key_of=_nonce_in),
        served(runtime, "core", "PUT /price-triggers/{entity_id}", replace, key_of=_nonce_in),
    ]
