"""Make a batch to measure with: a plan, a deployment, signed intents, and their signatures.

The payloads are made with eth-account and eth-abi, as a builder would make them (``shared/make_payloads.py``), and signed
with coincurve. Nothing of Airlock's hashing or encoding is used here: both measured programs read the work of a third.
Usage: ``make_batch.py FOLDER COUNT``.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eth_utils.address import to_checksum_address

from airlock_shared.checks.model import Situation
from airlock_shared.documents.deployment import Deployment, parse_deployment
from airlock_shared.plan.decisions import wanted_value
from airlock_shared.plan.model import Bounds, Exact, Step
from airlock_shared.plan.reader import parse_plan
from airlock_shared.venue.structs import CATALOGUE
from shared.make_payloads import TREASURY, TYPES, VECTORS, seal, signed_item

Json = dict[str, Any]
TERMS = "Terms of the rehearsal venue. A delegate may trade and may never withdraw. " * 8
OPENED_S = 1_760_000_000
DEADLINE = "12h"

ACTIONS = (
    "close", "open", "increase", "increase-coin", "tpsl-partial", "delegate", "referral-set-code", "twap-cancel",
)  # fmt: skip


def make_batch(folder: Path, count: int) -> None:
    """Write the four files of a batch of ``count`` intents into ``folder``."""
    rng = random.Random(count)
    pinned: Json = json.loads((VECTORS / "deployments/good/venue.json").read_text()) | {"rehearsal": True}
    plan_text, deployment_text = _plan_text(count, rng).encode(), json.dumps(pinned).encode()
    (folder / f"plan-{count}").write_bytes(plan_text)
    (folder / f"deployment-{count}").write_bytes(deployment_text)
    plan, deployment = parse_plan(plan_text), parse_deployment(deployment_text)
    now_ms = time.time_ns() // 1_000_000
    situation = Situation(plan, deployment, now_ms)
    items = [_item(step, situation, rng) for step in plan.steps.values()]
    common = {"ceremony": plan.id, "rehearsal": True, "transcript_head": 64 * "0", "created_ms": now_ms}
    pins = {"plan": plan.fingerprint, "deployment": deployment.fingerprint, "deployment_name": deployment.name}
    _write(folder, "requests", str(count), common | pins, items)
    _write(folder, "signatures", str(count), common | {"requests": 64 * "0"}, [signed_item(item) for item in items])


def _write(folder: Path, kind: str, name: str, header: Json, items: Sequence[Json]) -> None:
    document = {"format": f"airlock/{kind}@1", "header": {"count": len(items), **header}, kind: items}
    (folder / f"{kind}-{name}").write_text(json.dumps(document), encoding="utf-8")


def _plan_text(count: int, rng: random.Random) -> str:
    head = f"""format = "airlock/plan@1"
[ceremony]
id = "bench"
title = "A batch to measure with"
deployment = "venue"
roles = ["signer", "witness"]
[limits]
deadline_at_most = "{DEADLINE}"
slippage_percent_at_most = "1"
remaining_at_least = "3m"
[signers.treasury]
address = "{TREASURY}"
path = "m/44'/60'/0'/0/0"
"""
    return head + "".join(_step_text(number, rng) for number in range(count))


def _step_text(number: int, rng: random.Random) -> str:
    action = ACTIONS[number % len(ACTIONS)]
    fields = ", ".join(f"{name} = {value}" for name, value in _step_fields(action, number, rng).items())
    return f'[[steps]]\nid = "{action}-{number}"\naction = "{action}"\nsigner = "treasury"\nfields = {{ {fields} }}\n'


def _step_fields(action: str, number: int, rng: random.Random) -> dict[str, str]:
    """Return a step's fields as TOML values."""
    trader, side = f'"{TREASURY}"', '"long"' if rng.random() < 0.5 else '"short"'
    price, leverage = f'"{rng.randint(100, 90_000)}.{rng.randint(1, 99):02}"', f'"{rng.randint(2, 50)}"'
    amount, coins = f'"{rng.randint(10, 100_000)}.5"', f'"{rng.randint(1, 90)}.{rng.randint(1, 9999):04}"'
    position = {"trader": trader, "pairIndex": str(number % 2), "tradeIndex": str(number % 3)}
    delegate = to_checksum_address(rng.randbytes(20))
    added = {**position, "additionalCollateralUsdc": amount, "leverage": leverage}
    return {
        "close": {**position, "collateralToCloseUsdc": amount, "expectedPrice": '{ at_least = "1", at_most = "100000" }'},
        "open": {"trader": trader, "pairIndex": str(number % 2), "side": side, "collateralUsdc": amount,
                 "leverage": leverage, "openPrice": price, "takeProfit": '"200000"'},
        "increase": {**added, "openPrice": price},
        "increase-coin": {**added, "coinExposure": coins, "minLeverage": '"1"', "maxLeverage": '"60"',
                          "openPrice": price},
        "tpsl-partial": {**position, "kind": '"take_profit"', "coinExposure": coins, "side": side, "price": price},
        "delegate": {"trader": trader, "delegate": f'"{delegate}"', "expiry": "2099-03-31T00:00:00Z"},
        "referral-set-code": {"referee": trader, "code": f'"CODE{number}"'},
        "twap-cancel": {"trader": trader, "twapId": str(number)},
    }[action]  # fmt: skip


