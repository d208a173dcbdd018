"""A venue in a process of its own, written from the specification: it counts what it is sent, and misbehaves by script.

``python -m campaign.venue`` prints its port. Each case has its own path, ``/CASE/...``, for all services and the node, so
that a POST is counted for its digest from the first line of its head on, however little of it comes. ``/_set/CASE`` says how
it answers, at which moment which process gets a signal, and ``/_told/CASE`` what it saw. No code is the rehearsal's.
"""

import json
import os
import random
import signal
import socket
import struct
import sys
import threading
import time
from collections import defaultdict
from contextlib import suppress
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import Any

from eth_hash.auto import keccak

from campaign.wire_faults import FAULTS, Sending, whole

GENESIS_S = int(time.time()) - 1_000
BLOCK_S = 0.1
CHAIN_ID = 31337
MOMENTS = ("head", "body", "half", "answered")
"""When the process that sends can get its signal: at its first line, at its last byte, within the answer, after it."""

BATCHED, RELAYER, TWAP, TRIGGER, RELAY, RPC = "batched-market", "relayer", "twap", "core-api", "relay", "rpc"
_HASH = "0x" + "e1" * 32


class Case:
    """What one case was sent and told; ``script`` is how it behaves."""

    def __init__(self) -> None:
        self.script: dict[str, Any] = {}
        self.posts = 0
        self.refused = 0
        self.taken_s = 0.0
        self.told_end = False
        self.polls = 0
        self.raw = ""
        self.signalled = False

    @property
    def taken(self) -> bool:
        return self.taken_s > 0

    def facts(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("posts", "refused", "taken", "told_end", "signalled")}


CASES: defaultdict[str, Case] = defaultdict(Case)
LOCK = threading.Lock()


def route_of(method: str, path: str) -> str:
    """Return the route of what takes a submission, empty for a read. ``/rpc`` shows in its body what it is."""
    match method, path.strip("/").split("/"):
        case "POST", ["market", "execute-batched"]:
            return BATCHED
        case "POST", ["intents"]:
            return RELAYER
        case "POST", ["twaps", "cancel"]:
            return TWAP
        case ("POST", ["price-triggers"]) | ("PUT", ["price-triggers", _]):
            return TRIGGER
        case "POST", ["v2", "relay"]:
            return RELAY
    return ""


