"""``call`` and ``actions``: any path of the builder, its answer judged as every payload is, and never a way to submit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from airlock_online.cli.actions import example
from airlock_online.cli.call import require_sends_nothing
from airlock_online.cli.main import program
from airlock_online.clients.builder import BuilderClient
from airlock_online.clients.http import Http
from airlock_online.config import OnlineConfig
from airlock_online.preparing.gas_and_fees import ByHand, GasAndFees
from airlock_online.preparing.prepare import Sources, prepare_step
from airlock_shared.checks.nonces import UsedNonces
from airlock_shared.cli.program import run
from airlock_shared.documents.requests import parse_requests
from airlock_shared.errors import UsageError
from airlock_shared.plan.values import read_values
from airlock_shared.venue.actions import ACTIONS
from online import transaction_steps as steps
from online.loopback import Wire, reply
from online.node import GWEI
from shared.make_payloads import TREASURY

OPEN = steps.item("trade-open")["endpoint"]


# ---- any path --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [{"vaults": [1, 2]}, [], "text", None, 7, {"apr": 1.5}])
def test_a_reply_is_printed_as_it_came(tmp_path: Path, capsys: pytest.CaptureFixture[str], data: object) -> None:
    with Wire({"GET /v2/lp/vaults": [reply(200, {"ok": True, "data": data})]}) as wire:
        assert (
            steps.PlannedCommand(tmp_path, wire.url, "approve").call("get", "/v2/lp/vaults", "side=long", "pairIndex=1")
            == 0
        )
        assert wire.seen[0].target == "/v2/lp/vaults?side=long&pairIndex=1"
    assert json.loads(capsys.readouterr().out) == data


def test_a_post_carries_amounts_as_texts_and_indices_as_integers(tmp_path: Path) -> None:
    words = (
        "amountUsdc=10.50",
        "tradeIndex=0",
        "pairIndex=1",
        "orderIndex=2",
        "twapId=3",
        "nonce=4",
        "twapIds=5",
        "x=",
    )
    with Wire({"POST /v2/margin/update": [reply(200, {"ok": True, "data": {}})]}) as wire:
        assert steps.PlannedCommand(tmp_path, wire.url, "approve").call("POST", "/v2/margin/update", *words) == 0
        assert json.loads(wire.seen[0].body) == {
            "amountUsdc": "10.50", "tradeIndex": 0, "pairIndex": 1, "orderIndex": 2, "twapId": 3, "nonce": "4",
            "twapIds": "5", "x": "",
        }  # fmt: skip


def test_an_error_of_the_builder_keeps_its_code_and_details(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    details = {"target": "0x1", "revertData": "0x2", "decodedError": "WrongSl()"}
    answer = reply(400, {"ok": False, "error": {"code": "SIMULATION_FAILED", "message": "no", "details": details}})
    with Wire({"POST /v2/margin/update": [answer]}) as wire:
        assert steps.PlannedCommand(tmp_path, wire.url, "approve").call("POST", "/v2/margin/update", "--json") == 8
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["code"], error["details"]) == ("SIMULATION_FAILED", details)
    assert "decoded error" in error["do"]


def test_a_post_that_is_told_to_wait_is_not_repeated(tmp_path: Path) -> None:
    with Wire({"POST /v2/margin/update": [reply(429, {}, "retry-after: 1")]}) as wire:
        assert steps.PlannedCommand(tmp_path, wire.url, "approve").call("POST", "/v2/margin/update") == 8
        assert len(wire.seen) == 1


@pytest.mark.parametrize(
    "path", ["/v2/relay", "/v2/relay/", "/V2/Relay", "/v2/%72elay", "/v2/%2572elay", "/v3/relay", "/api%2Fv2%2Frelay"]
)
def test_a_signed_transaction_is_never_sent_by_call(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], path: str
) -> None:
    with Wire({}) as wire:
        assert steps.PlannedCommand(tmp_path, wire.url, "approve").call("POST", path, "rawTransaction=0x02") == 2
        assert wire.seen == []
    assert "submit" in capsys.readouterr().err


def test_the_configured_relay_is_no_way_around() -> None:
    with pytest.raises(UsageError, match="would have no record"):
        require_sends_nothing("POST", "/v9/forward", "/v9/forward")
    require_sends_nothing("GET", "/v2/relay/0xab", "/v2/relay")


RENAMED = """\
format = "airlock/venue-services@1"

[paths]
relay = "/v9/forward"
relay-status = "/v9/forward/{id}"
relayer = "PUT /relays"
market = "/orders/submit"
twap-TwapOpenOrder = "/twaps/open"
core-api-UpdateTpSlReq = "PUT /triggers/global-{trader}-{index}"

