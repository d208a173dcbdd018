"""Price triggers prepared: which stored one is replaced goes into the route, and never to the builder."""

from __future__ import annotations

import json

import pytest

from airlock_online.clients.builder import BuilderClient
from airlock_online.clients.http import Http
from airlock_online.config import OnlineConfig
from airlock_online.preparing.prepare import Prepared, Sources, prepare_step
from airlock_shared.checks.model import Situation
from airlock_shared.checks.nonces import UsedNonces
from airlock_shared.plan.reader import parse_plan
from online.loopback import Wire, reply
from shared.make_payloads import NOW_MS
from shared.world import PLAN_TEXTS, deployment, good

ENTITY = "3f0c9a52-7b1e-4c38-9e1f-0d8a6f2b7c11"
PATH = "/v2/intents/tpsl-partial"


def prepared(client: Http, step: str, extra: str) -> tuple[Prepared, dict[str, object]]:
    """Prepare a step of the vectors' plan with another field; return it with the fields that the builder was sent."""
    before, name, after = PLAN_TEXTS["requests"].partition(f'id = "{step}"')
    plan = parse_plan((before + name + after.replace("[steps.fields]\n", f"[steps.fields]\n{extra}\n", 1)).encode())
    payload = good(step)["requests"][0]["payload"]
    with Wire({f"POST {PATH}": [reply(200, {"ok": True, "data": payload})]}) as wire:
        sources = Sources(BuilderClient(wire.url, client), OnlineConfig())
        result = prepare_step(plan.steps[step], Situation(plan, deployment(), NOW_MS), sources, UsedNonces())
        [seen] = wire.seen
    return result, json.loads(seen.body)


@pytest.mark.parametrize("step", ["take-profit", "stop-loss"])
@pytest.mark.parametrize("entity", ["", ENTITY])
def test_the_trigger_to_replace_goes_into_the_route_alone(client: Http, step: str, entity: str) -> None:
    result, sent = prepared(client, step, f'replaces = "{entity}"' if entity else "")
    assert result.verdicts.blocking() == []
    assert result.request.as_json()["route"] == {"to": "core-api"} | ({"replaces": entity} if entity else {})
    vector = good(step)["requests"][0]["fields"]
    indices = ("tradeIndex", "pairIndex")
    assert sent == {name: int(value) if name in indices else value for name, value in vector.items()}
