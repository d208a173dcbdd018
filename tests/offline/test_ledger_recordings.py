"""The client against what the real app said: it sends the recorded APDUs, byte for byte, and reads the recorded results."""

import json
from typing import Any

import pytest
from hypothesis import given, reject

from airlock_offline.ledger import device_errors as errors
from airlock_offline.ledger.ethereum_app import EthereumApp, open_app
from airlock_offline.ledger.models import DEFAULT_MODEL, DEVELOPMENT
from airlock_offline.ledger.screens import Page, typed_data_pages
from airlock_shared.ethereum.signatures import checksum_address
from airlock_shared.ethereum.typed_document import read_typed_data
from airlock_software_ledger.answers import AppSettings
from airlock_software_ledger.app import SoftwareLedger
from draws import costly
from offline.recordings import RECORDINGS, SIGNER, Exchange, Played, Recording, recorded, recovered
from shared.strategies import typed_data as drawn_typed_data
from shared.world import VECTORS

OTHER_ORDER = ("-order-reversed", "-order-alphabetical")  # recorded with another order of the definitions than ours
WITH_ARRAY = "-full-array-"  # what the app takes, and nothing that can be pinned has
SHOWN_OTHERWISE = {"a-nanosp-full-blind-setting-tpsl"}  # Raw messages off: a Nano shows the message's hash only


