"""Connections: nothing of the environment, forms that everybody uses, kept ones, and an end to every wait and size."""

import json
import os
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from socketserver import BaseRequestHandler, TCPServer

import pytest

from airlock_online.addresses import shown_address
from airlock_online.clients import kept_pool as kept
from airlock_online.clients.api_key import ApiKey, read_api_key
from airlock_online.clients.builder import BuilderClient
from airlock_online.clients.connection import HttpCall, NotSent, Reply, code_of, json_of, reason_text
from airlock_online.clients.http import FOREVER_S, Http, Timeouts
from airlock_online.clients.rpc import RpcClient
from airlock_online.config import ApiKeySettings
from airlock_online.secrets import redact
from airlock_shared.errors import DocumentError, ServiceError, UsageError
from commands import FinishedCommand, run_command
from draws import every_nth
from e2e.conftest import OFFLINE, ONLINE
from online.loopback import Answer, Wire, closed_port, http, reply
from serving import serving
from shared.world import VECTORS

TLS = VECTORS / "tls"
CA = str(TLS / "ca.pem")
PLAIN = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
OK = PLAIN + b"content-length: 2\r\n\r\n{}"
SOON = Timeouts(connect=2, head=1, silence=0.5, total=2, stream_silence=0.5, stream_total=2)

Talk = Callable[[socket.socket], object]


def read_request(connection: socket.socket) -> bytes:
    """Read a request to its end, empty at the connection's: what is left unread would reset the connection."""
    came = b""
    while b"\r\n\r\n" not in came and (more := connection.recv(4096)):
        came += more
    if not came:
        return b""
    head, _, body = came.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)content-length: (\d+)", head)
    while length and len(body) < int(length[1]) and (more := connection.recv(4096)):
        body += more
    return head + b"\r\n\r\n" + body


