"""What a venue may write otherwise where the specification says nothing: taken where the meaning is beyond doubt."""

from __future__ import annotations

from typing import Any

import pytest

from airlock_online.clients.builder import BuilderClient
from airlock_online.clients.http import Http
from airlock_online.clients.pair_catalogue import read_pairs
from airlock_online.config import MetaPaths
from airlock_online.preparing.beside import beside_lines, set_aside
from airlock_online.preparing.deployment_fetch import deployment_document
from airlock_online.preparing.unit_scales import one_spelling
from airlock_shared.documents.deployment import read_deployment
from airlock_shared.errors import DocumentError, ServiceError
from online import transaction_steps as steps
from online.loopback import Answer, Wire, reply

PAIR = {"index": 0, "symbol": "BTC/USD", "isPnl": False}


def document_of(meta: dict[str, Any]) -> dict[str, Any]:
    return deployment_document("v", meta, b"", [PAIR], {}, "2026-01-01", MetaPaths())


# ---- the meta document -----------------------------------------------------------------------------------------------


def test_a_default_slippage_that_is_not_told_is_not_assumed() -> None:
    meta = steps.meta()
    del meta["defaults"]["slippagePercent"]
    assert set(document_of(meta)["defaults"]) == {"intentDeadlineMs"}
    read_deployment(document_of(meta))


@pytest.mark.parametrize("told", [True, [], {"percent": "1"}])
def test_a_default_slippage_of_another_form_is_refused(told: object) -> None:
    meta = steps.meta()
    meta["defaults"]["slippagePercent"] = told
    with pytest.raises(ServiceError, match="slippagePercent"):
        document_of(meta)


@pytest.mark.parametrize(
    "told",
    ["1e6", "1E6", "10^6", "10**6", "1000000", 1_000_000, 1e6, {"decimals": 6}, {"scale": "1e6"},
     {"scale": 1_000_000, "decimals": 6}],
)  # fmt: skip
def test_a_scale_beyond_doubt_has_one_spelling(told: object) -> None:
    assert one_spelling({"USDC": told, "else": "x"}) == {"usdc": "1e6", "else": "x"}


@pytest.mark.parametrize(
    "told",
    [6, "6", 18, "1e18", 1_000_001, 0, -6, True, None, "six", [6], {"decimals": 18},
     {"decimals": 6, "scale": "1e8"}, {}, 1e5, 0.5],
)  # fmt: skip
def test_a_scale_in_doubt_or_another_one_is_refused(told: object) -> None:
    meta = steps.meta()
    meta["units"]["usdc"] = told
    with pytest.raises(DocumentError, match=r"scale|fractional") as caught:
        read_deployment(document_of(meta))
    assert caught.value.check in ("DOC-DEPLOYMENT", "DOC-FLOAT")


def test_contracts_are_known_by_name_whatever_its_case() -> None:
    meta, known = steps.meta(), {"tradingrouter", "tradingstorage", "usdc", "referral"}
    names = {label: label.upper() if label.lower() in known else label for label in meta["addresses"]}
    before = document_of(meta)["contracts"]
    meta["addresses"] = {names[label]: address for label, address in meta["addresses"].items()}
    assert document_of(meta)["contracts"] == before


def test_two_contracts_of_one_name_are_refused() -> None:
    meta = steps.meta()
    meta["addresses"]["TradingRouter"] = meta["addresses"]["usdc"]
    with pytest.raises(ServiceError, match="tradingRouter, but two"):
        document_of(meta)


# ---- the pair catalogue ----------------------------------------------------------------------------------------------


def pairs_of(*answers: object) -> list[Any]:
    script: dict[str, list[Answer]] = {"GET /v2/pairs": [reply(200, {"ok": True, "data": data}) for data in answers]}
    with Wire(script) as wire, Http() as http:
        return read_pairs(BuilderClient(wire.url, http), "/v2/pairs")


@pytest.mark.parametrize(
    "data", [[PAIR], {"pairs": [PAIR]}, {"items": [PAIR], "total": 1}, {"pairs": [PAIR], "page": 1, "pages": 1}]
)
def test_a_catalogue_is_a_list_or_an_object_with_one(data: object) -> None:
    assert pairs_of(data) == [PAIR]


@pytest.mark.parametrize("first", [0, 1])
def test_every_page_is_read(first: int) -> None:
    pages = [{"pairs": [{"index": n}], "page": first + n, "pages": 3, "total": 3} for n in range(3)]
    assert [pair["index"] for pair in pairs_of(*pages)] == [0, 1, 2]


@pytest.mark.parametrize(
    "pages",
    [
        [{"pairs": [PAIR], "total": 2}],
        [{"pairs": [PAIR], "nextCursor": "abc"}],
        [{"pairs": [PAIR], "hasMore": True}],
        [{"pairs": [PAIR], "pages": 201}],
        [{"pairs": [PAIR], "page": 2, "pages": 3}],
        [{"pairs": [PAIR], "page": 1, "pages": 2}, {"pairs": [PAIR], "page": 1, "pages": 2}],
        [{"pairs": [PAIR], "page": 1, "pages": 2}, {"page": 2}],
        [{"pairs": [PAIR], "page": 1, "pages": 2, "total": 5}, {"pairs": [PAIR], "page": 2}],
        [{"pairs": [PAIR], "delisted": []}],
        [{"0": PAIR}],
        ["pairs"],
        [None],
    ],
)
def test_a_part_of_a_catalogue_is_never_the_whole(pages: list[object]) -> None:
    with pytest.raises(ServiceError, match="pair catalogue"):
        pairs_of(*pages)


# ---- the envelope ----------------------------------------------------------------------------------------------------


def test_an_error_of_null_beside_ok_is_none() -> None:
    with (
        Wire({"GET /x": [reply(200, {"ok": True, "data": 7, "error": None, "requestId": "a"})]}) as wire,
        Http() as http,
    ):
        assert BuilderClient(wire.url, http).read("/x") == 7


@pytest.mark.parametrize("error", [{"code": "X"}, "", False, 0, {}])
def test_any_other_error_beside_ok_is_a_contradiction(error: object) -> None:
    script = {"GET /x": [reply(200, {"ok": True, "data": 7, "error": error})]}
    with Wire(script) as wire, Http() as http, pytest.raises(ServiceError, match="contradictory"):
        BuilderClient(wire.url, http).read("/x")


# ---- beside a payload ------------------------------------------------------------------------------------------------


def test_what_stands_beside_a_payload_is_named_and_not_carried() -> None:
    told = steps.payload("approve") | {"requestId": "a", "expires\x1b[2J": [1.5]}
    carried, beside = set_aside(told, transaction=True)
    assert carried == steps.payload("approve")
    lines = beside_lines("one", beside)
    assert lines[1:] == ['  requestId = "a"', "  expires\\u{1b}[2J = [1.5]"]


@pytest.mark.parametrize(
    "name", ["accessList", "authorizationList", "AuthorizationList", "blobVersionedHashes", "gas", "gasLimit", "gas_limit",
             "maxFeePerGas", "nonce", "type", "input", "r", "yParity"],
)  # fmt: skip
def test_what_a_transaction_itself_may_have_is_never_set_aside(name: str) -> None:
    carried, beside = set_aside(steps.payload("approve") | {name: "0x0"}, transaction=True)
    assert (name in carried, beside) == (True, {})


def test_a_meta_of_null_is_none() -> None:
    assert set_aside({"intent": "X", "meta": None}, transaction=False) == ({"intent": "X"}, {"meta": None})
