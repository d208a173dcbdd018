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
from types import TracebackType
from typing import Self

import click
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from airlock_rehearsal.chain.mempool import Mempool
from airlock_rehearsal.scenarios import service_words
from airlock_rehearsal.services.builder import routes
from airlock_rehearsal.services.delivery import market, relayer, rpc
from airlock_rehearsal.services.delivery.relayer import relay_routes
from airlock_rehearsal.services.delivery.twap_core import core_routes, twap_routes
from airlock_rehearsal.services.envelope import Json, Refused, request_fields
from airlock_rehearsal.services.faults import FAULTS, SERVICES, Faults
from airlock_rehearsal.services.runtime import CHAIN_ID, DEFAULT_TRADER, RehearsalSettings, Runtime, checked
from airlock_rehearsal.services.transport import without_cuts
from airlock_rehearsal.services.venue.order_lifecycle import Market
from airlock_rehearsal.services.venue.venue_state import set_up
from airlock_shared.errors import ServiceError, UsageError

# ---- app ------------------------------------------------------------------------------------------------------------
# The rehearsal's one ASGI application: the services under their prefixes, and the rehearsal's own switches.
# ``GET /rehearsal/counters`` gives how many POSTs and PUTs each service received per nonce or transaction hash; ``GET
# /rehearsal/faults`` the faults there are and those in force; ``PUT /rehearsal/faults`` with ``{"faults": [names]}``
# replaces them.


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
            Mount("/relayer", routes=relayer.routes(runtime)),
            Mount("/twap", routes=twap_routes(runtime)),
            Mount("/core", routes=core_routes(runtime)),
            rpc.rpc_route(runtime),
            Mount("/rehearsal", routes=_switches(runtime)),
        ],
        exception_handlers={404: _not_found, 405: _not_allowed},
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
                return Refused(str(error)).reply(enveloped=False)
        known = {name: fault._asdict() for name, fault in FAULTS.items()}
        return Json({"simulator": True, "in_force": sorted(runtime.faults.names), "known": known})

    return [
        Route("/counters", counters, methods=["GET"]),
        Route("/faults", faults, methods=["GET", "PUT"]),
    ]


async def _not_found(_request: Request, _error: Exception) -> Response:
    return Refused("no such endpoint", "NOT_FOUND", status=404).reply(enveloped=True)


async def _not_allowed(request: Request, _error: Exception) -> Response:
    return Refused(f"not by {request.method}", "METHOD_NOT_ALLOWED", status=405).reply(enveloped=True)


# ---- server ---------------------------------------------------------------------------------------------------------


HOST = "127.0.0.1"
PATIENCE_S = 10.0
"""How long a start or a stop may take, in seconds."""

MARK = ("x-airlock-rehearsal", "simulator")
"""The header on every reply."""

BANNER = "SIMULATOR: rehearsal services with their own chain. Signatures made here are worth nothing elsewhere."


def wall_clock_ms() -> int:
    """Return the machine's time in unix milliseconds."""
    return time.time_ns() // 1_000_000


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
        now_ms: Callable[[], int] = wall_clock_ms,
        faults: Faults = Faults(),  # noqa: B008  (immutable)
    ) -> None:
        state = set_up(settings, checked(trader), now_ms)
        super().__init__(state, Mempool(state.venue.evm), faults)
        self.posts = state.posts
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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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
