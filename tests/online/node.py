"""A JSON-RPC node on loopback that answers each method as a test says, and keeps what it was asked."""

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from online.loopback import Answer, Seen, Wire, reply

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


def in_turn(*answers: object) -> Callable[..., object]:
    """Return what answers with each of these in turn; the last one stays."""
    left = list(answers)
    return lambda *_: left.pop(0) if len(left) > 1 else left[0]


class Node(Wire):
    """The node, as a context manager. ``answers`` replaces some of the ``DEFAULTS``; ``asked`` is what came.

    An answer that can be called is given the parameters.
    """

    def __init__(self, answers: Mapping[str, object] | None = None) -> None:
        self.answers = {**DEFAULTS, **(answers or {})}
        self.asked: list[tuple[str, list[Any]]] = []
        super().__init__({"POST /rpc": self._answer})
        self.url += "/rpc"

    def _answer(self, seen: Seen) -> Answer:
        asked = json.loads(seen.body)
        self.asked.append((asked["method"], asked["params"]))
        said = self.answers[asked["method"]]
        said = said(*asked["params"]) if callable(said) else said
        if isinstance(said, Answer):
            return said
        told = {"error": said.as_json()} if isinstance(said, Failure) else {"result": said}
        return reply(200, {"jsonrpc": "2.0", "id": asked["id"], **told})

    @property
    def methods(self) -> list[str]:
        return [method for method, _ in self.asked]
