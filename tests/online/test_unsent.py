"""What may be sent again: only what the transport's own trace shows unwritten. No answer un-sends a request."""

import socket
from pathlib import Path
from typing import Any

import httpcore
import pytest

from airlock_online.clients.connection import HttpCall, NotSent
from airlock_online.clients.http import Http
from airlock_online.clients.rpc import RpcClient
from airlock_online.delivery.submit import follow_submission, submit_delivery
from airlock_online.journal.order_states import OrderState
from airlock_shared.errors import ServiceError, UsageError
from online.crash.orders import WAYS, order
from online.delivering_machine import DeliveringMachine, delivering_machine
from online.loopback import Answer, Wire, closed_port, reply
from online.test_http import server
from online.test_routes import FIRST, RPC

SENDINGS = {**FIRST, "batched-market": "POST /market/execute-batched", "rpc": RPC}
ELSEWHERE = ["//xn--/", "mailto:x", "http://", "http://[", "x:" + "y" * 70_000, "\x01", "http://a:99999/", "/again"]


@pytest.fixture
def desk(desk: DeliveringMachine) -> DeliveringMachine:
    desk.world = desk.world._replace(patience_s=0)
    return desk


def aim(desk: DeliveringMachine, way: str, base_url: str) -> Any:
    if way == "rpc":
        desk.world = desk.world._replace(node=RpcClient(base_url + "/rpc", desk.world.http))
    return order(way, base_url)


REDIRECTS = [(307, location) for location in ELSEWHERE] + [(status, ELSEWHERE[0]) for status in (301, 302, 303, 308)]


@pytest.mark.parametrize(("status", "location"), REDIRECTS, ids=lambda value: str(value)[:12])
@pytest.mark.parametrize("way", WAYS)
def test_a_redirect_cannot_unsend(desk: DeliveringMachine, way: str, status: int, location: str) -> None:
    answer = reply(status, {}, f"location: {location}")
    with Wire({SENDINGS[way]: [answer]}) as wire:
        delivery = aim(desk, way, wire.url)
        states = [submit_delivery(delivery, desk.world).state for _ in range(3)]
        states.append(follow_submission(delivery.digest, desk.world).state)
        method, _, path = SENDINGS[way].partition(" ")
        bodies = [seen.body for seen in wire.seen if (seen.method, seen.target) == (method, path)]
        sent = [body for body in bodies if way != "rpc" or b"eth_sendRawTransaction" in body]
        assert (set(states), len(sent)) == ({OrderState.UNKNOWN}, 1)


@pytest.mark.parametrize(
    ("step", "failure"),
    [
        ("_receive_response_headers", httpcore.ConnectError),
        ("_receive_response_headers", UnicodeError),
        ("_receive_response_headers", httpcore.UnsupportedProtocol),
        ("_receive_response_headers", OSError),
        ("_receive_response_headers", ValueError),
        ("_send_request_headers", httpcore.ConnectError),  # half way it may have arrived
    ],
)
def test_no_exception_unsends_a_request(monkeypatch: pytest.MonkeyPatch, step: str, failure: type[Exception]) -> None:
    def fail(*_: object, **__: object) -> None:
        raise failure("made up")

    monkeypatch.setattr(httpcore._sync.http11.HTTP11Connection, step, fail)
    with Wire({"POST /x": [reply(200, {})]}) as wire, Http() as http, pytest.raises(ServiceError) as caught:
        http.exchange(HttpCall("POST", wire.url + "/x", body=b"{}"))
    assert not isinstance(caught.value, NotSent)


@pytest.mark.parametrize("way", WAYS)
def test_where_nobody_listens_nothing_was_sent_and_it_may_be_sent(desk: DeliveringMachine, way: str) -> None:
    delivery = aim(desk, way, f"http://127.0.0.1:{closed_port()}")
    assert submit_delivery(delivery, desk.world).state is OrderState.PREPARED


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x15\x03\x03\x00\x02\x02\x28"])
def test_a_failed_tls_handshake_wrote_no_request(desk: DeliveringMachine, answer: bytes) -> None:
    came = []

    def say(connection: socket.socket) -> None:
        came.append(connection.recv(65536))
        connection.sendall(answer)

    with server(say) as port:
        outcome = submit_delivery(order("batched-market", f"https://127.0.0.1:{port}"), desk.world)
    assert outcome.state is OrderState.PREPARED
    assert [data[:1] for data in came] == [b"\x16"]  # a handshake, and no request
    assert b"POST" not in came[0]


@pytest.mark.parametrize("address", ["https://a..b", "https://" + "a" * 64 + ".example"])
def test_a_name_that_cannot_be_looked_up_sent_nothing(desk: DeliveringMachine, address: str) -> None:
    delivery = order("twap", "https://a.example")._replace(base_url=address)
    assert submit_delivery(delivery, desk.world).state is OrderState.PREPARED


@pytest.mark.parametrize(
    "address", ["http://market.example:99999", "ftp://market.example", "http://", "http://a b", "https://xn--"]
)
@pytest.mark.parametrize("way", [way for way in WAYS if way != "rpc"])
def test_what_cannot_be_built_is_found_before_the_claim(desk: DeliveringMachine, way: str, address: str) -> None:
    with pytest.raises(UsageError):
        submit_delivery(order(way, "https://market.example")._replace(base_url=address), desk.world)
    assert desk.world.journal.submissions() == []


@pytest.mark.parametrize(
    "call", [HttpCall("GET", "http://a/\n"), HttpCall("GET", "http://a/\u00e9"), HttpCall("G T", "http://a/")]
)
def test_a_request_line_that_is_none_is_refused_unsent(call: HttpCall) -> None:
    with Http() as http, pytest.raises(UsageError):
        http.exchange(call)


def test_an_answer_that_is_held_is_no_reason_to_send_again(tmp_path: Path) -> None:
    with Wire({SENDINGS["twap"]: [Answer(b"", hold=True)]}) as wire, delivering_machine(tmp_path / "j.sqlite") as desk:
        desk.world.http.timeouts = desk.world.http.timeouts._replace(silence=0.1)
        delivery = order("twap", wire.url)
        assert [submit_delivery(delivery, desk.world).state for _ in range(2)] == [OrderState.UNKNOWN] * 2
        assert wire.count("POST", "/twaps/cancel") == 1
