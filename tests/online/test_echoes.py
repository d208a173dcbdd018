"""A read proves only what it names: the reply to another question, or to none, is no answer. Over real HTTP."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from airlock_online.cli.delivery_context import nonce_reader
from airlock_online.clients.http import Http
from airlock_online.config import OnlineConfig
from airlock_online.home import OnlineHome
from airlock_online.journal.schema import Record
from airlock_shared.documents.deployment import Deployment, parse_deployment, read_deployment
from airlock_shared.errors import DocumentError
from airlock_shared.host.files import DAMAGED_DO
from online.loopback import Wire, reply
from online.test_journal import record as a_record
from online.test_readback import DELEGATE, ENABLED, EXECUTED, KEY, TRADER, ended, judged, kept
from online.test_reads import HASH, Ask, ask, told
from shared.make_payloads import DESK, TREASURY
from shared.world import DEPLOYMENT_TEXT

__all__ = ["ask"]

OTHER = "0x" + "99" * 20
DOCUMENT = json.loads(DEPLOYMENT_TEXT)
ROUTER = DOCUMENT["domains"]["trading"]["verifyingContract"]
REFERRAL = DOCUMENT["domains"]["referral"]["verifyingContract"]
CLOSE = {"_trader": TRADER, "_pairIndex": "1", "_index": "0", "_openTimestamp": "5"}
TRADE = {"pairIndex": "0", "index": "0"}
ELSEWHERE = {"pairIndex": "2", "index": "0"}
CODE = {"code": "DESK", "referee": TRADER, "caller": TRADER, "newOwner": KEY}


def deployment(url: str, chain_id: int | None = None, name: str = "venue") -> Deployment:
    document = json.loads(DEPLOYMENT_TEXT) | {"name": name, "base_urls": {"builder": url}}
    if chain_id is not None:
        document["chain_id"] = chain_id
        for domain in document["domains"].values():
            domain["chainId"] = chain_id
    return read_deployment(document)


def of(*known: Deployment) -> Callable[[str], Deployment | None]:
    return {each.fingerprint: each for each in known}.get


def record(known: Deployment, contract: str = ROUTER, nonce: int = 7) -> Record:
    made = a_record()
    return made._replace(contract=contract, nonce=str(nonce), chain_id=known.chain_id, deployment=known.fingerprint)


def read(answer: object, contract: str = ROUTER, nonce: int = 7) -> bool | None:
    with Wire({"GET /v2/nonce": [reply(200, {"ok": True, "data": answer})]}) as wire, Http() as http:
        known = deployment(wire.url)
        return nonce_reader(of(known), http, OnlineConfig())(record(known, contract, nonce), TRADER)


@pytest.mark.parametrize(
    ("answer", "used"),
    [
        ({"nonce": "7", "used": True}, True),
        ({"nonce": 7, "used": False}, False),
        ({"nonce": "7", "used": True, "trader": TRADER.upper().replace("0X", "0x"), "space": "trading"}, True),
        ({"nonce": "8", "used": False}, None),
        ({"nonce": True, "used": True}, None),
        ({"used": True}, None),
        ({"nonce": "7", "used": True, "trader": OTHER}, None),
        ({"nonce": "7", "used": True, "space": "referral"}, None),
        ({"nonce": "7", "used": "true"}, None),
    ],
)
def test_a_nonce_read_tells_of_the_nonce_that_it_names(answer: object, used: bool | None) -> None:
    assert read(answer) is used


@pytest.mark.parametrize(
    ("answer", "used"),
    [
        ({"nonce": "7", "used": True, "space": "referral"}, True),
        ({"nonce": "7", "used": True, "space": "trading"}, None),
        ({"nonce": "7", "used": True}, None),  # a venue that knows no spaces tells of the trading contract
    ],
)
def test_another_nonce_space_must_be_named(answer: object, used: bool | None) -> None:
    assert read(answer, REFERRAL) is used


@pytest.mark.parametrize("chain_ids", [(5, 5), (5, 6)])
def test_the_deployment_that_the_requests_name_is_asked(chain_ids: tuple[int, int]) -> None:
    answers = [{"GET /v2/nonce": [reply(200, {"ok": True, "data": {"nonce": "7", "used": u}})]} for u in (False, True)]
    with Wire(answers[0]) as test, Wire(answers[1]) as main, Http() as http:
        known = [deployment(test.url, chain_ids[0], "test"), deployment(main.url, chain_ids[1], "main")]
        used = nonce_reader(of(*known), http, OnlineConfig())
        assert [used(record(each), TRADER) for each in reversed(known)] == [True, False]
        assert [len(test.seen), len(main.seen)] == [1, 1]
        elsewhere = record(known[0])
        assert used(elsewhere._replace(deployment="00" * 32), TRADER) is None
        assert used(elsewhere._replace(contract=OTHER), TRADER) is None


@pytest.mark.parametrize(
    "told_of", [{}, {"delegate": KEY}, {"trader": OTHER, "delegate": KEY}, {"trader": TRADER, "delegate": OTHER}]
)
def test_a_delegation_of_somebody_else_or_of_nobody_proves_neither(told_of: dict[str, str]) -> None:
    assert set(kept(judged("delegate", DELEGATE, echo=False, delegation=ENABLED | told_of))) == {None}
    assert kept(judged("delegate-remove", DELEGATE, echo=False, delegation={"isEnabled": False} | told_of)) == [None]


@pytest.mark.parametrize(
    ("read_data", "verdict"),
    [
        ({"trader": TRADER, "trades": []}, True),
        ({"trades": [{"trade": TRADE | {"trader": TRADER}}]}, True),
        ({"trades": [], "orders": [{"order": {"trader": TRADER}}]}, True),
        ({"trades": []}, None),
        ({"trader": OTHER, "trades": []}, None),
        ({"trades": [{"trade": TRADE}]}, None),
        ({"trader": TRADER, "trades": [{"trade": TRADE | {"trader": OTHER}}]}, None),
        ({"trades": [{"trade": TRADE | {"trader": TRADER}}, {"trade": ELSEWHERE | {"trader": OTHER}}]}, None),
    ],
)
def test_positions_of_somebody_else_or_of_nobody_prove_no_absence(read_data: object, verdict: bool | None) -> None:
    asked = {"collateralToCloseUsdc": "500"}
    whole = ended(EXECUTED, index="0", timestamp="5", initialPosToken="0")
    assert kept(judged("close", asked, CLOSE, whole, echo=False, positions=read_data)) == [verdict]


@pytest.mark.parametrize("who", [{}, {"trader": OTHER}])
def test_a_code_adopted_by_somebody_else_or_by_nobody_proves_neither(who: dict[str, str]) -> None:
    assert kept(judged("referral-set-code", CODE, echo=False, referral={"code": "DESK"} | who)) == [None]


@pytest.mark.parametrize("which", [{}, {"code": "OTHER"}])
def test_the_owner_of_another_code_or_of_none_proves_neither(which: dict[str, str]) -> None:
    found = judged("referral-transfer", CODE, echo=False, referral={"owner": TRADER, "pendingOwner": KEY} | which)
    assert kept(found) == [None, None]


@pytest.mark.parametrize(
    ("path", "words", "answer"),
    [
        ("/v2/nonce", ("nonce", TREASURY, "7"), {"nonce": "8", "used": False}),
        ("/v2/nonce", ("nonce", TREASURY, "7"), {"nonce": "7", "used": False, "trader": OTHER}),
        (
            "/v2/nonce",
            ("nonce", TREASURY, "7", "--space", "referral"),
            {"nonce": "7", "used": False, "space": "trading"},
        ),
        ("/v2/reads/delegation", ("delegation", TREASURY, DESK), {"isEnabled": True, "delegate": OTHER}),
        (f"/v2/relay/{HASH}", ("relay", HASH), {"hash": "0x" + "00" * 32, "status": "confirmed"}),
        ("/v2/positions", ("positions", TREASURY), {"trades": [{"trade": {"trader": OTHER}}]}),
        ("/v2/positions", ("positions", TREASURY), {"trader": OTHER, "trades": []}),
    ],
)
def test_another_reply_is_an_error(ask: Ask, path: str, words: tuple[str, ...], answer: object) -> None:
    ended = ask(told(answer, path), *words)
    assert (ended.code, "was asked for" in " ".join(ended.err.split())) == (8, True)


def test_a_reply_that_names_nothing_is_shown_as_no_proof(ask: Ask) -> None:
    ended = ask(told({"used": False}, "/v2/nonce"), "nonce", TREASURY, "7")
    assert ended.code == 0
    assert "by the service's word alone, which proves nothing" in " ".join(ended.err.split())


def test_a_deployment_is_found_by_its_fingerprint_when_it_was_replaced_too(tmp_path: Path) -> None:
    home, known = OnlineHome(tmp_path), []
    for name, url in (
        ("venue", "https://one.example"),
        ("fork", "https://fork.example"),
        ("venue", "https://two.example"),
    ):
        text = json.dumps(DOCUMENT | {"name": name, "base_urls": {"builder": url}}).encode()
        known.append(parse_deployment(text))
        home.keep_deployment(known[-1], text)
    found = [home.deployment_of(each.fingerprint) for each in known]
    assert [each and each.base_urls for each in found] == [each.base_urls for each in known]
    assert home.deployment_of("0" * 64) is home.deployment_of("") is None
    damaged = home.deployment_path("fork")
    damaged.write_bytes(text[:99])
    with pytest.raises(DocumentError) as caught:  # the file is named, and what frees it
        home.keep_deployment(known[1], text)
    assert (caught.value.where, caught.value.do) == (str(damaged), DAMAGED_DO)
