"""``call`` and ``actions``: any path of the builder, judged as every payload is; a call's fee within the plan's limit."""

import copy
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from airlock_online.cli.actions import example
from airlock_online.cli.main import MODULES, program
from airlock_online.clients.builder import BuilderClient
from airlock_online.clients.http import Http
from airlock_online.preparing.gas_and_fees import ByHand, GasAndFees
from airlock_online.preparing.prepare import Sources, prepare_step
from airlock_rehearsal.chain.evm import CONTRACTS, STORAGE
from airlock_rehearsal.services.runtime import DEFAULT_TRADER, RehearsalSettings
from airlock_rehearsal.services.server import RehearsalServices
from airlock_shared.checks.model import CallCase, Situation
from airlock_shared.checks.nonces import UsedNonces
from airlock_shared.cli.comparison_lines import plan_lines
from airlock_shared.documents.deployment import Deployment, parse_deployment
from airlock_shared.documents.requests import parse_requests
from airlock_shared.errors import DocumentError, PlanError
from airlock_shared.plan.reader import parse_plan
from airlock_shared.plan.values import read_values
from airlock_shared.venue.actions import ACTIONS
from airlock_shared.venue.calls import CALLS
from airlock_shared.venue.profile_words import profile_words, resolve_profile
from commands import run_here
from online import transaction_steps as steps
from online.loopback import Wire, reply
from online.node import GWEI
from shared.make_payloads import NOW_MS
from shared.world import DEPLOYMENT_TEXT, VECTORS, confirm, deployed, examined_of, good, refusals

OPEN = steps.item("trade-open")["endpoint"]
ENCODED = ["/v2/relay", "/V2/Relay/", "/v2/%2572elay", "/v3/relay", "/api%2Fv2%2Frelay"]
FOLDER = "transactions"
LIMIT_WEI = 500_000_000_000_000
PLAN = (VECTORS / "transactions/plan.toml").read_text()
CALL = "updateOpenLimitOrder"
NO_NUMBERS = ["1", "0x" + 66 * "0", "0x001", "-0x1", " 0x1", "0x\u0661", ""]
KEY = "0x" + "22" * 20
EXPIRY_S = time.time_ns() // 10**9 + 86_400
BY_HAND = ["--nonce", "0", "--gas", "900000", "--max-fee-gwei", "2", "--priority-fee-gwei", "1"]
TRADER, CALLER = f"trader={DEFAULT_TRADER}", f"caller={DEFAULT_TRADER}"
SLOT = (TRADER, "pairIndex=0", "tradeIndex=0")
NO_ENDS = ("takeProfit=0", "stopLoss=0")
ADDED = (*SLOT, "additionalCollateralUsdc=10", "leverage=5", "slippagePercent=1")
COINS = ("coinExposure=0.001", "minLeverage=1", "maxLeverage=50")
DELEGATE = (TRADER, f"delegate={KEY}")
Run = Callable[..., Any]


@pytest.mark.parametrize("data", [{"vaults": [1, 2]}, None, {"apr": 1.5}])
def test_a_reply_is_printed_as_it_came(tmp_path: Path, data: object) -> None:
    with Wire({"GET /v2/lp/vaults": [reply(200, {"ok": True, "data": data})]}) as wire:
        machine = steps.PlannedCommand(tmp_path, wire.url, "approve")
        ended = machine("call", "get", "/v2/lp/vaults", "side=long", "pairIndex=1")
        assert wire.seen[0].target == "/v2/lp/vaults?side=long&pairIndex=1"
    assert (ended.code, ended.json()) == (0, data)


def test_a_post_carries_amounts_as_texts_and_indices_as_integers(tmp_path: Path) -> None:
    words = "amountUsdc=10.50 tradeIndex=0 pairIndex=1 orderIndex=2 twapId=3 nonce=4 twapIds=5 x=".split()
    with Wire({"POST /v2/margin/update": [reply(200, {"ok": True, "data": {}})]}) as wire:
        machine = steps.PlannedCommand(tmp_path, wire.url, "approve")
        assert machine("call", "POST", "/v2/margin/update", *words).code == 0
        assert json.loads(wire.seen[0].body) == {
            "amountUsdc": "10.50", "tradeIndex": 0, "pairIndex": 1, "orderIndex": 2, "twapId": 3, "nonce": "4",
            "twapIds": "5", "x": "",
        }  # fmt: skip


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


