"""A payload that must be refused is refused with the same id by ``prepare`` online and by ``verify`` offline."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from airlock_rehearsal.scenarios import TRADER
from e2e.conftest import BothMachines
from online.loopback import Wire, http, reply

Payload = dict[str, Any]
TRIGGER = """
[[steps]]
id = "trigger"
action = "tpsl-partial"
signer = "treasury"
fields = { trader = "TRADER", pairIndex = 0, tradeIndex = 0, kind = "take_profit", coinExposure = "0.001", side = "long", price = "70000" }
"""  # noqa: E501


def _set(*path: str | int, value: object) -> Callable[[Payload], str]:
    def change(payload: Payload) -> str:
        place: Any = payload
        for name in path[:-1]:
            place = place[name]
        place[path[-1]] = value
        return json.dumps(payload)

    return change


def _reordered_domain(payload: Payload) -> str:
    payload["types"]["EIP712Domain"].reverse()
    return json.dumps(payload)


def _type_hash_order(payload: Payload) -> str:
    words = payload["encodedIntent"][2:]
    head = [words[at : at + 64] for at in range(0, len(words), 64)]
    head[4], head[5] = head[5], head[4]  # tnc's offset and deadline change places
    payload["encodedIntent"] = "0x" + "".join(head)
    return json.dumps(payload)


def _crossed(payload: Payload) -> str:
    payload["domain"]["verifyingContract"] = "0xF4D093284958760AB87CcF20E6039B717878b580"
    return json.dumps(payload)


CASES: dict[str, tuple[str, str, Callable[[Payload], str]]] = {
    "a text for a flag": ("trigger", "MSG-BOOL", _set("message", "buy", value="false")),
    "an extra field": ("delegate", "MSG-FIELDS", _set("message", "extra", value="1")),
    "a reordered domain": ("delegate", "TYPES-PINNED", _reordered_domain),
    "a fractional number": ("trigger", "DOC-FLOAT", _set("message", "coinSize", value=5.5)),
    "the same member twice": (
        "delegate",
        "DOC-DUPLICATE",
        lambda payload: json.dumps(payload).replace('"intent":', '"intent": "DelegateReq", "intent":', 1),
    ),
    "the order of the type hash": ("delegate", "ENC-MATCH", _type_hash_order),
    "the referral domain": ("delegate", "DOMAIN-CONTRACT", _crossed),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_both_halves_refuse_it_with_the_same_id(desk: BothMachines, name: str) -> None:
    kind, check, change = CASES[name]
    plan, step, endpoint = desk.write_plan("delegate-key"), "delegate-key", "/v2/intents/delegate"
    if kind == "trigger":
        text = plan.read_text()
        plan.write_text(text[: text.index("[[steps]]")] + TRIGGER.replace("TRADER", TRADER))
        step, endpoint = "trigger", "/v2/intents/tpsl-partial"
    good = desk.path("good.json")
    assert desk.online("prepare", plan, "-o", good).code == 0
    document = good.read_text()
    item = json.loads(document)["requests"][0]
    altered = change(json.loads(json.dumps(item["payload"])))

    bad = desk.path("bad.json")
    bad.write_text(document.replace(json.dumps(item["payload"], ensure_ascii=False), altered))
    assert bad.read_text() != document
    verified = desk.offline("verify", bad, "--plan", plan)
    assert verified.code in (3, 4), verified.err
    assert check in verified.out + verified.err

    ready, meta = (httpx.get(f"{desk.services.builder_url}{path}").json() for path in ("/ready", "/v2/meta"))
    answer = http(200, f'{{"ok": true, "data": {altered}}}'.encode())
    pinned = desk.folder / "online-home" / "deployments" / "rehearsal.json"
    told = {"GET /ready": [reply(200, ready)], "GET /v2/meta": [reply(200, meta)]}
    with Wire(told | {f"POST {endpoint}": [answer]}) as wire:
        pinned.write_text(pinned.read_text().replace(desk.services.builder_url, wire.url))
        prepared = desk.online("prepare", plan, "-o", desk.path("out.json"))
    assert prepared.code in (3, 8), prepared.err
    assert check in prepared.err
    assert not desk.path("out.json").exists()
    assert step in document