class Answering(StreamRequestHandler):
    """One connection: a request, and its answer."""

    def handle(self) -> None:
        with suppress(OSError, ValueError):
            self._handle()

    def _handle(self) -> None:
        first = self.rfile.readline(65_536)
        if not first.endswith(b"\n"):
            return
        method, target, _ = first.decode().split(" ")
        path, _, query = target.partition("?")
        _, name, *rest = path.split("/")
        path = "/" + "/".join(rest)
        control = name in ("_set", "_told")
        case = CASES[rest[0] if control else name]
        route = "" if control else route_of(method, path)
        if route:
            self._begun(case)
        length = 0
        while (line := self.rfile.readline(65_536)).strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        body = self.rfile.read(length)
        if not line or len(body) < length:
            return
        if control:
            self._control(name, case, body)
            return
        if path == "/rpc" and json.loads(body)["method"] == "eth_sendRawTransaction":
            route = RPC
            self._begun(case)
        if route:
            self._submitted(case, route, method, path, body)
        else:
            self._send(whole(200, _read(case, path, query, body)))

    def _control(self, name: str, case: Case, body: bytes) -> None:
        if name == "_set":
            said = json.loads(body)
            if set(said) == {"pid"}:  # of the process that the script before waits for
                case.script |= said
            else:
                case.script, case.signalled = said, False
        self._send(whole(200, case.facts()))

    def _begun(self, case: Case) -> None:
        with LOCK:
            case.posts += 1
        self._moment(case, "head")

    def _moment(self, case: Case, moment: str) -> None:
        """Send the process of the script its signal, when this is its moment."""
        if case.script.get("moment") == moment and "pid" in case.script and not case.signalled:
            case.signalled = True
            with suppress(ProcessLookupError):
                os.kill(case.script["pid"], signal.Signals[case.script["signal"]])

    def _submitted(self, case: Case, route: str, method: str, path: str, body: bytes) -> None:
        if case.script.get("takes", True):
            case.taken_s = case.taken_s or time.time()
        document = json.loads(body)
        case.raw = document["params"][0] if route == RPC else document.get("rawTransaction", "")
        self._moment(case, "body")
        answer = whole(500, {"error": "nothing was taken"})
        if case.taken:
            answer = _stream(case) if route == BATCHED else whole(*_answer(case, route, method, path, document))
        fault = FAULTS[case.script["fault"]] if case.script.get("fault") else None
        if fault:
            answer = fault(answer, random.Random(case.script["seed"]))
            case.refused += answer.refuses and not case.taken
        ends = route in (BATCHED, TWAP, TRIGGER)
        self._send(answer, case, told=case.taken and ends and (answer.has_all or route == BATCHED))

    def _send(self, answer: Sending, case: Case | None = None, *, told: bool = False) -> None:
        pieces = answer.pieces
        if case and not answer.slow_s and len(pieces) == 1:
            pieces = [pieces[0][: len(pieces[0]) // 2], pieces[0][len(pieces[0]) // 2 :]]
        for number, piece in enumerate(pieces):
            if case and told and number == len(pieces) - 1:
                case.told_end = True
            self.connection.sendall(piece)
            if case and number == (len(pieces) - 1) // 2:
                self._moment(case, "half")
            time.sleep(answer.slow_s)
        if case:
            case.told_end |= told
            self._moment(case, "answered")
        if answer.ends == "hold":
            time.sleep(90)
        if answer.ends == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _events(case: Case) -> list[tuple[int, str, dict[str, Any]]]:
    """Return the life of a market order, as the specification's table of events has it."""
    ends: dict[str, tuple[str, dict[str, Any]]] = {
        "success": ("MarketOrderExecuted", {"orderId": 7, "price": "30000000000000"}),
        "declined": ("MarketOrderCanceled", {"orderId": 7}),
        "failed": ("Error", {"status": "failed", "code": "TX_NOT_EXECUTED", "message": "no"}),
    }
    end = ends[case.script.get("end", "success")]
    tracking: dict[str, Any] = {"trackingId": "track-1"}
    return [
        (0, "MarketOrderAccepted", tracking),
        (1, "AttemptFailed", {"attempt": 1, "code": "NO_PRICE", "message": "wait", "willRetry": True}),
        (2, "MarketOrderInitiated", {"orderId": 7}),
        (3, end[0], end[1] | tracking),
    ]


def _stream(case: Case) -> Sending:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
    frames = [f"event: {kind}\nid: {seq}\ndata: {json.dumps(said)}\n\n".encode() for seq, kind, said in _events(case)]
    return Sending([head, *frames])


def _answer(case: Case, route: str, method: str, path: str, document: Any) -> tuple[int, Any]:
    match route:
        case "relayer":
            return 202, {"ok": True, "data": {"id": "relayed-1", "status": "pending"}}
        case "twap":
            return 201, {"twapId": int(document["twapId"]), "transactionHash": _HASH, "blockNumber": 5}
        case "core-api":
            if method == "PUT":
                return 200, {"oldEntityId": path.rpartition("/")[2], "newEntityId": "e-2"}
            return 201, {"entityId": "e-2"}
        case "relay":
            return 200, {"ok": True, "data": {"hash": _hash_of(case.raw)}}
    return 200, {"jsonrpc": "2.0", "id": document["id"], "result": _hash_of(case.raw)}


def _hash_of(raw: str) -> str:
    return "0x" + keccak(bytes.fromhex(raw[2:])).hex()


def _read(case: Case, path: str, query: str, body: bytes) -> Any:
    """Return the answer to a read: true of what was taken, and it tells an end as soon as there is one."""
    said = dict(part.partition("=")[::2] for part in query.split("&"))
    case.polls += 1
    ended = case.taken and case.polls > case.script.get("pending", 0)
    good = case.script.get("end", "success") == "success"
    match path.strip("/").split("/"):
        case ["rpc"]:
            return _rpc(case, json.loads(body), ended=ended, good=good)
        case ["tracking-id", _, "status"]:
            after = int(said.get("afterSeq", "-1"))
            known = _events(case)[: None if ended else -1] if case.taken else []
            case.told_end |= ended
            return {"events": [{"seq": s, "type": t, "payload": p, "at": 1} for s, t, p in known if s > after]}
        case ["intents", relay_id] if ended:
            case.told_end = True
            return _ok({"id": relay_id, "status": "confirmed" if good else "reverted", "transactionHash": _HASH})
        case ["v2", "relay", tx_hash] if ended:
            case.told_end = True
            status = "confirmed" if good else "reverted"
            return _ok({"hash": tx_hash, "status": status, "blockNumber": 5})
        case ["intents", one]:
            return _ok({"id": one, "status": "pending"})
        case ["v2", "relay", one]:
            return _ok({"hash": one, "status": "pending"})
        case ["v2", *_] if "check" in said:
            return _ok({"nonce": said["check"], "trader": said.get("trader"), "space": said.get("space", "trading"),
                        "used": case.taken})  # fmt: skip
    return {"ok": False, "error": {"code": "NOT_FOUND", "message": "no such read"}}


def _rpc(case: Case, asked: dict[str, Any], *, ended: bool, good: bool) -> Any:
    head = int((time.time() - GENESIS_S) / BLOCK_S)
    own = int((case.taken_s - GENESIS_S) / BLOCK_S) + 1
    result: Any = None
    match asked["method"]:
        case "eth_chainId":
            result = hex(CHAIN_ID)
        case "eth_blockNumber":
            result = hex(head)
        case "eth_getBlockByNumber":
            block = asked["params"][0]
            number = head if block in ("finalized", "latest") else int(block, 16)
            result = {"number": hex(number), "timestamp": hex(int(GENESIS_S + number * BLOCK_S)), "transactions": []}
        case "eth_getTransactionCount":
            result = hex(10_000 if case.taken and own <= head else 0)
        case "eth_getTransactionReceipt" if ended and own <= head and asked["params"][0] == _hash_of(case.raw):
            case.told_end = True
            result = {"transactionHash": asked["params"][0], "blockNumber": hex(own), "status": hex(good), "logs": []}
    return {"jsonrpc": "2.0", "id": asked["id"], "result": result}


def _ok(data: dict[str, Any]) -> dict[str, Any]:
    return {"ok": True, "data": data}


class Venue(ThreadingTCPServer):
    """Each connection in a thread of its own."""

    daemon_threads = True
    request_queue_size = 512

    def shutdown_request(self, request: Any) -> None:
        """Close a connection, and say nothing before: it may be one to reset."""
        self.close_request(request)


def main() -> None:
    """Serve until the standard input is closed."""
    server = Venue(("127.0.0.1", 0), Answering)
    print(server.server_address[1], flush=True)
    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
    server.serve_forever()


if __name__ == "__main__":
    main()
