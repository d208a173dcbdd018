"""Nonces on the chain: spent once, in a space of their own, in any order."""

from __future__ import annotations

import pytest

from airlock_rehearsal.chain.evm import Reverted
from airlock_rehearsal.chain.interface import REFERRAL, ROUTER, STORAGE
from online.chain.bench import Bench, intent_of, signature_by
from online.chain.ground import DESK_SENDER, TREASURY_SENDER, Ground
from shared.make_payloads import DESK, TREASURY


def test_of_two_intents_with_one_nonce_one_wins(ground: Ground) -> None:
    ground.venue.submit(*intent_of(ground, "close", _nonce=77))
    with pytest.raises(Reverted, match="NonceUsed"):
        ground.venue.submit(*intent_of(ground, "stop-twap", nonce=77))
    assert ground.venue.read(STORAGE, "twaps", 41)[1] > 0
    ground.venue.submit(*intent_of(ground, "stop-twap", nonce=78))
    assert ground.venue.read(STORAGE, "twaps", 41)[1] == 0


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
