"""Random documents and transactions on the real app: every page is one that the review listed, in the same order.

``AIRLOCK_HELD_OUT=built-with`` (the default) or ``kept-back`` chooses the seeds, ``AIRLOCK_HELD_OUT_COUNT`` how many.
"""

import os
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from airlock_offline.ledger.device_errors import SettingOff, TokenRefused
from airlock_offline.ledger.ethereum_app import EthereumApp
from airlock_offline.ledger.transport import LoopbackTransport
from offline.recordings import SIGNER, recovered
from shared.token_records import USDC_RECORD
from speculos import documents, transactions
from speculos.asking import PATH, ask_real_app, ask_software_ledger, require_shown_as_listed
from speculos.device import Person, RealApp
from speculos.transactions import USDC, transaction

pytestmark = pytest.mark.speculos

SEEDS = "KEPT_BACK" if os.environ.get("AIRLOCK_HELD_OUT") == "kept-back" else "BUILT_WITH"
COUNT = int(os.environ.get("AIRLOCK_HELD_OUT_COUNT", "12"))


@pytest.mark.parametrize("made", [documents.document, documents.odd_document])
@pytest.mark.parametrize("seed", getattr(documents, SEEDS)[:COUNT])
def test_the_pages_are_those_that_were_listed(
    one_app: RealApp, seed: int, made: Callable[[int], dict[str, Any]]
) -> None:
    require_shown_as_listed(one_app, made(seed))


@pytest.mark.parametrize("seed", getattr(transactions, SEEDS)[:COUNT])
def test_a_random_transaction_is_shown_as_listed_and_signed(seed: int, request: pytest.FixtureRequest) -> None:
    """After a token that it was told of, an app shows the next approval of an unknown token with two lines more."""
    sent = transaction(seed)
    app: RealApp = request.getfixturevalue("real_app" if sent.told else "one_app")
    signature, pages = ask_real_app(app, sent.ask, blind_signing=sent.is_blind)
    assert recovered(signature, sent.digest) == SIGNER
    assert pages == sent.pages(app.file.built)
    assert pages == ask_software_ledger(app.file.built, sent.ask, blind_signing=sent.is_blind)[1]


def test_a_token_is_known_for_one_transaction_and_a_record_with_another_bit_for_none(real_app: RealApp) -> None:
    sent = next(sent for sent in map(transaction, transactions.BUILT_WITH) if sent.told)
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