def ids(recordings: list[Recording]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("recording", [pytest.param(r, id=r.id) for r in recordings])


def tail(recording: Recording) -> list[Exchange]:
    """The recorded exchanges from where our client would begin: after what was abandoned, or failed late."""
    if "-abandoned-" not in recording.id:
        return recording.exchanges
    failed = next(i for i, exchange in enumerate(recording.exchanges) if exchange.sw != 0x9000)
    return recording.exchanges[failed + (recording.exchanges[failed].sw == 0x6A80) :]


def assert_signed(recording: Recording, signature: bytes) -> None:
    v = recording.raw("signature")[64]
    assert signature == recording.raw("signature")[:64] + bytes((v if v >= 27 else v + 27,))
    assert recovered(signature, recording.raw("digest")) == recording.json["signer"]


def ask(recording: Recording, app: EthereumApp) -> Any:
    values, path = recording.input, recording.path
    match recording.operation:
        case "eip712-full":
            return app.sign_typed_data(path, recording.typed_data()[0])
        case "eip712-hashes":
            hashes = recording.typed_data()[1]
            return app.sign_hashes(path, hashes.domain_separator, hashes.struct_hash)
        case "transaction":
            return app.sign_transaction(path, recording.payload())
        case "personal-message":
            return app.sign_personal_message(path, bytes.fromhex(values["hex"][2:]))
        case "eip7702-authorization":
            return app.sign_authorization(path, values)
        case "address":
            return app.address(path, confirm=values["confirm"])
        case "configuration":
            return app.configuration()
    assert recording.operation == "app-and-version"
    return app.app_and_version()


def test_all_recordings_are_here() -> None:
    assert len(RECORDINGS) == 133
    assert {r.model for r in RECORDINGS} == {"flex", "nanosp"}


NOT_ASKED = (*OTHER_ORDER, "-address-chain")  # the client names no network with an address
IN_OUR_ORDER = [r for r in RECORDINGS if not r.id.endswith(NOT_ASKED) and WITH_ARRAY not in r.id]
SIGNED = [r for r in IN_OUR_ORDER if r.result == "signed"]


@ids(SIGNED)
def test_a_signature_is_asked_for_and_read_as_recorded(recording: Recording) -> None:
    transport = Played(tail(recording))
    signature = ask(recording, EthereumApp(transport))
    transport.assert_finished()
    assert_signed(recording, signature)
    definitions = [exchange.apdu[1] == 0x1A for exchange in tail(recording)]
    assert [not person for person in transport.waited_for_a_person] == definitions  # each other one may ask a person


@ids([r for r in IN_OUR_ORDER if r.result == "rejected"])
def test_a_recorded_rejection_is_refused_on_the_device(recording: Recording) -> None:
    transport = Played(recording.exchanges)
    with pytest.raises(errors.RefusedOnDevice):
        ask(recording, EthereumApp(transport))
    transport.assert_finished()


def _whole(recording: Recording) -> Recording:
    """A refused transaction was refused at its first piece: the payload is completed from its signed twin."""
    twin = {"raw-tx-approve": "tx-approve", "raw-tx-delegated": "tx-delegated"}
    name = twin.get(recording.id.removeprefix(f"a-{recording.model}-"), "")
    return next((r for r in RECORDINGS if r.id == f"a-{recording.model}-{name}"), recording)


SETTINGS = {
    "eip712-full": "Raw messages",
    "eip712-hashes": "Blind signing",
    "transaction": "Blind signing",
    "eip7702-authorization": "Smart account upgrade",
}


@ids([r for operation in SETTINGS for r in recorded(operation, "error")])
def test_what_a_setting_refuses_names_that_setting(recording: Recording) -> None:
    error = errors.WrongOrder if recording.operation == "eip7702-authorization" else errors.SettingOff
    with pytest.raises(error, match=SETTINGS[recording.operation]):
        ask(_whole(recording), EthereumApp(Played(recording.exchanges)))


@ids([r for r in IN_OUR_ORDER if (r.operation, r.result) == ("address", "address")])
def test_an_address_is_asked_for_and_read_as_recorded(recording: Recording) -> None:
    transport = Played(recording.exchanges)
    answer = ask(recording, EthereumApp(transport))
    assert checksum_address(answer.address) == recording.json["signer"]
    assert transport.waited_for_a_person == [recording.input["confirm"]]


@ids([r for r in RECORDINGS if r.operation in ("configuration", "app-and-version")])
def test_what_the_app_says_of_itself_is_read_as_recorded(recording: Recording) -> None:
    of_app = ("Ethereum", recording.json["app"]["version_string"])
    said = of_app if recording.operation == "app-and-version" else (recording.json["settings"]["blind_signing"], False)
    assert ask(recording, EthereumApp(Played(recording.exchanges))) == (*said, (1, 22, 0))


@ids([r for r in RECORDINGS if WITH_ARRAY in r.id])
def test_an_array_that_the_app_would_take_is_not_sent(recording: Recording) -> None:
    with pytest.raises(errors.SignedOtherwise, match="no array is sent"):
        ask(recording, EthereumApp(Played([])))


APPROVED = [r for o in ("eip712-full", "eip712-hashes") for r in recorded(o, "signed", users=("approve",))]


@ids([r for r in APPROVED if r.id not in SHOWN_OTHERWISE and WITH_ARRAY not in r.id])
def test_the_screens_to_come_are_those_that_came(recording: Recording) -> None:
    typed_data, hashes = recording.typed_data()
    by_hashes = recording.operation == "eip712-hashes"
    assert typed_data_pages(typed_data, hashes, recording.built, by_hashes=by_hashes) == recording.screens


# ---- the software Ledger: it answers as the real app did, and hashes without the gate ---------------------------------

PAGES_NOT_SIMULATED = ("approve-more", "approve-skip", "reject-at-warning", "reject-at-end")  # a person who turns aside


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


@ids(RECORDINGS)
def test_it_answers_every_apdu_and_shows_the_pages_as_the_real_app_did(recording: Recording) -> None:
    shown: list[Page] = []
    ledger = ledger_of(recording, shown)
    for exchange in recording.exchanges:
        assert ledger.exchange(exchange.apdu) == (exchange.data, exchange.sw), exchange.apdu.hex()
    assert shown == recording.screens or recording.user in PAGES_NOT_SIMULATED


DEVELOPED: list[dict[str, Any]] = json.loads((VECTORS / "ledger-differential/flex-1.22.0-dev.json").read_text())
"""Recorded from the real app with Speculos' seed: paths, kinds of transactions, lengths of messages, authorisations."""


@pytest.mark.parametrize("case", DEVELOPED, ids=lambda case: f"{case['name']}-{case['blind_signing']}")
def test_it_answers_and_shows_what_a_development_build_did(case: dict[str, Any]) -> None:
    shown: list[Page] = []
    device = SoftwareLedger(
        model=f"flex-{DEVELOPMENT}",
        settings=AppSettings(raw_messages=False, blind_signing=case["blind_signing"], smart_accounts=True),
        screens=lambda pages: not shown.extend(pages),  # type: ignore[func-returns-value]
    )
    data, sw = [device.exchange(bytes.fromhex(apdu)) for apdu in case["apdus"]][-1]
    assert (data.hex(), f"{sw:04x}") == (case["data"], case["sw"])
    assert shown == case["pages"]


@costly
@given(drawn_typed_data(arrays=False))
def test_its_own_hashing_agrees_with_the_gate(document: dict[str, Any]) -> None:
    values, hashes = read_typed_data(document)
    shown: list[Page] = []
    ledger = SoftwareLedger(screens=lambda pages: not shown.extend(pages))  # type: ignore[func-returns-value]
    try:
        signature = open_app(ledger).sign_typed_data(RECORDINGS[0].path, values)
    except (errors.TooLargeForDevice, errors.NoSuchWidth, errors.SignedOtherwise):
        reject()
    assert recovered(signature, hashes.digest) == SIGNER
    assert shown == typed_data_pages(values, hashes, DEFAULT_MODEL, by_hashes=False)
