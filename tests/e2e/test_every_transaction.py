"""Transactions of every kind through both halves: built, completed by the node, reviewed, signed, relayed, read back."""

from __future__ import annotations

import json

import pytest

from airlock_rehearsal.scenarios import DELEGATE, PATH, TRADER
from airlock_rehearsal.services.runtime import TRADING_STORAGE
from airlock_shared.ethereum.signatures import keccak256
from airlock_shared.venue.actions import ACTIONS
from e2e.conftest import BothMachines, Ledger

HEAD = f"""\
format = "airlock/plan@1"
[ceremony]
id = "every-kind"
title = "Every kind of transaction"
deployment = "rehearsal"
roles = ["signer"]
[limits]
slippage_percent_at_most = "1"
max_fee_gwei_at_most = "50"
[signers.treasury]
address = "{TRADER}"
path = "{PATH}"
"""
BTC, ETH = f'trader = "{TRADER}", pair = "BTC/USD", ', f'trader = "{TRADER}", pair = "ETH/USD", '
BTC_PRICE = '{ at_least = "60000", at_most = "68000" }'
ETH_PRICE = '{ at_least = "3000", at_most = "3400" }'
OPEN = 'side = "long", collateralUsdc = "100", leverage = "10", slippagePercent = "1"'
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
    "token-approve": f'trader = "{TRADER}", spender = "{TRADING_STORAGE}", amountUsdc = "2500"',
}
NOT_PENDING_OWNER = "0x" + keccak256(b"NotPendingOwner()")[:4].hex()
LATER = {"delegate-remove": f'trader = "{TRADER}", delegate = "{DELEGATE}"'}
CALLED = {
    "trade-open": ("/v2/trade/open", BTC + OPEN + f", openPrice = {BTC_PRICE}",
                   ("side=long", "collateralUsdc=100", "leverage=10", "slippagePercent=1")),
    "trade-close": ("/v2/trade/close", BTC + f'tradeIndex = 0, collateralToCloseUsdc = "100", expectedPrice = {BTC_PRICE}',
                    ("tradeIndex=0", "collateralToCloseUsdc=100")),
}  # fmt: skip


def write_plan(desk: BothMachines, name: str, steps: dict[str, str]) -> None:
    text = HEAD.replace("every-kind", name)
    for action, fields in steps.items():
        text += f'[[steps]]\nid = "{action}"\naction = "{action}"\nsigner = "treasury"\nfields = {{ {fields} }}\n'
    desk.path(f"{name}.toml").write_text(text)


def sign_and_submit(desk: BothMachines, ledger: Ledger, name: str, count: int) -> list[str]:
    """Sign and submit what was prepared, and return the state of each step."""
    plan, requests, signatures = (desk.path(f"{name}{end}") for end in (".toml", ".requests.json", ".signatures.json"))
    words = ("sign", requests, "--plan", plan, "-o", signatures, "--emulator", ledger.port)
    signed = desk.offline(*words, typed="Yes\n" * (1 + count))
    assert signed.code == 0, signed.err
    assert signed.err.count("transaction hash") == count
    submitted = desk.online("submit", signatures, "--json")
    assert submitted.code == 0, submitted.out + submitted.err
    lines = [json.loads(line) for line in submitted.out.splitlines()]
    return [line["state"] for line in lines if "state" in line]


def prepared(desk: BothMachines, name: str, steps: dict[str, str]) -> None:
    write_plan(desk, name, steps)
    words = ("prepare", desk.path(f"{name}.toml"), "-o", desk.path(f"{name}.requests.json"))
    ended = desk.online(*words, "--rpc", desk.services.rpc_url)
    assert ended.code == 0, ended.err


def read(desk: BothMachines, *words: str) -> str:
    ended = desk.online(*words, "--json")
    assert ended.code == 0, ended.err
    return ended.out


def test_every_kind_of_transaction_is_tried_here() -> None:
    assert {name for name, action in ACTIONS.items() if action.call} == {*KINDS, *LATER, *CALLED}


def test_transactions_of_every_kind_go_the_whole_way(desk: BothMachines, blind: Ledger) -> None:
    prepared(desk, "every-kind", KINDS)
    desk.prove(desk.path("every-kind.toml"))
    assert sign_and_submit(desk, blind, "every-kind", len(KINDS)) == ["CONFIRMED"] * len(KINDS)
    assert '"1210000000000"' in read(desk, "positions", TRADER)  # the limit order's new price, 1e10
    assert '"isEnabled": true' in read(desk, "delegation", TRADER, DELEGATE)
    prepared(desk, "later", LATER)
    assert sign_and_submit(desk, blind, "later", 1) == ["CONFIRMED"]
    assert '"isEnabled": false' in read(desk, "delegation", TRADER, DELEGATE)


@pytest.mark.parametrize("action", CALLED)
def test_a_call_without_a_documented_shape_goes_the_whole_way(desk: BothMachines, blind: Ledger, action: str) -> None:
    path, fields, sent = CALLED[action]
    write_plan(desk, action, {action: fields})
    words = ("call", "POST", path, f"trader={TRADER}", "pairIndex=0", *sent, "--plan", desk.path(f"{action}.toml"))
    output = desk.path(f"{action}.requests.json")
    ended = desk.online(*words, "--step", action, "-o", output, "--rpc", desk.services.rpc_url)
    assert ended.code == 0, ended.err
    assert sign_and_submit(desk, blind, action, 1) == ["CONFIRMED"]


def test_a_transaction_that_would_revert_is_never_written(desk: BothMachines) -> None:
    write_plan(desk, "not-mine", {"referral-accept": f'caller = "{TRADER}", code = "TAKEN"'})
    words = ("prepare", desk.path("not-mine.toml"), "-o", desk.path("out.json"), "--rpc", desk.services.rpc_url)
    ended = desk.online(*words)
    assert (ended.code, "would revert" in ended.err, NOT_PENDING_OWNER in ended.err) == (8, True, True), ended.err
    assert not desk.path("out.json").exists()
