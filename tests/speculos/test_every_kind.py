"""Every struct and call of the catalogue, and every kind of transaction and message, on the real app.

The answers and the pages are those of the software Ledger for this model and version, and the pages that the review lists.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from airlock_offline.ledger import typed_data as typed_data_module
from airlock_offline.ledger.ethereum_app import EthereumApp
from airlock_offline.ledger.transaction_screens import ShownTransaction, transaction_pages
from airlock_offline.ledger.transport import LoopbackTransport
from airlock_offline.ledger.typed_data import fields_flow
from airlock_offline.ledger.typed_data_screens import typed_data_pages
from airlock_shared.ethereum.typed_document import read_typed_data
from airlock_shared.venue.structs import CATALOGUE, types_of
from airlock_software_ledger.answers import AppSettings
from airlock_software_ledger.app import SoftwareLedger
from offline.recordings import SIGNER, recovered
from shared.world import VECTORS, selectors
from speculos.app_file import AppFile
from speculos.device import Person, RealApp
from speculos.documents import value
from speculos.transactions import call_of

pytestmark = pytest.mark.speculos

PATH = "m/44'/60'/0'/0/0"
KINDS: list[dict[str, Any]] = json.loads((VECTORS / "ledger-differential/flex-1.22.0-dev.json").read_text())
DOMAIN = {
    "EIP712Domain": [
        {"name": "name", "type": "string"},
        {"name": "version", "type": "string"},
        {"name": "chainId", "type": "uint256"},
        {"name": "verifyingContract", "type": "address"},
    ]
}


@pytest.fixture(scope="module")
def real_app(elf: AppFile, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealApp]:
    """One app for all: it is told of no token."""
    app = RealApp(elf, tmp_path_factory.mktemp("app"))
    yield app
    app.close()


def intent(name: str) -> dict[str, Any]:
    """Typed data of a struct of the catalogue, with random values that are always the same."""
    draw = random.Random(f"airlock catalogue {name}")
    types = types_of(CATALOGUE[name])

    def message(struct: str) -> dict[str, Any]:
        rows = types[struct]
        return {row["name"]: message(row["type"]) if row["type"] in types else value(draw, row["type"]) for row in rows}

    domain = {"name": "Trading venue", "version": "1", "chainId": 8453, "verifyingContract": value(draw, "address")}
    return {"types": DOMAIN | types, "primaryType": name, "domain": domain, "message": message(name)}


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_struct_of_the_catalogue_is_shown_as_listed_and_signed(real_app: RealApp, name: str) -> None:
    typed_data, hashes = read_typed_data(intent(name))
    real_app.configure(raw_messages=True, blind_signing=False)
    with closing(LoopbackTransport(real_app.port)) as transport, Person(real_app) as person:
        signature = EthereumApp(transport).sign_typed_data(PATH, typed_data)
    assert recovered(signature, hashes.digest) == SIGNER
    assert person.pages == typed_data_pages(typed_data, hashes, real_app.file.built, by_hashes=False)


@pytest.mark.parametrize("selector", sorted(selectors()), ids=lambda known: selectors()[known])
def test_every_call_of_the_catalogue_is_shown_as_listed_and_signed(real_app: RealApp, selector: bytes) -> None:
    sent = call_of(selector)
    fee_wei = sent.gas * sent.fee_per_gas
    real_app.configure(blind_signing=True)
    with closing(LoopbackTransport(real_app.port)) as transport, Person(real_app) as person:
        signature = EthereumApp(transport).sign_transaction(PATH, sent.unsigned)
    assert recovered(signature, sent.digest) == SIGNER
    shown = ShownTransaction(SIGNER, sent.chain_id, sent.to, sent.value_wei, fee_wei, sent.data, sent.digest)
    assert person.pages == transaction_pages(shown, real_app.file.built)


@pytest.mark.parametrize("case", KINDS, ids=lambda case: f"{case['name']}-{case['blind_signing']}")
def test_every_kind_of_transaction_and_message_is_answered_and_shown_as_listed(
    real_app: RealApp, case: dict[str, Any]
) -> None:
    settings = {"raw_messages": False, "blind_signing": case["blind_signing"], "smart_accounts": True}
    listed: list[list[str]] = []

    def reader(pages: list[list[str]]) -> bool:
        listed.extend(pages)
        return True

    software = SoftwareLedger(model=real_app.file.built, settings=AppSettings(**settings), screens=reader)
    expected = [software.exchange(bytes.fromhex(apdu)) for apdu in case["apdus"]]
    real_app.configure(**settings)
    with closing(LoopbackTransport(real_app.port)) as transport, Person(real_app) as person:
        answers = [transport.exchange(bytes.fromhex(apdu), person=True) for apdu in case["apdus"]]
    assert answers == expected
    assert person.pages == listed


@pytest.mark.parametrize("bits", [8, 24, 40, 96, 160, 248])
def test_an_unsigned_integer_of_any_width_is_shown_as_listed_and_signed(real_app: RealApp, bits: int) -> None:
    typed_data, hashes = read_typed_data(one_member(f"uint{bits}", str(2**bits - 1)))
    real_app.configure(raw_messages=True, blind_signing=False)
    with closing(LoopbackTransport(real_app.port)) as transport, Person(real_app) as person:
        signature = EthereumApp(transport).sign_typed_data(PATH, typed_data)
    assert recovered(signature, hashes.digest) == SIGNER
    assert person.pages == typed_data_pages(typed_data, hashes, real_app.file.built, by_hashes=False)


@pytest.mark.parametrize("bits", [24, 96, 248])
def test_a_signed_integer_of_another_width_is_refused_as_by_the_software_ledger(
    real_app: RealApp, bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(typed_data_module, "refused_integers", lambda _structs: [])
    flow = fields_flow(PATH, read_typed_data(one_member(f"int{bits}", "-5"))[0])
    software = SoftwareLedger(model=real_app.file.built)
    commands = [apdu.encode() for apdu in (*flow.definitions, *flow.values)]
    expected = [software.exchange(apdu) for apdu in commands]
    real_app.configure(raw_messages=True, blind_signing=False)
    with closing(LoopbackTransport(real_app.port)) as transport:
        answers = [transport.exchange(apdu, person=True) for apdu in commands]
    assert answers == expected
    assert answers[-1] == (b"", 0x6A80)


def one_member(kind: str, number: str) -> dict[str, Any]:
    types = {"EIP712Domain": DOMAIN["EIP712Domain"][:1], "X": [{"name": "a", "type": kind}]}
    return {"types": types, "primaryType": "X", "domain": {"name": "d"}, "message": {"a": number}}
