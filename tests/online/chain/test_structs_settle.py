"""Every struct of the catalogue, signed by the software Ledger: the contract accepts it and the state changes."""

from collections.abc import Callable
from typing import Any

import pytest

from airlock_offline.ledger.ethereum_app import open_app
from airlock_online.delivery.export_package import item_of
from airlock_rehearsal.chain.evm import CONTRACTS, REFERRAL, STORAGE, USDC, EvmCall, Reverted
from airlock_rehearsal.chain.sending import transact
from airlock_rehearsal.chain.venue import ENTRY_POINTS, CallOutcome
from airlock_shared.checks.intent import typed_data_of
from airlock_shared.checks.judge import Known, judge_item
from airlock_shared.checks.model import IntentCase
from airlock_shared.venue.structs import CATALOGUE
from airlock_software_ledger.app import SoftwareLedger
from online.chain.ground import EXPIRY_S, ONE, STRANGER, USDC_ONE, Ground, code, document, signer_of, situation
from online.delivering_machine import unsent
from shared.make_payloads import DESK, OTHER, TREASURY
from shared.world import STEPS, good, request_of

SEED = "test " * 11 + "junk"
PATHS = {TREASURY: "m/44'/60'/0'/0/0", DESK: "m/44'/60'/0'/0/1"}
MARKET_PRICE = {0: 62_500 * ONE, 1: 3_200 * ONE + ONE // 2, 7: 63_500 * ONE}


def signed_by_ledger(ground: Ground, step: str) -> tuple[str, bytes, bytes]:
    """Return struct, intent and signature of a step: examined by the gate, signed field by field on the software Ledger."""
    request = request_of(document(step))
    found = judge_item(request, situation(), Known())
    assert found.verdicts.blocking() == []
    case = found.case
    assert isinstance(case, IntentCase)
    path = PATHS[signer_of(step).address]
    signature = open_app(SoftwareLedger(seed=SEED)).sign_typed_data(path, typed_data_of(case))
    return request.payload["primaryType"], bytes.fromhex(request.payload["encodedIntent"][2:]), signature


def filled(ground: Ground, outcome: CallOutcome, price: int = 0) -> dict[str, Any]:
    """Return the terminal event of the order that an outcome has registered, at a price or the market's."""
    (initiated,) = [e for e in outcome.events if e.name in ("MarketOrderInitiated", "IncreasePositionRequested")]
    arguments = initiated.arguments
    assert arguments["trader"] == TREASURY
    done = ground.venue.act(STORAGE, "fulfil", arguments["orderId"], price or MARKET_PRICE[arguments["pairIndex"]])
    (terminal,) = [e for e in done.events if e.name in ("MarketOrderExecuted", "PositionSizeIncreased")]
    assert terminal.arguments["orderId"] == arguments["orderId"]
    return terminal.arguments


def position(ground: Ground, pair: int, index: int) -> dict[str, Any]:
    found: dict[str, Any] = ground.venue.read(STORAGE, "tradeAt", TREASURY, pair, index)
    return found


def _opened(ground: Ground, outcome: CallOutcome) -> None:
    before = ground.venue.trades_of(TREASURY)
    event = filled(ground, outcome)
    (new,) = [t for t in ground.venue.trades_of(TREASURY) if t not in before]
    assert event["open"] is True
    assert event["t"] == new
    assert event["price"] == MARKET_PRICE[new["pairIndex"]]
    assert event["isPnl"] is (new["pairIndex"] == 7)
    assert new["timestamp"] >= ground.clock.now_s


def _closed(ground: Ground, outcome: CallOutcome) -> None:
    held = ground.venue.read(USDC, "balanceOf", TREASURY)
    event = filled(ground, outcome, 64_000 * ONE)
    assert event["open"] is False
    assert ground.venue.read(USDC, "balanceOf", TREASURY) == held + event["usdcSentToTrader"]
    assert position(ground, 0, 2)["initialPosToken"] == 1_000 * USDC_ONE - 250_000_001


def _closed_dust(ground: Ground, outcome: CallOutcome) -> None:
    event = filled(ground, outcome)  # a ten-thousand-millionth of a coin: no raw USDC at all
    assert event["isCoinExposureFixed"] is True
    assert position(ground, 7, 0)["initialPosToken"] == 250 * USDC_ONE


def _increased(ground: Ground, outcome: CallOutcome) -> None:
    event = filled(ground, outcome)
    trade = event["t"]
    assert trade == position(ground, trade["pairIndex"], trade["index"])
    assert trade["initialPosToken"] == 110 * USDC_ONE or event["coinExposureAdded"] == 3 * ONE // 10


def _trigger(price: int, pair: int, index: int) -> Callable[[Ground, CallOutcome], None]:
    def check(ground: Ground, outcome: CallOutcome) -> None:
        (stored,) = outcome.events
        before = position(ground, pair, index)["initialPosToken"]
        trigger, opened = stored.arguments["id"], position(ground, pair, index)["openPrice"]
        with pytest.raises(Reverted, match="TriggerNotHit"):
            ground.venue.act(STORAGE, "executeTrigger", trigger, opened)
        done = ground.venue.act(STORAGE, "executeTrigger", trigger, price * ONE).events
        assert "MarketOrderExecuted" in [event.name for event in done]
        assert position(ground, pair, index)["initialPosToken"] < before
        with pytest.raises(Reverted, match="NoTrigger"):
            ground.venue.act(STORAGE, "executeTrigger", trigger, price * ONE)

    return check


def _delegate(delegate: str) -> Callable[[Ground, CallOutcome], None]:
    def check(ground: Ground, outcome: CallOutcome) -> None:
        assert ground.venue.delegation_expiry(TREASURY, delegate) == EXPIRY_S
        assert outcome.events[0].arguments["delegate"] == delegate

    return check


def _twap(ground: Ground, outcome: CallOutcome) -> None:
    assert outcome.events[-1].arguments == {"twapId": 41, "trader": TREASURY, "refund": 75 * USDC_ONE}
    assert ground.venue.read(STORAGE, "twaps", 41)[1] == 0


def _code(view: str, of: object, found: object) -> Callable[[Ground, CallOutcome], None]:
    def check(ground: Ground, _: CallOutcome) -> None:
        assert ground.venue.read(REFERRAL, view, of) == found

    return check


CHANGES: dict[str, Callable[[Ground, CallOutcome], None]] = {
    "open": _opened,
    "open-pnl": _opened,
    "open-coin": _opened,
    "close": _closed,
    "close-coin": _closed_dust,
    "increase": _increased,
    "increase-coin": _increased,
    "take-profit": _trigger(70_001, 0, 1),
    "stop-loss": _trigger(3_400, 1, 0),
    "stop-twap": _twap,
    "desk-key": _delegate(DESK),
    "desk-key-terms": _delegate(OTHER),
    "referral": _code("traderReferralCodes", TREASURY, code("TREASURY")),
    "own-code": _code("codeOwners", code("Desk-7!!"), TREASURY),
}


@pytest.mark.parametrize("step", STEPS)
def test_what_the_software_ledger_signed_is_accepted_and_changes_the_state(ground: Ground, step: str) -> None:
    struct, intent, signature = signed_by_ledger(ground, step)
    outcome = ground.venue.submit(struct, intent, signature)
    CHANGES[step](ground, outcome)
    with pytest.raises(Reverted, match="NonceUsed"):
        ground.venue.submit(struct, intent, signature)


@pytest.mark.parametrize("step", ["desk-key", "desk-key-terms", "referral", "own-code"])
def test_the_call_of_an_exported_package_is_accepted_by_the_contract(ground: Ground, step: str) -> None:
    struct, intent, signature = signed_by_ledger(ground, step)
    delivery = unsent(primary_type=struct, encoded_intent="0x" + intent.hex(), signature="0x" + signature.hex())
    call = item_of(delivery, situation().deployment)["call"]
    made = EvmCall(CONTRACTS[ENTRY_POINTS[struct][0]], bytes.fromhex(call["data"][2:]), 0)
    CHANGES[step](ground, ground.venue.outcome(transact(ground.evm, STRANGER, made)))


def test_every_struct_of_the_catalogue_is_among_the_steps() -> None:
    assert set(ENTRY_POINTS) == set(CATALOGUE)
    assert set(CHANGES) == set(STEPS)
    assert {request_of(good(step)).payload["primaryType"] for step in STEPS} == set(CATALOGUE)
