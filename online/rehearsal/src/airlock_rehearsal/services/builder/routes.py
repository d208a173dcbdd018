"""The builder's HTTP routes: every endpoint by GET with query parameters and by POST with JSON, in the envelope."""

from __future__ import annotations

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from airlock_rehearsal.services.builder.accounts_and_pairs import bad
from airlock_rehearsal.services.builder.endpoints import ENDPOINTS, IntentEndpoint
from airlock_rehearsal.services.builder.fields import RequestField, address, choice, integer, read_fields, referral_code
from airlock_rehearsal.services.builder.message_drafts import OPEN_ORDER_TYPES, TRIGGER_TYPES
from airlock_rehearsal.services.builder.payload import payload_of, transaction_of
from airlock_rehearsal.services.builder.transactions import TRANSACTIONS, Unsigned
from airlock_rehearsal.services.envelope import Json, Read, done, request_fields
from airlock_rehearsal.services.runtime import Runtime
from airlock_rehearsal.services.transport import guarded
from airlock_rehearsal.services.venue.venue_state import VenueState

Answer = Callable[[VenueState, Read], object]

_TRADER = RequestField("trader", address, required=True)


def meta(state: VenueState, request: Read) -> object:  # noqa: ARG001  (an Answer)
    """``/v2/meta``: the spec does not show its shape; it is that of comparable venues, and says what it is."""
    contracts = state.venue.contracts
    return {
        "simulator": True,
        "chainId": state.settings.chain_id,
        "addresses": {
            "tradingRouter": contracts.trading_router,
            "tradingStorage": contracts.trading_storage,
            "usdc": contracts.usdc,
            "referral": contracts.referral,
        },
        "eip712": {
            "trading": state.settings.domain("trading"),
            "referral": state.settings.domain("referral"),
            "signatureFormat": "65 bytes r||s||v, v 27 or 28",
        },
        "enums": {"openOrderType": OPEN_ORDER_TYPES, "triggerType": TRIGGER_TYPES},
        "units": {"price": "1e10", "leverage": "1e10", "usdc": "1e6"},
        "defaults": {
            "intentDeadlineMs": state.settings.intent_deadline_ms,
            "slippagePercent": "1",
            "executionFeeWei": "0",
        },
    }


def pairs(state: VenueState, request: Read) -> object:  # noqa: ARG001  (an Answer)
    """``/v2/pairs``: an array."""
    return [pair.as_json() for pair in state.pairs.values()]


def positions(state: VenueState, request: Read) -> object:
    """``/v2/positions``: open positions and waiting limit orders of a trader."""
    trader = str(request["trader"])
    trades = [p.as_json(state.pairs[p.pair_index].is_pnl) for p in state.positions_of(trader)]
    return {"trader": trader, "trades": trades, "orders": state.limit_orders_of(trader)}


def nonce(state: VenueState, request: Read) -> object:
    """``/v2/nonce``: whether ``check`` is used; without it, a nonce that is not."""
    trader, space = str(request["trader"]), str(request["space"] or "trading")
    check = request["check"]
    number = state.draw_nonce(space, trader) if check is None else int(str(check))
    return {"nonce": str(number), "used": state.nonce_used(space, trader, number), "space": space}


def delegation(state: VenueState, request: Read) -> object:
    """``/v2/delegation``: the expiry is in unix seconds, 0 when there never was one."""
    trader, delegate = str(request["trader"]), str(request["delegate"])
    live = state.is_live_delegate(trader, delegate)
    return {
        "trader": trader,
        "delegate": delegate,
        "isEnabled": live,
        "expiry": state.delegation_expiry(trader, delegate),
        "canDelegatedAction": live,
        "canSignIntents": live,
    }


def referral(state: VenueState, request: Read) -> object:
    """``/v2/reads/referral``, which the spec does not name: a trader's adopted code, or a code's owners and privacy.

    32 zero bytes stand for no code; an owner is empty when there is none.
    """
    trader, code = request["trader"], request["code"]
    if (trader is None) == (code is None):
        raise bad("trader", "give trader or code, one of them")
    if code is not None:
        key = bytes.fromhex(str(code)[2:])
        owner, pending = state.code_owners(key)
        owners = {"owner": owner, "pendingOwner": pending}
        return {"code": code, "codeText": _code_text(key), **owners, "isPrivate": state.code_is_private(key)}
    adopted = state.adopted_code(str(trader))
    return {"trader": trader, "code": "0x" + adopted.hex(), "codeText": _code_text(adopted)}


def _code_text(code: bytes) -> str:
    return code.rstrip(b"\0").decode("ascii", "replace")


_NONCE = (_TRADER, RequestField("check", integer), RequestField("space", choice("trading", "referral")))
_DELEGATION = (_TRADER, RequestField("delegate", address, required=True))

READS: dict[str, tuple[tuple[RequestField, ...], Answer]] = {
    "/v2/meta": ((), meta),
    "/v2/pairs": ((), pairs),
    "/v2/positions": ((_TRADER,), positions),
    "/v2/nonce": (_NONCE, nonce),
    "/v2/reads/nonce": (_NONCE, nonce),
    "/v2/delegation": (_DELEGATION, delegation),
    "/v2/reads/delegation": (_DELEGATION, delegation),
    "/v2/reads/referral": ((RequestField("trader", address), RequestField("code", referral_code)), referral),
}
"""The reads: request fields and what answers."""


def _read_route(runtime: Runtime, path: str, fields: tuple[RequestField, ...], answer: Answer) -> Route:
    async def handler(request: Request) -> Response:
        return done(answer(runtime.state, read_fields(fields, await request_fields(request))))

    return Route(path, guarded(runtime, "builder", handler), methods=["GET", "POST"])


def _intent_route(runtime: Runtime, name: str, endpoint: IntentEndpoint) -> Route:
    async def handler(request: Request) -> Response:
        fields = read_fields(endpoint.fields, await request_fields(request), strict=endpoint.strict)
        return done(payload_of(endpoint.draft(runtime.state, fields), runtime.settings, runtime.faults))

    guard = guarded(runtime, "builder", handler, limited=True)
    return Route(f"/v2/intents/{name}", guard, methods=["GET", "POST"])


def _transaction_route(runtime: Runtime, path: str, unsigned: Unsigned) -> Route:
    async def handler(request: Request) -> Response:
        fields = read_fields(unsigned.fields, await request_fields(request))
        return done(transaction_of(unsigned.draft(runtime.state, fields), runtime.settings, runtime.faults))

    return Route(path, guarded(runtime, "builder", handler, limited=True), methods=["GET", "POST"])


def routes(runtime: Runtime) -> list[Route]:
    """Return the builder's routes but for the relay's, without their prefix."""

    async def ready(request: Request) -> Response:  # noqa: ARG001  (a Starlette endpoint)
        up = not runtime.faults.has("http-503", "builder")
        components = {"rpc": {"ok": up, "chainId": runtime.settings.chain_id}, "pairs": {"ok": True}}
        body = {"ok": up, "data": {"ready": up, "components": components}}
        return Json(body, status_code=200 if up else 503)

    async def ready_or_not(request: Request) -> Response:
        if runtime.faults.has("http-503", "builder"):
            return await ready(request)
        return await guarded(runtime, "builder", ready)(request)

    return [
        Route("/ready", ready_or_not, methods=["GET"]),
        *(_read_route(runtime, path, fields, answer) for path, (fields, answer) in READS.items()),
        *(_intent_route(runtime, name, endpoint) for name, endpoint in ENDPOINTS.items()),
        *(_transaction_route(runtime, path, unsigned) for path, unsigned in TRANSACTIONS.items()),
    ]
