"""A pair on which PnL orders are only allowed: the order says what it is, or its position; and which trigger is replaced."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from airlock_online.clients.builder import BuilderClient
from airlock_online.clients.builder_reads import pair_rows
from airlock_online.clients.http import Http
from airlock_online.config import OnlineConfig
from airlock_online.preparing.prepare import Prepared, Sources, prepare_step
from airlock_shared.checks.model import Situation
from airlock_shared.checks.nonces import UsedNonces
from airlock_shared.cli.comparison_lines import deployment_lines
from airlock_shared.documents.deployment import Deployment, parse_deployment
from airlock_shared.errors import DocumentError, UsageError
from airlock_shared.plan.model import Plan
from airlock_shared.plan.reader import parse_plan
from online.loopback import Wire, reply
from shared.make_payloads import NOW_MS
from shared.world import DEPLOYMENT_TEXT, examined, good, plan_text_of, refusals, request_of

CLOSES = {"close": (0, 2), "close-coin": (7, 0)}
"""Each close with its pair and its slot."""


def not_known(change: Callable[[dict[str, Any]], object] = lambda pair: pair.pop("pnl")) -> Deployment:
    """Return the deployment whose pairs do not tell their kind, or tell it otherwise."""
    document = json.loads(DEPLOYMENT_TEXT)
    for pair in document["pairs"]:
        change(pair)
    return parse_deployment(json.dumps(document).encode())


def _plan(step: str, extra: str = "") -> Plan:
    return parse_plan(plan_text_of(step).replace("[steps.fields]\n", f"[steps.fields]\n{extra}\n", 1).encode())


def prepared(
    client: Http, step: str, plan: Plan, positions: object = None, where: Deployment | None = None
) -> Prepared:
    item = good(step)["requests"][0]
    answers = {f"POST {item['endpoint']}": [reply(200, {"ok": True, "data": item["payload"]})]}
    if "delegation" in item:
        answers["GET /v2/reads/delegation"] = [reply(200, {"ok": True, "data": item["delegation"]})]
    if positions is not None:
        answers["GET /v2/positions"] = [reply(200, {"ok": True, "data": positions})]
    with Wire(answers) as wire:
        speech = OnlineConfig().speech
        speech = speech._replace(paths={**speech.paths, "close-coin": "/v2/intents/close-coin"})
        sources = Sources(BuilderClient(wire.url, client, speech))
        situation = Situation(plan, where or not_known(), NOW_MS)
        return prepare_step(plan.steps[step], situation, sources, UsedNonces())


def held(step: str, **flags: object) -> dict[str, Any]:
    pair, slot = CLOSES[step]
    trade = {"trader": "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", "pairIndex": str(pair), "index": str(slot)}
    return {"trades": [{"trade": trade, **flags}], "orders": []}


@pytest.mark.parametrize("value", [None, "true", 1])
def test_a_pinned_pair_tells_its_kind_by_a_flag_or_not_at_all(value: object) -> None:
    with pytest.raises(DocumentError, match="of the wrong type"):
        not_known(lambda pair: pair.update(pnl=value))


def test_people_read_that_a_pair_does_not_tell_its_kind() -> None:
    told = "pair 0: BTC/USD (the venue does not tell whether its orders are PnL orders)"
    assert told in list(deployment_lines(not_known()))


@pytest.mark.parametrize(
    ("flag", "kind", "same"), [(1, "PnL allowed", True), (0, "ordinary", False), ([], "not told", False)]
)
def test_the_catalogue_says_allowed_where_no_more_is_told(flag: object, kind: str, same: bool) -> None:
    names = {"id": "index", "name": "symbol", "pnl": "isPnlTypeAllowed"}
    (row,) = pair_rows([{"index": 0, "symbol": "BTC/USD", "isPnlTypeAllowed": flag}], names, not_known())
    assert (row.kind, row.pinned) == (kind, same)


@pytest.mark.parametrize(("step", "order_type"), [("open", 0), ("open-pnl", 6)])
def test_an_open_says_itself_what_it_is(client: Http, step: str, order_type: int) -> None:
    made = prepared(client, step, _plan(step))
    assert made.verdicts.blocking() == []
    assert made.request.order_type == order_type
    assert made.request.order_reason.endswith(", by the plan's orderType")


def test_no_pnl_position_is_increased(client: Http) -> None:
    made = prepared(client, "increase", _plan("increase"), {"trades": []})
    assert (made.request.order_type, made.verdicts.blocking()) == (9, [])
    trade = {"pairIndex": 0, "index": _plan("increase").steps["increase"].raw("tradeIndex")}
    with pytest.raises(UsageError, match="it is a PnL position"):
        prepared(client, "increase", _plan("increase"), {"trades": [{"trade": trade, "isPnl": True}]})


@pytest.mark.parametrize("step", CLOSES)
@pytest.mark.parametrize("pnl", [False, True])
def test_a_close_has_the_kind_of_its_position(client: Http, step: str, pnl: bool) -> None:
    made = prepared(client, step, _plan(step), held(step, isPnl=pnl))
    assert made.verdicts.blocking() == []
    assert made.request.order_type == {"close": (1, 7), "close-coin": (15, 16)}[step][pnl]
    assert made.request.order_reason.endswith(", by the position's own flag")


@pytest.mark.parametrize("step", CLOSES)
@pytest.mark.parametrize(
    "positions",
    [
        {"trades": []}, {}, [], {"trades": ["x", None, {}, {"trade": []}]}, "untold", "another slot", "another trader",
        "allowed", "no flag",
    ],
)  # fmt: skip
def test_where_nothing_tells_a_close_is_refused(client: Http, step: str, positions: object) -> None:
    read = held(step)
    trade = read["trades"][0]["trade"]
    changes: dict[str, dict[str, Any]] = {
        "untold": {}, "another slot": {"trade": trade | {"index": "9"}, "isPnl": True}, "no flag": {"isPnl": "yes"},
        "another trader": {"trade": trade | {"trader": "0x" + "11" * 20}, "isPnl": True}, "allowed": {"isPnlTypeAllowed": 1},
    }  # fmt: skip
    if isinstance(positions, str):
        read["trades"][0] |= changes[positions]
        positions = read
    with pytest.raises(UsageError) as refused:
        prepared(client, step, _plan(step), positions)
    assert "neither" in str(refused.value)
    assert 'state orderType in the step\'s fields: "market", or "market_pnl"' in str(refused.value.do)
    for word, place in (("market", 0), ("market_pnl", 1)):
        made = prepared(client, step, _plan(step, f'orderType = "{word}"'), positions)
        assert made.verdicts.blocking() == []
        assert made.request.order_type == {"close": (1, 7), "close-coin": (15, 16)}[step][place]
        assert "orderType" not in made.request.fields


@pytest.mark.parametrize("step", ["take-profit", "stop-loss"])
@pytest.mark.parametrize("entity", ["", "3f0c9a52-7b1e-4c38-9e1f-0d8a6f2b7c11"])
def test_the_trigger_to_replace_goes_into_the_route_alone(client: Http, step: str, entity: str) -> None:
    made = prepared(client, step, _plan(step, f'replaces = "{entity}"' if entity else ""))
    assert made.verdicts.blocking() == []
    assert made.request.as_json()["route"] == {"to": "core-api"} | ({"replaces": entity} if entity else {})
    assert made.request.fields == good(step)["requests"][0]["fields"]


@pytest.mark.parametrize(("word", "pnl"), [("market", True), ("market_pnl", False)])
def test_a_plan_and_a_position_that_contradict_each_other_are_told(client: Http, word: str, pnl: bool) -> None:
    with pytest.raises(UsageError, match="the venue says that it is"):
        prepared(client, "close", _plan("close", f'orderType = "{word}"'), held("close", isPnl=pnl))


@pytest.mark.parametrize(("step", "word"), [("close", "market_pnl"), ("close-coin", "market")])
def test_a_plan_that_contradicts_a_pair_that_tells_is_refused(client: Http, step: str, word: str) -> None:
    plan = _plan(step, f'orderType = "{word}"')
    made = prepared(client, step, plan, where=parse_deployment(DEPLOYMENT_TEXT.encode()))
    assert refusals(made.verdicts.blocking()) == {"ORDER-OPEN"}


@pytest.mark.parametrize(
    ("said", "order_type", "refused"),
    [
        ("", 1, set()), ("", 7, set()), ("", 0, {"ORDER-TYPE"}), ("", 15, {"ORDER-TYPE"}), ("", None, {"ORDER-TYPE"}),
        ("market", 1, set()), ("market", 7, {"ORDER-TYPE"}), ("market_pnl", 1, {"ORDER-TYPE"}), ("market_pnl", 7, set()),
    ],
)  # fmt: skip
def test_the_gate_takes_the_plan_s_type(client: Http, said: str, order_type: int | None, refused: set[str]) -> None:
    plan = _plan("close", f'orderType = "{said}"' if said else "")
    request = request_of(good("close"))._replace(order_type=order_type)
    verdicts = examined(request, Situation(plan, not_known(), NOW_MS)).verdicts.found
    assert refusals(verdicts) & {"ORDER-TYPE", "ORDER-OPEN"} == refused
