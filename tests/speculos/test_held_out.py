"""Random documents on the real app: every page that it shows is one that the review listed, in the same order.

``AIRLOCK_HELD_OUT=built-with`` (the default) or ``kept-back`` chooses the seeds, ``AIRLOCK_HELD_OUT_COUNT`` how many.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from airlock_offline.ledger.ethereum_app import EthereumApp
from airlock_offline.ledger.transport import LoopbackTransport
from airlock_offline.ledger.typed_data_screens import typed_data_pages
from airlock_shared.ethereum.typed_document import read_typed_data
from offline.recordings import SIGNER, recovered
from speculos.app_file import AppFile
from speculos.device import Person, RealApp
from speculos.documents import BUILT_WITH, KEPT_BACK, document, odd_document

pytestmark = pytest.mark.speculos

PATH = "m/44'/60'/0'/0/0"
SEEDS = KEPT_BACK if os.environ.get("AIRLOCK_HELD_OUT") == "kept-back" else BUILT_WITH
COUNT = int(os.environ.get("AIRLOCK_HELD_OUT_COUNT", "12"))


@pytest.fixture(scope="module")
def real_app(elf: AppFile, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealApp]:
    """One app for all documents: a review leaves nothing behind."""
    app = RealApp(elf, tmp_path_factory.mktemp("app"))
    yield app
    app.close()


@pytest.mark.parametrize("made", [document, odd_document])
@pytest.mark.parametrize("seed", SEEDS[:COUNT])
def test_the_pages_are_those_that_were_listed(
    real_app: RealApp, seed: int, made: Callable[[int], dict[str, Any]]
) -> None:
    typed_data, hashes = read_typed_data(made(seed))
    real_app.configure(raw_messages=True, blind_signing=False)
    with closing(LoopbackTransport(real_app.port)) as transport, Person(real_app) as person:
        signature = EthereumApp(transport).sign_typed_data(PATH, typed_data)
    assert recovered(signature, hashes.digest) == SIGNER
    assert person.pages == typed_data_pages(typed_data, hashes, real_app.file.built, by_hashes=False)
