"""The real app is run when ``AIRLOCK_ETH_ELF`` names its ELF.

``make speculos`` sets it; nothing here is in the default run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from speculos.device import RealApp

ELF_VARIABLE = "AIRLOCK_ETH_ELF"
collect_ignore_glob = [] if ELF_VARIABLE in os.environ else ["test_*.py"]


@pytest.fixture(scope="session")
def elf() -> Path:
    path = Path(os.environ.get(ELF_VARIABLE, ""))
    if not path.is_file():
        pytest.exit(f"{ELF_VARIABLE} does not name the Ethereum app's ELF: use `make speculos ELF=...`", returncode=2)
    return path


@pytest.fixture
def real_app(elf: Path, tmp_path: Path) -> Iterator[RealApp]:
    app = RealApp(elf, tmp_path)
    yield app
    app.close()
