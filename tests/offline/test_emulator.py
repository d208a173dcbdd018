"""The software Ledger: it answers as the real app did, hashes without the gate, and misbehaves on request."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, reject

from airlock_offline.ledger.device_errors import NoSuchWidth, SignedOtherwise, TooLargeForDevice
from airlock_offline.ledger.ethereum_app import open_app
from airlock_offline.ledger.models import DEFAULT_MODEL
from airlock_offline.ledger.typed_data_screens import Page, typed_data_pages
from airlock_shared.ethereum.typed_document import read_typed_data
from airlock_software_ledger.answers import AppSettings
from airlock_software_ledger.app import SoftwareLedger
from draws import costly
from offline.recordings import RECORDINGS, SIGNER, Recording, recorded, recovered
from shared.strategies import typed_data

NOT_SIMULATED: dict[str, str] = {}  # recordings that the software Ledger answers otherwise: id -> why
PAGES_NOT_SIMULATED = ("approve-more", "approve-skip", "reject-at-warning", "reject-at-end")  # a person who turns aside

DELEGATE = next(r for r in recorded("eip712-full", "signed") if r.id == "a-nanosp-full-delegate")
PATH = DELEGATE.path


def ledger_of(recording: Recording, shown: list[Page]) -> SoftwareLedger:
    """A software Ledger with the settings and the person of a recording."""

    def person(pages: list[Page]) -> bool:
        shown.extend(pages)
        return recording.user.startswith("approve")

    return SoftwareLedger(
        model=recording.built,
        settings=AppSettings(**recording.json["settings"]),
        seed=recording.json["seed"],
        screens=person,
    )


@pytest.mark.parametrize("recording", [r for r in RECORDINGS if r.id not in NOT_SIMULATED], ids=lambda r: r.id)
def test_it_answers_every_apdu_as_the_real_app_did(recording: Recording) -> None:
    ledger = ledger_of(recording, [])
    for exchange in recording.exchanges:
        data, sw = ledger.exchange(exchange.apdu)
        assert (data.hex(), f"{sw:04x}") == (exchange.data.hex(), f"{exchange.sw:04x}"), exchange.apdu.hex()


@pytest.mark.parametrize("recording", [r for r in RECORDINGS if r.user not in PAGES_NOT_SIMULATED], ids=lambda r: r.id)
def test_it_shows_the_pages_that_the_real_app_showed(recording: Recording) -> None:
    shown: list[Page] = []
    ledger = ledger_of(recording, shown)
    for exchange in recording.exchanges:
        ledger.exchange(exchange.apdu)
    assert shown == recording.screens


@costly
@given(typed_data(arrays=False))
def test_its_own_hashing_agrees_with_the_gate(document: dict[str, Any]) -> None:
    values, hashes = read_typed_data(document)
    shown: list[Page] = []
    ledger = SoftwareLedger(screens=lambda pages: not shown.extend(pages))  # type: ignore[func-returns-value]
    try:
        signature = open_app(ledger).sign_typed_data(PATH, values)
    except (TooLargeForDevice, NoSuchWidth, SignedOtherwise):
        reject()
    assert recovered(signature, hashes.digest) == SIGNER
    assert shown == typed_data_pages(values, hashes, DEFAULT_MODEL, by_hashes=False)
