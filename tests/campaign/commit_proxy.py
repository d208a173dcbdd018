"""A TCP proxy before PostgreSQL that lets a chosen COMMIT reach the server and loses its answer with the connection."""

import socket
import threading
from contextlib import suppress
from socketserver import BaseRequestHandler, ThreadingTCPServer

_COMMIT = b"COMMIT\0"


class CommitProxy(ThreadingTCPServer):
    """Counts the COMMITs of all connections; the answer of number ``lose`` is lost, once."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, postgres: int, lose: int) -> None:
        super().__init__(("127.0.0.1", 0), _Connection)
        self.postgres, self.lose = postgres, lose
        self.commits = self.lost = 0
        self.lock = threading.Lock()


class _Connection(BaseRequestHandler):
    server: CommitProxy

    def handle(self) -> None:
        losing = threading.Event()
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.server.postgres)) as server:
            threading.Thread(target=self._answers, args=(server, losing), daemon=True).start()
            while data := self.request.recv(65_536):
                if _COMMIT in data:
                    with self.server.lock:
                        self.server.commits += 1
                        if self.server.commits == self.server.lose:
                            losing.set()
                server.sendall(data)
            server.shutdown(socket.SHUT_RDWR)

    def _answers(self, server: socket.socket, losing: threading.Event) -> None:
        with suppress(OSError):
            while data := server.recv(65_536):
                if losing.is_set():  # it was committed, and nobody is told
                    self.server.lost += 1
                    break
                self.request.sendall(data)
            self.request.shutdown(socket.SHUT_RDWR)
