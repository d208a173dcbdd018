"""A transaction through the installed offline half: reviewed, signed on the software Ledger, accepted by eth-account."""

import json
import time
from pathlib import Path

from eth_account import Account

from airlock_offline.home import OfflineHome
from airlock_online.delivery.deliveries import raw_transaction
from airlock_rehearsal.scenarios import TRADER
from airlock_shared.documents.deployment import parse_deployment
from airlock_shared.ethereum.signatures import Transaction, checksum_address
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
    ended = desk.sign(ledger, plan, requests, output).done()
    assert "Approve | 2500.5 USDC" in ended.err
    assert "Approve to | 0x" in ended.err
    assert "leave Blind signing off" in " ".join(ended.err.split())
    assert "Blind signing ahead" not in ended.err
    item = json.loads(output.read_text())["signatures"][0]
    raw = raw_transaction(unsigned, Transaction(**FILLED), bytes.fromhex(item["signature"][2:]))
    assert Account.recover_transaction(raw) == TRADER
