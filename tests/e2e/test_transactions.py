"""A transaction through the installed offline half: reviewed, signed on the software Ledger, accepted by eth-account."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from eth_account import Account

from airlock_offline.home import OfflineHome
from airlock_online.delivery.deliveries import raw_transaction
from airlock_rehearsal.scenarios import TRADER
from airlock_shared.documents.deployment import parse_deployment
from airlock_shared.ethereum.signatures import Transaction, checksum_address
from airlock_shared.plan.reader import parse_plan
from commands import FinishedCommand
from e2e.conftest import BothMachines, Ledger
from e2e.transaction_requests import FILLED, write_transaction
from shared.token_records import MAINNET_USDC, USDC_RECORD


def told_deployment(desk: BothMachines, record: bytes) -> Path:
    """Pin a deployment on Ethereum, whose USDC a Ledger is told of; ``trust`` pins no rehearsal on a real chain."""
    document = json.loads(desk.path("deployment.json").read_bytes())
    document |= {"name": "told", "chain_id": 1, "device_metadata": {"usdc": "0x" + record.hex()}}
    document["contracts"]["usdc"] = checksum_address(MAINNET_USDC)
    for domain in document["domains"].values():
        domain["chainId"] = 1
    data = json.dumps(document).encode()
    desk.path("told.json").write_bytes(data)
    state, deployment = OfflineHome(desk.path("offline-home")), parse_deployment(data)
    state.pin(deployment, data, time.time_ns() // 1_000_000)
    return desk.path("told.json")


def test_an_approval_of_a_told_token_is_shown_and_signed_with_blind_signing_off(
    desk: BothMachines, ledger: Ledger
) -> None:
    plan, requests, unsigned = write_transaction(desk.folder, told_deployment(desk, USDC_RECORD))
    output = desk.path("keeper.signatures.json")
    words = ("sign", requests, "--plan", plan, "-o", output, "--emulator", ledger.port)
    ended = desk.offline(*words, typed="Yes\n" * 3)
    assert ended.code == 0, ended.err
    assert "Approve | 2500.5 USDC" in ended.err
    assert "Approve to | 0x" in ended.err
    assert "leave Blind signing off" in " ".join(ended.err.split())
    assert "Blind signing ahead" not in ended.err
    item = json.loads(output.read_text())["signatures"][0]
    raw = raw_transaction(unsigned, Transaction(**FILLED), bytes.fromhex(item["signature"][2:]))
    assert Account.recover_transaction(raw) == TRADER


# ---- what was signed and never sent locks nothing: the plan names what replaces it, and only the plan ------------------

EITHER = "Either of the two may execute; the online machine chooses."
MAX_FEE = FILLED["maxFeePerGas"]


def _sign(
    desk: BothMachines, ledger: Ledger, plan: Path, requests: Path, name: str
) -> tuple[FinishedCommand, dict[str, Any]]:
    output = desk.path(f"{name}.json")
    words = ("--plan", plan, "-o", output, "--emulator", ledger.port, "--json")
    ended = desk.offline("sign", requests, *words, typed="Yes\n" * 4)
    return ended, json.loads(output.read_text())["signatures"][0] if output.exists() else ended.json()["steps"][0]


def _emergency(desk: BothMachines, named: str) -> tuple[Path, Path]:
    """Write a revocation of the approval, in a ceremony of its own, whose step replaces the digest that is named."""
    _, requests, _ = write_transaction(desk.folder, desk.path("deployment.json"), 0)
    text = desk.path("keeper.plan.toml").read_text().replace('id = "keeper"', 'id = "emergency"')
    text = text.replace('id = "approve"', 'id = "revoke"' + (f'\nreplaces = "{named}"'))
    text = text.replace('"2500.5"', '"0"')
    document = json.loads(requests.read_text())
    document["header"] |= {"ceremony": "emergency", "plan": parse_plan(text.encode()).fingerprint}
    [item] = document["requests"]
    item |= {"step": "revoke", "transaction": FILLED}
    item["fields"]["amountUsdc"] = "0"
    plan, changed = desk.path("emergency.plan.toml"), desk.path("emergency.requests.json")
    plan.write_text(text)
    changed.write_text(json.dumps(document))
    return plan, changed


def _first(desk: BothMachines, blind: Ledger) -> str:
    plan, requests, _ = write_transaction(desk.folder, desk.path("deployment.json"))
    ended, signed = _sign(desk, blind, plan, requests, "first")
    assert ended.code == 0, ended.err
    return str(signed["digest"])


def test_an_emergency_that_the_plan_names_takes_the_account_nonce_of_what_was_never_sent(
    desk: BothMachines, blind: Ledger
) -> None:
    old = _first(desk, blind)
    plan, requests = _emergency(desk, old)
    for half in (desk.online, desk.offline):
        told = half("plan", "show", plan)
        assert (told.code, EITHER in told.out, f"{old[2:6]} {old[6:10]}" in told.out) == (0, True, True)
    assert desk.offline("verify", requests, "--plan", plan).code == 0
    ended, signed = _sign(desk, blind, plan, requests, "second")
    assert (ended.code, signed["result"]) == (0, "signed"), ended.err
    after = ended.err[ended.err.index("REPLACES (named by the plan") :]
    assert "step approve of ceremony keeper" in after
    assert "step revoke of ceremony emergency" in after
    assert f"nonce {FILLED['nonce']}" in after
    assert EITHER in after
    assert old in desk.path("offline-home/transcript.jsonl").read_text()


def test_a_steps_own_transaction_is_not_replaced_in_silence(desk: BothMachines, blind: Ledger) -> None:
    _first(desk, blind)
    plan, requests, _ = write_transaction(desk.folder, desk.path("deployment.json"))
    document = json.loads(requests.read_text())
    document["requests"][0]["transaction"] = FILLED | {"maxFeePerGas": MAX_FEE + 1}
    requests.write_text(json.dumps(document))
    ended, signed = _sign(desk, blind, plan, requests, "second")
    assert (ended.code, signed["result"]) == (3, "refused"), ended.err
    assert "NONCE-USED" in ended.err
    assert "NONCE-PENDING" in ended.err
