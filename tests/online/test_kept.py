"""Connections that are kept for the next read: nothing on one is taken for an answer to another question, and waits end."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable

import pytest

from airlock_online.clients import kept_pool as kept
from airlock_online.clients.http import Http, NotSent, Timeouts
from airlock_shared.errors import ServiceError
from online.loopback import closed_port
from online.test_http import CA, server

SOON = Timeouts(connect=2, poll=1.0)
PLAIN = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"


def answer(number: int, *headers: bytes) -> bytes:
    body = json.dumps({"number": number}).encode()
    return (
        PLAIN + b"".join(header + b"\r\n" for header in headers) + b"content-length: %d\r\n\r\n%b" % (len(body), body)
    )


class Talk:
    """Answers each question on a connection by ``say``, which gets its number over all; counts connections."""

    def __init__(self, say: Callable[[int], bytes | None]) -> None:
        self.say = say
        self.questions: list[bytes] = []
        self.connections = 0

    def __call__(self, connection: socket.socket) -> None:
        self.connections += 1
        while True:
            came = b""
            while b"\r\n\r\n" not in came:
                more = connection.recv(4096)
                if not more:
                    return
                came += more
            self.questions.append(came)
            said = self.say(len(self.questions))
            if said is None:
                return
            connection.sendall(said)


def number_of(http: Http, port: int, name: str = "a", **query: int) -> int:
    found: int = json.loads(http.poll(f"http://127.0.0.1:{port}/{name}", query).body)["number"]
    return found


def test_many_questions_are_asked_on_one_connection() -> None:
    talk = Talk(answer)
    with server(talk) as port, Http(SOON) as http:
        assert [number_of(http, port, f"order-{n}", afterSeq=n) for n in range(20)] == list(range(1, 21))
    assert talk.connections == 1
    assert talk.questions[7].startswith(b"GET /order-7?afterSeq=7 HTTP/1.1\r\n")
    [head] = {question.partition(b"\r\n")[2].lower() for question in talk.questions}
    assert not any(name in head for name in (b"cookie", b"authorization", b"content-length"))


def test_https_is_kept_and_verified() -> None:
    talk = Talk(answer)
    with server(talk, tls=True) as port, Http(SOON, ca_file=CA) as http:
        for number in (1, 2, 3):
            assert json.loads(http.poll(f"https://127.0.0.1:{port}/a", {}).body) == {"number": number}
        with pytest.raises(NotSent):
            http.poll(f"https://localhost.example:{closed_port()}/a", {})
    assert talk.connections == 1
    with server(Talk(answer), tls=True) as port, Http(SOON) as http, pytest.raises(NotSent, match="CERTIFICATE"):
        http.poll(f"https://127.0.0.1:{port}/a", {})


def test_what_comes_behind_a_reply_is_no_reply_to_the_next_question() -> None:
    """Bytes in one piece with the reply, and bytes that come while nobody asks."""
    forged = answer(666)
    talk = Talk(lambda number: answer(number) + (forged if number % 2 else b""))
    with server(talk) as port, Http(SOON) as http:
        assert [number_of(http, port) for _ in range(6)] == [1, 2, 3, 4, 5, 6]
    late: list[threading.Timer] = []

    def say_later(connection: socket.socket) -> None:
        def say(number: int) -> bytes:
            late.append(threading.Timer(0.05, connection.sendall, (forged,)))
            late[-1].start()
            return answer(number)

        talk.say = say
        talk(connection)

    talk.questions.clear()
    with server(say_later) as port, Http(SOON) as http:
        for number in (1, 2, 3):
            assert number_of(http, port) == number
            time.sleep(0.15)
    for timer in late:
        timer.join()


def test_a_connection_that_was_closed_meanwhile_is_asked_again_on_a_new_one() -> None:
    def once(connection: socket.socket) -> None:
        connection.recv(4096)
        connection.sendall(answer(1))
        if connection.recv(4096):  # the next question is here when the connection ends
            again.append(1)

    again: list[int] = []
    with server(once) as port, Http(SOON) as http:
        assert [number_of(http, port) for _ in range(4)] == [1, 1, 1, 1]
    assert again == [1, 1, 1]  # each but the first came on a connection that then ended without a byte


@pytest.mark.parametrize("header", [b"connection: close", b"Connection: foo, Close"])
def test_a_connection_that_the_other_end_closes_is_not_kept(header: bytes) -> None:
    def once(connection: socket.socket) -> None:
        connection.recv(4096)
        connection.sendall(answer(1, header))

    with server(once) as port, Http(SOON) as http:
        assert [number_of(http, port) for _ in range(3)] == [1, 1, 1]


def test_one_that_has_waited_long_is_not_used_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "IDLE_S", 0.05)
    talk = Talk(answer)
    with server(talk) as port, Http(SOON) as http:
        number_of(http, port)
        time.sleep(0.1)
        number_of(http, port)
    assert talk.connections == 2


@pytest.mark.parametrize(
    "said",
    [
        PLAIN + b"content-length: 9\r\n\r\n{",
        PLAIN + b"transfer-encoding: chunked\r\n\r\n5\r\n{}",
        b"HTTP/1.1 200",
        b"HTTP/1.1 100 Continue\r\n\r\n",
        b"",
    ],
)
def test_an_answer_that_does_not_end_has_an_end(said: bytes) -> None:
    talk = Talk(lambda _: said)
    with server(talk) as port, Http(SOON) as http:
        began = time.monotonic()
        with pytest.raises(ServiceError, match="did not end in time") as failure:
            number_of(http, port)
        assert 0.9 < time.monotonic() - began < 3
        assert failure.value.unanswered
        talk.say = answer
        assert number_of(http, port) == 2  # on another connection
    assert talk.connections == 2


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (PLAIN + b"x: " + b"y" * 300_000, "broke"),
        (b"HTTP/1.1 100 Continue\r\nx: %b\r\n\r\n" % (b"y" * 2000) * 150, "broke"),
        (PLAIN + b"content-length: 3000\r\n\r\n" + b"x" * 3000, "larger than 2000 bytes"),
        (
            PLAIN + b"transfer-encoding: chunked\r\n\r\n" + b"3e8\r\n" + b"x" * 1000 + b"\r\n3e9\r\n" + b"x" * 1001,
            "larger",
        ),
        (PLAIN + b"content-length: 2\r\ncontent-encoding: gzip\r\n\r\n{}", "did not ask for"),
        (PLAIN + b"content-length: 2\r\ncontent-length: 3\r\n\r\n{}x", "broke"),
        (b"HTTP/2 200 OK\r\n\r\n", "broke"),
        (b"\x16\x03\x01\x00\x02", "broke"),
        (b"HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n", "broke"),
    ],
    ids=["endless-head", "many-heads", "large", "large-chunks", "encoded", "two-lengths", "http2", "tls", "101"],
)
def test_an_answer_that_is_no_plain_reply_is_refused_and_its_connection_is_not_used_again(
    said: bytes, why: str
) -> None:
    talk = Talk(lambda number: said if number == 1 else answer(number))
    with server(talk) as port, Http(SOON) as http:
        with pytest.raises(ServiceError, match=why):
            http.poll(f"http://127.0.0.1:{port}/a", {}, max_bytes=2000)
        assert number_of(http, port) == len(talk.questions) == 2


def test_a_command_that_ends_asks_nothing_more_and_waits_for_no_answer() -> None:
    talk = Talk(lambda number: answer(number) if number == 1 else b"")
    failures: list[ServiceError] = []
    with server(talk) as port:
        http = Http()
        number_of(http, port)

        def ask() -> None:
            try:
                number_of(http, port)
            except ServiceError as error:
                failures.append(error)

        asking = threading.Thread(target=ask)
        asking.start()
        while len(talk.questions) < 2:
            time.sleep(0.01)
        http.close()
        asking.join(5)
        assert not asking.is_alive()
        assert len(failures) == 1
        with pytest.raises(NotSent, match="ending"):
            number_of(http, port)
    assert len(talk.questions) == 2
