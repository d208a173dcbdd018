"""A venue that counts: every endpoint that takes a submission, and the reads that tell what became of it.

What it has taken it keeps, whatever happens to the connection; how often it was asked to take anything, it counts from the
first line of the request's head. It can be killed at any of its steps: it then resets every connection, and refuses new
ones until it is back, with all that it had taken. Where the first question after that is answered that it is pending, the
next one tells the end.
"""

import json
import socket
import struct
import threading
from contextlib import suppress
from typing import Any, NamedTuple, Self
from urllib.parse import parse_qsl

from airlock_online.delivery.routes.rpc import transaction_hash

HASH = "0x" + "ee" * 32
BLOCK = 41
MANY = 10_000  # transactions: more than any nonce of the vectors
Event = tuple[str, dict[str, object]]
EVENTS: tuple[Event, ...] = (
    ("MarketOrderAccepted", {}),
    ("MarketOrderInitiated", {"orderId": 9}),
    ("AttemptFailed", {"attempt": 1, "code": "PRICE_STALE", "message": "price is stale", "willRetry": True}),
    ("MarketOrderExecuted", {"orderId": 9, "price": "30000000000000"}),
)
"""The life of a market order, by the sequence number."""
RESET = struct.pack("ii", 1, 0)
STREAMED = "/market/execute-batched"
STREAM_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"


class Request(NamedTuple):
    method: str
    path: str
    query: str
    body: bytes


class _Down(Exception):
    """The service is dead."""


