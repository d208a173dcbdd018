"""A JSON-RPC node on loopback that answers each method as a test says, and keeps what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple, Self

CHAIN_ID = 84532
GWEI = 10**9


class Failure(NamedTuple):
    """A JSON-RPC error."""

    code: int
    message: str
    data: object = None

    def as_json(self) -> dict[str, object]:
        return {"code": self.code, "message": self.message} | ({} if self.data is None else {"data": self.data})


DEFAULTS: dict[str, object] = {
    "eth_chainId": hex(CHAIN_ID),
    "eth_blockNumber": "0x10",
    "eth_getTransactionCount": "0x7",
    "eth_estimateGas": hex(100_001),
    "eth_feeHistory": {"oldestBlock": "0x10", "baseFeePerGas": [hex(GWEI // 2), hex(GWEI)], "gasUsedRatio": [1.0]},
    "eth_maxPriorityFeePerGas": hex(GWEI // 10),
}


class Node:
    """The node, as a context manager. ``answers`` replaces some of the ``DEFAULTS``; ``asked`` is what came.

    An answer that can be called is given the parameters.
    """

    def __init__(self, answers: Mapping[str, object] | None = None) -> None:
        self.answers = {**DEFAULTS, **(answers or {})}
        self.asked: list[tuple[str, list[Any]]] = []
        node = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                node.asked.append((body["method"], body["params"]))
                answer = node.answers[body["method"]]
                answer = answer(*body["params"]) if callable(answer) else answer
                told = {"error": answer.as_json()} if isinstance(answer, Failure) else {"result": answer}
                data = json.dumps({"jsonrpc": "2.0", "id": body["id"], **told}).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def methods(self) -> list[str]:
        return [method for method, _ in self.asked]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
