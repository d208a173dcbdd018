"""Delivering to the rehearsal services: real intents, real signatures, every fault that they can be told to have."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from airlock_online.delivery.outcome import OrderOutcome
from airlock_online.delivery.routes.context import Delivery
from airlock_online.delivery.submit import submit_delivery
from airlock_online.journal.order_states import OrderState
from airlock_rehearsal.services.faults import Faults
from airlock_rehearsal.services.runtime import DEFAULT_TRADER, RehearsalSettings
from airlock_rehearsal.services.server import RehearsalServices
from online.delivering_machine import Desk, delivering_machine, signed

OPEN = ["MarketOrderAccepted", "MarketOrderInitiated", "MarketOrderExecuted"]


@pytest.fixture(scope="module")
def shared_services() -> Iterator[RehearsalServices]:
    with RehearsalServices(settings=RehearsalSettings(pacing_s=0.005, slow_s=0.01)) as running:
        yield running


@pytest.fixture
def services(shared_services: RehearsalServices) -> Iterator[RehearsalServices]:
    shared_services.faults = Faults()
    yield shared_services
    shared_services.faults = Faults()


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with delivering_machine(
        tmp_path / "journal", now_ms=time.time_ns() // 10**6, nap=lambda _: time.sleep(0.02)
    ) as opened:
        yield opened


def an_open(services: RehearsalServices, desk: Desk) -> Delivery:
    fields: dict[str, str | int] = {"side": "long", "collateralUsdc": "100", "leverage": "5", "orderType": "market"}
    return signed(services, desk.world.http, "/v2/intents/open", 0, trader=DEFAULT_TRADER, pairIndex=0, **fields)


def a_referral(services: RehearsalServices, desk: Desk) -> Delivery:
    return signed(services, desk.world.http, "/v2/intents/referral-set-code", None, referee=DEFAULT_TRADER, code="DESK")


def deliver_with(services: RehearsalServices, desk: Desk, *faults: str) -> tuple[OrderOutcome, Delivery]:
    delivery = an_open(services, desk)
    services.faults = Faults.of(*faults)
    return submit_delivery(delivery, desk.world), delivery


@pytest.mark.parametrize(
    ("faults", "state", "code"),
    [
        ([], OrderState.FILLED, ""),
        (["unknown-event"], OrderState.FILLED, ""),
        (["cancel-fill"], OrderState.MARKET_DECLINED, ""),
        (["fail-terminal"], OrderState.FAILED, "TX_NOT_EXECUTED"),
        (["attempts-fail=5"], OrderState.FAILED, "ATTEMPTS_EXHAUSTED"),
        (["enqueue-failed-no-id"], OrderState.FAILED, "ENQUEUE_FAILED"),
        (["stream-timeout"], OrderState.FILLED, ""),
        (["stream-timeout", "status-404-once"], OrderState.FILLED, ""),
        (["stream-timeout", "cancel-fill"], OrderState.MARKET_DECLINED, ""),
        (["stream-timeout", "duplicate-replay"], OrderState.FILLED, ""),
        (["duplicate-replay"], OrderState.FILLED, ""),
        (["drop-after-accepted"], OrderState.FILLED, ""),
        (["drop-mid-frame"], OrderState.FILLED, ""),
        (["drop-before-accepted"], OrderState.UNKNOWN, ""),
        (["http-500@batched"], OrderState.UNKNOWN, ""),
        (["huge-body@batched"], OrderState.UNKNOWN, ""),
        (["http-503@batched"], OrderState.UNKNOWN, ""),
        (["not-json@batched"], OrderState.UNKNOWN, ""),
        (["http-429@batched"], OrderState.REJECTED, ""),
    ],
)
def test_every_fault_has_its_outcome_and_an_order_is_posted_once(
    services: RehearsalServices, desk: Desk, faults: list[str], state: OrderState, code: str
) -> None:
    outcome, delivery = deliver_with(services, desk, *faults)
    assert (outcome.state, outcome.code, outcome.anomalies) == (state, code, ())
    assert services.posts["batched"][delivery.nonce] == 1
    assert len(desk.events) == len({event.seq for event in desk.events})
    if state is not OrderState.REJECTED:
        services.faults = Faults()
        shown = len(desk.events)
        assert submit_delivery(delivery, desk.world).state is state
        assert (services.posts["batched"][delivery.nonce], len(desk.events)) == (1, shown)


def test_a_nonce_used_from_another_machine_is_a_rejection_with_its_reason(
    services: RehearsalServices, desk: Desk, tmp_path: Path
) -> None:
    _, delivery = deliver_with(services, desk)
    with delivering_machine(tmp_path / "other", now_ms=desk.now_ms) as other:
        outcome = submit_delivery(delivery, other.world)
    assert outcome.state is OrderState.REJECTED
    assert "nonce" in outcome.reason


@pytest.mark.parametrize(("faults", "state"), [([], OrderState.CONFIRMED), (["fail-terminal"], OrderState.FAILED)])
def test_a_relayed_intent_has_its_outcome_and_is_posted_once(
    services: RehearsalServices, desk: Desk, faults: list[str], state: OrderState
) -> None:
    delivery = a_referral(services, desk)
    services.faults = Faults.of(*faults)
    outcome = submit_delivery(delivery, desk.world)
    assert outcome.state is state
    assert services.posts["relayer"][delivery.nonce] == 1
