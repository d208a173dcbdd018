"""The rehearsal services as something to start and stop: a server thread on loopback, for tests and for the command."""

from __future__ import annotations

import asyncio
import errno
import json
import logging
import signal
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Self, TextIO

import uvicorn

from airlock_rehearsal.chain.evm import Evm
from airlock_rehearsal.scenarios import service_words
from airlock_rehearsal.services.app import make_app
from airlock_rehearsal.services.faults import SERVICES, Faults
from airlock_rehearsal.services.runtime import Runtime
from airlock_rehearsal.services.settings import DEFAULT_TRADER, RehearsalSettings, checked
from airlock_rehearsal.services.transport import without_cuts
from airlock_rehearsal.services.venue.initial_state import set_up
from airlock_rehearsal.services.venue.mempool import Mempool
from airlock_shared.errors import ServiceError

HOST = "127.0.0.1"
PATIENCE_S = 10.0
"""How long a start or a stop may take, in seconds."""

BANNER = "SIMULATOR: rehearsal services with their own chain. Signatures made here are worth nothing elsewhere."


def wall_clock_ms() -> int:
    """Return the machine's time in unix milliseconds."""
    return time.time_ns() // 1_000_000


class RehearsalServices:
    """The services on one port of 127.0.0.1; a context manager that starts and stops them.

    ``trader`` holds the seeded positions; ``now_ms`` is the services' clock; ``faults`` may be replaced while they run;
    ``evm`` is an outside chain, where none is given there is one in memory. Raises ``UsageError`` for a real chain id, an
    unknown execution mode, a wrong address, or a chain that has a rehearsal's venue already.
    """

    def __init__(
        self,
        *,
        trader: str = DEFAULT_TRADER,
        settings: RehearsalSettings = RehearsalSettings(),  # noqa: B008  (immutable)
        now_ms: Callable[[], int] = wall_clock_ms,
        faults: Faults = Faults(),  # noqa: B008  (immutable)
        evm: Evm | None = None,
    ) -> None:
        self.state = set_up(settings, checked(settings, trader), now_ms, evm)
        self._runtime = Runtime(self.state, Mempool(self.state.venue.evm), faults)
        self._socket: socket.socket | None = None
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.url = ""

    @property
    def faults(self) -> Faults:
        """The faults in force."""
        return self._runtime.faults

    @faults.setter
    def faults(self, faults: Faults) -> None:
        self._runtime.faults = faults

    @property
    def posts(self) -> dict[str, Counter[str]]:
        """How many POSTs and PUTs each service received, per nonce or hash; ``relay`` apart from ``builder``."""
        return self.state.posts

    @property
    def urls(self) -> dict[str, str]:
        """The base URL of each service."""
        return {service: f"{self.url}/{service}" for service in SERVICES}

    @property
    def builder_url(self) -> str:
        """The builder's base URL, the specification's ``{base_url}``."""
        return self.urls["builder"]

    @property
    def batched_url(self) -> str:
        """The batched market's base URL, the specification's ``{batched_market_url}``."""
        return self.urls["batched"]

    @property
    def relayer_url(self) -> str:
        """The relayer's base URL."""
        return self.urls["relayer"]

    @property
    def twap_url(self) -> str:
        """The TWAP service's base URL."""
        return self.urls["twap"]

    @property
    def core_url(self) -> str:
        """The core API's base URL."""
        return self.urls["core"]

    @property
    def rpc_url(self) -> str:
        """The URL of the operator's node."""
        return self.urls["rpc"]

    def start(self, port: int = 0) -> Self:
        """Serve from a thread, on this port or a free one. Raises ``ServiceError`` when it does not come up."""
        self._socket = _listening(port)
        self.url = f"http://{HOST}:{self._socket.getsockname()[1]}"
        config = uvicorn.Config(
            make_app(self._runtime), log_config=None, log_level="warning", access_log=False, loop="asyncio", http="h11",
            ws="none", lifespan="on", server_header=False, timeout_graceful_shutdown=5,
        )  # fmt: skip
        self._server = uvicorn.Server(config)
        logging.getLogger("uvicorn.error").addFilter(without_cuts)
        self._thread = threading.Thread(target=self._serve, name="airlock rehearsal services", daemon=True)
        self._thread.start()
        give_up_at = time.monotonic() + PATIENCE_S
        while not self._server.started:
            if time.monotonic() > give_up_at or not self._thread.is_alive():
                self.stop()
                raise ServiceError(
                    "the rehearsal services did not start", do="run it again; if it happens again, report it"
                )
            time.sleep(0.005)
        return self

    def _serve(self) -> None:
        async def serve() -> None:
            self._loop = asyncio.get_running_loop()
            if self._server is not None and self._socket is not None:
                await self._server.serve(sockets=[self._socket])

        asyncio.run(serve())

    def stop(self) -> None:
        """Stop serving and leave no thread behind. Does nothing when stopped already."""
        server, thread, loop = self._server, self._thread, self._loop
        if server is None or thread is None or self._socket is None:
            return
        server.should_exit = True
        if loop is not None and thread.is_alive():
            loop.call_soon_threadsafe(self._runtime.end)
        thread.join(PATIENCE_S)
        self._socket.close()
        logging.getLogger("uvicorn.error").removeFilter(without_cuts)
        self._server = self._thread = self._loop = self._socket = None
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


def serve_forever(
    services: RehearsalServices, *, port: int = 0, out: TextIO | None = None, err: TextIO | None = None
) -> None:
    """Serve until SIGINT or SIGTERM, then stop. Call it from the main thread.

    Says on ``err`` that this is a simulator, and how its deployment is fetched; when ready, writes one JSON line to
    ``out``: ``simulator``, ``url``, ``services`` (name to base URL), ``chainId`` and ``trader``.
    """
    out, err = out or sys.stdout, err or sys.stderr
    over = threading.Event()

    def end(signum: int, frame: FrameType | None) -> None:  # noqa: ARG001  (a signal handler's signature)
        over.set()

    previous = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        err.write(BANNER + "\n")
        err.flush()
        services.start(port)
        ready = {"simulator": True, "url": services.url, "services": services.urls}
        out.write(
            json.dumps(ready | {"chainId": services.state.settings.chain_id, "trader": services.state.trader}) + "\n"
        )
        out.flush()
        words = " ".join(service_words(services.urls))
        err.write(f"Pin it:\n  airlock-online deployment fetch --name rehearsal {words} -o deployment.json\n")
        err.flush()
        over.wait()
    finally:
        services.stop()
        for number, handler in previous.items():
            signal.signal(number, handler)