@contextmanager
def server(talk: Talk, *, tls: bool = False) -> Iterator[int]:
    """Yield the port of a server that talks so with each connection, one after another."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(TLS / "venue.pem")

    class Talking(BaseRequestHandler):
        def handle(self) -> None:
            self.request.settimeout(5)
            with suppress(OSError):  # the client went away, or did not believe the certificate
                if tls:
                    with context.wrap_socket(self.request, server_side=True) as wrapped:
                        talk(wrapped)
                else:
                    talk(self.request)

    listening = TCPServer(("127.0.0.1", 0), Talking)
    with serving(listening):
        yield listening.server_address[1]


def answer(connection: socket.socket) -> None:
    read_request(connection)
    connection.sendall(OK)


def test_the_environment_names_no_authority_proxy_or_key_log(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "somebody-elses.pem"))  # would be read, and is not there
    monkeypatch.setenv("SSLKEYLOGFILE", str(keys))  # would get the keys of every connection
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{closed_port()}")
    with server(answer, tls=True) as port, Http(ca_file=CA) as client:
        assert client.exchange(HttpCall("GET", f"https://127.0.0.1:{port}/")).body == b"{}"
    assert not keys.exists()


def test_a_configured_authority_alone_is_trusted_and_for_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", CA)
    monkeypatch.setenv("SSL_CERT_DIR", str(TLS))
    with server(answer, tls=True) as port:
        call = HttpCall("POST", f"https://localhost:{port}/", body=b"{}")
        with Http(ca_file=CA) as client:
            assert client.exchange(call).status == 200
            with pytest.raises(NotSent):
                client.exchange(HttpCall("GET", f"https://127.0.0.2:{port}/"))
        with Http() as client, pytest.raises(NotSent, match="CERTIFICATE_VERIFY_FAILED"):
            client.exchange(call)


@pytest.mark.parametrize(
    "text", [None, "", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"]
)
def test_a_file_that_holds_no_authority_is_a_usage_error_and_nothing_is_sent(tmp_path: Path, text: str | None) -> None:
    file = tmp_path / "ca.pem"
    if text is not None:
        file.write_text(text)
    with Http(ca_file=str(file)) as client, pytest.raises(UsageError, match="ca_file"):
        client.exchange(HttpCall("GET", f"https://127.0.0.1:{closed_port()}/"))


# ---- a proxy -------------------------------------------------------------------------------------------------------


CONNECTED = b"HTTP/1.1 200 Connection established\r\n\r\n"


@contextmanager
def proxy(to: int, *, says: bytes = CONNECTED) -> Iterator[tuple[int, list[bytes]]]:
    """Yield the port of a proxy that connects everybody to one port, or says something else, and what it was asked."""
    asked: list[bytes] = []

    def talk(connection: socket.socket) -> None:
        asked.append(read_request(connection))
        connection.sendall(says)
        if b" 200 " not in says:
            return
        with socket.create_connection(("127.0.0.1", to)) as beyond:
            pumps = [threading.Thread(target=pump, args=ways) for ways in ((connection, beyond), (beyond, connection))]
            for thread in pumps:
                thread.start()
            for thread in pumps:
                thread.join()

    with server(talk) as port:
        yield port, asked


def pump(one: socket.socket, other: socket.socket) -> None:
    try:
        while data := one.recv(65536):
            other.sendall(data)
        other.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def test_what_goes_through_a_proxy_is_for_the_venue_alone_to_read() -> None:
    call = HttpCall("POST", "https://venue.test/x", body=b'{"secret":1}')
    with server(answer, tls=True) as port, proxy(port) as (between, asked):
        with Http(ca_file=CA, proxy=f"http://127.0.0.1:{between}") as client:
            assert client.exchange(call).body == b"{}"
        with Http(proxy=f"http://127.0.0.1:{between}") as client, pytest.raises(NotSent):
            client.exchange(call)  # the venue's authority is not known
    assert asked[0].startswith(b"CONNECT venue.test:443 HTTP/1.1\r\n")
    assert b"secret" not in asked[0]


def test_this_machine_is_reached_without_the_proxy() -> None:
    with Wire({"GET /x": [http(200, b"{}")]}) as wire, Http(proxy=f"http://127.0.0.1:{closed_port()}") as client:
        assert client.exchange(HttpCall("GET", wire.url + "/x")).status == 200


@pytest.mark.parametrize(
    "says", [b"HTTP/1.1 403 Forbidden\r\n\r\n", b"HTTP/1.1 502 Bad\r\n\r\n", b"", b"nonsense\r\n\r\n"]
)
def test_a_proxy_that_refuses_to_connect_was_sent_nothing_of_the_request(says: bytes) -> None:
    with (
        proxy(0, says=says) as (between, _),
        Http(proxy=f"http://127.0.0.1:{between}") as client,
        pytest.raises(NotSent),
    ):
        client.exchange(HttpCall("POST", "https://venue.test/x", body=b"{}"))


@pytest.mark.parametrize(("scheme", "says"), [("https", CONNECTED), ("http", b"")])
def test_an_answer_that_is_lost_behind_a_proxy_may_have_been_sent(scheme: str, says: bytes) -> None:
    """As soon as a byte of the request was written; through a tunnel that is one to the venue."""
    with (
        server(read_request, tls=True) as port,
        proxy(port, says=says) as (between, asked),
        Http(ca_file=CA, proxy=f"http://127.0.0.1:{between}", plain_http=True) as client,
        pytest.raises(ServiceError) as caught,
    ):
        client.exchange(HttpCall("POST", f"{scheme}://venue.test/x", body=b"{}"))
    assert not isinstance(caught.value, NotSent)
    assert asked[0].startswith(b"CONNECT " if scheme == "https" else b"POST http://venue.test/x ")


@pytest.mark.parametrize(
    "host", ["venue.test", "10.0.0.1", "[2001:db8::1]", "localhost.venue.test", "127.0.0.1.nip.io"]
)
def test_plain_http_beyond_this_machine_is_refused(host: str) -> None:
    with Http() as client, pytest.raises(UsageError, match="plain_http"):
        client.exchange(HttpCall("GET", f"http://{host}/key?and=more"))


# ---- an end to everything ------------------------------------------------------------------------------------------


def drip(data: bytes, first: bytes) -> Talk:
    """Say the first bytes at once, and the others one by one."""

    def talk(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(first)
        for number in range(len(data)):
            connection.sendall(data[number : number + 1])
            time.sleep(0.1)

    return talk


@pytest.mark.parametrize(
    ("first", "data"),
    [
        (b"", OK[:60]),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 20),
        (b"", b"HTTP/1.1 200 OK\r\nx: " + b"y" * 60),
        (PLAIN + b"content-length: 100\r\n\r\n", b"x" * 100),
    ],
    ids=["byte by byte", "continue", "a long header", "a body"],
)
@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_that_drips_has_an_end(first: bytes, data: bytes, stream: bool) -> None:
    began = time.monotonic()
    with server(drip(data, first)) as port, Http(SOON) as client:
        call = HttpCall("POST", f"http://127.0.0.1:{port}/", body=b"{}")
        with pytest.raises(ServiceError, match="in time") as caught, client.open(call, stream=stream) as reply:
            list(reply.chunks)
        took = time.monotonic() - began
    assert not isinstance(caught.value, NotSent)
    assert took < (15 if first else 2)


def test_a_handshake_that_drips_has_an_end() -> None:
    def talk(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(b"\x16\x03\x03\x40\x00\x02")
        for _ in range(50):
            time.sleep(0.1)
            connection.sendall(b"\0")

    began = time.monotonic()
    with server(talk) as port, Http(SOON) as client:
        with pytest.raises(NotSent):
            client.exchange(HttpCall("POST", f"https://127.0.0.1:{port}/", body=b"{}"))
        took = time.monotonic() - began
    assert took < 3


@pytest.mark.parametrize(
    "head",
    [b"HTTP/1.1 100 Continue\r\nx: " + b"y" * 60_000 + b"\r\n\r\n", b"HTTP/1.1 200 OK\r\nx: " + b"y" * (1 << 20)],
    ids=["continued without end", "one long header"],
)
def test_a_head_is_not_read_past_its_cap(head: bytes) -> None:
    sent = 0

    def talk(connection: socket.socket) -> None:
        nonlocal sent
        read_request(connection)
        while sent < 64 << 20:
            connection.sendall(head)
            sent += len(head)

    with server(talk) as port, Http() as client, pytest.raises(ServiceError) as caught:
        client.exchange(HttpCall("POST", f"http://127.0.0.1:{port}/", body=b"{}"))
    assert not isinstance(caught.value, NotSent)
    assert sent < 16 << 20


def test_a_body_may_have_more_bytes_than_a_head(client: Http) -> None:
    body = b"x" * (1 << 20)
    with Wire({"POST /": [http(200, body)]}) as wire:
        assert client.exchange(HttpCall("POST", wire.url + "/", body=b"{}")).body == body


NOW_S = 784_111_777.0  # 1994-11-06 08:49:37, the moment of RFC 9110's examples
DATE = "date: Sun, 06 Nov 1994 08:49:37 GMT"
GOOD = reply(200, {"ok": True, "data": [1]})


@pytest.fixture
def client(naps: list[float]) -> Iterator[Http]:
    with Http(sleep=naps.append, now_s=lambda: NOW_S) as client:
        yield client


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7),
        ("Sun, 06 Nov 1994 08:49:57 GMT", 20),
        ("Sun Nov  6 08:49:57 1994", 20),
        ("Sun, 06 Nov 1994 08:48:37 GMT", 0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", FOREVER_S),
        ("1.5", None),
        ("\xb2", None),
    ],
)
def test_every_form_of_retry_after_is_read(client: Http, header: str, seconds: int | None) -> None:
    with Wire({"GET /x": [http(503, b"{}", "application/json", f"retry-after: {header}")]}) as wire:
        assert client.exchange(HttpCall("GET", wire.url + "/x")).retry_after_s == seconds
        assert client.poll(wire.url + "/x", {}).retry_after_s == seconds


def test_a_date_to_come_again_is_of_the_service_s_own_clock(naps: list[float]) -> None:
    waits = reply(503, {}, "retry-after: Sun, 06 Nov 1994 08:49:57 GMT", DATE)
    with Wire({"GET /x": [waits]}) as wire, Http(now_s=lambda: NOW_S + 3600) as client:
        assert client.exchange(HttpCall("GET", wire.url + "/x")).retry_after_s == 20


@pytest.mark.parametrize("status", [429, 502, 503, 504, 301, 400, 500])
def test_a_read_comes_again_when_it_is_told_to_wait_and_only_then(client: Http, naps: list[float], status: int) -> None:
    waits = status in (429, 502, 503, 504)
    away = reply(status, {}, "retry-after: Sun, 06 Nov 1994 08:49:57 GMT")
    with Wire({"GET /v2/pairs": [away, GOOD]}) as wire, nullcontext() if waits else pytest.raises(ServiceError):
        assert BuilderClient(wire.url, client).read("pairs") == [1]
    assert naps == ([20] if waits else [])


@pytest.mark.parametrize(
    "page", [reply(503, {}, "retry-after: 31"), http(503, b"<p>Away", "text/html", "retry-after: 31")]
)
def test_a_long_wait_is_told_with_the_error(client: Http, naps: list[float], page: Answer) -> None:
    with Wire({"GET /v2/pairs": [page]}) as wire, pytest.raises(ServiceError, match="asking to wait 31 s") as caught:
        BuilderClient(wire.url, client).read("pairs")
    assert (naps, caught.value.retry_after_s) == ([], 31)
    assert caught.value.do == "wait 31 s, then run it again"


@pytest.mark.parametrize(
    ("location", "told"),
    [
        ("https://new.example/v2/pairs", "https://new.example/v2/pairs"),
        ("https://name:secret@new.example/a?key=secret#secret", "https://new.example/a"),
        ("//new.example/a", "http://new.example/a"),
        ("/v3/pairs", "/v3/pairs"),
        ("https://new.example/\x1b[2J", "u{1b}"),
        ("https://[", "what is no address"),
    ],
)
def test_a_redirect_is_told_with_its_place_and_not_followed(client: Http, location: str, told: str) -> None:
    answer = http(308, b"<p>Moved to <a href='https://secret'>here</a>", "text/html", f"location: {location}")
    with Wire({"GET /v2/pairs": [answer]}) as wire, pytest.raises(ServiceError) as caught:
        BuilderClient(wire.url, client).read("pairs")
    if "\x1b" in location:  # no header has one
        assert "\x1b" not in str(caught.value)
        return
    assert told in caught.value.what
    assert "secret" not in caught.value.what
    assert (len(wire.seen), "or name that path in the services file" in caught.value.do) == (1, True)


@pytest.mark.parametrize("kind", ["text/plain", "application/json"])
def test_of_a_node_s_redirect_the_origin_alone_is_told(client: Http, kind: str) -> None:
    answer = http(301, b"{}", kind, "location: https://node.example/v3/0123456789abcdef")
    with Wire({"POST /v3/0123456789abcdef": [answer]}) as wire, pytest.raises(ServiceError) as caught:
        RpcClient(wire.url + "/v3/0123456789abcdef", client).chain_id()
    assert "a redirect to https://node.example, which" in caught.value.what
    assert "0123456789abcdef" not in caught.value.what


PAGE = (
    b"<!DOCTYPE html><html><head><title>502 Bad&nbsp;Gateway</title><style>p {color: red}</style></head>"
    b"<body><script>alert('x')</script><!-- <b> --><h1>502</h1>\n<hr>nginx &lt;1&gt;</body></html>"
)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b'{"detail": [{"loc": ["body", "pairIndex"], "msg": "no"}]}', "body.pairIndex: no"),
        (b'{"errors": {"pairIndex": ["no", "never"]}}', "pairIndex: no; pairIndex: never"),
        (b'{"error": {"code": "NO", "message": "m", "details": {"a": "b"}}}', "NO; m; a: b"),
        (b'{"error": {"errors": [{"reason": "no"}]}}', "no"),
        (b'{"type": "about:blank", "title": "Bad Request", "status": 400, "detail": "no"}', "Bad Request; no"),
        (b'{"trace": "not this", "message": "no"}', "no"),
        (b'{"message": ["a", "a", "b"], "error": "a"}', "a; b"),
        (b'{"message": 5}', '{"message": 5}'),
        (b'{"message": "a\\u001b[2Jb"}', "a\\u{1b}[2Jb"),
        (b"slow down", "slow down"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (PAGE, "502 Bad Gateway 502 nginx <1>"),
        (b"a < b and b > a", "a < b and b > a"),
        (b"<html>\x1b]0;x\x07", "\\u{1b}]0;x\\u{7}"),
    ],
)
def test_a_reason_is_read_where_it_stands_and_made_safe(body: bytes, text: str) -> None:
    assert reason_text(body) == text


def test_a_reason_is_cut_with_its_length() -> None:
    assert reason_text(json.dumps({"message": "x" * 2000}).encode()).endswith("[2000 characters, 1500 not shown]")
    deep: object = "x"
    for _ in range(20):
        deep = {"errors": [deep]}
    assert len(reason_text(json.dumps({"message": ["y"] * 10_000, "errors": deep}).encode())) < 600


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "it is empty"),
        (b'{"ok"', "Expecting"),
        (b'"\xff"', "decode byte"),
        (b'{"ok": 1, "ok": 2}', "appears twice"),
        (b"<html><h1>Service away</h1>", "asking to wait 7 s: Service away"),
    ],
)
def test_a_reply_that_is_no_json_is_not_taken_for_a_persons_file(body: bytes, why: str) -> None:
    with pytest.raises(ServiceError, match=f"not strict JSON .*: .*{why}") as caught:
        json_of(Reply(503, "application/json", body, 7), "the venue")
    assert ("perhaps" in str(caught.value), caught.value.retry_after_s) == (False, 7)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"error": {"code": "GEO_RESTRICTED"}}, "GEO_RESTRICTED"),
        ({"error": "GEO_RESTRICTED"}, "GEO_RESTRICTED"),
        ({"error": "no such thing"}, ""),
        ({"code": "x" * 65}, ""),
        ({"code": "\x1b"}, ""),
    ],
)
def test_a_code_is_a_word_wherever_it_stands(client: Http, body: object, code: str) -> None:
    assert code_of(json.dumps(body).encode()) == code
    with Wire({"POST /v2/intents/close": [reply(451, body)]}) as wire, pytest.raises(ServiceError) as caught:
        BuilderClient(wire.url, client).call("/v2/intents/close", {})
    assert caught.value.code == code


# ---- connections that are kept for the next read -------------------------------------------------------------------


KEPT_SOON = Timeouts(connect=2, poll=1.0)


def answers(number: int, *headers: bytes) -> bytes:
    body = json.dumps({"number": number}).encode()
    return (
        PLAIN + b"".join(header + b"\r\n" for header in headers) + b"content-length: %d\r\n\r\n%b" % (len(body), body)
    )


class KeptTalk:
    """Answers each question on a connection by ``say``, which gets its number over all; counts connections."""

    def __init__(self, say: Callable[[int], bytes]) -> None:
        self.say = say
        self.questions: list[bytes] = []
        self.connections = 0

    def __call__(self, connection: socket.socket) -> None:
        self.connections += 1
        while question := read_request(connection):
            self.questions.append(question)
            connection.sendall(self.say(len(self.questions)))


def number_of(http: Http, port: int, name: str = "a", **query: int) -> int:
    found: int = json.loads(http.poll(f"http://127.0.0.1:{port}/{name}", query).body)["number"]
    return found


def test_many_questions_are_asked_on_one_connection() -> None:
    talk = KeptTalk(answers)
    with server(talk) as port, Http(KEPT_SOON) as http:
        assert [number_of(http, port, f"order-{n}", afterSeq=n) for n in range(20)] == list(range(1, 21))
    assert talk.connections == 1
    assert talk.questions[7].startswith(b"GET /order-7?afterSeq=7 HTTP/1.1\r\n")
    [head] = {question.partition(b"\r\n")[2].lower() for question in talk.questions}
    assert not any(name in head for name in (b"cookie", b"authorization", b"content-length"))


def test_https_is_kept_and_verified() -> None:
    talk = KeptTalk(answers)
    with server(talk, tls=True) as port, Http(KEPT_SOON, ca_file=CA) as http:
        for number in (1, 2, 3):
            assert json.loads(http.poll(f"https://127.0.0.1:{port}/a", {}).body) == {"number": number}
        with pytest.raises(NotSent):
            http.poll(f"https://localhost.example:{closed_port()}/a", {})
    assert talk.connections == 1
    with (
        server(KeptTalk(answers), tls=True) as port,
        Http(KEPT_SOON) as http,
        pytest.raises(NotSent, match="CERTIFICATE"),
    ):
        http.poll(f"https://127.0.0.1:{port}/a", {})


def test_what_comes_behind_a_reply_is_no_reply_to_the_next_question() -> None:
    """Bytes in one piece with the reply, and bytes that come while nobody asks."""
    forged = answers(666)
    talk = KeptTalk(lambda number: answers(number) + (forged if number % 2 else b""))
    with server(talk) as port, Http(KEPT_SOON) as http:
        assert [number_of(http, port) for _ in range(6)] == [1, 2, 3, 4, 5, 6]
    late: list[threading.Timer] = []

    def say_later(connection: socket.socket) -> None:
        def say(number: int) -> bytes:
            late.append(threading.Timer(0.05, connection.sendall, (forged,)))
            late[-1].start()
            return answers(number)

        talk.say = say
        talk(connection)

    talk.questions.clear()
    with server(say_later) as port, Http(KEPT_SOON) as http:
        for number in (1, 2, 3):
            assert number_of(http, port) == number
            late[-1].join()


def test_a_connection_that_was_closed_meanwhile_is_asked_again_on_a_new_one() -> None:
    def once(connection: socket.socket) -> None:
        connection.recv(4096)
        connection.sendall(answers(1))
        if connection.recv(4096):  # the next question is here when the connection ends
            again.append(1)

    again: list[int] = []
    with server(once) as port, Http(KEPT_SOON) as http:
        assert [number_of(http, port) for _ in range(4)] == [1, 1, 1, 1]
    assert again == [1, 1, 1]  # each but the first came on a connection that then ended without a byte


@pytest.mark.parametrize("header", [b"connection: close", b"Connection: foo, Close"])
def test_a_connection_that_the_other_end_closes_is_not_kept(header: bytes) -> None:
    def once(connection: socket.socket) -> None:
        connection.recv(4096)
        connection.sendall(answers(1, header))

    with server(once) as port, Http(KEPT_SOON) as http:
        assert [number_of(http, port) for _ in range(3)] == [1, 1, 1]


def test_one_that_has_waited_long_is_not_used_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "IDLE_S", 0.05)
    talk = KeptTalk(answers)
    with server(talk) as port, Http(KEPT_SOON) as http:
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
    talk = KeptTalk(lambda _: said)
    with server(talk) as port, Http(KEPT_SOON) as http:
        began = time.monotonic()
        with pytest.raises(ServiceError, match="did not end in time") as failure:
            number_of(http, port)
        assert 0.9 < time.monotonic() - began < 3
        assert failure.value.unanswered
        talk.say = answers
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
    said: bytes, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("airlock_online.clients.http.MAX_JSON_BYTES", 2000)
    talk = KeptTalk(lambda number: said if number == 1 else answers(number))
    with server(talk) as port, Http(KEPT_SOON) as http:
        with pytest.raises(ServiceError, match=why):
            http.poll(f"http://127.0.0.1:{port}/a", {})
        assert number_of(http, port) == len(talk.questions) == 2


def test_a_command_that_ends_asks_nothing_more_and_waits_for_no_answer() -> None:
    talk = KeptTalk(lambda number: answers(number) if number == 1 else b"")
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


# ---- A venue's API key: to the origins that were written out, from a file of its owner alone, and on no screen ------


KEY = "kV7pQ2mZ9xRt4LsWc8Yd"
HERE = "http://127.0.0.1:8000"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "key"
    path.write_text(KEY + "\n")
    path.chmod(0o600)
    return path


def settings(file: object = "", header: str = "X-Api-Key", addresses: str = HERE) -> ApiKeySettings:
    return ApiKeySettings(header, str(file), addresses)


def test_a_key_goes_to_its_origins_and_to_no_other(file: Path) -> None:
    good = {"GET /x": [reply(200, {})] * 2}
    with Wire(good) as ours, Wire(good) as others:
        key = read_api_key(settings(file, addresses=f"https://venue.example {ours.url}"), "")
        with Http(api_key=key) as http:
            http.exchange(HttpCall("GET", f"{ours.url}/x"))
            http.exchange(HttpCall("GET", f"{others.url}/x"))
            http.exchange(HttpCall("GET", f"{ours.url.replace('127.0.0.1', 'localhost')}/x"))
    assert [seen.headers.get("x-api-key") for seen in (*ours.seen, *others.seen)] == [KEY, None, None]


def test_the_environment_stands_in_for_the_file_and_a_key_has_no_text() -> None:
    assert read_api_key(ApiKeySettings(), "") is None
    assert read_api_key(settings(), KEY) == ApiKey("X-Api-Key", KEY, frozenset({("http", "127.0.0.1", 8000)}))
    assert repr(ApiKey("X-Api-Key", KEY, frozenset())) == "ApiKey(X-Api-Key)"


@pytest.mark.parametrize("value", [KEY, f"Bearer {KEY}", f"{KEY}.{KEY[::-1]}.{KEY.lower()}"])
def test_no_output_shows_a_key_that_was_read(value: str) -> None:
    read_api_key(settings(), value)
    for text in (value, f"said {value.upper()} and more", f'{{"echo": "x{value}y"}}', value[-18:]):
        assert not any(piece in redact(text).lower() for piece in (KEY.lower(), KEY[::-1].lower()[:16]))


def _linked(path: Path) -> None:
    path.rename(path.with_name("real"))
    path.symlink_to("real")


@pytest.mark.parametrize(
    "change",
    [
        _linked,
        Path.unlink,
        lambda file: file.chmod(0o640),
        lambda file: file.chmod(0o604),
        lambda file: file.write_text("k" * 5000),
    ],
)
def test_a_file_that_is_not_its_owners_alone_is_refused(file: Path, change: Callable[[Path], object]) -> None:
    change(file)
    with pytest.raises((UsageError, DocumentError)):
        read_api_key(settings(file), "")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_somebody_else_is_refused(file: Path) -> None:
    os.chown(file, 12345, 12345)
    with pytest.raises(UsageError, match="owner"):
        read_api_key(settings(file), "")


@pytest.mark.parametrize(
    "value", ["short", "fifteen-letters", "with a blank in the middle of it", f"{KEY}\r\nX-Other: 1", f"{KEY}\n{KEY}",
              "é" * 20, f"{KEY}.short", "x" * 32, "0" * 40, f"bearer {KEY}"],
)  # fmt: skip
def test_a_value_that_could_not_be_kept_out_of_the_outputs_is_refused(value: str) -> None:
    with pytest.raises(UsageError, match="can be kept out of every output") as caught:
        read_api_key(settings(), value)
    assert value not in str(caught.value)


NO_ORIGINS = (
    "", "venue.example", "http://venue.example", "https://venue.example/path", "https://a@venue.example", "https://",
    "ftp://venue.example", "https://venue.example?x", "https://venue.example:99999", "*",
    "https://ok.example http://plain.example",
)  # fmt: skip
NO_HEADERS = ("Host", "content-length", "Cookie", "Proxy-Authorization", "X Key", "X-Key:", "", "é")


@pytest.mark.parametrize(
    "wrong", [*(settings(addresses=each) for each in NO_ORIGINS), *(settings(header=each) for each in NO_HEADERS)]
)
def test_an_address_that_is_no_origin_and_a_header_that_is_ours_or_none_are_refused(wrong: ApiKeySettings) -> None:
    with pytest.raises(UsageError, match=r"\[api_key\]"):
        read_api_key(wrong, KEY)


def test_two_keys_or_none_are_refused(file: Path) -> None:
    with pytest.raises(UsageError, match="both"):
        read_api_key(settings(file), KEY)
    with pytest.raises(UsageError, match="no key"):
        read_api_key(settings(), "")
    with pytest.raises(UsageError, match="no header"):
        read_api_key(ApiKeySettings(file=str(file)), "")


# ---- no part of an address but scheme and host is shown, whatever is wrong with it; a home is where its name says ---


SECRET = "SECRETSECRET1"
ADDRESSES = [
    f"http://user:{SECRET}@127.0.0.1:1/x", f"http://user:{SECRET}@127.0.0.1:99999/x", f"http://us@er:{SECRET}@[bad/x",
    f"http//user:{SECRET}@host", f"http://user:12/{SECRET}@host", f"http://127.0.0.1:1/?apikey={SECRET}",
    f"http://127.0.0.1:1/#{SECRET}", f"ftp://user:{SECRET}@host/x", f"http://user:SE/{SECRET}@host",
    f"HTTP://127.0.0.1:1/{SECRET}", f"http://127.0.0.1:1/{SECRET}@x",
]  # fmt: skip


@pytest.mark.parametrize("address", ADDRESSES)
def test_of_an_address_scheme_and_host_are_shown(address: str) -> None:
    assert SECRET not in shown_address(address)


@pytest.mark.parametrize(
    "address", every_nth(ADDRESSES[:-2], 3)
)  # of the last two, plain ones, a service's path is no secret
@pytest.mark.parametrize(
    "words",
    [
        ("ready", "--builder", "{}"), ("deployment", "fetch", "--name", "x", "--builder", "{}", "-o", "d.json"),
        ("deployment", "fetch", "--name", "x", "--builder", "http://127.0.0.1:1", "--relayer", "{}", "-o", "d.json"),
    ],
)  # fmt: skip
def test_no_command_line_s_address_is_said_again(tmp_path: Path, address: str, words: tuple[str, ...]) -> None:
    _says_nothing(tmp_path, [word.format(address) for word in words])


@pytest.mark.parametrize("address", every_nth(ADDRESSES, 3))
@pytest.mark.parametrize("section", ['[rpc]\nurl = "{}"', '[api_key]\nheader = "X-Api-Key"\naddresses = "{}"'])
@pytest.mark.parametrize("words", [("config", "show"), ("config", "show", "--json"), ("doctor",)])
def test_no_setting_s_address_is_said_again(tmp_path: Path, address: str, section: str, words: tuple[str, ...]) -> None:
    (tmp_path / "config.toml").write_text(section.format(address))
    _says_nothing(tmp_path, list(words), **({"AIRLOCK_API_KEY": "a" * 24} if "api_key" in section else {}))


def _says_nothing(home: Path, words: list[str], **variables: str) -> None:
    ended = _run(ONLINE, ["--home", str(home), *words], home, **variables)
    assert SECRET.lower() not in (ended.out + ended.err).lower()


def _run(program: object, words: list[str], folder: Path, **variables: str) -> FinishedCommand:
    return run_command(program, *words, env={**os.environ, **variables}, cwd=folder)


def test_a_password_is_not_fetched_into_a_deployment(tmp_path: Path) -> None:
    words = "deployment fetch --name x --builder http://127.0.0.1:1 -o d.json --relayer".split()
    ended = _run(ONLINE, ["--home", str(tmp_path), *words, f"http://user:{SECRET}@127.0.0.1:1"], tmp_path)
    assert (ended.code, "carries credentials" in ended.err) == (2, True)


@pytest.mark.parametrize(
    ("program", "variable", "words"),
    [(ONLINE, "AIRLOCK_ONLINE_HOME", ["status"]), (OFFLINE, "AIRLOCK_OFFLINE_HOME", ["config", "show"])],
)
def test_a_home_is_one_place(tmp_path: Path, program: object, variable: str, words: list[str]) -> None:
    own = {"HOME": str(tmp_path / "me")}
    ended = _run(program, words, tmp_path, **own, **{variable: "~/x"})
    assert f"{tmp_path}/me/x" in "".join((ended.out + ended.err).split("\n  "))
    for name in ("x", "./x", "../x", "~nobody-has-this-name/x"):
        ended = _run(program, words, tmp_path, **own, **{variable: name})
        assert (ended.code, ended.out) == (2, "")
        assert f"{variable} is not an absolute name" in " ".join(ended.err.split())
    assert list(tmp_path.iterdir()) == []