class Venue:
    """The service at ``url``, as a context manager. ``die_at`` is the step at which it dies, from 1; 0 is never."""

    now_ms = 0
    """The chain's time."""
    chain_id = 84532
    pending = 1
    """How many questions about what was taken are answered that it is pending."""
    good = True
    """Whether what was taken succeeds."""
    last = EVENTS[-1]
    """The event that ends a market order."""
    told_end = False
    """Whether an end was told in a read."""

    def __init__(self, *, die_at: int = 0) -> None:
        self.started = self.steps = self._polls = 0
        self.bodies: list[bytes] = []
        """What was taken, a body for every time."""
        self._stored = False  # a price trigger: its nonce stays unused
        self._die_at, self._down = die_at, False
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._handlers: list[threading.Thread] = []
        self._listen(0)
        self.url = f"http://127.0.0.1:{self._port}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.die()
        for thread in (self._acceptor, *self._handlers):
            thread.join()

    @property
    def taken(self) -> int:
        """How often a whole submission came."""
        return len(self.bodies)

    def settle(self) -> None:
        """Return when everything that had been sent is dealt with. The senders must have closed their connections."""
        if not self._down:
            with socket.create_connection(("127.0.0.1", self._port)) as last:  # accepted after all before it
                last.shutdown(socket.SHUT_WR)
                last.recv(1)
        else:
            self._acceptor.join()
        for thread in list(self._handlers):
            thread.join()

    def revive(self) -> None:
        """Come back at the same address, and die no more."""
        if self._down:
            self._acceptor.join()
            self._down, self._die_at = False, 0
            self._listen(self._port)

    def _listen(self, port: int) -> None:
        self._socket = socket.create_server(("127.0.0.1", port), backlog=512)
        self._port: int = self._socket.getsockname()[1]
        self._acceptor = threading.Thread(target=self._accept)
        self._acceptor.start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._handle, args=(connection,))
            with self._lock:
                self._open.add(connection)
                self._handlers.append(thread)
            thread.start()

    def _handle(self, connection: socket.socket) -> None:
        with suppress(OSError, _Down):  # the client died, or this service did
            self._serve(connection)
        with self._lock:
            self._open.discard(connection)
        connection.close()

    def die(self) -> None:
        """Reset every connection, and refuse new ones until :meth:`revive`."""
        self._down = True
        with suppress(OSError):  # it was closed before
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        with self._lock:
            for connection in self._open:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                with suppress(OSError):  # the client has left
                    connection.shutdown(socket.SHUT_RDWR)

    def _step(self) -> None:
        if self._down:
            raise _Down
        with self._lock:
            self.steps += 1
            dying = self.steps == self._die_at
        if dying:
            self.die()
            raise _Down

    def _serve(self, connection: socket.socket) -> None:
        with connection.makefile("rb") as lines:
            first = lines.readline()
            if not first.endswith(b"\n"):
                return
            method, target, _ = first.decode().split(" ")
            path, _, query = target.partition("?")
            submitting = method in ("POST", "PUT") and path != "/rpc"
            if submitting:
                self._count_start()
            self._step()
            length = 0
            while (line := lines.readline().lower()).strip():
                if line.startswith(b"content-length:"):
                    length = int(line.partition(b":")[2])
            body = lines.read(length)
        if not line or len(body) < length:  # the client died before it had sent all
            return
        request = Request(method, path, query, body)
        if path == "/rpc" and json.loads(body)["method"] == "eth_sendRawTransaction":
            self._count_start()
            submitting = True
        if submitting:
            self._step()
            self._take(request)
        self._step()
        self._answer(connection, request, submitting=submitting)

    def _count_start(self) -> None:
        with self._lock:
            self.started += 1

    def _take(self, request: Request) -> None:
        with self._lock:
            self.bodies.append(request.body)
            self._stored = request.path.startswith("/price-triggers")

    def _answer(self, connection: socket.socket, request: Request, *, submitting: bool) -> None:
        del submitting
        if request.path == STREAMED:
            connection.sendall(STREAM_HEAD)
            for frame in self._frames(request):
                self._step()
                connection.sendall(frame[: len(frame) // 2])
                self._step()
                connection.sendall(frame[len(frame) // 2 :])
            self._step()
            return
        status, document = self._document(request)
        text = json.dumps(document).encode()
        head = f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {len(text)}\r\n\r\n"
        connection.sendall(head.encode())
        self._step()
        connection.sendall(text)
        self._step()

    def _life(self, order: str) -> list[dict[str, Any]]:
        return [
            {"seq": seq, "type": kind, "payload": {"trackingId": order, **payload}, "at": 1}
            for seq, (kind, payload) in enumerate([*EVENTS[:-1], self.last])
        ]

    def _frames(self, request: Request) -> list[bytes]:
        life = self._life(tracking_id(json.loads(request.body)["erc712"]["userIntent"]))
        frame = ": keep-alive\n\nid: {}\nevent: {}\ndata: {}\n\n"
        return [frame.format(each["seq"], each["type"], json.dumps(each["payload"])).encode() for each in life]

    def _document(self, request: Request) -> tuple[int, object]:
        match request.method, request.path.strip("/").split("/"):
            case "GET", [*_, "nonce"]:
                asked = dict(parse_qsl(request.query))
                used = self.taken > 0 and not self._stored
                return 200, _ok({**asked, "nonce": asked["check"], "used": used})
            case "POST", ["rpc"]:
                return 200, self._rpc(json.loads(request.body))
            case "POST", ["intents"]:
                return 202, _ok({"id": "r-1", "status": "pending"})
            case "POST", ["twaps", "cancel"]:
                twap_id = int(json.loads(request.body)["twapId"])
                return 201, {"twapId": twap_id, "transactionHash": HASH, "blockNumber": BLOCK}
            case "POST", ["price-triggers"]:
                return 201, {"entityId": "e-2"}
            case "PUT", ["price-triggers", old]:
                return 200, {"oldEntityId": old, "newEntityId": "e-2"}
            case "POST", ["v2", "relay"]:
                return 200, _ok({"hash": _hash_of(json.loads(request.body)["rawTransaction"])})
        return self._read(request)

    def _read(self, request: Request) -> tuple[int, object]:
        match request.path.strip("/").split("/"):
            case ["v2", "relay", hash_]:
                return 200, _ok({"hash": hash_, **self._in_turn(hash_)})
            case _ if not self.taken:
                return 404, {"statusCode": 404, "message": "not found"}
            case ["tracking-id", order, "status"]:
                after = int(request.query.removeprefix("afterSeq=") or -1)
                known = self._life(order)[: None if self._ended() else -1]
                return 200, {"events": known[after + 1 :]}
            case ["intents", "r-1"]:
                return 200, _ok({"id": "r-1", **self._in_turn()})
        return 404, {"statusCode": 404, "message": "no such path"}

    def _ended(self) -> bool:
        """Return whether the end is told by now; from then on it is."""
        with self._lock:
            self._polls += bool(self.bodies)
            ended = self._polls > self.pending and bool(self.bodies)
            self.told_end |= ended
        return ended

    def _in_turn(self, hash_: str = HASH) -> dict[str, object]:
        if not self._ended():
            return {"status": "pending"}
        return {"status": "confirmed" if self.good else "reverted", "transactionHash": hash_, "blockNumber": BLOCK}

    def _rpc(self, asked: dict[str, object]) -> dict[str, object]:
        params = asked["params"]
        assert isinstance(params, list)
        result: object = None
        match asked["method"]:
            case "eth_sendRawTransaction":
                result = _hash_of(params[0])
            case "eth_getTransactionReceipt" if params[0] == HASH or self._ended():
                status = hex(self.good)
                result = {"transactionHash": params[0], "blockNumber": hex(BLOCK), "status": status, "logs": []}
            case "eth_blockNumber":
                result = hex(BLOCK + 2)
            case "eth_chainId":
                result = hex(self.chain_id)
            case "eth_getBlockByNumber":
                number = hex(BLOCK + 2) if params[0] == "finalized" else params[0]
                result = {"number": number, "timestamp": hex(self.now_ms // 1000), "transactions": []}
            case "eth_call":  # the contract's bitmap
                result = "0x" + ("ff" if self.taken and not self._stored else "00") * 32
            case "eth_getTransactionCount":
                result = hex(MANY if self._polls else 0)
        return {"jsonrpc": "2.0", "id": asked["id"], "result": result}


def tracking_id(intent: str) -> str:
    return f"t-{intent[-8:]}"


def _hash_of(raw: str) -> str:
    return "0x" + transaction_hash(bytes.fromhex(raw[2:])).hex()


def _ok(data: dict[str, object]) -> dict[str, object]:
    return {"ok": True, "data": data}
