"""What is particular to a backend: the clock it follows, and the way back."""

from __future__ import annotations

import subprocess
import sys

import pytest

from airlock_rehearsal.chain.deploy import created_at, transact_together
from airlock_rehearsal.chain.evm import EvmCall, Log, Reverted
from airlock_rehearsal.chain.interface import REFERRAL, decode_log, encode_call, revert_name
from airlock_rehearsal.chain.venue import OperatorCall
from online.chain.ground import NOW_S, STRANGER, TREASURY_SENDER, Clock, Ground, code
from online.chain.marks import EmbeddedEvm

READS_TIME = bytes.fromhex(
    "6009600c60003960096000f3" + "4260005260206000f3"
)  # creation code, and code: return block.timestamp


@pytest.fixture
def clock_contract(ground: Ground) -> str:
    (receipt,) = transact_together(ground.evm, STRANGER, [EvmCall("", READS_TIME, 200_000)])
    return receipt.contract


def seconds(ground: Ground, contract: str) -> int:
    return int.from_bytes(ground.evm.call(STRANGER.address, contract, b""), "big")


def test_a_call_sees_the_clocks_second(ground: Ground, clock_contract: str) -> None:
    for now_s in (NOW_S + 10, NOW_S + 11, NOW_S + 86_400):
        ground.clock.now_s = now_s
        assert seconds(ground, clock_contract) == ground.evm.timestamp() == now_s


def test_blocks_of_one_second_run_ahead_and_wait_for_the_clock(ground: Ground, clock_contract: str) -> None:
    ground.clock.now_s = NOW_S + 100
    for _ in range(3):
        ground.send(STRANGER, REFERRAL, "requestAccess", code("A"))
    assert seconds(ground, clock_contract) == NOW_S + 103
    ground.clock.now_s = NOW_S + 102
    assert seconds(ground, clock_contract) == NOW_S + 103
    ground.clock.now_s = NOW_S + 104
    assert seconds(ground, clock_contract) == NOW_S + 104


def test_the_way_back_forgets_state_receipts_and_blocks(ground: Ground) -> None:
    mark, block = ground.evm.snapshot(), ground.evm.block_number()
    receipt = ground.send(STRANGER, REFERRAL, "requestAccess", code("A"))
    ground.evm.go_back(mark)
    assert ground.venue.read(REFERRAL, "accessRequests", STRANGER.address) == bytes(32)
    assert ground.evm.receipt(receipt.hash) is None
    assert ground.evm.block_number() == block


def test_an_action_that_reverts_among_others_is_told(ground: Ground) -> None:
    with pytest.raises(Reverted, match="EmptyCode"):
        ground.venue.act_together([OperatorCall(REFERRAL, "seedRequest", (STRANGER.address, bytes(32)))])


def test_the_contracts_are_where_they_were_said_to_be(ground: Ground) -> None:
    operator = ground.venue.operator.address
    assert tuple(ground.venue.contracts) == tuple(created_at(operator, nonce) for nonce in range(4))
    assert all(ground.evm.code(address) for address in ground.venue.contracts)


def test_the_embedded_chain_goes_back_to_its_own_marks_alone() -> None:
    with pytest.raises(TypeError):
        EmbeddedEvm(Clock()).go_back("0x1")


def test_the_embedded_chain_has_no_more_than_it_was_given() -> None:
    evm = EmbeddedEvm(Clock())
    evm.fund(STRANGER.address, 7)
    assert (evm.balance(STRANGER.address), evm.balance(TREASURY_SENDER.address), evm.block_number()) == (7, 0, 0)


# ---- what data says ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ("", "reverted without a reason"),
        ("12345678", "0x12345678"),
        ("08c379a0", "0x08c379a0"),
        ("08c379a0" + "ff" * 64, "0x08c379a0" + "ff" * 64),
        ("4e487b71" + f"{0x11:064x}", "Panic(0x11)"),
        ("4e487b71", "0x4e487b71"),
    ],
)
def test_revert_data_is_named_or_shown(data: str, name: str) -> None:
    assert revert_name(bytes.fromhex(data)) == name


def test_a_log_of_another_contract_is_no_event_of_ours() -> None:
    assert decode_log(Log(STRANGER.address, (), b"")) is None
    assert decode_log(Log(STRANGER.address, (b"\x01" * 32,), b"")) is None


def test_an_argument_too_many_is_no_call() -> None:
    with pytest.raises(ValueError, match="zip"):
        encode_call(REFERRAL, "cancelRequest", 1)


def test_looking_at_the_interface_imports_no_virtual_machine() -> None:
    asked = "import sys, airlock_rehearsal.chain.interface as i; i.artifacts(); print('eth' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
