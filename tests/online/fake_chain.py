"""A chain on loopback, block by block: what a node tells of each, and how one that lags, or a pool, tells it wrong."""

from typing import Any, NamedTuple

from online.node import CHAIN_ID, Failure, Node

UNKNOWN_BLOCK = Failure(-32000, "header not found")
UNKNOWN_WORD = Failure(-32602, "invalid block number")


class Mined(NamedTuple):
    """A transaction in a block."""

    tx_hash: str
    sender: str
    nonce: int
    data: str = "0x"
    ok: bool = True
    logs: tuple[dict[str, Any], ...] = ()
    to: str | None = None


class FakeChain:
    """Blocks at the times given (unix s), number 0 first. ``finalized`` None: the node answers ``unfinal``.

    ``spent`` gives the block in which an (account, nonce) of a contract was marked. ``hidden`` are receipts that the node
    does not tell of, ``lags`` the newest block of the node that answers for receipts, ``logs_of`` the most blocks whose logs
    are told at once.
    """

    def __init__(
        self, *times: int, finalized: int | None = None, chain_id: int = CHAIN_ID, unfinal: Failure = UNKNOWN_WORD
    ) -> None:
        self.times = list(times)
        self.finalized, self.unfinal = finalized, unfinal
        self.chain_id = chain_id
        self.mined: dict[int, list[Mined]] = {}
        self.spent: dict[tuple[str, int], int] = {}
        self.views = True
        self.pruned_before = 0
        self.lags: int | None = None
        self.logs_of = 1000

    @property
    def newest(self) -> int:
        return len(self.times) - 1

    def mine(self, block: int, *mined: Mined) -> None:
        self.mined.setdefault(block, []).extend(mined)

    def node(self) -> Node:
        return Node(
            {
                "eth_chainId": lambda: hex(self.chain_id),
                "eth_blockNumber": lambda: hex(self.newest),
                "eth_getBlockByNumber": self._block,
                "eth_getTransactionCount": self._count,
                "eth_getTransactionReceipt": self._receipt,
                "eth_call": self._call,
                "eth_getLogs": self._logs,
            }
        )

    def _number(self, which: str) -> int | None:
        if which == "finalized":
            return self.finalized
        number = self.newest if which in ("latest", "pending") else int(which, 16)
        return number if number <= self.newest else None

    def _block(self, which: str, whole: bool) -> object:
        if which == "finalized" and self.finalized is None:
            return self.unfinal
        number = self._number(which)
        if number is None:
            return None
        mined = self.mined.get(number, [])
        told = [
            {"hash": m.tx_hash, "from": m.sender, "to": m.to, "nonce": hex(m.nonce), "input": m.data} for m in mined
        ]
        hashes: list[object] = [m.tx_hash for m in mined]
        return {"number": hex(number), "timestamp": hex(self.times[number]), "transactions": told if whole else hashes}

    def _count(self, account: str, which: str) -> object:
        number = self._number(which)
        if number is None or number < self.pruned_before:
            return UNKNOWN_BLOCK
        nonces = [m.nonce for b, all_ in self.mined.items() if b <= number for m in all_ if m.sender == account.lower()]
        return hex(max(nonces, default=-1) + 1)

    def _receipt(self, tx_hash: str) -> object:
        for number, all_ in self.mined.items():
            for mined in all_:
                if mined.tx_hash == tx_hash and number <= (self.newest if self.lags is None else self.lags):
                    status, logs = hex(mined.ok), list(mined.logs)
                    return {"transactionHash": tx_hash, "blockNumber": hex(number), "status": status, "logs": logs}
        return None

    def _logs(self, asked: dict[str, Any]) -> object:
        first, last = (int(asked[name], 16) for name in ("fromBlock", "toBlock"))
        if last - first >= self.logs_of:
            return Failure(-32005, f"more than {self.logs_of} blocks")
        kinds, topic = asked["topics"]
        logs = [log for n in range(first, last + 1) for m in self.mined.get(n, []) for log in m.logs]
        return [log for log in logs if log["topics"][0] in kinds and log["topics"][1] == topic]

    def _call(self, call: dict[str, str], which: str) -> object:
        number = self._number(which)
        if number is None or number < self.pruned_before:
            return UNKNOWN_BLOCK
        data = bytes.fromhex(call["data"][2:])
        if not self.views or data[:4].hex() != "4fe02b44":
            return "0x"
        account, word = "0x" + data[16:36].hex(), int.from_bytes(data[36:], "big")
        bits = sum(
            1 << (nonce & 255)
            for (owner, nonce), block in self.spent.items()
            if owner == account and nonce >> 8 == word and block <= number
        )
        return f"0x{bits:064x}"
