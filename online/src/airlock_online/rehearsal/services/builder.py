"""The builder's HTTP routes: every endpoint by GET with query parameters and by POST with JSON, in the envelope."""

from __future__ import annotations

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from airlock_online.rehearsal.services import settings as addresses
from airlock_online.rehearsal.services.drafts import OPEN_ORDER_TYPES, TRIGGER_TYPES
from airlock_online.rehearsal.services.endpoints import ENDPOINTS, Endpoint
from airlock_online.rehearsal.services.envelope import ApiError, Json, Rejected, done, read_object
from airlock_online.rehearsal.services.fields import Field, Read, address, choice, integer, read_fields
from airlock_online.rehearsal.services.payload import payload_of
from airlock_online.rehearsal.services.runtime import Runtime
from airlock_online.rehearsal.services.transport import guarded
from airlock_online.rehearsal.services.world import World

Answer = Callable[[World, Read], object]

_TRADER = Field("trader", address, required=True)


def meta(world: World, request: Read) -> object:  # noqa: ARG001  (an Answer)
    """``/v2/meta``: the spec does not show its shape; it is that of comparable venues, and says what it is."""
    return {
        "simulator": True,
        "chainId": world.settings.chain_id,
        "addresses": {
            "tradingRouter": addresses.TRADING_ROUTER,
            "tradingStorage": addresses.TRADING_STORAGE,
            "usdc": addresses.USDC,
            "referral": addresses.REFERRAL,
        },
        "eip712": {
            "trading": world.settings.domain("trading"),
            "referral": world.settings.domain("referral"),
            "signatureFormat": "65 bytes r||s||v, v 27 or 28",
        },
        "enums": {"openOrderType": OPEN_ORDER_TYPES, "triggerType": TRIGGER_TYPES},
        "units": {"price": "1e10", "leverage": "1e10", "usdc": "1e6"},
        "defaults": {
            "intentDeadlineMs": world.settings.intent_deadline_ms,
            "slippagePercent": "1",
            "executionFeeWei": "0",
        },
    }


def pairs(world: World, request: Read) -> object:  # noqa: ARG001  (an Answer)
    """``/v2/pairs``: an array."""
    return [pair.as_json() for pair in world.pairs.values()]


def positions(world: World, request: Read) -> object:
    """``/v2/positions``: open positions and waiting limit orders of a trader."""
    trader = str(request["trader"])
    trades = [p.as_json(world.pairs[p.pair_index].is_pnl) for p in world.positions_of(trader)]
    return {"trades": trades, "orders": world.limit_orders.get(trader, [])}


def nonce(world: World, request: Read) -> object:
    """``/v2/nonce``: whether ``check`` is used; without it, a nonce that is not."""
    trader, space = str(request["trader"]), str(request["space"] or "trading")
    check = request["check"]
    number = world.draw_nonce(space, trader) if check is None else int(str(check))
    return {"nonce": str(number), "used": world.nonce_used(space, trader, number), "space": space}


def delegation(world: World, request: Read) -> object:
    """``/v2/delegation``: the expiry is in unix seconds, 0 when there never was one."""
    trader, delegate = str(request["trader"]), str(request["delegate"])
    live = world.is_live_delegate(trader, delegate)
    return {
        "trader": trader,
        "delegate": delegate,
        "isEnabled": live,
        "expiry": world.delegations.get((trader, delegate), 0),
        "canDelegatedAction": live,
        "canSignIntents": live,
    }


def referral(world: World, request: Read) -> object:
    """``/v2/reads/referral``: the code that a trader has adopted, 32 zero bytes for none."""
    trader = str(request["trader"])
    code = world.referral_codes.get(trader, bytes(32))
    return {"trader": trader, "code": "0x" + code.hex(), "codeText": code.rstrip(b"\0").decode("ascii", "replace")}


_NONCE = (_TRADER, Field("check", integer), Field("space", choice("trading", "referral")))
_DELEGATION = (_TRADER, Field("delegate", address, required=True))

READS: dict[str, tuple[tuple[Field, ...], Answer]] = {
    "/v2/meta": ((), meta),
    "/v2/pairs": ((), pairs),
    "/v2/positions": ((_TRADER,), positions),
    "/v2/nonce": (_NONCE, nonce),
    "/v2/reads/nonce": (_NONCE, nonce),
    "/v2/delegation": (_DELEGATION, delegation),
    "/v2/reads/delegation": (_DELEGATION, delegation),
    "/v2/reads/referral": ((_TRADER,), referral),
}
"""The reads: request fields and what answers."""


async def request_fields(request: Request) -> Read:
    """Return the fields of a request, from the query (GET) or the JSON body (POST)."""
    if request.method in ("GET", "HEAD"):
        items = request.query_params.multi_items()
        if len({name for name, _ in items}) != len(items):
            raise ApiError("BAD_REQUEST", "a query parameter comes twice")
        return dict(items)
    try:
        return await read_object(request)
    except Rejected as error:
        raise ApiError("BAD_REQUEST", str(error.message), status=error.status) from error


def routes(runtime: Runtime) -> list[Route]:
    """Return the builder's routes, without their prefix."""

    def read_route(path: str, fields: tuple[Field, ...], answer: Answer) -> Route:
        async def handler(request: Request) -> Response:
            return done(answer(runtime.world, read_fields(fields, await request_fields(request))))

        return Route(path, guarded(runtime, "builder", handler), methods=["GET", "POST"])

    def intent_route(name: str, endpoint: Endpoint) -> Route:
        async def handler(request: Request) -> Response:
            fields = read_fields(endpoint.fields, await request_fields(request), strict=endpoint.strict)
            draft = endpoint.draft(runtime.world, fields)
            return done(payload_of(draft, runtime.settings, runtime.faults))

        return Route(f"/v2/intents/{name}", guarded(runtime, "builder", handler), methods=["GET", "POST"])

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
        *(read_route(path, fields, answer) for path, (fields, answer) in READS.items()),
        *(intent_route(name, endpoint) for name, endpoint in ENDPOINTS.items()),
    ]
