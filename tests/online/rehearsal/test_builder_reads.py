"""The builder: its reads, its readiness, and what it does not serve."""

from __future__ import annotations

import pytest

from online.rehearsal.services_client import DELEGATE, STRANGER, TRADER, Json, ServicesClient

T, D = TRADER.address, DELEGATE.address

READS: list[tuple[str, Json]] = [
    ("/v2/meta", {}),
    ("/v2/pairs", {}),
    ("/v2/positions", {"trader": T}),
    ("/v2/nonce", {"trader": T, "check": "5"}),
    ("/v2/reads/nonce", {"trader": T, "check": "5", "space": "referral"}),
    ("/v2/delegation", {"trader": T, "delegate": D}),
    ("/v2/reads/delegation", {"trader": T, "delegate": D}),
    ("/v2/reads/referral", {"trader": T}),
    ("/v2/reads/referral", {"code": "TAKEN"}),
]


@pytest.mark.parametrize(("path", "fields"), READS)
def test_a_read_answers_get_and_post_alike(shared_desk: ServicesClient, path: str, fields: Json) -> None:
    by_get = shared_desk.http.get(shared_desk.services.builder_url + path, params=fields)
    by_post = shared_desk.http.post(shared_desk.services.builder_url + path, json=fields)
    assert by_get.status_code == 200
    assert by_get.json()["ok"] is True
    assert by_get.json() == by_post.json()


def test_meta_says_that_it_is_a_simulator(shared_desk: ServicesClient) -> None:
    meta = shared_desk.read("/v2/meta")
    assert (meta["simulator"], meta["chainId"]) == (True, 31337)
    assert meta["eip712"]["trading"]["verifyingContract"] == meta["addresses"]["tradingRouter"]
    assert meta["eip712"]["referral"]["verifyingContract"] == meta["addresses"]["referral"]
    assert meta["defaults"]["intentDeadlineMs"] == 600_000


def test_the_catalogue_has_a_pnl_pair_and_a_name_with_a_separator(shared_desk: ServicesClient) -> None:
    pairs = shared_desk.read("/v2/pairs")
    assert [p["index"] for p in pairs if p["isPnl"]] == [3]
    assert [p["symbol"] for p in pairs if "_" in p["from"]] == ["BTC_UPSIDE/USD"]


def test_the_trader_holds_positions_and_a_stranger_none(shared_desk: ServicesClient) -> None:
    held = shared_desk.read("/v2/positions", trader=T)
    assert [(t["trade"]["pairIndex"], t["isPnl"]) for t in held["trades"]] == [("0", False), ("1", False), ("3", True)]
    assert [o["orderType"] for o in held["orders"]] == [2]
    assert shared_desk.read("/v2/positions", trader=STRANGER.address) == {
        "trader": STRANGER.address,
        "trades": [],
        "orders": [],
    }


def test_a_code_is_read_with_its_owner_and_nobody_owns_an_unknown_one(shared_desk: ServicesClient) -> None:
    offered = shared_desk.read("/v2/reads/referral", code="OFFERED")
    assert (offered["owner"], offered["pendingOwner"]) == ("0x" + "00" * 19 + "01", T)
    unknown = shared_desk.read("/v2/reads/referral", code="UNKNOWN")
    assert (unknown["owner"], unknown["pendingOwner"]) == ("", "")


def test_without_check_the_nonce_read_offers_an_unused_one(shared_desk: ServicesClient) -> None:
    offered = shared_desk.read("/v2/nonce", trader=T)
    assert offered["used"] is False
    assert int(offered["nonce"]) > 0


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/v2/positions", {}),
        ("/v2/positions", {"trader": "me"}),
        ("/v2/nonce", {"check": "5"}),
        ("/v2/nonce", {"trader": T, "check": "-5"}),
        ("/v2/nonce", {"trader": T, "check": "5", "space": "lunar"}),
        ("/v2/reads/delegation", {"trader": T}),
        ("/v2/reads/referral", {"trader": ""}),
        ("/v2/reads/referral", {}),
        ("/v2/reads/referral", {"trader": T, "code": "TAKEN"}),
        ("/v2/reads/referral", {"code": "0x12"}),
    ],
)
def test_a_bad_read_is_refused(shared_desk: ServicesClient, path: str, fields: Json) -> None:
    reply = shared_desk.http.get(shared_desk.services.builder_url + path, params=fields)
    assert reply.status_code == 400
    assert reply.json()["error"]["details"]["issues"]


NAMED = [
    *((method, "builder", f"/v2/{path}") for method in ("GET", "POST") for path in (
        "meta", "pairs", "positions", "nonce", "reads/nonce", "reads/delegation", "intents/tpsl-partial",
        "intents/increase-coin", "intents/referral-set-code", "intents/twap-cancel", "intents/close", "intents/open",
        "intents/increase", "intents/delegate", "position/increase", "position/increase-coin", "limit/update",
        "referral/transfer-ownership", "referral/accept-ownership", "referral/set-code", "referral/cancel-request",
        "misc/claim-keeper-rewards", "delegate/set", "token/approve")),
    ("GET", "builder", "/ready"), ("POST", "builder", "/v2/relay"), ("GET", "builder", "/v2/relay/0x"),
    ("POST", "batched", "/market/execute-batched"), ("POST", "twap", "/twaps/cancel"),
    ("POST", "core", "/price-triggers"),
]  # fmt: skip


@pytest.mark.parametrize(("method", "service", "path"), NAMED)
def test_every_endpoint_that_the_specification_names_is_served(
    shared_desk: ServicesClient, method: str, service: str, path: str
) -> None:
    url = shared_desk.services.urls[service] + path
    reply = shared_desk.http.get(url) if method == "GET" else shared_desk.http.post(url, json={})
    assert reply.status_code in (200, 400)


def test_ready_reports_its_components(shared_desk: ServicesClient) -> None:
    reply = shared_desk.http.get(shared_desk.services.builder_url + "/ready")
    assert reply.status_code == 200
    assert reply.json()["data"]["ready"] is True
    assert set(reply.json()["data"]["components"]) == {"rpc", "pairs"}


@pytest.mark.parametrize(("method", "path", "status"), [
    ("GET", "/builder/v2/nope", 404), ("PUT", "/builder/v2/meta", 405), ("POST", "/builder/ready", 405),
    ("GET", "/", 404), ("GET", "/batched/market/execute-batched", 405),
])  # fmt: skip
def test_what_is_not_served_says_so_in_the_envelope(
    shared_desk: ServicesClient, method: str, path: str, status: int
) -> None:
    reply = shared_desk.http.request(method, shared_desk.services.url + path)
    assert (reply.status_code, reply.json()["ok"]) == (status, False)
    assert reply.headers["x-airlock-rehearsal"] == "simulator"
