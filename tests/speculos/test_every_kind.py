"""Every struct and call of the catalogue, and every kind of transaction and message, on the real app.

The answers and the pages are those of the software Ledger for this model and version, and the pages that the review lists.
"""

import json
import random
from contextlib import closing
from typing import Any

import pytest

from airlock_offline.ledger import typed_data as typed_data_module
from airlock_offline.ledger.transport import LoopbackTransport, Transport
from airlock_offline.ledger.typed_data import fields_flow
from airlock_shared.ethereum.struct_types import types_of
from airlock_shared.ethereum.typed_document import read_typed_data
from airlock_shared.venue.structs import CATALOGUE
from airlock_software_ledger.app import SoftwareLedger
from offline.recordings import SIGNER, recovered
from shared.make_payloads import DOMAIN_TYPE
from shared.world import VECTORS, selectors
from speculos.asking import PATH, ask_real_app, ask_software_ledger, require_shown_as_listed
from speculos.device import RealApp
from speculos.documents import member, value
from speculos.transactions import call_of

pytestmark = pytest.mark.speculos

KINDS: list[dict[str, Any]] = json.loads((VECTORS / "ledger-differential/flex-1.22.0-dev.json").read_text())
DOMAIN = {"EIP712Domain": DOMAIN_TYPE}


def intent(name: str) -> dict[str, Any]:
    """Typed data of a struct of the catalogue, with random values that are always the same."""
    draw = random.Random(f"airlock catalogue {name}")
    types = types_of(CATALOGUE[name].encode_type)

    def message(struct: str) -> dict[str, Any]:
        rows = types[struct]
        return {row["name"]: message(row["type"]) if row["type"] in types else value(draw, row["type"]) for row in rows}

    domain = {"name": "Trading venue", "version": "1", "chainId": 8453, "verifyingContract": value(draw, "address")}
    return {"types": DOMAIN | types, "primaryType": name, "domain": domain, "message": message(name)}


def one_member(kind: str, number: str) -> dict[str, Any]:
    types = {"EIP712Domain": DOMAIN_TYPE[:1], "X": [member("a", kind)]}
    return {"types": types, "primaryType": "X", "domain": {"name": "d"}, "message": {"a": number}}


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_struct_of_the_catalogue_is_shown_as_listed_and_signed(one_app: RealApp, name: str) -> None:
    require_shown_as_listed(one_app, intent(name))


@pytest.mark.parametrize("bits", [8, 24, 40, 96, 160, 248])
def test_an_unsigned_integer_of_any_width_is_shown_as_listed_and_signed(one_app: RealApp, bits: int) -> None:
    require_shown_as_listed(one_app, one_member(f"uint{bits}", str(2**bits - 1)))


@pytest.mark.parametrize("selector", sorted(selectors()), ids=lambda known: selectors()[known])
def test_every_call_of_the_catalogue_is_shown_as_listed_and_signed(one_app: RealApp, selector: bytes) -> None:
    sent = call_of(selector)
    signature, pages = ask_real_app(one_app, sent.ask, blind_signing=True)
    assert recovered(signature, sent.digest) == SIGNER
    assert pages == sent.pages(one_app.file.built)


@pytest.mark.parametrize("case", KINDS, ids=lambda case: f"{case['name']}-{case['blind_signing']}")
def test_every_kind_of_transaction_and_message_is_answered_and_shown_as_listed(
    one_app: RealApp, case: dict[str, Any]
) -> None:
    settings = {"raw_messages": False, "blind_signing": case["blind_signing"], "smart_accounts": True}

    def ask(ledger: Transport) -> list[tuple[bytes, int]]:
        return [ledger.exchange(bytes.fromhex(apdu), person=True) for apdu in case["apdus"]]

    assert ask_real_app(one_app, ask, **settings) == ask_software_ledger(one_app.file.built, ask, **settings)


@pytest.mark.parametrize("bits", [24, 96, 248])
def test_a_signed_integer_of_another_width_is_refused_as_by_the_software_ledger(
    one_app: RealApp, bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(typed_data_module, "refused_integers", lambda _structs: [])
    flow = fields_flow(PATH, read_typed_data(one_member(f"int{bits}", "-5"))[0])
    software = SoftwareLedger(model=one_app.file.built)
    commands = [apdu.encode() for apdu in (*flow.definitions, *flow.values)]
    one_app.configure(raw_messages=True, blind_signing=False)
    with closing(LoopbackTransport(one_app.port)) as transport:
        answers = [transport.exchange(apdu, person=True) for apdu in commands]
    assert answers == [software.exchange(apdu) for apdu in commands]
    assert answers[-1] == (b"", 0x6A80)
