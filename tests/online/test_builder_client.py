"""The builder's client over real HTTP: envelopes, errors, and every way in which a reply can be nonsense."""

import gzip
import hashlib
import json

import pytest

from airlock_online.addresses import join_address, segment
from airlock_online.clients.builder import BuilderClient, BuilderError, advice_on
from airlock_online.clients.connection import MAX_JSON_BYTES, HttpCall, NotSent
from airlock_online.clients.http import Http
from airlock_shared.errors import ServiceError, UsageError
from online.loopback import Answer, Wire, http, reply

CLOSE = "/v2/intents/close"
LIMITED = reply(429, {"ok": False, "error": {"code": "RATE_LIMITED", "message": "slow down"}}, "retry-after: 7")
OK = b'{"ok":true,"data":{}}'


def answer_to_close(client: Http, answer: Answer) -> object:
    with Wire({f"POST {CLOSE}": [answer]}) as wire:
        return BuilderClient(wire.url, client).call(CLOSE, {"trader": "0x1", "tradeIndex": 0})


def test_a_post_carries_the_fields_as_json_and_no_credential(client: Http) -> None:
    with Wire({f"POST /api/v1{CLOSE}": [reply(200, {"ok": True, "data": {"a": "1"}})]}) as wire:
        data = BuilderClient(wire.url + "/api/v1/", client).call(
            CLOSE, {"collateralToCloseUsdc": "100.5", "tradeIndex": 0}
        )
    [seen] = wire.seen
    assert data == {"a": "1"}
    assert json.loads(seen.body) == {"collateralToCloseUsdc": "100.5", "tradeIndex": 0}
    assert seen.headers["content-type"] == "application/json"
    assert not {"authorization", "cookie", "proxy-authorization", "referer"} & seen.headers.keys()


@pytest.mark.parametrize("value", [1.5, True, None, ["1"], {"a": 1}])
def test_a_field_that_is_neither_text_nor_integer_is_never_sent(client: Http, value: object) -> None:
    with Wire({}) as wire, pytest.raises(UsageError, match="leverage"):
        BuilderClient(wire.url, client).call(CLOSE, {"leverage": value})  # type: ignore[dict-item]
    assert wire.seen == []


def test_the_meta_document_comes_with_its_bytes(client: Http) -> None:
    raw = b'{"ok": true,  "data": {"chainId": 31337, "x": 1.5}}\n'
    with Wire({"GET /v2/meta": [http(200, raw, "application/json; charset=utf-8")]}) as wire:
        meta = BuilderClient(wire.url, client).meta()
    assert meta.data["chainId"] == 31337
    assert hashlib.sha256(meta.raw).digest() == hashlib.sha256(raw).digest()


@pytest.mark.parametrize(
    ("answer", "ready", "components"),
    [
        (reply(200, {"ok": True, "data": {"ready": True, "components": {}}}), True, {}),
        (reply(200, {"ok": True, "data": {"ready": False, "components": {"rpc": "down"}}}), False, {"rpc": "down"}),
        (reply(200, {"ok": True, "data": {"ready": 1}}), False, {}),
        (reply(200, {"ok": 1, "data": {"ready": True}}), False, {}),
        (reply(503, {"ok": True, "data": {"ready": True, "components": {}}}, "retry-after: 7"), False, {}),
        (reply(503, {"ok": False, "error": {"code": "X", "details": {"components": {"rpc": 0}}}}), False, {"rpc": 0}),
    ],
)
def test_readiness_needs_200_and_true(
    client: Http, naps: list[float], answer: Answer, ready: bool, components: object
) -> None:
    with Wire({"GET /ready": [LIMITED, answer]}) as wire:
        assert BuilderClient(wire.url, client).ready() == (ready, components)
    assert naps == [7]


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, {"code": "BAD_REQUEST", "message": "no", "details": [{"path": ["side"]}]}),
        (200, {"code": "SIMULATION_FAILED", "message": "no", "details": {"decodedError": "WrongSl"}}),
        (418, {"code": "A_CODE_OF_TOMORROW"}),
        (400, {"code": "BAD_REQUEST", "message": {"not": "text"}}),
        (400, {"code": "RATE_LIMITED", "message": "\x1b[2J\u202e"}),
    ],
)
def test_a_refusal_keeps_its_code_status_and_details(client: Http, status: int, error: dict[str, object]) -> None:
    with pytest.raises(BuilderError) as caught:
        answer_to_close(client, reply(status, {"ok": False, "error": error}))
    told = caught.value
    assert (told.code, told.status, told.details) == (error["code"], status, error.get("details"))
    assert told.as_json()["code"] == error["code"]
    assert str(caught.value).isprintable()
    assert caught.value.do


@pytest.mark.parametrize("code", ["BAD_REQUEST", "VALIDATION_ERROR"])
def test_a_deadline_that_a_slow_clock_made_is_no_fault_of_the_plan(code: str) -> None:
    """An open deadline is counted from this machine's clock, so that no builder has to be believed."""
    assert "Is deadlineMs over? Compare this machine's clock with a watch." in advice_on(code)


