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
from airlock_rehearsal.services.envelope import Json, Rejected, parse_object, read_object
from airlock_rehearsal.services.runtime import Runtime
from airlock_rehearsal.services.transport import another_hash, guarded
from airlock_rehearsal.services.venue.eip712_peer import Message
from airlock_rehearsal.services.venue.settlement import check, submitted
from airlock_rehearsal.services.venue.submission import SignedIntent, exact_object, verified
from airlock_rehearsal.services.venue.venue_state import VenueState

FRESH_MS = 600_000
"""How old a ``signTimestamp`` may be, in milliseconds; none may lie in the future."""

_TRIGGER_NUMBERS = ("pairIndex", "index", "triggerType", "timestamp", "signTimestamp", "orderType")
_TRIGGER_TEXTS = ("coinSize", "price", "percentage", "nonce")


def cancel_twap(state: VenueState, body: dict[str, object]) -> tuple[SignedIntent, int]:
    """Validate a body of ``POST /twaps/cancel``; return the intent and the TWAP's id. Raises ``Rejected``."""
    body = exact_object(body, "body", {"trader", "twapId", "nonce", "deadline", "signature"})
    message: Message = {"trader": _account(body["trader"])}
    message |= {name: _uint(name, body[name]) for name in ("twapId", "nonce", "deadline")}
    signed = verified(state, "TwapCancelReq", message, body["signature"])
    twap_id = int(str(message["twapId"]))
    if state.twap_trader(twap_id) != signed.trader:
        raise Rejected("the trader has no pending TWAP of this id", status=404)
    return signed, twap_id


def read_trigger(state: VenueState, body: dict[str, object]) -> SignedIntent:
    """Validate a price trigger. Raises ``Rejected``."""
    names = {"trader", "buy", "signedMessage", *_TRIGGER_NUMBERS, *_TRIGGER_TEXTS}
    body = exact_object(body, "body", names)
    message: Message = {"trader": _account(body["trader"]), "buy": body["buy"]}
    if type(body["buy"]) is not bool:
        raise Rejected("buy must be a boolean")
    for name in _TRIGGER_NUMBERS:
        if type(body[name]) is not int:
            raise Rejected(f"{name} must be a number")
        message[name] = _uint(name, body[name])
    for name in _TRIGGER_TEXTS:
        if not isinstance(body[name], str):
            raise Rejected(f"{name} must be a string")
        signed_number = name == "percentage" and str(body[name]).startswith("-")
        message[name] = "-" * signed_number + _uint(name, str(body[name]).removeprefix("-" * signed_number))
    _check_trigger(state, message)
    signed = verified(state, "TpSlReq", message, body["signedMessage"])
    try:
        check(state, signed)
    except Reverted as error:
        raise Rejected(error.name) from error
    return signed


def _check_trigger(state: VenueState, message: Message) -> None:
    number = {name: int(str(message[name])) for name in (*_TRIGGER_NUMBERS, *_TRIGGER_TEXTS)}
    if number["orderType"] not in (4, 5) or number["triggerType"] not in (0, 1):
        raise Rejected("orderType must be 4 or 5, and triggerType 0 or 1")
    if (number["price"] == 0) == (number["triggerType"] == 0) or (number["percentage"] == 0) == (
        number["triggerType"] == 1
    ):
        raise Rejected("a fixed trigger has a price and no percentage, a percentage trigger the reverse")
    if abs(number["percentage"]) >= 1 << 255:
        raise Rejected("percentage is out of range")
    if not state.now_ms() - FRESH_MS <= number["signTimestamp"] <= state.now_ms():
        raise Rejected("signTimestamp is in the future, or too old")
    position = state.position(str(message["trader"]), number["pairIndex"], number["index"])
    if position is None or (position.timestamp, position.buy) != (number["timestamp"], message["buy"]):
        raise Rejected("PositionMismatch")
    if not 0 < number["coinSize"] <= position.coins:
        raise Rejected("coinSize is zero, or more than the position")


def _account(value: object) -> str:
    if not isinstance(value, str) or not is_checksum_address(value):
        raise Rejected("trader must be an EIP-55 address")
    return value


def _uint(name: str, value: object) -> str:
    try:
        return str(integer(value))
    except ValueError as error:
        raise Rejected(f"{name} is {error}") from error


def nonce_in(body: bytes) -> str:
    """Return the nonce that a POST or PUT is counted by."""
    try:
        return str(parse_object(body).get("nonce", "unreadable"))[:80]
    except Rejected:
        return "unreadable"


def store(state: VenueState, signed: SignedIntent) -> str:
    """Keep a price trigger; return its ``entityId``."""
    entity_id = state.draw_id("entity")
    state.reserve(signed.space, signed.trader, signed.nonce)
    state.triggers[entity_id] = signed.message
    return entity_id


def twap_routes(runtime: Runtime) -> list[Route]:
    """Return the TWAP service's routes, without their prefix."""

    async def cancel(request: Request) -> Response:
        state = runtime.state
        signed, twap_id = cancel_twap(state, await read_object(request))
        try:
            receipt = submitted(state, signed).receipt
        except Reverted as error:
            raise Rejected(error.name) from error
        transaction = receipt.hash
        if runtime.faults.has("wrong-hash", "twap"):
            transaction = another_hash(transaction)
        body = {"twapId": twap_id, "transactionHash": transaction, "blockNumber": receipt.block_number}
        return Json(body, status_code=201)

    return [Route("/twaps/cancel", guarded(runtime, "twap", cancel, key_of=nonce_in), methods=["POST"])]


def core_routes(runtime: Runtime) -> list[Route]:
    """Return the core API's routes, without their prefix."""

    async def create(request: Request) -> Response:
        signed = read_trigger(runtime.state, await read_object(request))
        return Json({"entityId": store(runtime.state, signed)}, status_code=201)

    async def replace(request: Request) -> Response:
        old = request.path_params["entity_id"]
        if old not in runtime.state.triggers:
            raise Rejected("no price trigger has this entityId", status=404)
        signed = read_trigger(runtime.state, await read_object(request))
        del runtime.state.triggers[old]
        return Json({"oldEntityId": old, "newEntityId": store(runtime.state, signed)})

    return [
        Route("/price-triggers", guarded(runtime, "core", create, key_of=nonce_in), methods=["POST"]),
        Route("/price-triggers/{entity_id}", guarded(runtime, "core", replace, key_of=nonce_in), methods=["PUT"]),
    ]
