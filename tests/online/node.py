"""A JSON-RPC node on loopback that answers each method as a test says, and keeps what it was asked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http.server import ThreadingHTTPServer
from typing import Any, NamedTuple, Self

from serving import QuietHandler, serving

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

        class Handler(QuietHandler):
            def answer(self) -> None:
                body = json.loads(self.body())
                node.asked.append((body["method"], body["params"]))
                said = node.answers[body["method"]]
                said = said(*body["params"]) if callable(said) else said
                told = {"error": said.as_json()} if isinstance(said, Failure) else {"result": said}
                self.reply_json({"jsonrpc": "2.0", "id": body["id"], **told})

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{server.server_port}"
        self._serving = serving(server)

    @property
    def methods(self) -> list[str]:
        return [method for method, _ in self.asked]

    def __enter__(self) -> Self:
        self._serving.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._serving.__exit__(*error)
