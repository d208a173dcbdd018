"""The rehearsal's one ASGI application: the services under their prefixes, and the rehearsal's own switches.

``GET /rehearsal/counters`` gives how many POSTs and PUTs each service received per nonce or transaction hash;
``GET /rehearsal/faults`` the faults there are and those in force; ``PUT /rehearsal/faults`` with ``{"faults": [names]}``
replaces them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from airlock_rehearsal.services.builder import routes
from airlock_rehearsal.services.delivery import market, relayer, rpc
from airlock_rehearsal.services.delivery.relay import relay_routes
from airlock_rehearsal.services.delivery.relayer import Relayer
from airlock_rehearsal.services.delivery.twap_core import core_routes, twap_routes
from airlock_rehearsal.services.envelope import Json, Refused, request_fields
from airlock_rehearsal.services.faults import FAULTS, Faults
from airlock_rehearsal.services.runtime import Runtime
from airlock_rehearsal.services.venue.order_lifecycle import Market
from airlock_shared.errors import UsageError


def make_app(runtime: Runtime) -> ASGIApp:
    """Return the application that serves a runtime's venue."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:  # noqa: ARG001  (Starlette's signature)
        yield
        await runtime.close()

    return Starlette(
        routes=[
            Mount("/builder", routes=[*routes.routes(runtime), *relay_routes(runtime)]),
            Mount("/batched", routes=market.routes(runtime, Market(runtime))),
            Mount("/relayer", routes=relayer.routes(runtime, Relayer(runtime))),
            Mount("/twap", routes=twap_routes(runtime)),
            Mount("/core", routes=core_routes(runtime)),
            rpc.rpc_route(runtime),
            Mount("/rehearsal", routes=_switches(runtime)),
        ],
        exception_handlers={404: _not_served, 405: _not_served},
        lifespan=lifespan,
    )


def _switches(runtime: Runtime) -> list[Route]:
    async def counters(request: Request) -> Response:  # noqa: ARG001  (a Starlette endpoint)
        posts = {service: dict(by_nonce) for service, by_nonce in runtime.state.posts.items()}
        return Json({"simulator": True, "posts": posts})

    async def faults(request: Request) -> Response:
        if request.method == "PUT":
            try:
                names = (await request_fields(request)).get("faults")
                if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
                    raise Refused("faults must be a list of names")
                runtime.faults = Faults.of(*names)
            except (Refused, UsageError) as error:
                refused = error if isinstance(error, Refused) else Refused(str(error))
                return refused.reply(enveloped=False)
        known = {name: fault._asdict() for name, fault in FAULTS.items()}
        return Json({"simulator": True, "in_force": sorted(runtime.faults.names), "known": known})

    return [
        Route("/counters", counters, methods=["GET"]),
        Route("/faults", faults, methods=["GET", "PUT"]),
    ]


async def _not_served(request: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException) and error.status_code == 405:
        refused = Refused(f"not by {request.method}", "METHOD_NOT_ALLOWED", status=405)
    else:
        refused = Refused("no such endpoint", "NOT_FOUND", status=404)
    return refused.reply(enveloped=True)
