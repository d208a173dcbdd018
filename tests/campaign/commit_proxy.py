"""A TCP proxy before PostgreSQL that lets a chosen COMMIT reach the server and loses its answer with the connection."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_COMMIT = b"COMMIT\0"


class CommitProxy:
    """Counts the COMMITs of all connections; the answer of number ``lose`` is lost, once. 0 loses none."""

    def __init__(self, port: int) -> None:
        self._server = port
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port: int = self._listener.getsockname()[1]
        self.lose = self.commits = self.lost = 0
        self._lock = threading.Lock()

    def serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._pass, args=(client,), daemon=True).start()

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _pass(self, client: socket.socket) -> None:
        losing = threading.Event()
        with suppress(OSError), client, socket.create_connection(("127.0.0.1", self._server)) as server:
            threading.Thread(target=self._answers, args=(server, client, losing), daemon=True).start()
            while data := client.recv(65_536):
                if _COMMIT in data:
                    with self._lock:
                        self.commits += 1
                        if self.commits == self.lose:
                            losing.set()
                server.sendall(data)
            server.shutdown(socket.SHUT_RDWR)

    def _answers(self, server: socket.socket, client: socket.socket, losing: threading.Event) -> None:
        with suppress(OSError):
            while data := server.recv(65_536):
                if losing.is_set():  # it was committed, and nobody is told
                    self.lost += 1
                    break
                client.sendall(data)
            client.shutdown(socket.SHUT_RDWR)


@contextmanager
def commit_proxy(port: int) -> Iterator[CommitProxy]:
    """Run a proxy before the server at a port of loopback."""
    proxy = CommitProxy(port)
    thread = threading.Thread(target=proxy.serve, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        proxy.close()
        thread.join()
