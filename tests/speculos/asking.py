"""One request, asked of the real app and of the software Ledger: what each answers, and the pages that it shows for it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import TypeVar

from airlock_offline.ledger.ethereum_app import EthereumApp
from airlock_offline.ledger.screens import Page, typed_data_pages
from airlock_offline.ledger.transport import LoopbackTransport, Transport
from airlock_shared.ethereum.typed_document import read_typed_data
from airlock_software_ledger.answers import AppSettings
from airlock_software_ledger.app import SoftwareLedger
from offline.recordings import SIGNER, recovered
from speculos.device import Person, RealApp

PATH = "m/44'/60'/0'/0/0"
Answer = TypeVar("Answer")
Ask = Callable[[Transport], Answer]


def ask_real_app(app: RealApp, ask: Ask[Answer], **settings: bool) -> tuple[Answer, list[Page]]:
    """Return the answer of the real app with these settings, and its pages to a person who approves."""
    app.configure(**settings)
    with closing(LoopbackTransport(app.port)) as transport, Person(app) as person:
        answer = ask(transport)
    return answer, person.pages


def ask_software_ledger(built: str, ask: Ask[Answer], **settings: bool) -> tuple[Answer, list[Page]]:
    """Return the answer of the software Ledger with these settings, and the pages that it lists to a person who approves."""
    listed: list[Page] = []

    def person(pages: list[Page]) -> bool:
        listed.extend(pages)
        return True

    return ask(SoftwareLedger(model=built, settings=AppSettings(**settings), screens=person)), listed


def require_shown_as_listed(app: RealApp, document: object) -> None:
    """Sign typed data on the real app, and assert that it recovers and that its pages are those of the review."""
    typed_data, hashes = read_typed_data(document)
    settings = {"raw_messages": True, "blind_signing": False}
    signature, pages = ask_real_app(
        app, lambda ledger: EthereumApp(ledger).sign_typed_data(PATH, typed_data), **settings
    )
    assert recovered(signature, hashes.digest) == SIGNER
    assert pages == typed_data_pages(typed_data, hashes, app.file.built, by_hashes=False)
