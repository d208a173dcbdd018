"""The client against the real Ethereum app: the same cases as the recordings, the same results, the same screens.

Of a model and version that nobody recorded, the cases are those of its family; their pages are compared with those that the
software Ledger lists for the model, up to the signature. Each case starts a fresh emulator, as when it was recorded.
Signatures are deterministic (RFC 6979), so the recorded one is the only right one.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from airlock_offline.ledger.device_errors import RefusedOnDevice, SettingOff, WrongAnswer, WrongOrder
from airlock_offline.ledger.ethereum_app import EthereumApp, open_app
from airlock_offline.ledger.models import Buttons, screen_of
from airlock_offline.ledger.screens import typed_data_pages
from airlock_offline.ledger.transport import LoopbackTransport
from airlock_shared.errors import AirlockError
from airlock_shared.ethereum.signatures import checksum_address
from airlock_shared.ethereum.typed_document import read_typed_data
from airlock_software_ledger.app import SoftwareLedger
from offline.recordings import RECORDINGS, SIGNER, Recording, recovered
from offline.test_ledger_recordings import IN_OUR_ORDER, OTHER_ORDER, ask, assert_signed, ids
from offline.test_ledger_recordings import _whole as whole_payload_of
from offline.test_watch_only import REAL as EXTENDED
from offline.test_watch_only import apdu as address_apdu
from speculos.app_file import named_app
from speculos.asking import PATH, ask_software_ledger
from speculos.device import Person, RealApp
from speculos.documents import member

pytestmark = pytest.mark.speculos

APP = named_app()
FAMILY = "nanosp" if isinstance(screen_of(APP.model).layout, Buttons) else "flex"
CASES = [r for r in RECORDINGS if r.model == FAMILY]
RECORDED = {r.built for r in CASES} == {APP.built}
"""Whether the cases were recorded on this very model and version."""
READS_MORE = ("approve-more",)  # a person who opens "More": the same APDUs as without
MANNERS = {"approve-more": "approve"}
ERRORS = (SettingOff, WrongOrder)


@contextmanager
def asked(app: RealApp, recording: Recording) -> Iterator[tuple[EthereumApp, Person]]:
    """The app with a recording's settings, its client, and its person at the screen."""
    app.configure(**recording.json["settings"])
    with closing(LoopbackTransport(app.port)) as transport:
        if "-abandoned-" in recording.id:
            _leave_half_way(transport, recording)
        with Person(app, MANNERS.get(recording.user, recording.user)) as person:
            yield EthereumApp(transport), person


def _leave_half_way(transport: LoopbackTransport, recording: Recording) -> None:
    """Send what was sent before the attempt that worked, as far as it was answered with success."""
    for exchange in recording.exchanges:
        assert transport.exchange(exchange.apdu, person=False) == (exchange.data, exchange.sw)
        if exchange.sw == 0x6A80:
            return
        following = recording.exchanges[recording.exchanges.index(exchange) + 1]
        if following.sw == 0x6A00:
            return


def cases(*results: str) -> list[Recording]:
    return [r for r in CASES if r.result in results and r in IN_OUR_ORDER]


def screens_to_come(recording: Recording) -> list[list[str]]:
    """What the review would have listed beforehand."""
    typed_data, hashes = recording.typed_data()
    return typed_data_pages(typed_data, hashes, APP.built, by_hashes=recording.operation == "eip712-hashes")


def pages_of(recording: Recording) -> list[list[str]]:
    """What this model and version shows of a case: as recorded, or as the software Ledger lists it."""
    if RECORDED:
        return recording.screens
    settings = recording.json["settings"]
    return ask_software_ledger(APP.built, lambda ledger: ask(recording, EthereumApp(ledger)), **settings)[1]


def hides_fields(recording: Recording) -> bool:
    """A Nano with Blind signing alone shows the message's hash in the place of its fields: nothing that we advise."""
    return (
        FAMILY == "nanosp" and recording.operation == "eip712-full" and not recording.json["settings"]["raw_messages"]
    )


@ids(cases("signed"))
def test_the_real_app_signs_what_was_recorded_and_shows_the_recorded_pages(
    real_app: RealApp, recording: Recording
) -> None:
    with asked(real_app, recording) as (app, person):
        signature = ask(recording, app)
    assert_signed(recording, signature)
    if recording.user == "approve" or (RECORDED and recording.user not in READS_MORE):
        assert person.pages == pages_of(recording)
    if recording.operation.startswith("eip712-") and recording.user == "approve" and not hides_fields(recording):
        assert person.pages == screens_to_come(recording)


@ids(cases("rejected"))
def test_a_rejection_on_the_real_app_is_named(real_app: RealApp, recording: Recording) -> None:
    with asked(real_app, recording) as (app, person), pytest.raises(RefusedOnDevice):
        ask(recording, app)
    if RECORDED:
        assert person.pages == recording.screens


