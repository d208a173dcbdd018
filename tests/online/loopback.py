"""A server on loopback that answers byte for byte what a test says, broken HTTP included, and keeps what it was sent.

The rehearsal services are the one stand-in for the venue; this is for what no HTTP server can be made to say.
"""

from __future__ import annotations

import json
import socket
import socketserver
import struct
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Self

from serving import serving


class Answer(NamedTuple):
    """The bytes of a reply, and whether the connection then ends with a reset, or is held open without a word."""

    data: bytes
    reset: bool = False
    hold: bool = False


class Seen(NamedTuple):
    """A request as it came."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


def http(status: int, body: bytes, content_type: str = "application/json", *headers: str) -> Answer:
    head = [f"HTTP/1.1 {status} X", f"content-type: {content_type}", f"content-length: {len(body)}", *headers]
    return Answer("\r\n".join(head).encode() + b"\r\n\r\n" + body)


Script = Mapping[str, Sequence[Answer] | Callable[[Seen], Answer]]


def reply(status: int, document: object, *headers: str) -> Answer:
    return http(status, json.dumps(document).encode(), "application/json", *headers)


def stream(*frames: bytes, content_type: str = "text/event-stream") -> Answer:
    """Return a stream that ends with the connection, as one without a content length does."""
    return Answer(f"HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\n\r\n".encode() + b"".join(frames))


def frame(kind: str, payload: object, seq: int | None = None) -> bytes:
    own_id = "" if seq is None else f"id: {seq}\n"
    return f"event: {kind}\n{own_id}data: {json.dumps(payload)}\n\n".encode()


class _Handler(socketserver.StreamRequestHandler):
    server: _Server

    def handle(self) -> None:
        method, target, _ = self.rfile.readline().decode().split(" ")
        headers = {}
        while line := self.rfile.readline().strip().decode():
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        body = self.rfile.read(int(headers.get("content-length", "0")))
        answer = self.server.next_answer(Seen(method, target, headers, body))
        self.wfile.write(answer.data)
        self.wfile.flush()
        if answer.hold:
            self.rfile.read()  # until the client gives up
        if answer.reset:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = False

    def __init__(self, script: Script, watch: Callable[[Seen], None]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self._watch = watch
        self.script = {name: told if callable(told) else list(told) for name, told in script.items()}
        self.seen: list[Seen] = []
        self._lock = threading.Lock()

    def next_answer(self, seen: Seen) -> Answer:
        with self._lock:
            self.seen.append(seen)
            self._watch(seen)
            answers = self.script.get(f"{seen.method} {seen.target.partition('?')[0]}")
            if callable(answers):
                return answers(seen)
            if answers is None:
                status = 501 if seen.target.partition("?")[0].endswith("/status") else 404  # a 404 denies the order
                return reply(status, {"statusCode": status, "message": "no such path"})
            return answers.pop(0) if len(answers) > 1 else answers[0]


class Wire:
    """The server, as a context manager. ``script`` gives each "METHOD /path" its answers in turn; the last one stays.

    Instead of answers it may give what makes one of a request. ``watch`` is called with each request before it is answered.
    """

    def __init__(self, script: Script, watch: Callable[[Seen], None] = lambda _: None) -> None:
        self._server = _Server(script, watch)
        self._serving = serving(self._server)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def seen(self) -> list[Seen]:
        return self._server.seen

    def count(self, method: str, path: str) -> int:
        return sum(seen.method == method and seen.target.partition("?")[0] == path for seen in self.seen)

    def __enter__(self) -> Self:
        self._serving.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._serving.__exit__(*error)


def closed_port() -> int:
    """Return a port on loopback on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
