"""A server of a test's own on loopback, in a thread of its own, from where the test needs it to where it does not."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from socketserver import TCPServer

_POLL_S = 0.01  # how long a server takes to notice that it is to end; the library's own is half a second


@contextmanager
def serving(server: TCPServer) -> Iterator[str]:
    """Serve until the end, and yield the server's address."""
    thread = threading.Thread(target=server.serve_forever, args=(_POLL_S,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class QuietHandler(BaseHTTPRequestHandler):
    """A handler that answers every method in one function, and logs nothing."""

    def answer(self) -> None:
        raise NotImplementedError

    def do_GET(self) -> None:
        self.answer()

    do_POST = do_PUT = do_GET  # noqa: N815 (the standard library's names)

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("content-length", 0)))

    def reply(self, status: int, kind: str, data: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"content-type": kind, "content-length": str(len(data)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def reply_json(self, document: object, status: int = 200) -> None:
        self.reply(status, "application/json", json.dumps(document).encode())

    def log_message(self, *_words: object) -> None:
        """Say nothing."""
