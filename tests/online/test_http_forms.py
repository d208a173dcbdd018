"""Forms of HTTP that everybody uses: when to come again, where a redirect leads, why a service said no."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from airlock_online.clients.builder import BuilderClient, BuilderError
from airlock_online.clients.connection import code_of, reason_text
from airlock_online.clients.http import FOREVER_S, Http, HttpCall
from airlock_online.clients.rpc import RpcClient
from airlock_shared.errors import ServiceError
from online.loopback import Answer, Wire, http, reply

NOW_S = 784_111_777.0  # 1994-11-06 08:49:37, the moment of RFC 9110's examples
DATE = "date: Sun, 06 Nov 1994 08:49:37 GMT"
GOOD = reply(200, {"ok": True, "data": [1]})


class Naps(list[float]):
    """How long was slept."""


@pytest.fixture
def naps() -> Naps:
    return Naps()


@pytest.fixture
def client(naps: Naps) -> Iterator[Http]:
    with Http(sleep=naps.append, now_s=lambda: NOW_S) as client:
        yield client


# ---- Retry-After -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7),
        ("Sun, 06 Nov 1994 08:49:57 GMT", 20),
        ("Sunday, 06-Nov-94 08:49:57 GMT", 20),
        ("Sun Nov  6 08:49:57 1994", 20),
        ("Sun, 06 Nov 1994 08:48:37 GMT", 0),
        ("9" * 12, FOREVER_S),
        ("Fri, 31 Dec 9999 23:59:59 GMT", FOREVER_S),
        ("1.5", None),
        ("Sun, 32 Nov 1994 08:49:37 GMT", None),
        ("\xb2", None),
    ],
)
def test_every_form_of_retry_after_is_read(client: Http, header: str, seconds: int | None) -> None:
    with Wire({"GET /x": [http(503, b"{}", "application/json", f"retry-after: {header}")]}) as wire:
        assert client.exchange(HttpCall("GET", wire.url + "/x")).retry_after_s == seconds
        assert client.poll(wire.url + "/x", {}).retry_after_s == seconds


def test_a_date_to_come_again_is_of_the_service_s_own_clock(naps: Naps) -> None:
    waits = reply(503, {}, "retry-after: Sun, 06 Nov 1994 08:49:57 GMT", DATE)
    with Wire({"GET /x": [waits]}) as wire, Http(now_s=lambda: NOW_S + 3600) as client:
        assert client.exchange(HttpCall("GET", wire.url + "/x")).retry_after_s == 20


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_read_that_is_told_when_to_come_again_comes_again_then(client: Http, naps: Naps, status: int) -> None:
    away = reply(status, {}, "retry-after: Sun, 06 Nov 1994 08:49:57 GMT")
    with Wire({"GET /v2/pairs": [away, GOOD]}) as wire:
        assert BuilderClient(wire.url, client).read("pairs") == [1]
    assert naps == [20]


@pytest.mark.parametrize("status", [301, 400, 500])
def test_what_is_no_wait_is_not_waited_for(client: Http, naps: Naps, status: int) -> None:
    with Wire({"GET /v2/pairs": [reply(status, {}, "retry-after: 7"), GOOD]}) as wire, pytest.raises(ServiceError):
        BuilderClient(wire.url, client).read("pairs")
    assert naps == []


@pytest.mark.parametrize(
    "page", [reply(503, {}, "retry-after: 31"), http(503, b"<p>Away", "text/html", "retry-after: 31")]
)
def test_a_long_wait_is_told_with_the_error(client: Http, naps: Naps, page: Answer) -> None:
    with Wire({"GET /v2/pairs": [page]}) as wire, pytest.raises(ServiceError, match="asking to wait 31 s") as caught:
        BuilderClient(wire.url, client).read("pairs")
    assert (naps, caught.value.retry_after_s) == ([], 31)
    assert caught.value.do == "wait 31 s, then run it again"


def test_a_service_that_is_not_ready_is_asked_once(client: Http, naps: Naps) -> None:
    answer = reply(503, {"ok": False, "data": {"components": {"rpc": "down"}}}, "retry-after: 7")
    with Wire({"GET /ready": [answer]}) as wire:
        assert BuilderClient(wire.url, client).ready().components == {"rpc": "down"}
    assert naps == []


# ---- redirects -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [300, 308])
@pytest.mark.parametrize(
    ("location", "told"),
    [
        ("https://new.example/v2/pairs", "https://new.example/v2/pairs"),
        ("https://name:secret@new.example/a?key=secret#secret", "https://new.example/a"),
        ("HTTPS://new.example:8443/", "https://new.example:8443/"),
        ("//new.example/a", "http://new.example/a"),
        ("/v3/pairs", "/v3/pairs"),
        ("https://new.example/\x1b[2J", "u{1b}"),
        ("x:y", "what is no address"),
        ("https://[", "what is no address"),
    ],
)
def test_a_redirect_is_told_with_its_place_and_not_followed(
    client: Http, status: int, location: str, told: str
) -> None:
    answer = http(status, b"<p>Moved to <a href='https://secret'>here</a>", "text/html", f"location: {location}")
    with Wire({"GET /v2/pairs": [answer]}) as wire, pytest.raises(ServiceError) as caught:
        BuilderClient(wire.url, client).read("pairs")
    if "\x1b" in location:  # no header has one
        assert "\x1b" not in str(caught.value)
        return
    assert told in caught.value.what
    assert "secret" not in caught.value.what
    assert (len(wire.seen), caught.value.do) == (1, "if the service has moved there, give it that address")


def test_a_redirect_in_json_is_told_too(client: Http) -> None:
    answer = reply(308, {"ok": True, "data": []}, "location: https://new.example/v2/pairs")
    with (
        Wire({"GET /v2/pairs": [answer]}) as wire,
        pytest.raises(ServiceError, match=r"a redirect to https://new\.example/v2/pairs, which"),
    ):
        BuilderClient(wire.url, client).read("pairs")


def test_a_place_in_another_reply_is_no_redirect(client: Http) -> None:
    with Wire({"GET /x": [reply(201, {}, "location: https://new.example/")]}) as wire:
        assert client.exchange(HttpCall("GET", wire.url + "/x")).location == ""


@pytest.mark.parametrize("kind", ["text/plain", "application/json"])
def test_of_a_node_s_redirect_the_origin_alone_is_told(client: Http, kind: str) -> None:
    answer = http(301, b"{}", kind, "location: https://node.example/v3/0123456789abcdef")
    with Wire({"POST /v3/0123456789abcdef": [answer]}) as wire, pytest.raises(ServiceError) as caught:
        RpcClient(wire.url + "/v3/0123456789abcdef", client).chain_id()
    assert "a redirect to https://node.example, which" in caught.value.what
    assert "0123456789abcdef" not in caught.value.what


# ---- reasons ---------------------------------------------------------------------------------------------------------

WHY = "pair 3 is closed"
PAGE = (
    b"<!DOCTYPE html><html><head><title>502 Bad&nbsp;Gateway</title><style>p {color: red}</style></head>"
    b"<body><script>alert('x')</script><!-- <b> --><h1>502</h1>\n<hr>nginx &lt;1&gt;</body></html>"
)
BODIES = [
    {"message": WHY},
    {"message": [WHY], "error": "Bad Request", "statusCode": 400},
    {"error": {"message": WHY}},
    {"error": {"errors": [{"reason": WHY}]}},
    {"detail": [{"loc": ["body", "pairIndex"], "msg": WHY, "type": "value_error"}]},
    {"errors": {"pairIndex": [WHY]}},
    {"type": "about:blank", "title": "Bad Request", "status": 400, "detail": WHY},
    {"trace": "x" * 5000, "message": WHY},
    {"error_description": WHY, "error": "invalid_request"},
    [WHY],
    WHY,
]


@pytest.mark.parametrize("body", BODIES, ids=lambda body: json.dumps(body)[:40])
def test_why_the_builder_said_no_is_told_wherever_it_stands(client: Http, body: object) -> None:
    with Wire({"POST /v2/intents/close": [reply(400, body)]}) as wire, pytest.raises(ServiceError, match=WHY):
        BuilderClient(wire.url, client).call("/v2/intents/close", {})


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b'{"detail": [{"loc": ["body", "pairIndex"], "msg": "no"}]}', "body.pairIndex: no"),
        (b'{"errors": {"pairIndex": ["no", "never"]}}', "pairIndex: no; pairIndex: never"),
        (b'{"error": {"code": "NO", "message": "m", "details": {"a": "b"}}}', "NO; m; a: b"),
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


def test_a_body_of_many_reasons_ends() -> None:
    deep: object = "x"
    for _ in range(20):
        deep = {"errors": [deep]}
    assert len(reason_text(json.dumps({"message": ["y"] * 10_000, "errors": deep}).encode())) < 600


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"error": {"code": "GEO_RESTRICTED"}}, "GEO_RESTRICTED"),
        ({"code": "GEO_RESTRICTED", "message": "m"}, "GEO_RESTRICTED"),
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


# ---- addresses -------------------------------------------------------------------------------------------------------


def test_a_scheme_may_be_written_in_capitals(client: Http) -> None:
    with Wire({"GET /v2/pairs": [GOOD], "POST /": [reply(200, {"jsonrpc": "2.0", "id": 1, "result": "0x1"})]}) as wire:
        url = wire.url.replace("http://", "HTTP://")
        assert BuilderClient(url, client).read("pairs") == [1]
        assert RpcClient(url + "/", client).chain_id() == 1


def test_a_refusal_of_the_builder_s_own_form_stays_as_it_was(client: Http) -> None:
    answer = reply(400, {"ok": False, "error": {"code": "BAD_REQUEST", "message": WHY}})
    with Wire({"POST /v2/intents/close": [answer]}) as wire, pytest.raises(BuilderError, match="said BAD_REQUEST"):
        BuilderClient(wire.url, client).call("/v2/intents/close", {})
