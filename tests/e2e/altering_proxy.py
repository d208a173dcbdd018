"""A builder whose every answer can be altered on its way: what no fault of the rehearsal services says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from urllib.request import Request, urlopen

from serving import QuietHandler, serving


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


class _Handler(QuietHandler):
    server: AlteringProxy

    def answer(self) -> None:
        body = self.body() if self.command == "POST" else None
        asked = Request(self.server.to + self.path, data=body, headers={"content-type": "application/json"})
        with urlopen(asked) as answer:
            self.reply(answer.status, answer.headers["content-type"], self.server.alter(answer.read()))


@contextmanager
def altering(to: str) -> Iterator[AlteringProxy]:
    proxy = AlteringProxy(to)
    with serving(proxy):
        yield proxy
