"""Transactions of every kind through both halves: built, completed by the node, reviewed, signed, relayed, read back."""

import json
import time
from pathlib import Path

from eth_account import Account

from airlock_offline.home import OfflineHome
from airlock_online.delivery.deliveries import raw_transaction
from airlock_rehearsal.chain.evm import CONTRACTS, STORAGE
from airlock_rehearsal.scenarios import DELEGATE, TRADER
from airlock_shared.documents.deployment import parse_deployment
from airlock_shared.ethereum.signatures import Transaction, checksum_address
from airlock_shared.venue.actions import ACTIONS
from e2e.conftest import BothMachines, Ledger
from e2e.transaction_requests import FILLED, write_transaction
from plans import plan_head
from shared.token_records import MAINNET_USDC, USDC_RECORD

HEAD = plan_head("every-kind", roles='["signer"]', slippage_percent_at_most="1", max_fee_gwei_at_most="50")
BTC, ETH = f'trader = "{TRADER}", pair = "BTC/USD", ', f'trader = "{TRADER}", pair = "ETH/USD", '
BTC_PRICE = '{ at_least = "60000", at_most = "68000" }'
ETH_PRICE = '{ at_least = "3000", at_most = "3400" }'
KINDS = {
    "position-increase": BTC
    + f'tradeIndex = 0, additionalCollateralUsdc = "10", leverage = "2", openPrice = {BTC_PRICE}',
    "position-increase-coin": ETH
    + 'tradeIndex = 0, additionalCollateralUsdc = "10", leverage = "2", coinExposure = "0.001", '
    f'minLeverage = "0.1", maxLeverage = "20", openPrice = {ETH_PRICE}',
    "limit-update": f'trader = "{TRADER}", pair = "SOL/USD", orderIndex = 0, price = "121", slippagePercent = "1", '
    'takeProfit = "0", stopLoss = "0"',
    "referral-transfer": f'caller = "{TRADER}", code = "HOUSE", newOwner = "{DELEGATE}"',
    "referral-accept": f'caller = "{TRADER}", code = "OFFERED"',
    "referral-set-code-tx": f'caller = "{TRADER}", code = "DESK"',
    "referral-cancel-request": f'caller = "{TRADER}"',
    "claim-keeper-rewards": f'caller = "{TRADER}"',
    "delegate-set": f'trader = "{TRADER}", delegate = "{DELEGATE}", expiry = 2027-03-31T00:00:00Z',
    "token-approve": f'trader = "{TRADER}", spender = "{CONTRACTS[STORAGE]}", amountUsdc = "2500"',
}
LATER = {"delegate-remove": f'trader = "{TRADER}", delegate = "{DELEGATE}"'}
BY_CALL = {"trade-open", "trade-close"}  # without a documented shape: tests/online/test_call.py builds them


def write_plan(desk: BothMachines, name: str, steps: dict[str, str]) -> None:
    text = HEAD.replace("every-kind", name)
    for action, fields in steps.items():
        text += f'[[steps]]\nid = "{action}"\naction = "{action}"\nsigner = "treasury"\nfields = {{ {fields} }}\n'
    desk.path(f"{name}.toml").write_text(text)


def sign_and_submit(desk: BothMachines, ledger: Ledger, name: str, count: int) -> list[str]:
    """Sign and submit what was prepared, and return the state of each step."""
    plan, requests, signatures = (desk.path(f"{name}{end}") for end in (".toml", ".requests.json", ".signatures.json"))
    signed = desk.sign(ledger, plan, requests, signatures, typed="Yes\n" * (1 + count)).done()
    assert signed.err.count("transaction hash") == count
    submitted = desk.online("submit", signatures, "--json").done()
    return [line["state"] for line in submitted.lines if "state" in line]


def prepared(desk: BothMachines, name: str, steps: dict[str, str]) -> None:
    write_plan(desk, name, steps)
    words = ("prepare", desk.path(f"{name}.toml"), "-o", desk.path(f"{name}.requests.json"))
    desk.online(*words, "--rpc", desk.services.rpc_url).done()


def read(desk: BothMachines, *words: str) -> str:
    return desk.online(*words, "--json").done().out


def test_every_kind_of_transaction_is_tried_here() -> None:
    assert {name for name, action in ACTIONS.items() if action.call} == {*KINDS, *LATER, *BY_CALL}


def test_transactions_of_every_kind_go_the_whole_way(desk: BothMachines, blind: Ledger) -> None:
    prepared(desk, "every-kind", KINDS)
    desk.prove(desk.path("every-kind.toml"))
    assert sign_and_submit(desk, blind, "every-kind", len(KINDS)) == ["CONFIRMED"] * len(KINDS)
    assert '"1210000000000"' in read(desk, "positions", TRADER)  # the limit order's new price, 1e10
    assert '"isEnabled": true' in read(desk, "delegation", TRADER, DELEGATE)
    prepared(desk, "later", LATER)
    assert sign_and_submit(desk, blind, "later", 1) == ["CONFIRMED"]
    assert '"isEnabled": false' in read(desk, "delegation", TRADER, DELEGATE)


# ---- a token that the Ledger is told of -----------------------------------------------------------------------------


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
