"""The client of a node against real ones: anvil, which others wrote, and the rehearsal's; and what is prepared, executed."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from eth_account import Account

from airlock_online.cli.main import program
from airlock_online.clients.http import Http, Timeouts
from airlock_online.clients.rpc import ChainReceipt, RpcCall, RpcClient, RpcError
from airlock_online.delivery.deliveries import raw_transaction
from airlock_online.delivery.routes.rpc import transaction_hash
from airlock_online.preparing.gas_and_fees import reason
from airlock_rehearsal.services.runtime import TRADING_STORAGE
from airlock_rehearsal.services.server import RehearsalServices
from airlock_shared.cli.program import run
from airlock_shared.documents.requests import parse_requests
from airlock_shared.ethereum.transactions import Transaction, signing_hash
from online.rehearsal.services_client import DELEGATE, PROMPT, TRADER

ANVIL = Path(__file__).parents[2] / ".tools/node/node_modules/@foundry-rs/anvil-linux-amd64/bin/anvil"
ANVIL_CHAIN = 31337
RICH = Account.from_key("0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80")  # "test … junk", 0
REVERTING = "0x" + "ca" * 20
CODE = (
    "0x631234567860e01b60005260046000fd"  # PUSH4 12345678, shifted to the left of a word, stored, REVERT with 4 bytes
)

PLAN = f"""
format = "airlock/plan@1"
[ceremony]
id = "two-transactions"
title = "Let the trading storage take USDC, then increase by the delegate"
deployment = "rehearsal"
[limits]
max_fee_gwei_at_most = "50"
slippage_percent_at_most = "1"
[signers.treasury]
address = "{TRADER.address}"
path = "m/44'/60'/0'/0/0"
[signers.desk]
address = "{DELEGATE.address}"
path = "m/44'/60'/1'/0/0"
delegate_of = "{TRADER.address}"
[[steps]]
id = "approve"
action = "token-approve"
signer = "treasury"
fields = {{ trader = "{TRADER.address}", spender = "{TRADING_STORAGE}", amountUsdc = "2500" }}
[[steps]]
id = "delegate"
action = "delegate-set"
signer = "treasury"
fields = {{ trader = "{TRADER.address}", delegate = "{DELEGATE.address}", expiry = 2090-01-01T00:00:00Z }}
"""
INCREASE = f"""
[[steps]]
id = "increase"
action = "position-increase"
signer = "desk"
[steps.fields]
trader = "{TRADER.address}"
pairIndex = 0
tradeIndex = 0
additionalCollateralUsdc = "10"
leverage = "5"
openPrice = {{ at_least = "1", at_most = "100000" }}
"""


@pytest.fixture(scope="module")
def anvil() -> Iterator[str]:
    if not ANVIL.exists():
        pytest.skip("anvil is not installed")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = [str(ANVIL), "--port", str(port), "--host", "127.0.0.1", "--chain-id", str(ANVIL_CHAIN)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    try:
        while "Listening on" not in (line := process.stdout.readline()):
            assert line, "anvil ended before it listened"
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()


@pytest.fixture
def client() -> Iterator[Http]:
    with Http(Timeouts(connect=5, silence=10)) as opened:
        yield opened


@pytest.fixture
def node(anvil: str, client: Http) -> RpcClient:
    rpc = RpcClient(anvil, client)
    rpc._ask("anvil_setCode", [REVERTING, CODE])
    return rpc


def transfer(node: RpcClient, **changes: int) -> tuple[str, str]:
    """Return ``(raw, hash)`` of a transaction of nothing to nobody, filled in as ``prepare`` does."""
    nobody = "0x" + "22" * 20
    payload = {"to": nobody, "data": "0x", "value": "0x0", "chainId": ANVIL_CHAIN}
    fees = node.fees()
    gas = node.estimate_gas(RpcCall(RICH.address, nobody, "0x"))
    nonce = node.transaction_count(RICH.address)
    filled = Transaction(nonce, gas, fees.max_fee_per_gas_wei, fees.max_priority_fee_per_gas_wei)._replace(**changes)
    raw = signed(payload, filled, RICH)
    return "0x" + raw.hex(), "0x" + transaction_hash(raw).hex()


def signed(payload: dict[str, object], filled: Transaction, key: Account) -> bytes:
    signature = key.unsafe_sign_hash(signing_hash(payload, filled)).signature
    return raw_transaction(payload, filled, bytes(signature))


def mined(node: RpcClient, tx_hash: str) -> ChainReceipt:
    """Ask until the node, which mines beside its answers, has the receipt."""
    for _ in range(1_000):
        if receipt := node.receipt(tx_hash):
            return receipt
        time.sleep(0.01)
    message = "the node mined nothing"
    raise AssertionError(message)


# ---- anvil -----------------------------------------------------------------------------------------------------------


def test_a_transaction_goes_through_anvil_under_the_hash_that_was_computed_here(node: RpcClient) -> None:
    raw, expected = transfer(node)
    before = node.transaction_count(RICH.address)
    assert node.send_raw_transaction(raw) == expected
    receipt = mined(node, expected)
    assert (receipt.ok, receipt.transaction_hash, receipt.logs) == (True, expected, [])
    assert receipt.block_number == node.block_number()
    assert node.transaction_count(RICH.address) == before + 1


@pytest.mark.parametrize("ask", [RpcClient.estimate_gas, RpcClient.call], ids=["estimate", "call"])
def test_anvils_reverts_carry_their_data(node: RpcClient, ask: Callable[[RpcClient, RpcCall], object]) -> None:
    with pytest.raises(RpcError) as caught:
        ask(node, RpcCall(RICH.address, REVERTING, "0x"))
    assert (caught.value.number, caught.value.data) == (3, "0x12345678")
    assert "selector 0x12345678" in reason(caught.value.data)


# ---- what is prepared is executed ------------------------------------------------------------------------------------


def test_what_is_prepared_with_the_rehearsals_node_is_executed_by_it(
    tmp_path: Path, client: Http, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two of the treasury's transactions in a row, then one that its delegate can make only because of the second."""
    home = ["--home", str(tmp_path / "home")]
    with RehearsalServices(trader=TRADER.address, settings=PROMPT) as services:
        node = RpcClient(services.rpc_url, client)
        fetch = ["deployment", "fetch", "--name", "rehearsal", "--builder", services.builder_url]
        assert run(program, [*home, *fetch, "-o", str(tmp_path / "deployment.json")]) == 0
        first = _executed(tmp_path, home, PLAN, node, services.rpc_url, "first")
        assert [nonce for _, nonce in first] == [node.transaction_count(TRADER.address) - 2 + n for n in (0, 1)]
        head, _, _ = PLAN.partition("[[steps]]")
        [(signer, _)] = _executed(tmp_path, home, head + INCREASE, node, services.rpc_url, "second")
        assert signer == DELEGATE.address
    capsys.readouterr()


