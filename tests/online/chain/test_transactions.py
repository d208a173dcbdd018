"""Every unsigned transaction: built with our own calldata, signed, mined, read back."""

from __future__ import annotations

from typing import Any

import pytest

from airlock_rehearsal.chain.interface import REFERRAL, ROUTER, STORAGE, USDC, selector
from airlock_shared.venue.calls import CALLS, DELEGATED_ACTION
from online.chain.calls import CONTRACTS, GOOD, sent
from online.chain.ground import EXPIRY_S, ONE, Ground, code
from shared.make_payloads import OTHER, TREASURY
from shared.make_transactions import NOT_SIGNED, SELECTORS
from shared.world import selectors


def test_the_selectors_are_the_published_ones() -> None:
    published = {signature.partition("(")[0]: text for signature, text in {**SELECTORS, **NOT_SIGNED}.items()}
    owners = {name: CONTRACTS[call.contract] for name, call in CALLS.items()}
    owners |= dict.fromkeys(("setDelegateWithSig", "multipleDelegations", DELEGATED_ACTION), ROUTER)
    owners |= dict.fromkeys(("setTraderReferralCodeByUserWithSig", "registerCodeWithSig"), REFERRAL)
    for name, text in published.items():
        for owner in (ROUTER, REFERRAL) if name == "nonceBitmap" else (owners[name],):
            assert selector(owner, name).hex() == text, name
    assert {bytes.fromhex(SELECTORS[s]): s.partition("(")[0] for s in SELECTORS} == selectors()


def test_every_call_that_airlock_signs_is_tried() -> None:
    assert set(GOOD) == set(CALLS)


@pytest.mark.parametrize("name", GOOD)
def test_a_call_is_mined_and_says_what_it_did(ground: Ground, name: str) -> None:
    message, event = GOOD[name]
    outcome = sent(ground, name, message)
    assert outcome.receipt.ok
    assert not event or outcome.event(event) is not None
    read = ground.venue.read
    state: dict[str, tuple[Any, Any]] = {
        "approve": (lambda: read(USDC, "allowance", TREASURY, OTHER), 5),
        "setDelegate": (lambda: ground.venue.delegation_expiry(TREASURY, OTHER), EXPIRY_S),
        "removeDelegate": (
            lambda: ground.venue.delegation_expiry(TREASURY, "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"),
            0,
        ),
        "setTraderReferralCodeByUser": (lambda: read(REFERRAL, "traderReferralCodes", TREASURY), code("TREASURY")),
        "setPendingCodeOwnershipTransfer": (lambda: read(REFERRAL, "pendingCodeOwners", code("HOUSE")), OTHER),
        "acceptCodeOwnership": (lambda: read(REFERRAL, "codeOwners", code("OFFERED")), TREASURY),
        "cancelRequest": (lambda: read(REFERRAL, "accessRequests", TREASURY), bytes(32)),
        "claimTokens": (lambda: read(STORAGE, "keeperRewards", TREASURY), 0),
        "updateOpenLimitOrder": (lambda: ground.venue.limit_orders_of(TREASURY)[0]["t"]["openPrice"], 59_000 * ONE),
    }
    if name in state:
        found, expected = state[name]
        assert found() == expected
    if CALLS[name].pending:
        orders = [e for e in outcome.events if "orderId" in e.arguments]
        done = ground.venue.fulfil(orders[0].arguments["orderId"], 62_000 * ONE)
        assert done.event("MarketOrderExecuted") or done.event("PositionSizeIncreased")