@ids(cases("error"))
def test_what_the_real_app_refuses_is_named(real_app: RealApp, recording: Recording) -> None:
    whole = whole_payload_of(recording) if recording.operation == "transaction" else recording
    with asked(real_app, recording) as (app, _), pytest.raises(ERRORS):
        ask(whole, app)


@ids(cases("address"))
def test_the_real_apps_address_is_the_recorded_one(real_app: RealApp, recording: Recording) -> None:
    with asked(real_app, recording) as (app, person):
        assert checksum_address(ask(recording, app).address) == SIGNER
    assert person.pages == pages_of(recording)


@ids(cases("configuration", "app-and-version"))
def test_the_real_app_says_what_it_is_as_recorded(real_app: RealApp, recording: Recording) -> None:
    with asked(real_app, recording) as (app, _):
        answer = ask(recording, app)
    if recording.operation == "configuration":
        assert answer == (recording.json["settings"]["blind_signing"], False, (1, 22, 0))
    else:
        assert answer == ("Ethereum", APP.version, (1, 22, 0))


NONSENSE = {  # as the software Ledger answers in tests/offline/test_ledger_recordings.py
    "e0ff000000": 0x6D00,
    "f006000000": 0x6E00,
    "e002020015058000002c8000003c800000000000000000000000": 0x6B00,
    "e002000015058000002c80000000800000000000000000000000": 0x6A15,
    "e004000016058000002c8000003c80000000000000000000000003": 0x6501,
}


@pytest.mark.parametrize(("apdu", "sw"), NONSENSE.items())
def test_the_real_app_answers_nonsense_as_the_software_ledger_does(real_app: RealApp, apdu: str, sw: int) -> None:
    with closing(LoopbackTransport(real_app.port)) as transport:
        assert transport.exchange(bytes.fromhex(apdu), person=False) == (b"", sw)
        assert SoftwareLedger().exchange(bytes.fromhex(apdu)) == (b"", sw)


@pytest.mark.parametrize("answer", EXTENDED, ids=lambda a: f"{a['path']}-{a['chain_code']}")
def test_the_real_app_answers_keys_with_chain_codes_as_recorded(real_app: RealApp, answer: dict[str, Any]) -> None:
    with closing(LoopbackTransport(real_app.port)) as transport:
        data, sw = transport.exchange(address_apdu(answer["path"], answer["chain_code"]), person=False)
    assert (data.hex(), f"{sw:04x}") == (answer["data"], answer["sw"])


def test_the_real_apps_success_without_a_signature_is_not_taken_for_one(real_app: RealApp) -> None:
    whole = next(r for r in CASES if r.id == f"a-{FAMILY}-tx-plain-raw")
    with closing(LoopbackTransport(real_app.port)) as transport, pytest.raises(WrongAnswer, match="0 bytes instead"):
        EthereumApp(transport).sign_transaction(whole.path, whole.payload()[:-3])


@ids([r for r in CASES if r.id.endswith(OTHER_ORDER)])
def test_the_real_app_signs_the_same_for_our_order_of_definitions(real_app: RealApp, recording: Recording) -> None:
    with asked(real_app, recording) as (app, _):
        assert_signed(recording, ask(recording, app))


NESTED = {
    "types": {
        "EIP712Domain": [member("name", "string")],
        "Deep": [member("inner", "Inner"), member("low", "int32"), member("high", "int32")],
        "Inner": [member("note", "string"), member("leaf", "Leaf")],
        "Leaf": [member("flag", "bool"), member("data", "bytes"), member("none", "bytes")],
    },
    "primaryType": "Deep",
    "domain": {"name": "Airlock test"},
    "message": {
        "inner": {"note": "x" * 300, "leaf": {"flag": False, "data": "0x" + "ab" * 300, "none": "0x"}},
        "low": "-2147483648",
        "high": "2147483647",
    },
}


def test_nested_structs_chunks_and_negative_numbers_are_signed(real_app: RealApp) -> None:
    typed_data, hashes = read_typed_data(NESTED)
    real_app.configure(raw_messages=True)
    with closing(LoopbackTransport(real_app.port)) as transport, Person(real_app):
        signature = open_app(transport, any_build=True).sign_typed_data(PATH, typed_data)
    assert recovered(signature, hashes.digest) == SIGNER


def test_an_unplugged_real_app_is_named(real_app: RealApp) -> None:
    recording = next(r for r in CASES if r.id == f"a-{FAMILY}-full-delegate")
    with closing(LoopbackTransport(real_app.port)) as transport:
        app = open_app(transport, any_build=True)
        real_app.close()
        with pytest.raises(AirlockError, match=r"closed the connection|broke"):
            ask(recording, app)


def test_the_emulator_listens_on_loopback_alone(real_app: RealApp) -> None:
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    hosts = {row[1].partition(":")[0] for row in rows if int(row[1].partition(":")[2], 16) in real_app.ports}
    assert hosts == {"0100007F"}
    assert not any(int(line.split()[1].rpartition(":")[2], 16) in real_app.ports
                   for line in Path("/proc/net/tcp6").read_text().splitlines()[1:])  # fmt: skip
