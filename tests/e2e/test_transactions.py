"""A transaction through the installed offline half: reviewed, signed on the software Ledger, accepted by eth-account."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from eth_account import Account

from airlock_offline.home import OfflineHome
from airlock_online.delivery.deliveries import raw_transaction
from airlock_rehearsal.scenarios import TRADER
from airlock_shared.documents.deployment import parse_deployment
from airlock_shared.ethereum.signatures import checksum_address
from airlock_shared.ethereum.transactions import Transaction
from e2e.conftest import BothMachines, Ledger
from e2e.transaction_requests import FILLED, write_transaction
from shared.token_records import MAINNET_USDC, USDC_RECORD


def test_a_transaction_is_reviewed_signed_and_recovers_to_the_signer(desk: BothMachines, blind: Ledger) -> None:
    plan, requests, unsigned = write_transaction(desk.folder, desk.path("deployment.json"))
    output = desk.path("keeper.signatures.json")
    words = ("sign", requests, "--plan", plan, "-o", output, "--emulator", blind.port)
    ended = desk.offline(*words, typed="Yes\n" * 3)
    assert ended.code == 0, ended.err
    for shown in ("2500.5 USDC", "raw 2500500000", "transaction hash", "at most 0.00012", "neither spender nor amount"):
        assert shown in ended.err
    item = json.loads(output.read_text())["signatures"][0]
    raw = raw_transaction(unsigned, Transaction(**FILLED), bytes.fromhex(item["signature"][2:]))
    assert (item["shown"], Account.recover_transaction(raw)) == ("transaction", TRADER)


def test_with_blind_signing_off_the_ledger_refuses_calldata_and_the_message_names_the_setting(
    desk: BothMachines, ledger: Ledger
) -> None:
    plan, requests, _ = write_transaction(desk.folder, desk.path("deployment.json"))
    words = ("sign", requests, "--plan", plan, "-o", desk.path("out.json"), "--emulator", ledger.port)
    ended = desk.offline(*words, typed="Yes\n" * 3)
    assert (ended.code, "Blind signing" in ended.err) == (5, True), ended.err
    assert not desk.path("out.json").exists()


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


def test_a_record_that_the_device_refuses_ends_before_the_transaction_is_sent(
    desk: BothMachines, blind: Ledger
) -> None:
    forged = USDC_RECORD[:-1] + bytes((USDC_RECORD[-1] ^ 1,))
    plan, requests, _ = write_transaction(desk.folder, told_deployment(desk, forged))
    words = ("sign", requests, "--plan", plan, "-o", desk.path("out.json"), "--emulator", blind.port)
    ended = desk.offline(*words, typed="Yes\n" * 3)
    assert (ended.code, "does not accept the pinned record" in ended.err) == (5, True), ended.err
    assert not desk.path("out.json").exists()


@pytest.mark.parametrize("amount_raw", [2_500_500_001, 2**256 - 1, 0])
def test_an_approval_of_another_amount_than_the_plans_never_reaches_the_ledger(
    desk: BothMachines, amount_raw: int
) -> None:
    plan, requests, _ = write_transaction(desk.folder, desk.path("deployment.json"), amount_raw)
    ended = desk.offline("sign", requests, "--plan", plan, "-o", desk.path("out.json"), typed="Yes\n" * 3)
    assert (ended.code, "PLAN-FIELD" in ended.err) == (3, True), ended.err
    assert desk.offline("verify", requests, "--plan", plan).code == 3