[bodies.twap-TwapOpenOrder]
signature = "$signature"

[bodies.core-api-UpdateTpSlReq]
signature = "$signature"
"""


@pytest.mark.parametrize(
    "path",
    [
        "/v9/forward", "/V9/forward/", "/v9/%66orward", "/v2/relay", "/relays", "/api/relays", "/orders/submit",
        "/twaps/cancel", "/twaps/open", "/triggers/global-0xab-7", "/price-triggers",
    ],
)  # fmt: skip
def test_nothing_is_sent_by_call_wherever_a_services_file_has_signatures_go(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], path: str
) -> None:
    with Wire({}) as wire:
        command = steps.PlannedCommand(tmp_path, wire.url, "approve")
        (command.home / "services.toml").write_text(RENAMED)
        (command.home / "config.toml").write_text('[venue]\nservices = "services.toml"\n')
        assert command.call("POST", path, "rawTransaction=0x02") == 2
        assert wire.seen == []
    assert "submit" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("PUT", "/v2/x"), "PUT"),
        (("GET", "/v2/../x"), "not a path"),
        (("GET", "http://127.0.0.1:9/v2/x"), "not a path"),
        (("GET", "/v2/x", "a"), "not NAME=VALUE"),
        (("GET", "/v2/x", "a=1", "a=1"), "given twice"),
        (("POST", "/v2/x", "deadlineMs=1806451200"), "looks like unix s"),
        (("POST", "/v2/x", "expirySeconds=1806451200000"), "looks like unix ms"),
        (("GET", "/v2/x", "--step", "approve"), "belong together"),
        (("GET", "/v2/x", "--gas", "60000"), "for a plan's step"),
        (("GET", "/v2/x", "--deployment", "other"), "no deployment named 'other'"),
    ],
)
def test_wrong_words_are_refused_before_anything_is_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], told: str
) -> None:
    with Wire({}) as wire:
        assert steps.PlannedCommand(tmp_path, wire.url, "approve").call(*words) == 2
        assert wire.seen == []
    assert told in capsys.readouterr().err


# ---- the answer as a step's payload ----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_action_without_a_documented_endpoint_becomes_usable(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], method: str
) -> None:
    script = steps.answers(trade_open=steps.payload("trade-open"))
    script[f"{method} {OPEN}"] = script.pop(f"POST {OPEN}")
    with Wire(script) as wire:
        machine = steps.PlannedCommand(tmp_path, wire.url, "trade-open")
        assert machine.take(method, OPEN, "trade-open") == 0
    _, [item], fingerprint = parse_requests(machine.output.read_bytes())
    expected = steps.request("trade-open")
    assert item._replace(transaction=None) == expected._replace(transaction=None)
    assert (machine.home / "requests" / f"{fingerprint}.json").read_bytes() == machine.output.read_bytes()


def test_several_actions_without_documented_endpoints_are_kept_one_by_one_and_written_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("trade-open", "approve", "trade-close")
    close = steps.item("trade-close")["endpoint"]
    script = steps.answers(
        trade_open=steps.payload("trade-open"),
        approve=steps.payload("approve"),
        trade_close=steps.payload("trade-close"),
    )
    with Wire(script) as wire:
        machine = steps.PlannedCommand(tmp_path, wire.url, *names)
        plan = ("--plan", str(machine.plan))
        assert machine.prepare(*steps.HAND_WORDS) == 2
        assert "call POST PATH --plan PLAN --step STEP" in " ".join(capsys.readouterr().err.split())
        assert machine.call("POST", OPEN, *plan, "--step", "trade-open", *steps.HAND_WORDS) == 0
        assert "a call of their own, too: trade-close" in capsys.readouterr().err
        assert machine.call("POST", close, *plan, "--step", "trade-close", *steps.HAND_WORDS, "--json") == 0
        assert json.loads(capsys.readouterr().out) == {"ok": True, "kept": "trade-close", "missing": []}
        assert not machine.output.exists()
        assert machine.prepare(*steps.HAND_WORDS) == 0
        assert [wire.count("POST", path) for path in (OPEN, close)] == [1, 1]
    _, items, _ = parse_requests(machine.output.read_bytes())
    assert [(item.step, item.endpoint) for item in items] == [(name, steps.item(name)["endpoint"]) for name in names]
    assert [item.transaction.nonce for item in items if item.transaction] == [3, 4, 5]


def test_a_payload_that_a_check_refuses_is_not_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Wire(steps.answers(trade_open=steps.payload("trade-open", value="0x1"))) as wire:
        machine = steps.PlannedCommand(tmp_path, wire.url, "trade-open")
        words = ("--plan", str(machine.plan), "--step", "trade-open", *steps.HAND_WORDS)
        assert machine.call("POST", OPEN, *words) == 3
    assert list((machine.home / "prepared").glob("*/*")) == []
    assert "is kept" not in capsys.readouterr().err


def test_the_other_steps_of_the_plan_are_built_as_prepare_does(tmp_path: Path) -> None:
    script = steps.answers(trade_open=steps.payload("trade-open"), approve=steps.payload("approve"))
    with Wire(script) as wire:
        machine = steps.PlannedCommand(tmp_path, wire.url, "approve", "trade-open")
        assert machine.take("POST", OPEN, "trade-open") == 0
    _, items, _ = parse_requests(machine.output.read_bytes())
    assert [(item.step, item.transaction.nonce) for item in items if item.transaction] == [
        ("approve", 3),
        ("trade-open", 4),
    ]


@pytest.mark.parametrize(
    ("step", "path", "words", "check"),
    [
        ("trade-open", OPEN, ("colour=red",), "PLAN-REQUEST"),
        ("trade-open", OPEN, ("leverage=11",), "PLAN-REQUEST"),
        ("approve", "/v2/token/approve-all", (), "PLAN-REQUEST"),
        ("nobody", OPEN, (), "PLAN-STEP"),
    ],
)
def test_an_answer_to_another_ask_than_the_plans_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], step: str, path: str, words: tuple[str, ...], check: str
) -> None:
    answer = reply(200, {"ok": True, "data": steps.payload("trade-open" if step != "approve" else "approve")})
    script = steps.answers() | {f"POST {path}": [answer]}
    with Wire(script) as wire:
        machine = steps.PlannedCommand(tmp_path, wire.url, "trade-open" if step != "approve" else "approve")
        assert machine.take("POST", path, step, *words) == (2 if step == "nobody" else 3)
    assert check in capsys.readouterr().err
    assert not machine.output.exists()


@pytest.mark.parametrize(
    ("changes", "check"),
    [
        ({"to": TREASURY}, "TX-TO"),
        ({"data": steps.payload("trade-close")["data"]}, "PLAN-ACTION"),
        ({"value": "0x1"}, "TX-VALUE"),
        ({"chainId": 8453}, "TX-CHAIN"),
    ],
)
def test_an_answer_is_judged_like_any_payload(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], changes: Mapping[str, object], check: str
) -> None:
    with Wire(steps.answers(trade_open=steps.payload("trade-open", **changes))) as wire:
        machine = steps.PlannedCommand(tmp_path, wire.url, "trade-open")
        assert machine.take("POST", OPEN, "trade-open") == 3
    assert check in capsys.readouterr().err
    assert not machine.output.exists()


@pytest.mark.parametrize("data", [[], "payload", None, {"intent": "x"}])
def test_an_answer_that_is_no_payload_is_the_services_fault(tmp_path: Path, data: object) -> None:
    script = steps.answers() | {f"POST {OPEN}": [reply(200, {"ok": True, "data": data})]}
    with Wire(script) as wire:
        machine = steps.PlannedCommand(tmp_path, wire.url, "trade-open")
        assert machine.take("POST", OPEN, "trade-open") == 8
    assert not machine.output.exists()


# ---- actions ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ACTIONS)
def test_the_example_of_every_action_is_one_that_it_accepts(name: str) -> None:
    fields = dict(word.split("=", 1) for word in example(ACTIONS[name]))
    assert read_values(ACTIONS[name], fields, name)


def test_the_actions_are_listed_with_everything_that_a_plan_can_say(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(program, ["actions"]) == 0
    text = capsys.readouterr().out
    assert max(len(line) for line in text.splitlines()) <= 80
    flat = " ".join(text.split())
    for action in ACTIONS.values():
        assert (action.title in flat, action.path in flat, action.result in flat) == (True, True, True)
        assert all(parameter.meaning in flat for parameter in action.parameters), action.name


# ---- a pair --------------------------------------------------------------------------------------------------------


def test_a_pair_by_name_is_sent_by_its_index_alone(tmp_path: Path) -> None:
    plan = steps.plan_of("position-increase")
    script = steps.answers(position_increase=steps.payload("position-increase"))
    by_hand = GasAndFees(ByHand(1, 60_000, GWEI, GWEI), None)
    with Wire(script) as wire, Http() as client:
        sources = Sources(BuilderClient(wire.url, client), OnlineConfig(), by_hand)
        prepare_step(plan.steps["position-increase"], steps.situation(plan), sources, UsedNonces())
        sent = json.loads(wire.seen[0].body)
    assert (sent["pairIndex"], "pair" in sent) == (0, False)
