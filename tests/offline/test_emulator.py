"""The software Ledger: it answers as the real app did, hashes without the gate, and misbehaves on request."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, reject

from airlock_offline.ledger.apdu import DeviceSignature
from airlock_offline.ledger.ethereum_app import WrongDevice, open_app, require_account
from airlock_offline.ledger.models import DEFAULT_MODEL
from airlock_offline.ledger.status import (
    AppClosed,
    DeviceLost,
    NoSuchWidth,
    RefusedOnDevice,
    SettingOff,
    SignedOtherwise,
    TooLargeForDevice,
    WrongAnswer,
    WrongApp,
)
from airlock_offline.ledger.status_words import AppTooOld, Locked
from airlock_offline.ledger.transport import LoopbackTransport
from airlock_offline.ledger.typed_data_screens import Page, coming_screens
from airlock_shared.ethereum.eip712 import read_typed_data
from airlock_software_ledger.answers import AppSettings
from airlock_software_ledger.app import SoftwareLedger
from airlock_software_ledger.keys import TEST_SEED
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
@given(typed_data())
def test_its_own_hashing_agrees_with_the_gate(document: dict[str, Any]) -> None:
    values, hashes = read_typed_data(document)
    shown: list[Page] = []
    ledger = SoftwareLedger(screens=lambda pages: not shown.extend(pages))  # type: ignore[func-returns-value]
    try:
        signature = open_app(ledger).sign_typed_data(PATH, values)
    except (TooLargeForDevice, NoSuchWidth, SignedOtherwise):
        reject()
    assert recovered(signature, hashes.digest) == SIGNER
    assert shown == coming_screens(values, hashes, DEFAULT_MODEL, by_hashes=False)


def sign(ledger: SoftwareLedger) -> DeviceSignature:
    return open_app(ledger).sign_typed_data(PATH, DELEGATE.typed_data()[0])


def test_the_default_seed_is_the_recorded_one() -> None:
    assert DELEGATE.json["seed"] == TEST_SEED
    assert recovered(sign(SoftwareLedger()), DELEGATE.raw("digest")) == SIGNER


# ---- misbehaving --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("lock", Locked),
        ("refuse", RefusedOnDevice),
        ("disconnect", DeviceLost),
        ("wrong-app", WrongApp),
        ("app-closed", AppClosed),
        ("empty-success", WrongAnswer),
        ("old-version", AppTooOld),
    ],
)
def test_a_fault_gives_its_named_error(fault: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        sign(SoftwareLedger(faults=frozenset({fault})))


@pytest.mark.parametrize("fault", ["wrong-account", "wrong-seed"])
def test_another_account_or_seed_is_refused_before_anything_is_signed(fault: str) -> None:
    expected = open_app(SoftwareLedger()).address(PATH).address
    assert require_account(open_app(SoftwareLedger()), PATH, expected) == expected
    with pytest.raises(WrongDevice, match="SIGNER-DEVICE") as caught:
        require_account(open_app(SoftwareLedger(faults=frozenset({fault}))), PATH, expected)
    assert caught.value.exit_code == 5


# ---- what it refuses ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("apdu", "sw"),
    [
        ("", 0x6A80),
        ("e006", 0x6A80),
        ("e00600000100ff", 0x6A80),
        ("e0ff000000", 0x6D00),
        ("f006000000", 0x6E00),
        ("b002000000", 0x6E00),
        ("e002020015058000002c8000003c800000000000000000000000", 0x6B00),
        ("e002000015058000002b8000003c800000000000000000000000", 0x6A15),
        ("e002000015058000002c80000000800000000000000000000000", 0x6A15),
        ("e00200000100", 0x6A80),
        ("e002000005068000002c", 0x6A80),
        ("e01c00000c454950373132446f6d61696e", 0x6980),
        ("e00c000115058000002c8000003c800000000000000000000000", 0x6980),
        ("e00c000215058000002c8000003c800000000000000000000000", 0x6B00),
        ("e00480000100", 0x6980),
        ("e004000016058000002c8000003c800000000000000000000000c0", 0x6A80),
        ("e004000016058000002c8000003c80000000000000000000000003", 0x6501),
        ("e01a00010161", 0x6B00),
        ("e01a00ff0161", 0x6A80),
    ],
)
def test_nonsense_has_its_status_word(apdu: str, sw: int) -> None:
    assert SoftwareLedger().exchange(bytes.fromhex(apdu)) == (b"", sw)


# ---- over loopback ------------------------------------------------------------------------------------------------

RUN = (
    "from airlock_software_ledger.server import run_emulator; "
    "run_emulator(model='nanosp', faults=frozenset({faults}), ask={ask})"
)


class Served:
    """A software Ledger in a process of its own."""

    def __init__(self, faults: set[str], ask: bool = False) -> None:
        script = RUN.format(faults=faults or "()", ask=ask)
        self.process = subprocess.Popen(
            [sys.executable, "-c", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.port = int(json.loads(self.process.stdout.readline())["port"])

    def stop(self) -> str:
        """Stop it and return what it said."""
        self.process.terminate()
        said = self.process.communicate()[1]
        assert self.process.returncode == 0
        return said


@pytest.fixture
def served(request: pytest.FixtureRequest) -> Iterator[Served]:
    running = Served(getattr(request, "param", set()))
    yield running
    if running.process.poll() is None:
        running.stop()


def test_it_signs_over_loopback_and_shows_its_pages_as_a_simulators(served: Served) -> None:
    typed, hashes = DELEGATE.typed_data()
    transport = LoopbackTransport(served.port)
    signature = open_app(transport).sign_typed_data(PATH, typed)
    transport.close()
    said = served.stop()
    assert recovered(signature, hashes.digest) == SIGNER
    assert said.startswith("SIMULATOR")
    assert "Sign message" in said


@pytest.mark.parametrize(
    ("answer", "signed"), [("Yes\n", True), ("yes\n", False), ("y\n", False), ("\nno\n", False), ("\nYes\n", True)]
)
def test_asked_on_the_terminal_only_the_whole_word_yes_approves(answer: str, signed: bool) -> None:
    served = Served(set(), ask=True)
    assert served.process.stdin is not None
    served.process.stdin.write(answer)
    served.process.stdin.flush()
    transport = LoopbackTransport(served.port)
    result: object = None
    try:
        result = open_app(transport).sign_typed_data(PATH, DELEGATE.typed_data()[0])
    except RefusedOnDevice as refused:
        result = refused
    transport.close()
    served.stop()
    assert isinstance(result, DeviceSignature if signed else RefusedOnDevice)


# ---- what it shows on the terminal, and its command line ----------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "blind", "signs"),
    [((), False, True), (("--blind-signing",), True, True), (("--no-raw-messages",), False, False)],
)
def test_its_settings_are_options_of_its_command(words: tuple[str, ...], blind: bool, signs: bool) -> None:
    command = [sys.executable, "-c", "from airlock_software_ledger.server import main; main()", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        transport = LoopbackTransport(int(json.loads(process.stdout.readline())["port"]))
        app = open_app(transport)
        assert app.configuration().blind_signing is blind
        try:
            app.sign_typed_data(PATH, DELEGATE.typed_data()[0])
            signed = True
        except SettingOff:
            signed = False
        transport.close()
        process.terminate()
    assert signed is signs
