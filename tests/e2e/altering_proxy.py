"""A builder whose every answer can be altered on its way: what no fault of the rehearsal services says."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.request import Request, urlopen


class AlteringProxy(ThreadingHTTPServer):
    """Forwards to the service at ``to``; ``alter`` makes another body of each that comes back."""

    daemon_threads = True

    def __init__(self, to: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.to = to
        self.alter: Callable[[bytes], bytes] = lambda body: body

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: AlteringProxy

    def do_GET(self) -> None:
        self._forward(None)

    def do_POST(self) -> None:
        self._forward(self.rfile.read(int(self.headers["content-length"])))

    def _forward(self, body: bytes | None) -> None:
        asked = Request(self.server.to + self.path, data=body, headers={"content-type": "application/json"})
        with urlopen(asked) as answer:
            data = self.server.alter(answer.read())
            self.send_response(answer.status)
            self.send_header("content-type", answer.headers["content-type"])
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_words: object) -> None:
        """Say nothing."""


@contextmanager
def altering(to: str) -> Iterator[AlteringProxy]:
    proxy = AlteringProxy(to)
    thread = threading.Thread(target=proxy.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield proxy
    finally:
        proxy.shutdown()
        thread.join()
        proxy.server_close()
