"""Nonces on the chain: spent once, in a space of their own, in any order."""

from __future__ import annotations

import random

import pytest

from airlock_rehearsal.chain.evm import Reverted
from airlock_rehearsal.chain.interface import REFERRAL, ROUTER, STORAGE, encode_call
from airlock_shared.checks.judge import Known, judge_item
from airlock_shared.checks.nonces import UsedNonces, use_of
from draws import draws
from online.chain.bench import Bench, intent_of, signature_by
from online.chain.ground import (
    DESK_SENDER,
    STRANGER,
    TREASURY_SENDER,
    Ground,
    document,
    situation,
)
from shared.make_payloads import DESK, TREASURY, seal
from shared.world import request_of


def test_of_two_intents_with_one_nonce_one_wins(ground: Ground) -> None:
    ground.venue.submit(*intent_of(ground, "close", _nonce=77))
    with pytest.raises(Reverted, match="NonceUsed"):
        ground.venue.submit(*intent_of(ground, "stop-twap", nonce=77))
    assert ground.venue.read(STORAGE, "twaps", 41)[1] > 0
    ground.venue.submit(*intent_of(ground, "stop-twap", nonce=78))
    assert ground.venue.read(STORAGE, "twaps", 41)[1] == 0


def test_the_gate_refuses_a_second_intent_with_a_nonce_that_was_signed(ground: Ground) -> None:
    where, used = situation(ground.venue), UsedNonces()
    found = judge_item(request_of(document(ground.venue, "close")), where, Known(used=used))
    assert not found.verdicts.refused()
    assert found.case is not None
    used.add(use_of(found.case))
    again = document(ground.venue, "close-coin")
    again["requests"][0]["payload"]["message"]["_nonce"] = "4"
    seal(again["requests"][0]["payload"])
    other = judge_item(request_of(again), where, Known(used=used)).verdicts
    assert any(verdict.check.startswith("NONCE-") for verdict in other.refused())


def test_the_spaces_of_trading_and_referral_are_independent(ground: Ground) -> None:
    ground.venue.submit(*intent_of(ground, "close", _nonce=4))
    assert ground.venue.nonce_used(ROUTER, TREASURY, 4)
    assert not ground.venue.nonce_used(REFERRAL, TREASURY, 4)
    ground.venue.submit(*intent_of(ground, "referral", _nonce=4))
    assert ground.venue.nonce_used(REFERRAL, TREASURY, 4)
    with pytest.raises(Reverted, match="NonceUsed"):
        ground.venue.submit(*intent_of(ground, "own-code", _nonce=4))


def test_a_delegates_intent_spends_the_traders_nonce(ground: Ground) -> None:
    bench = Bench(ground.venue, "increase")
    intent = bytes.fromhex(bench.payload["encodedIntent"][2:])
    ground.venue.submit(bench.struct, intent, signature_by(DESK_SENDER, bench.payload))
    assert ground.venue.nonce_used(ROUTER, TREASURY, 6)
    assert not ground.venue.nonce_used(ROUTER, DESK, 6)
    with pytest.raises(Reverted, match="NonceUsed"):
        ground.venue.submit(bench.struct, intent, signature_by(TREASURY_SENDER, bench.payload))


NONCES = draws(80, 500)


def test_random_nonces_are_spent_out_of_order_and_no_other(ground: Ground) -> None:
    pick = random.Random(500)
    nonces = [pick.getrandbits(256) for _ in range(NONCES // 2)]
    nonces += [2**200 + pick.randrange(2**11) for _ in range(NONCES)]
    nonces = list(dict.fromkeys(nonces))[:NONCES]
    assert len(nonces) == NONCES
    for nonce in nonces:
        _, intent, signature = intent_of(ground, "referral", _nonce=nonce)
        data = encode_call(REFERRAL, "setTraderReferralCodeByUserWithSig", signature, intent)
        ground.evm.send_raw_transaction(ground.raw(STRANGER, REFERRAL, data, 300_000))
    pick.shuffle(nonces)
    for nonce in nonces[: NONCES // 5]:
        with pytest.raises(Reverted, match="NonceUsed"):
            ground.venue.check(*intent_of(ground, "referral", _nonce=nonce))
    spent = set()
    for word in {nonce >> 8 for nonce in nonces}:
        bits = ground.venue.read(REFERRAL, "nonceBitmap", TREASURY, word)
        spent |= {(word << 8) + bit for bit in range(256) if bits >> bit & 1}
    assert spent == set(nonces)
