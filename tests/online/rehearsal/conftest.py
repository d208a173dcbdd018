"""Running rehearsal services: one for tests that change state, one a module for tests that do not."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from airlock_rehearsal.services.runtime import RehearsalSettings
from airlock_rehearsal.services.server import RehearsalServices
from online.rehearsal.services_client import PROMPT, TRADER, Clock, ServicesClient

OpenClient = Callable[[RehearsalSettings], ServicesClient]


def _desk(stack: ExitStack, settings: RehearsalSettings) -> ServicesClient:
    clock = Clock()
    services = stack.enter_context(RehearsalServices(trader=TRADER.address, settings=settings, now_ms=clock))
    desk = ServicesClient(services, clock)
    stack.callback(desk.http.close)
    return desk


@pytest.fixture
def open_desk() -> Iterator[OpenClient]:
    with ExitStack() as stack:
        yield lambda settings: _desk(stack, settings)


@pytest.fixture
def desk(open_desk: OpenClient) -> ServicesClient:
    return open_desk(PROMPT)


@pytest.fixture(scope="module")
def shared_desk() -> Iterator[ServicesClient]:
    with ExitStack() as stack:
        yield _desk(stack, PROMPT)