def _executed(folder: Path, home: list[str], plan: str, node: RpcClient, rpc: str, name: str) -> list[tuple[str, int]]:
    """Prepare a plan, sign every transaction with eth-account, send it, and return ``(signer, nonce)`` of each."""
    plan_file, output = folder / f"{name}.toml", folder / f"{name}.json"
    plan_file.write_text(plan)
    assert run(program, [*home, "prepare", str(plan_file), "-o", str(output), "--rpc", rpc]) == 0
    sent = []
    for item in parse_requests(output.read_bytes())[1]:
        assert item.transaction is not None
        raw = signed(item.payload, item.transaction, TRADER if item.signer == TRADER.address else DELEGATE)
        tx_hash = node.send_raw_transaction("0x" + raw.hex())
        receipt = node.receipt(tx_hash)
        assert receipt is not None
        assert (receipt.ok, tx_hash) == (True, "0x" + transaction_hash(raw).hex())
        sent.append((item.signer, item.transaction.nonce))
    return sent


def test_a_transaction_that_would_revert_is_never_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The delegate is not registered: the gate says so first; with an account's own mistake the node does."""
    home, output = ["--home", str(tmp_path / "home")], tmp_path / "requests.json"
    head, _, _ = PLAN.partition("[[steps]]")
    fields = f'fields = {{ caller = "{TRADER.address}", code = "NOBODYS" }}'
    accept = f'[[steps]]\nid = "accept"\naction = "referral-accept"\nsigner = "treasury"\n{fields}\n'
    with RehearsalServices(trader=TRADER.address, settings=PROMPT) as services:
        fetch = ["deployment", "fetch", "--name", "rehearsal", "--builder", services.builder_url]
        assert run(program, [*home, *fetch, "-o", str(tmp_path / "deployment.json")]) == 0
        for text, code, told in ((head + INCREASE, 3, "TX-DELEGATE"), (head + accept, 8, "would revert")):
            (tmp_path / "plan.toml").write_text(text)
            words = ["prepare", str(tmp_path / "plan.toml"), "-o", str(output), "--rpc", services.rpc_url]
            capsys.readouterr()
            assert run(program, [*home, *words]) == code
            assert told in capsys.readouterr().err
    assert not output.exists()
