"""Transactions that are mined and revert, or are not taken at all."""

from __future__ import annotations

import pytest

from airlock_rehearsal.chain.deploy import derived, signed, transact_together
from airlock_rehearsal.chain.evm import PRIORITY_FEE, EvmCall, NotTaken, Reverted
from airlock_rehearsal.chain.interface import REFERRAL, encode_call, revert_name
from online.chain.calls import OTHER_SENDER
from online.chain.ground import (
    STRANGER,
    Ground,
    code,
)


def test_a_transaction_that_reverts_is_mined_and_its_receipt_has_the_name(ground: Ground) -> None:
    raw = ground.raw(STRANGER, REFERRAL, encode_call(REFERRAL, "acceptCodeOwnership", code("HOUSE")))
    receipt = ground.evm.receipt(ground.evm.send_raw_transaction(raw))
    assert receipt is not None
    assert (receipt.ok, receipt.logs, revert_name(receipt.revert)) == (False, (), "NotPendingOwner")
    with pytest.raises(Reverted, match="NotPendingOwner"):
        ground.venue.outcome(receipt)
    found = ground.evm.transaction(receipt.hash)
    assert found is not None
    assert (found.sender, found.to, found.max_priority_fee_per_gas) == (
        STRANGER.address,
        ground.venue.contracts.referral,
        PRIORITY_FEE,
    )


def test_a_transaction_sent_twice_or_with_another_nonce_is_not_taken(ground: Ground) -> None:
    data = encode_call(REFERRAL, "setTraderReferralCodeByUser", code("A"))
    raw = ground.raw(STRANGER, REFERRAL, data)
    ground.evm.send_raw_transaction(raw)
    before = ground.evm.block_number()
    call = EvmCall(ground.venue.contracts.referral, data, 100_000)
    nonce = ground.evm.transaction_count(STRANGER.address)
    for bad in (raw, signed(ground.evm, STRANGER, call, nonce - 1), b"", b"\x02", b"\x02\xc0", raw[:-1]):
        with pytest.raises(NotTaken):
            ground.evm.send_raw_transaction(bad)
    with pytest.raises(NotTaken):
        ground.evm.send_raw_transaction(signed(ground.evm, STRANGER, call, nonce + 1))
    assert ground.evm.transaction_count(STRANGER.address) == nonce
    assert ground.evm.block_number() - before <= 1


def test_an_account_without_funds_is_not_taken(ground: Ground) -> None:
    with pytest.raises(NotTaken):
        ground.evm.send_raw_transaction(ground.raw(OTHER_SENDER, REFERRAL, b"\x00" * 4))


def test_several_transactions_share_a_block_and_its_time(ground: Ground) -> None:
    before = ground.evm.block_number()
    to = ground.venue.contracts.referral
    calls = [EvmCall(to, encode_call(REFERRAL, "requestAccess", code(text)), 200_000) for text in ("A", "B", "C")]
    receipts = transact_together(ground.evm, STRANGER, calls)
    assert {receipt.block_number for receipt in receipts} == {before + 1}
    assert ground.venue.read(REFERRAL, "accessRequests", STRANGER.address) == code("C")


def test_what_is_unknown_has_neither_receipt_nor_transaction(ground: Ground) -> None:
    assert ground.evm.receipt("0x" + "11" * 32) is None
    assert ground.evm.transaction("0x" + "11" * 32) is None


def test_the_operators_key_is_the_same_one_everywhere(ground: Ground) -> None:
    assert ground.venue.operator == derived("operator")
    assert ground.evm.balance(ground.venue.operator.address) > 10**18
