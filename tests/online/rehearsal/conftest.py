"""Running rehearsal services: one for tests that change state, one a module for tests that do not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from airlock_rehearsal.services.server import RehearsalServices
from airlock_rehearsal.services.settings import RehearsalSettings
from online.rehearsal.desk import PROMPT, TRADER, Clock, Desk

OpenDesk = Callable[[RehearsalSettings], Desk]


def _desk(stack: ExitStack, settings: RehearsalSettings) -> Desk:
    clock = Clock()
    services = stack.enter_context(RehearsalServices(trader=TRADER.address, settings=settings, now_ms=clock))
    desk = Desk(services, clock)
    stack.callback(desk.http.close)
    return desk


@pytest.fixture
def open_desk() -> Iterator[OpenDesk]:
    with ExitStack() as stack:
        yield lambda settings: _desk(stack, settings)


@pytest.fixture
def desk(open_desk: OpenDesk) -> Desk:
    return open_desk(PROMPT)


@pytest.fixture(scope="module")
def shared_desk() -> Iterator[Desk]:
    with ExitStack() as stack:
        yield _desk(stack, PROMPT)