@pytest.mark.parametrize(("status", "code"), [(451, "GEO_RESTRICTED"), (400, "BAD_REQUEST"), (429, "RATE_LIMITED")])
def test_a_readiness_probe_that_is_refused_says_why(client: Http, status: int, code: str) -> None:
    answer = reply(status, {"ok": False, "error": {"code": code, "message": "no"}})
    with Wire({"GET /ready": [answer]}) as wire, pytest.raises(BuilderError) as caught:
        BuilderClient(wire.url, client).ready()
    assert (caught.value.code, caught.value.do) == (code, advice_on(code))


@pytest.mark.parametrize(
    "answer",
    [
        reply(200, []),
        reply(200, {"ok": True, "data": {}, "error": {"code": "X"}}),
        reply(200, {"ok": "true", "data": {}}),
        reply(302, {"ok": True, "data": {}}, "location: http://127.0.0.1:1/"),
        reply(200, {"ok": False, "data": {}}),
        reply(400, {"ok": False, "error": {"code": ""}}),
        reply(400, {"ok": False, "data": {}, "error": {"code": "X"}}),
        http(200, OK, "text/html"),
        http(200, b'{"ok":true,"ok":true,"data":{}}'),
        http(200, b'{"ok":true,"data":{"x":' + b"9" * 5000 + b"}}"),
        http(200, gzip.compress(OK), "application/json", "content-encoding: gzip"),
        http(200, OK + b" " * MAX_JSON_BYTES),
        Answer(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 90\r\n\r\n" + OK),
        Answer(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"),
        Answer(b"", reset=True),
    ],
)
def test_nonsense_is_a_service_error_and_is_asked_for_once(client: Http, answer: Answer) -> None:
    with Wire({f"POST {CLOSE}": [answer]}) as wire:
        with pytest.raises(ServiceError) as caught:
            BuilderClient(wire.url, client).call(CLOSE, {"trader": "0x1"})
        assert not isinstance(caught.value, (BuilderError, NotSent))
        assert str(caught.value).isprintable()
        assert wire.count("POST", CLOSE) == 1
        assert len(wire.seen) == 1


def test_a_reply_is_not_read_past_its_cap(client: Http) -> None:
    with Wire({"GET /x": [http(200, b"x" * 1000)]}) as wire:
        assert len(client.exchange(HttpCall("GET", wire.url + "/x"), max_bytes=1000).body) == 1000
        with pytest.raises(ServiceError, match="larger than 999"):
            client.exchange(HttpCall("GET", wire.url + "/x"), max_bytes=999)


def test_a_read_without_a_time_backs_off_and_gives_up(client: Http, naps: list[float]) -> None:
    limited = reply(429, {"ok": False, "error": {"code": "RATE_LIMITED"}}, "retry-after: Fri, 31 Dec 1999 23:59:59 GMT")
    with Wire({"GET /v2/pairs": [limited]}) as wire, pytest.raises(BuilderError) as caught:
        BuilderClient(wire.url, client).read("pairs")
    assert (caught.value.code, naps, len(wire.seen)) == ("RATE_LIMITED", [1, 2, 4], 4)


@pytest.mark.parametrize("answer", [LIMITED, reply(500, {}), reply(503, {})])
def test_a_post_is_never_asked_twice(client: Http, naps: list[float], answer: Answer) -> None:
    with Wire({f"POST {CLOSE}": [answer]}) as wire, pytest.raises(ServiceError):
        BuilderClient(wire.url, client).call(CLOSE, {})
    assert (len(wire.seen), naps) == (1, [])


@pytest.mark.parametrize(
    ("base", "path", "url"),
    [
        ("https://h.example/", "/v2/meta", "https://h.example/v2/meta"),
        ("HTTPS://h.example", "/v2/meta", "HTTPS://h.example/v2/meta"),
        ("https://h.example/api/x/", "/v2/meta", "https://h.example/api/x/v2/meta"),
        ("http://[::1]:8080", "/ready/", "http://[::1]:8080/ready/"),
    ],
)
def test_a_path_is_joined_and_a_prefix_is_kept(base: str, path: str, url: str) -> None:
    assert join_address(base, path) == url


@pytest.mark.parametrize(
    "base",
    ["", "h.example", "ftp://h.example", "file:///etc/passwd", "https://", "https://u:p@h.example", "https://u@h.example",
     "https://h.example?a=b", "https://h.example#x", "https://h.example:99999", "https://h.example:x", "https://h ex/",
     "https://h\n.example", "https://münchen.example", "http://[::1"],
)  # fmt: skip
def test_a_base_that_is_no_plain_address_is_a_usage_error(base: str) -> None:
    with pytest.raises(UsageError) as caught:
        join_address(base, "/v2/meta")
    assert "u:p" not in str(caught.value)


@pytest.mark.parametrize(
    "path", ["", "v2/meta", "/", "/a//b", "/a//", "/../x", "/a/./b", "/a?b", "/a#b", "/a\\b", "/a b", "/é", "/a\n"]
)
def test_a_path_that_is_none_is_a_usage_error(path: str) -> None:
    with pytest.raises(UsageError):
        join_address("https://h.example", path)


def test_an_id_becomes_one_segment() -> None:
    assert segment("a-1/b?c#d%2e") == "a-1%2Fb%3Fc%23d%252e"


@pytest.mark.parametrize("text", ["", ".", "..", "a\nb", "x" * 201, "\ud800"])
def test_an_id_that_cannot_be_a_segment_is_a_service_error(text: str) -> None:
    with pytest.raises(ServiceError):
        segment(text)
