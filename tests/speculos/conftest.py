"""The real app is run when ``AIRLOCK_ETH_ELF`` names its ELF.

``make speculos`` sets it; nothing here is in the default run.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from speculos.app_file import ELF_VARIABLE, AppFile, named_app
from speculos.device import RealApp

collect_ignore_glob = [] if ELF_VARIABLE in os.environ else ["test_*.py"]


@pytest.fixture(scope="session")
def elf() -> AppFile:
    return named_app()


@pytest.fixture(scope="module")
def one_app(elf: AppFile, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealApp]:
    """One app for all tests of a file: a review leaves nothing behind, but where the app is told of a token."""
    app = RealApp(elf, tmp_path_factory.mktemp("app"))
    yield app
    app.close()


@pytest.fixture
def real_app(elf: AppFile, tmp_path: Path) -> Iterator[RealApp]:
    app = RealApp(elf, tmp_path)
    yield app
    app.close()
