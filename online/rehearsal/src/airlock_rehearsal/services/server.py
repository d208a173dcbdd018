"""The rehearsal services as something to start and stop: a server thread on loopback, for tests and for the command."""

from __future__ import annotations

import errno
import json
import logging
import signal
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Self

import click
import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from airlock_online.clock import now_ms
from airlock_rehearsal.chain.mempool import Mempool
from airlock_rehearsal.scenarios import service_words
from airlock_rehearsal.services.builder import routes
from airlock_rehearsal.services.delivery import market, relayer, rpc
from airlock_rehearsal.services.delivery.relayer import relay_routes
from airlock_rehearsal.services.delivery.twap_core import core_routes, twap_routes
from airlock_rehearsal.services.envelope import Json, Refused
from airlock_rehearsal.services.faults import FAULTS, SERVICES, Faults
from airlock_rehearsal.services.runtime import CHAIN_ID, DEFAULT_TRADER, RehearsalSettings, Runtime, checked
from airlock_rehearsal.services.transport import without_cuts
from airlock_rehearsal.services.venue.venue_state import set_up
from airlock_shared.errors import ServiceError

# ---- app ------------------------------------------------------------------------------------------------------------
# The rehearsal's one ASGI application: the services under their prefixes, and ``GET /rehearsal/faults``, which tells the
# faults there are and those in force.


def make_app(runtime: Runtime) -> ASGIApp:
    """Return the application that serves a runtime's venue."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:  # noqa: ARG001  (Starlette's signature)
        yield
        await runtime.close()

    async def told_faults(request: Request) -> Response:  # noqa: ARG001  (a Starlette endpoint)
        known = {name: fault._asdict() for name, fault in FAULTS.items()}
        return Json({"simulator": True, "in_force": sorted(runtime.faults.names), "known": known})

    return Starlette(
        routes=[
            Mount("/builder", routes=[*routes.routes(runtime), *relay_routes(runtime)]),
            Mount("/batched", routes=market.routes(runtime)),
            Mount("/relayer", routes=relayer.routes(runtime)),
            Mount("/twap", routes=twap_routes(runtime)),
            Mount("/core", routes=core_routes(runtime)),
            rpc.rpc_route(runtime),
            Route("/rehearsal/faults", told_faults, methods=["GET"]),
        ],
        exception_handlers={HTTPException: _no_endpoint},
        lifespan=lifespan,
    )


async def _no_endpoint(_request: Request, error: Exception) -> Response:
    """Answer what no route takes: by its path (404), or by its method (405)."""
    status = error.status_code if isinstance(error, HTTPException) else 404
    code = {405: "METHOD_NOT_ALLOWED"}.get(status, "NOT_FOUND")
    return Refused(str(error), code, status=status).reply(enveloped=True)


# ---- server ---------------------------------------------------------------------------------------------------------


HOST = "127.0.0.1"
PATIENCE_S = 10.0
"""How long a start or a stop may take, in seconds."""

MARK = ("x-airlock-rehearsal", "simulator")
"""The header on every reply."""

BANNER = "SIMULATOR: rehearsal services with their own chain. Signatures made here are worth nothing elsewhere."


class RehearsalServices(Runtime):
    """The services on one port of 127.0.0.1; a context manager that starts and stops them.

    ``trader`` holds the seeded positions; ``now_ms`` is the services' clock; ``faults`` may be replaced while they run.
    ``posts`` counts the POSTs and PUTs that each service received, per nonce or hash; ``relay`` apart from ``builder``.
    Raises ``UsageError`` for a wrong address.
    """

    def __init__(
        self,
        *,
        trader: str = DEFAULT_TRADER,
        settings: RehearsalSettings = RehearsalSettings(),  # noqa: B008  (immutable)
        now_ms: Callable[[], int] = now_ms,
        faults: Faults = Faults(),  # noqa: B008  (immutable)
    ) -> None:
        state = set_up(settings, checked(trader), now_ms)
        super().__init__(state, Mempool(state.evm), faults)
        self._running: tuple[uvicorn.Server, threading.Thread] | None = None

    def start(self, port: int = 0) -> Self:
        """Serve from a thread, on this port or a free one. Raises ``ServiceError`` when it does not come up."""
        listener = _listening(port)
        self.url = f"http://{HOST}:{listener.getsockname()[1]}"
        self.urls = {service: f"{self.url}/{service}" for service in SERVICES}
        self.builder_url, self.batched_url, self.relayer_url, self.twap_url, self.core_url, self.rpc_url = (
            self.urls.values()
        )
        logging.getLogger("uvicorn.error").addFilter(without_cuts)
        server = uvicorn.Server(
            uvicorn.Config(
                make_app(self),
                log_config=None,
                log_level="warning",
                access_log=False,
                loop="asyncio",
                http="h11",
                ws="none",
                lifespan="on",
                server_header=False,
                timeout_graceful_shutdown=5,
                headers=[MARK],
            )
        )
        thread = threading.Thread(target=server.run, args=([listener],), name="airlock rehearsal services", daemon=True)
        self._running = server, thread
        thread.start()
        give_up_at = time.monotonic() + PATIENCE_S
        while not server.started:
            if time.monotonic() > give_up_at or not thread.is_alive():
                self.stop()
                raise ServiceError(
                    "the rehearsal services did not start", do="run it again; if it happens again, report it"
                )
            time.sleep(0.005)
        return self

    def stop(self) -> None:
        """Stop serving and leave no thread behind. Does nothing when stopped already."""
        if self._running is None:
            return
        (server, thread), self._running = self._running, None
        self.stopping = server.should_exit = True
        thread.join(PATIENCE_S)
        if thread.is_alive():
            raise ServiceError("the rehearsal services did not stop", do="end the process")

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()


def _listening(port: int) -> socket.socket:
    # asyncio switches Nagle's delay off only for sockets that name their protocol: 40 ms a reply
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise ServiceError(
                f"port {port} of this machine ({HOST}) is taken by another program",
                do=f"end it if it is another `rehearse serve`, or add: --port {port % 65535 + 1}",
            ) from error
        raise ServiceError(f"cannot listen on {HOST}:{port}: {error.strerror}", do="choose another --port") from error
    return listener


def serve_forever(services: RehearsalServices, *, port: int) -> None:
    """Serve until SIGINT or SIGTERM, then stop. Call it from the main thread.

    Says on stderr that this is a simulator, and how its deployment is fetched; when ready, writes one JSON line to
    stdout: ``simulator``, ``url``, ``services`` (name to base URL), ``chainId`` and ``trader``.
    """
    stops = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, stops)  # the server's thread inherits it: here they are waited for
    try:
        click.echo(BANNER, err=True)
        services.start(port)
        ready = {"simulator": True, "url": services.url, "services": services.urls}
        ready |= {"chainId": CHAIN_ID, "trader": services.state.trader}
        click.echo(json.dumps(ready))
        words = " ".join(service_words(services.urls))
        click.echo(f"Pin it:\n  airlock-online deployment fetch --name rehearsal {words} -o deployment.json", err=True)
        signal.sigwait(stops)
    finally:
        services.stop()
