"""Promises read back from the rehearsal services after real orders, and after a service that only said that it was done."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from airlock_online.clients.builder import BuilderClient
from airlock_online.clients.http import Http
from airlock_online.config import OnlineConfig
from airlock_online.delivery.submit import submit_delivery
from airlock_online.journal.order_states import OrderState
from airlock_online.readback.expectations import Expectation, Scene
from airlock_online.readback.read_back import read_back
from airlock_rehearsal.services.runtime import DEFAULT_TRADER, RehearsalSettings
from airlock_rehearsal.services.server import RehearsalServices
from airlock_shared.documents.requests import Request
from airlock_shared.venue.actions import ACTIONS
from online.delivering_machine import DeliveringMachine, delivering_machine, signed

KEY = "0x" + "22" * 20
EXPIRY_S = time.time_ns() // 10**9 + 86_400
Fields = dict[str, str | int]
CASES: dict[str, tuple[int | None, Fields]] = {
    "open": (0, {"side": "long", "collateralUsdc": "100", "leverage": "5", "pairIndex": 2, "orderType": "market"}),
    "increase": (9, {"tradeIndex": 0, "pairIndex": 0, "additionalCollateralUsdc": "10", "leverage": "5"}),
    "close": (1, {"tradeIndex": 0, "pairIndex": 1, "collateralToCloseUsdc": "200"}),
    "delegate": (None, {"delegate": KEY, "expirySeconds": EXPIRY_S}),
    "referral-set-code": (None, {"code": "DESK"}),
}


@pytest.fixture
def services() -> Iterator[RehearsalServices]:
    with RehearsalServices(settings=RehearsalSettings(pacing_s=0.002, slow_s=0.01)) as running:
        yield running


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[DeliveringMachine]:
    with delivering_machine(
        tmp_path / "journal", now_ms=time.time_ns() // 10**6, nap=lambda _: time.sleep(0.01)
    ) as opened:
        yield opened


def asked(action: str) -> Fields:
    owner = "referee" if action == "referral-set-code" else "trader"
    return {owner: DEFAULT_TRADER} | CASES[action][1]


def built(action: str, services: RehearsalServices, client: Http) -> Request:
    fields = asked(action)
    return Request(
        step="step",
        action=action,
        endpoint=ACTIONS[action].path,
        fields={name: str(value) for name, value in fields.items()},
        payload=BuilderClient(services.builder_url, client).call(ACTIONS[action].path, fields),
        route="",
        order_type=CASES[action][0],
        order_reason="",
        signer=DEFAULT_TRADER,
        path="m/44'/60'/0'/0/0",
        delegation=None,
    )


def promises_of(request: Request, services: RehearsalServices, desk: DeliveringMachine) -> list[Expectation]:
    builder = BuilderClient(services.builder_url, desk.world.http)
    return read_back(Scene(request, desk.events, builder, OnlineConfig(), desk.now_ms))


def kept(promises: list[Expectation]) -> set[bool | None]:
    return {promise.kept for promise in promises}


@pytest.mark.parametrize("action", CASES)
def test_what_was_executed_is_found(services: RehearsalServices, desk: DeliveringMachine, action: str) -> None:
    request = built(action, services, desk.world.http)
    delivery = signed(services, desk.world.http, ACTIONS[action].path, CASES[action][0], **asked(action))
    assert submit_delivery(delivery, desk.world).state in (OrderState.FILLED, OrderState.CONFIRMED)
    assert kept(promises_of(request, services, desk)) == {True}


@pytest.mark.parametrize("action", ["open", "delegate", "referral-set-code"])
def test_what_was_never_sent_is_not_found(services: RehearsalServices, desk: DeliveringMachine, action: str) -> None:
    request = built(action, services, desk.world.http)
    assert False in kept(promises_of(request, services, desk))


@pytest.mark.parametrize("action", ["increase", "close"])
def test_a_position_that_says_nothing_of_what_it_was_keeps_and_breaks_nothing(
    services: RehearsalServices, desk: DeliveringMachine, action: str
) -> None:
    assert kept(promises_of(built(action, services, desk.world.http), services, desk)) == {None}
