"""Transactions on the real app: every kind, and random ones, on the pages that the review lists.

``AIRLOCK_HELD_OUT=built-with`` (the default) or ``kept-back`` chooses the seeds, ``AIRLOCK_HELD_OUT_COUNT`` how many.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing

import pytest

from airlock_offline.ledger.device_errors import SettingOff, TokenRefused
from airlock_offline.ledger.ethereum_app import EthereumApp
from airlock_offline.ledger.transaction_screens import ShownTransaction, transaction_pages
from airlock_offline.ledger.transport import LoopbackTransport
from airlock_offline.ledger.typed_data_screens import Page
from airlock_shared.documents.ledger_metadata import read_token_metadata
from airlock_software_ledger.answers import AppSettings
from airlock_software_ledger.app import SoftwareLedger
from offline.recordings import SIGNER, recovered
from shared.token_records import USDC_RECORD
from speculos.app_file import AppFile
from speculos.device import Person, RealApp
from speculos.transactions import BUILT_WITH, KEPT_BACK, RandomTransaction, transaction

pytestmark = pytest.mark.speculos

PATH = "m/44'/60'/0'/0/0"
USDC = read_token_metadata(USDC_RECORD)
SEEDS = KEPT_BACK if os.environ.get("AIRLOCK_HELD_OUT") == "kept-back" else BUILT_WITH
COUNT = int(os.environ.get("AIRLOCK_HELD_OUT_COUNT", "12"))


@pytest.fixture(scope="module")
def one_app(elf: AppFile, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealApp]:
    """One app for all that the app is told nothing of.

    After a token that it was told of, the app shows the next approval of an unknown token with two lines more.
    """
    app = RealApp(elf, tmp_path_factory.mktemp("app"))
    yield app
    app.close()


def listed(sent: RandomTransaction, built: str) -> list[Page]:
    """What the review would have listed beforehand."""
    fee_wei = sent.gas * sent.fee_per_gas
    token = USDC if sent.told else None
    shown = ShownTransaction(SIGNER, sent.chain_id, sent.to, sent.value_wei, fee_wei, sent.data, sent.digest, token)
    return transaction_pages(shown, built)


def is_blind(sent: RandomTransaction) -> bool:
    return bool(sent.data) and not sent.told


@pytest.mark.parametrize("seed", SEEDS[:COUNT])
def test_a_random_transaction_is_shown_as_listed_and_signed(seed: int, request: pytest.FixtureRequest) -> None:
    sent = transaction(seed)
    app: RealApp = request.getfixturevalue("real_app" if sent.told else "one_app")
    app.configure(blind_signing=is_blind(sent))
    with closing(LoopbackTransport(app.port)) as transport, Person(app) as person:
        client = EthereumApp(transport)
        if sent.told:
            client.provide_token(USDC)
        signature = client.sign_transaction(PATH, sent.unsigned)
    assert recovered(signature, sent.digest) == SIGNER
    assert person.pages == listed(sent, app.file.built)
    assert person.pages == by_the_software_ledger(sent, app.file.built)


def by_the_software_ledger(sent: RandomTransaction, built: str) -> list[Page]:
    shown: list[Page] = []

    def person(pages: list[Page]) -> bool:
        shown.extend(pages)
        return True

    settings = AppSettings(blind_signing=is_blind(sent))
    client = EthereumApp(SoftwareLedger(model=built, settings=settings, screens=person))
    if sent.told:
        client.provide_token(USDC)
    client.sign_transaction(PATH, sent.unsigned)
    return shown


def test_a_token_is_known_for_one_transaction_and_a_record_with_another_bit_for_none(real_app: RealApp) -> None:
    sent = next(sent for sent in map(transaction, BUILT_WITH) if sent.told)
    real_app.configure(blind_signing=False)
    with closing(LoopbackTransport(real_app.port)) as transport:
        client = EthereumApp(transport)
        for at in (8, 27, 31, 50, len(USDC_RECORD) - 1):
            record = USDC_RECORD[:at] + bytes((USDC_RECORD[at] ^ 1,)) + USDC_RECORD[at + 1 :]
            with pytest.raises(TokenRefused):
                client.provide_token(USDC._replace(record=record))
        client.provide_token(USDC)
        client.address(PATH)
        with Person(real_app), pytest.raises(SettingOff):
            client.sign_transaction(PATH, sent.unsigned)
