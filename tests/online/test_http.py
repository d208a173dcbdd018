"""Connections: nothing of the environment, one's own authorities and proxy, and an end to every wait and size."""

from __future__ import annotations

import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from airlock_online.clients.connection import is_loopback
from airlock_online.clients.http import Http, HttpCall, NotSent, Timeouts
from airlock_shared.errors import ServiceError, UsageError
from online.loopback import Wire, closed_port, http
from shared.world import VECTORS

TLS = VECTORS / "tls"
CA = str(TLS / "ca.pem")
OK = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"
SOON = Timeouts(connect=2, head=1, silence=0.5, total=2, stream_silence=0.5, stream_total=2)

Talk = Callable[[socket.socket], None]


def read_request(connection: socket.socket) -> bytes:
    """Read a request to its end: what is left unread would reset the connection."""
    came = b""
    while b"\r\n\r\n" not in came and (more := connection.recv(4096)):
        came += more
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
    listener = socket.create_server(("127.0.0.1", 0))
    ending = threading.Event()

    def serve() -> None:
        while True:
            connection, _ = listener.accept()
            if ending.is_set():
                connection.close()
                return
            connection.settimeout(5)
            try:
                with context.wrap_socket(connection, server_side=True) if tls else connection as wrapped:
                    talk(wrapped)
            except OSError:  # the client went away, or did not believe the certificate
                connection.close()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        ending.set()
        socket.create_connection(listener.getsockname()).close()
        thread.join()
        listener.close()


def answer(connection: socket.socket) -> None:
    read_request(connection)
    connection.sendall(OK)


# ---- the environment -----------------------------------------------------------------------------------------------


def test_the_environment_names_no_certificates_no_proxy_and_no_key_log(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    keys = tmp_path / "keys"
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "somebody-elses.pem"))  # would be read, and is not there
    monkeypatch.setenv("SSLKEYLOGFILE", str(keys))  # would get the keys of every connection
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{closed_port()}")
    with server(answer, tls=True) as port, Http(ca_file=CA) as client:
        assert client.exchange(HttpCall("GET", f"https://127.0.0.1:{port}/")).body == b"{}"
    assert not keys.exists()


def test_the_environment_adds_no_authority(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", CA)
    monkeypatch.setenv("SSL_CERT_DIR", str(TLS))
    with server(answer, tls=True) as port, Http() as client, pytest.raises(NotSent, match="CERTIFICATE_VERIFY_FAILED"):
        client.exchange(HttpCall("GET", f"https://127.0.0.1:{port}/"))


# ---- authorities ---------------------------------------------------------------------------------------------------


def test_an_authority_of_the_venue_s_own_is_trusted_when_it_is_configured_and_else_not() -> None:
    with server(answer, tls=True) as port:
        call = HttpCall("POST", f"https://localhost:{port}/", body=b"{}")
        with Http(ca_file=CA) as client:
            assert client.exchange(call).status == 200
        with Http() as client, pytest.raises(NotSent, match="CERTIFICATE_VERIFY_FAILED"):
            client.exchange(call)


def test_the_certificate_has_to_be_of_the_name_that_was_asked_for() -> None:
    with server(answer, tls=True) as port, Http(ca_file=CA) as client, pytest.raises(NotSent):
        client.exchange(HttpCall("GET", f"https://127.0.0.2:{port}/"))


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


@contextmanager
def proxy(
    to: int, *, says: bytes = b"HTTP/1.1 200 Connection established\r\n\r\n"
) -> Iterator[tuple[int, list[bytes]]]:
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
    with (
        server(answer, tls=True) as port,
        proxy(port) as (between, asked),
        Http(ca_file=CA, proxy=f"http://127.0.0.1:{between}") as client,
    ):
        assert client.exchange(HttpCall("POST", "https://venue.test/x", body=b'{"secret":1}')).body == b"{}"
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


def test_a_handshake_that_fails_behind_a_proxy_sent_nothing() -> None:
    with (
        server(answer, tls=True) as port,
        proxy(port) as (between, _),
        Http(proxy=f"http://127.0.0.1:{between}") as client,
        pytest.raises(NotSent),
    ):  # the venue's authority is not known
        client.exchange(HttpCall("POST", "https://venue.test/x", body=b"{}"))


def test_an_answer_that_is_lost_behind_a_proxy_may_have_been_sent() -> None:
    def swallow(connection: socket.socket) -> None:
        read_request(connection)

    with (
        server(swallow, tls=True) as port,
        proxy(port) as (between, _),
        Http(ca_file=CA, proxy=f"http://127.0.0.1:{between}") as client,
        pytest.raises(ServiceError) as caught,
    ):
        client.exchange(HttpCall("POST", "https://venue.test/x", body=b"{}"))
    assert not isinstance(caught.value, NotSent)


def test_plain_http_through_a_proxy_may_have_been_sent_as_soon_as_a_byte_was_written() -> None:
    with (
        proxy(0, says=b"") as (between, asked),
        Http(proxy=f"http://127.0.0.1:{between}", plain_http=True) as client,
        pytest.raises(ServiceError) as caught,
    ):
        client.exchange(HttpCall("POST", "http://venue.test/x", body=b"{}"))
    assert not isinstance(caught.value, NotSent)
    assert asked[0].startswith(b"POST http://venue.test/x ")


# ---- plain http ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host", ["venue.test", "192.0.2.1", "10.0.0.1", "[2001:db8::1]", "localhost.venue.test", "127.0.0.1.nip.io"]
)
def test_plain_http_beyond_this_machine_is_refused(host: str) -> None:
    with Http() as client, pytest.raises(UsageError, match="plain_http"):
        client.exchange(HttpCall("GET", f"http://{host}/key?and=more"))


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.9.9.9", "::1"])
def test_this_machine_is_this_machine(host: str) -> None:
    assert is_loopback(host)


# ---- an end to everything ------------------------------------------------------------------------------------------


def drip(data: bytes, pause_s: float = 0.1) -> Talk:
    def talk(connection: socket.socket) -> None:
        read_request(connection)
        for number in range(len(data)):
            connection.sendall(data[number : number + 1])
            time.sleep(pause_s)

    return talk


@pytest.mark.parametrize(
    "data",
    [OK[:60], b"HTTP/1.1 100 Continue\r\n\r\n" * 20, b"HTTP/1.1 200 OK\r\nx: " + b"y" * 60],
    ids=["byte by byte", "continue", "a long header"],
)
@pytest.mark.parametrize("stream", [False, True])
def test_headers_that_drip_have_an_end(data: bytes, stream: bool) -> None:
    began = time.monotonic()
    with server(drip(data)) as port, Http(SOON) as client:
        call = HttpCall("POST", f"http://127.0.0.1:{port}/", body=b"{}")
        with pytest.raises(ServiceError, match="in time") as caught, client.open(call, stream=stream):
            pass
        took = time.monotonic() - began
    assert not isinstance(caught.value, NotSent)
    assert took < 2


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


def test_a_body_that_drips_has_an_end() -> None:
    began = time.monotonic()
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n"

    def talk(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(head)
        for _ in range(100):
            connection.sendall(b"x")
            time.sleep(0.1)

    with server(talk) as port, Http(SOON) as client, pytest.raises(ServiceError, match="in time"):
        client.exchange(HttpCall("GET", f"http://127.0.0.1:{port}/"))
    assert time.monotonic() - began < 15


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


def test_a_command_that_ends_sends_nothing_more() -> None:
    client = Http()
    client.close()
    with pytest.raises(NotSent, match="ending"):
        client.exchange(HttpCall("GET", f"http://127.0.0.1:{closed_port()}/"))