# ---- the intents --------------------------------------------------------------------------------------------------


def _item(step: Step, situation: Situation, rng: random.Random) -> Json:
    """Return a step's request."""
    intent = CATALOGUE[step.action.primary_type]
    chosen = _chosen(situation.now_ms, rng)
    leaves = {f.path: _leaf(f.rule.parameter, f.rule.limit, step, situation.deployment, chosen) for f in intent.fields}
    message: Json = {}
    for member in TYPES[intent.name][intent.name]:
        nested = {path.split(".")[1]: value for path, value in leaves.items() if path.startswith(member["name"] + ".")}
        message[member["name"]] = nested or leaves[member["name"]]
    payload: Json = {
        "intent": intent.name,
        "signerRule": intent.signer_rule,
        "domain": situation.deployment.document["domains"][intent.domain],
        "primaryType": intent.name,
        "types": TYPES[intent.name],
        "message": message,
    }
    seal(payload)
    route: Json = {"to": intent.route}
    if intent.order_types:
        route |= {"order_type": intent.order_types[0], "reason": "the struct and the pair's PnL flag"}
    return {
        "step": step.id,
        "action": step.action.name,
        "endpoint": step.action.path,
        "fields": _sent(step, situation.deployment)
        | ({"deadlineMs": str(chosen["deadline"])} if intent.deadline else {}),
        "payload": payload | {"meta": {"pair": "COIN/USD", "source": "feed"}},
        "route": route,
        "signer": {"address": TREASURY, "path": "m/44'/60'/0'/0/0"},
    }


def _chosen(now_ms: int, rng: random.Random) -> dict[str, Any]:
    """Return what the builder chooses when the plan is silent, by the name of the limit."""
    return {
        "deadline": now_ms + 10 * 3_600_000 + rng.randrange(1000), "nonce": rng.getrandbits(256), "slippage": 5_000_000_000,
        "open-time": OPENED_S + rng.randrange(1_000_000), "sign-time": now_ms, "terms": TERMS,
    }  # fmt: skip


def _leaf(parameter: str, limit: str, step: Step, deployment: Deployment, chosen: dict[str, Any]) -> Any:
    """Return a leaf as the builder sends it: integers as decimal texts."""
    wanted = wanted_value(parameter, step, deployment)
    raw = (
        wanted.low if isinstance(wanted, Bounds) else wanted.raw if isinstance(wanted, Exact) else chosen.get(limit, 0)
    )
    if type(raw) is bytes:
        return to_checksum_address(raw) if len(raw) == 20 else "0x" + raw.hex()
    return str(raw) if type(raw) is int else raw


def _sent(step: Step, deployment: Deployment) -> dict[str, str]:
    """Return the request fields that the online half sends for a step, made here without its code."""
    fields = {}
    for parameter in step.action.parameters:
        named = parameter.name == "pairIndex"  # the plan may name the pair; its index is sent
        wanted = wanted_value("pairIndex", step, deployment) if named else step.values.get(parameter.name)
        if isinstance(wanted, Exact) and parameter.sent:
            fields[parameter.sent] = str(wanted.raw) if named or parameter.name == "expiry" else wanted.text
    return fields


if __name__ == "__main__":
    make_batch(Path(sys.argv[1]), int(sys.argv[2]))