ELSEWHERE = [
    "/v9/forward", "/V9/forward/", "/v9/%66orward", "/v2/relay", "/api/relays", "/orders/submit", "/twaps/cancel",
    "/twaps/open", "/triggers/global-0xab-7", "/price-triggers",
]  # fmt: skip


@pytest.mark.parametrize(("services", "paths"), [("", ENCODED), (RENAMED, ELSEWHERE)], ids=["shipped", "renamed"])
def test_call_sends_nothing_signed(tmp_path: Path, services: str, paths: list[str]) -> None:
    with Wire({}) as wire:
        machine = steps.PlannedCommand(tmp_path, wire.url, "approve")
        if services:
            (machine.home / "services.toml").write_text(services)
            (machine.home / "config.toml").write_text('[venue]\nservices = "services.toml"\n')
        for path in paths:
            ended = machine("call", "POST", path, "rawTransaction=0x02")
            assert (ended.code, "submit" in ended.err) == (2, True), path
        assert wire.seen == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("PUT", "/v2/x"), "PUT"),
        (("GET", "/v2/../x"), "not a path"),
        (("GET", "/v2/x", "a"), "not NAME=VALUE"),
        (("GET", "/v2/x", "a=1", "a=1"), "given twice"),
        (("POST", "/v2/x", "deadlineMs=1806451200"), "looks like unix s"),
        (("POST", "/v2/x", "expirySeconds=1806451200000"), "looks like unix ms"),
        (("GET", "/v2/x", "--step", "approve"), "belong together"),
        (("GET", "/v2/x", "--gas", "60000"), "for a plan's step"),
        (("GET", "/v2/x", "--deployment", "other"), "no deployment named 'other'"),
    ],
)
def test_wrong_words_are_refused(tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    with Wire({}) as wire:
        ended = steps.PlannedCommand(tmp_path, wire.url, "approve")("call", *words)
    assert (ended.code, told in ended.err, wire.seen) == (2, True, []), ended.err


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_action_without_endpoint_is_usable(tmp_path: Path, method: str) -> None:
    script = steps.answers(trade_open=steps.payload("trade-open"))
    script[f"{method} {OPEN}"] = script.pop(f"POST {OPEN}")
    with Wire(script) as wire:
        machine = steps.PlannedCommand(tmp_path, wire.url, "trade-open")
        assert machine.take(OPEN, "trade-open", "-o", machine.output, method=method).code == 0
    _, [item], fingerprint = parse_requests(machine.output.read_bytes())
    expected = steps.request("trade-open")
    assert item._replace(transaction=None) == expected._replace(transaction=None)
    assert (machine.home / "requests" / f"{fingerprint}.json").read_bytes() == machine.output.read_bytes()


def test_several_calls_are_kept_and_written_together(tmp_path: Path) -> None:
    names = ("trade-open", "approve", "trade-close")
    close = steps.item("trade-close")["endpoint"]
    script = steps.answers(**{name.replace("-", "_"): steps.payload(name) for name in names})
    with Wire(script) as wire:
        machine = steps.PlannedCommand(tmp_path, wire.url, *names)
        ended = machine.prepare(*steps.HAND_WORDS)
        assert (ended.code, "call POST PATH --plan PLAN --step STEP" in " ".join(ended.err.split())) == (2, True)
        ended = machine.take(OPEN, "trade-open")
        assert (ended.code, "a call of their own, too: trade-close" in ended.err) == (0, True)
        ended = machine.take(close, "trade-close", "--json")
        assert (ended.code, ended.json()) == (0, {"ok": True, "kept": "trade-close", "missing": []})
        assert not machine.output.exists()
        assert machine.prepare(*steps.HAND_WORDS).code == 0
        assert [wire.count("POST", path) for path in (OPEN, close)] == [1, 1]
    items = parse_requests(machine.output.read_bytes())[1]
    assert [(item.step, item.endpoint) for item in items] == [(name, steps.item(name)["endpoint"]) for name in names]
    assert [item.transaction.nonce for item in items if item.transaction] == [3, 4, 5]


def test_a_payload_that_a_check_refuses_is_not_kept(tmp_path: Path) -> None:
    with Wire(steps.answers(trade_open=steps.payload("trade-open", value="0x1"))) as wire:
        machine = steps.PlannedCommand(tmp_path, wire.url, "trade-open")
        ended = machine.take(OPEN, "trade-open")
    assert (ended.code, "is kept" in ended.err, list((machine.home / "prepared").glob("*/*"))) == (3, False, [])


@pytest.mark.parametrize(
    ("step", "path", "words", "code", "told", "data"),
    [
        ("trade-open", OPEN, ("leverage=11",), 3, "PLAN-REQUEST", steps.payload("trade-open")),
        ("approve", "/v2/token/approve-all", (), 3, "PLAN-REQUEST", steps.payload("approve")),
        ("nobody", OPEN, (), 2, "PLAN-STEP", steps.payload("trade-open")),
        ("trade-open", OPEN, (), 8, "builder", []),
        ("trade-open", OPEN, (), 8, "builder", "payload"),
        ("trade-open", OPEN, (), 8, "builder", None),
        ("trade-open", OPEN, (), 8, "builder", {"intent": "x"}),
    ],
)
def test_an_answer_to_another_ask_or_that_is_no_payload_is_refused(
    tmp_path: Path, step: str, path: str, words: tuple[str, ...], code: int, told: str, data: object
) -> None:
    with Wire(steps.answers() | {f"POST {path}": [reply(200, {"ok": True, "data": data})]}) as wire:
        machine = steps.PlannedCommand(tmp_path, wire.url, "approve" if step == "approve" else "trade-open")
        ended = machine.take(path, step, *words, "-o", machine.output)
    assert (ended.code, told in ended.err, machine.output.exists()) == (code, True, False), ended.err


@pytest.mark.parametrize("name", ACTIONS)
def test_the_example_of_every_action_is_one_that_it_accepts(name: str) -> None:
    fields = dict(word.split("=", 1) for word in example(ACTIONS[name]))
    assert read_values(ACTIONS[name], fields, name)


def test_the_actions_are_listed_with_everything_that_a_plan_can_say() -> None:
    text = run_here(program, "actions").out
    assert max(len(line) for line in text.splitlines()) <= 80
    flat = " ".join(text.split())
    for action in ACTIONS.values():
        assert (action.title in flat, action.path in flat, action.result in flat) == (True, True, True)
        assert all(parameter.meaning in flat for parameter in action.parameters), action.name


def test_a_pair_by_name_is_sent_by_its_index_alone(tmp_path: Path) -> None:
    plan = steps.plan_of("position-increase")
    script = steps.answers(position_increase=steps.payload("position-increase"))
    by_hand = GasAndFees(ByHand(1, 60_000, GWEI, GWEI), None)
    with Wire(script) as wire, Http() as client:
        sources = Sources(BuilderClient(wire.url, client), by_hand)
        prepare_step(plan.steps["position-increase"], steps.situation(plan), sources, UsedNonces())
        sent = json.loads(wire.seen[0].body)
    assert (sent["pairIndex"], "pair" in sent) == (0, False)


# ---- a call that a venue takes a fee for: native currency goes with it within the plan's limit ---------------------


FEES: dict[str, Any] = {
    "format": "airlock/venue-signed@1",
    "structs": {},
    "calls": {
        CALL: {
            "signature": CALLS[CALL].signature,
            "leaves": {each.path: each.kind for each in CALLS[CALL].fields},
            "value": "fee",
        }
    },
}


def _plan_text(limit: str | None) -> bytes:
    line = "" if limit is None else f"native_fee_at_most = {limit}\n"
    return PLAN.replace("max_fee_gwei_at_most", f"{line}max_fee_gwei_at_most", 1).encode()


def _situation(limit: str | None = '"0.0005"', deployment: Deployment | None = None) -> Situation:
    return Situation(parse_plan(_plan_text(limit)), deployment or deployed(FEES), NOW_MS)


def _sending(value: str, step: str = "limit-update") -> dict[str, Any]:
    document = copy.deepcopy(good(step, FOLDER))
    document["requests"][0]["payload"]["value"] = value
    return document


@pytest.mark.parametrize("value", ["0", "0x", "0x01", hex(LIMIT_WEI), "0x" + f"{LIMIT_WEI:064x}"])
def test_a_fee_within_the_plan_s_limit_is_signed_by_a_trader_and_by_a_delegate(value: str) -> None:
    for step in ("limit-update", "limit-update-desk"):
        found = examined_of(_sending(value, step), _situation())
        assert found.verdicts.blocking() == [], value
        assert isinstance(found.case, CallCase)
        confirm(found.case)


@pytest.mark.parametrize(
    ("value", "step", "limit"),
    [
        (hex(LIMIT_WEI + 1), "limit-update", '"0.0005"'),
        ("0x" + 64 * "f", "limit-update", '"0.0005"'),
        ("0x1", "limit-update", '"0"'),
        ("0x1", "limit-update", None),
        ("0x1", "approve", '"0.0005"'),
        ("0x1", "delegate-set", '"0.0005"'),
        *[(value, "limit-update", '"0.0005"') for value in NO_NUMBERS],
    ],
)
def test_anything_else_is_refused_and_has_no_hash(value: str, step: str, limit: str | None) -> None:
    found = examined_of(_sending(value, step), _situation(limit))
    assert refusals(found.verdicts.found) == {"TX-VALUE"}
    assert found.digest == b""


@pytest.mark.parametrize(
    ("limit", "check"), [('"-1"', "PLAN-OWN-LIMIT"), ("0.1", "PLAN-AMOUNT"), ('"0.0000000000000000001"', "PLAN-AMOUNT")]
)
def test_a_limit_that_is_no_amount_is_refused(limit: str, check: str) -> None:
    with pytest.raises(PlanError) as refused:
        parse_plan(_plan_text(limit))
    assert refused.value.check == check
    assert "native_fee_at_most" in refused.value.where


@pytest.mark.parametrize(("call", "word"), [*((CALL, word) for word in ("", "any", "Fee", "0x1")), ("approve", "fee")])
def test_no_other_word_says_what_is_sent_and_no_fee_goes_with_the_token_s_approval(call: str, word: str) -> None:
    leaves = {each.path: each.kind for each in CALLS[call].fields}
    entry = {"signature": CALLS[call].signature, "leaves": leaves, "value": word}
    with pytest.raises(DocumentError) as refused:
        resolve_profile({**FEES, "calls": {call: entry}})
    assert (refused.value.check, refused.value.where.startswith(f"calls.{call}")) == ("DOC-VENUE", True)
    pinned = json.loads(DEPLOYMENT_TEXT)
    pinned["signed"]["calls"][call]["value"] = word  # of an online machine that resolved nothing
    with pytest.raises(DocumentError, match="DOC-VENUE"):
        parse_deployment(json.dumps(pinned).encode())


def test_without_a_profile_no_limit_lets_anything_be_sent() -> None:
    shipped = parse_deployment(DEPLOYMENT_TEXT.encode())
    found = examined_of(_sending("0x1"), _situation(deployment=shipped))
    assert refusals(found.verdicts.found) == {"TX-VALUE"}


def test_the_plan_s_lines_and_its_fingerprint_have_the_limit_and_people_read_of_the_fee() -> None:
    without, with_limit = parse_plan(_plan_text(None)), parse_plan(_plan_text('"0.0005"'))
    assert without.fingerprint != with_limit.fingerprint
    assert "  native fee at most  0.0005 of the native currency" in list(plan_lines(with_limit))
    assert not any("native fee" in line for line in plan_lines(without))
    lines = list(profile_words(deployed(FEES).structs, deployed(FEES).calls))
    assert lines == [f"call {CALL}: native currency may be sent with it as a fee, within the plan's native_fee_at_most"]


# ---- the program itself against the rehearsal services: every endpoint of the builder, by the command that uses it --


FIELDS: dict[str, tuple[str, ...]] = {
    "open": (TRADER, "pairIndex=0", "side=long", "collateralUsdc=100", "leverage=5", "openPrice=64000"),
    "close": (*SLOT, "collateralToCloseUsdc=100", "expectedPrice=64000"),
    "increase": (*ADDED, "openPrice=64000"),
    "increase-coin": (*ADDED, *COINS, "openPrice=64000"),
    "tpsl-partial": (*SLOT, "kind=take_profit", "coinExposure=0.01", "side=long", "price=70000"),
    "twap-cancel": (TRADER, "twapId=1"),
    "referral-set-code": (f"referee={DEFAULT_TRADER}", "code=DESK"),
    "delegate": (*DELEGATE, f"expiry={EXPIRY_S}"),
    "position-increase": (*ADDED, "openPrice=64000"),
    "position-increase-coin": (*ADDED, *COINS, "openPrice=64000"),
    "limit-update": (TRADER, "pairIndex=2", "orderIndex=0", "price=121.5", "slippagePercent=1", *NO_ENDS),
    "referral-transfer": (CALLER, "code=DESK", f"newOwner={KEY}"),
    "referral-accept": (CALLER, "code=DESK"),
    "referral-set-code-tx": (CALLER, "code=DESK"),
    "referral-cancel-request": (CALLER,),
    "claim-keeper-rewards": (CALLER,),
    "delegate-set": (*DELEGATE, f"expiry={EXPIRY_S}"),
    "delegate-remove": DELEGATE,
    "token-approve": (TRADER, f"spender={CONTRACTS[STORAGE]}", "amountUsdc=250"),
}


@pytest.fixture(scope="module")
def services() -> Iterator[RehearsalServices]:
    with RehearsalServices(settings=RehearsalSettings(pacing_s=0, slow_s=0)) as running:
        yield running


@pytest.fixture(scope="module")
def home(services: RehearsalServices, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("online")
    words = ("deployment", "fetch", "--name", "rehearsal", "--builder", services.builder_url)
    assert run_here(program, "--home", folder, *words, "-o", folder / "deployment.json").code == 0
    return folder


@pytest.fixture
def ask(home: Path) -> Run:
    def asked(*words: str, code: int = 0) -> Any:
        ended = run_here(program, "--home", home, *words, "--json")
        assert ended.code == code, ended.err
        return ended.json()

    return asked


def test_every_action_with_an_endpoint_is_built_here() -> None:
    assert set(FIELDS) == {action.name for action in ACTIONS.values() if action.path}


@pytest.mark.parametrize("action", FIELDS)
def test_build_asks_the_actions_endpoint_and_no_check_refuses_the_answer(ask: Run, action: str) -> None:
    by_hand = BY_HAND if ACTIONS[action].call else []
    built = ask("build", action, *FIELDS[action], *by_hand)
    assert (built["ok"], built["endpoint"]) == (True, ACTIONS[action].path)
    assert built["payload"]


READS: dict[str, tuple[str, ...]] = {
    "ready": (), "meta": (), "pairs": (), "positions": (DEFAULT_TRADER,), "nonce": (DEFAULT_TRADER, "5"),
    "delegation": (DEFAULT_TRADER, KEY), "relay": ("0x" + "ab" * 32,),
}  # fmt: skip


@pytest.mark.parametrize("read", [name for name, module in MODULES.items() if module == "reads"])
def test_every_read_has_its_command(ask: Run, read: str) -> None:
    if read != "referral":  # test_reads.py: what it tells depends on the code
        assert ask(read, *READS[read])


@pytest.mark.parametrize("path", ["/v2/nonce", "/v2/reads/nonce"])
def test_the_nonce_is_read_under_either_name(ask: Run, home: Path, path: str) -> None:
    config = home / "config.toml"
    config.write_text('[venue]\nservices = "services.toml"\n')
    (home / "services.toml").write_text(f'format = "airlock/venue-services@1"\n[paths]\nnonce = "{path}"\n')
    try:
        assert ask("nonce", DEFAULT_TRADER, "5")
    finally:
        config.unlink()


def test_call_reaches_what_has_no_action_of_its_own(ask: Run) -> None:
    fields = (TRADER, "side=long", "collateralUsdc=100", "leverage=10", "pairIndex=0")
    assert "data" in ask("call", "POST", "/v2/trade/open", *fields)


@pytest.mark.parametrize("path", ["/v2/margin/update", "/v2/lp/vaults"])
def test_call_tells_the_builders_own_no(ask: Run, path: str) -> None:
    told = ask("call", "GET", path, code=8)
    assert told["error"]["code"] == "NOT_FOUND"
