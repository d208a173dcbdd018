"""A requests document that holds one transaction, as the online half of another tool would write it."""

import json
from pathlib import Path
from typing import Any

from eth_abi.abi import encode
from eth_utils.crypto import keccak

from airlock_shared.documents.deployment import parse_deployment
from airlock_shared.plan.reader import parse_plan
from plans import PATH, TRADER, plan_head

PLAN = f"""{plan_head("keeper", max_fee_gwei_at_most="5")}
[[steps]]
id = "approve"
action = "token-approve"
signer = "treasury"
fields = {{ trader = "{TRADER}", spender = "SPENDER", amountUsdc = "2500.5" }}
"""
FILLED = {"nonce": 3, "gas": 60_000, "maxFeePerGas": 2_000_000_000, "maxPriorityFeePerGas": 1_000_000}


def write_transaction(folder: Path, pinned: Path) -> tuple[Path, Path, dict[str, Any]]:
    """Write a plan and its requests document; return both paths and the unsigned transaction with what was filled in."""
    deployment = parse_deployment(pinned.read_bytes())
    contracts = deployment.document["contracts"]
    plan_path, requests_path = folder / "keeper.plan.toml", folder / "keeper.requests.json"
    text = PLAN.replace("SPENDER", contracts["tradingStorage"]).replace('"rehearsal"', f'"{deployment.name}"')
    plan_path.write_text(text)
    arguments = encode(["address", "uint256"], [contracts["tradingStorage"], 2_500_500_000])
    payload = {
        "to": contracts["usdc"],
        "from": TRADER,
        "data": "0x" + (keccak(text="approve(address,uint256)")[:4] + arguments).hex(),
        "value": "0x0",
        "chainId": deployment.chain_id,
        "description": "Approve USDC",
        "meta": {},
    }
    fields = {"trader": TRADER, "spender": contracts["tradingStorage"], "amountUsdc": "2500.5"}
    item = {
        "step": "approve", "action": "token-approve", "endpoint": "/v2/token/approve", "fields": fields,
        "payload": payload, "route": {"to": "relay"}, "signer": {"address": TRADER, "path": PATH}, "transaction": FILLED,
    }  # fmt: skip
    header = {
        "count": 1, "ceremony": "keeper", "plan": parse_plan(text.encode()).fingerprint,
        "deployment": deployment.fingerprint, "deployment_name": deployment.name, "rehearsal": True,
        "transcript_head": "0" * 64, "created_ms": 0,
    }  # fmt: skip
    requests_path.write_text(json.dumps({"format": "airlock/requests@1", "header": header, "requests": [item]}))
    return plan_path, requests_path, {**payload, **FILLED}
