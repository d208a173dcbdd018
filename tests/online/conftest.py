"""What the tests of the online half share: where a journal is, desks and machines, and a PostgreSQL server for who asks."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from airlock_online.clients.http import Http, Timeouts
from airlock_rehearsal.services.runtime import RehearsalSettings
from airlock_rehearsal.services.server import RehearsalServices
from online.delivering_machine import Desk, delivering_machine
from online.online_command import OnlineCommand
from online.postgres import postgres_server, postgres_url

__all__ = ["postgres_server", "postgres_url"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite"


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request: pytest.FixtureRequest, path: Path) -> str:
    """Where a journal is, in each of the two databases."""
    return str(path) if request.param == "sqlite" else str(request.getfixturevalue("postgres_url"))


@pytest.fixture
def desk(path: Path) -> Iterator[Desk]:
    with delivering_machine(path) as opened:
        yield opened


@pytest.fixture
def naps() -> list[float]:
    """How long was slept."""
    return []


@pytest.fixture
def client(naps: list[float]) -> Iterator[Http]:
    """Connections that give up soon, and note how long they would sleep."""
    with Http(Timeouts(connect=5, silence=2), sleep=naps.append) as opened:
        yield opened


@pytest.fixture
def services() -> Iterator[RehearsalServices]:
    with RehearsalServices(settings=RehearsalSettings(pacing_s=0.002, slow_s=0.01)) as running:
        yield running


@pytest.fixture
def machine(tmp_path: Path, services: RehearsalServices) -> OnlineCommand:
    return OnlineCommand(tmp_path, services)
