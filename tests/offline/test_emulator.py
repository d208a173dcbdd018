"""The software Ledger: it answers as the real app did, hashes without the gate, and misbehaves on request."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, reject

from airlock_offline.ledger.apdu import DeviceSignature, Ins, encode_path, ethereum_apdu
from airlock_offline.ledger.ethereum_app import EthereumApp, WrongDevice, open_app, require_account
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
from airlock_offline.ledger.status_words import AppTooOld, Locked, NotSupported, PathNotAllowed
from airlock_offline.ledger.transport import LoopbackTransport
from airlock_offline.ledger.typed_data_screens import Page, coming_screens
from airlock_shared.errors import DeviceError, UsageError
from airlock_shared.ethereum.typed_document import read_typed_data
from airlock_software_ledger.answers import FAULTS, AppSettings
from airlock_software_ledger.app import SoftwareLedger
from airlock_software_ledger.keys import CURVE_ORDER, TEST_SEED
from airlock_software_ledger.server import page_lines
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


@pytest.mark.parametrize("fault", ["wrong-account", "wrong-seed", "wrong-hash"])
def test_a_signature_of_another_account_or_hash_does_not_recover_to_the_signer(fault: str) -> None:
    signature = sign(SoftwareLedger(faults=frozenset({fault})))
    assert recovered(signature, DELEGATE.raw("digest")) != SIGNER


@pytest.mark.parametrize("fault", ["wrong-account", "wrong-seed"])
def test_another_account_or_seed_is_refused_before_anything_is_signed(fault: str) -> None:
    expected = open_app(SoftwareLedger()).address(PATH).address
    assert require_account(open_app(SoftwareLedger()), PATH, expected) == expected
    with pytest.raises(WrongDevice, match="SIGNER-DEVICE") as caught:
        require_account(open_app(SoftwareLedger(faults=frozenset({fault}))), PATH, expected)
    assert caught.value.exit_code == 5


def test_a_flow_that_was_left_in_its_values_is_restarted_without_a_word() -> None:
    ledger = SoftwareLedger(faults=frozenset({"left-in-message"}))
    assert recovered(sign(ledger), DELEGATE.raw("digest")) == SIGNER


def test_a_flow_that_was_left_in_its_definitions_fails_once_and_says_to_try_again() -> None:
    ledger = SoftwareLedger(faults=frozenset({"left-in-definitions"}))
    with pytest.raises(SettingOff, match="not finished: try once more"):
        sign(ledger)
    assert recovered(sign(ledger), DELEGATE.raw("digest")) == SIGNER


def test_a_high_s_is_high_and_still_recovers() -> None:
    signature = sign(SoftwareLedger(faults=frozenset({"high-s"})))
    assert int.from_bytes(signature.s, "big") > CURVE_ORDER // 2
    assert recovered(signature, DELEGATE.raw("digest")) == SIGNER


def test_every_fault_is_tested_here() -> None:
    assert [fault for fault in FAULTS if f'"{fault}"' not in Path(__file__).read_text()] == []


@pytest.mark.parametrize(("model", "fault"), [("nanos", "lock"), ("flex", "explode"), ("", "lock")])
def test_an_unknown_model_or_fault_is_refused(model: str, fault: str) -> None:
    with pytest.raises(UsageError):
        SoftwareLedger(model=model, faults=frozenset({fault}))


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


def test_a_truncated_transaction_is_answered_with_success_and_nothing() -> None:
    whole = recorded("transaction", "signed")[0].exchanges[0].apdu
    cut = whole[:4] + bytes((len(whole) - 6,)) + whole[5:-1]
    assert SoftwareLedger(settings=AppSettings(blind_signing=True)).exchange(cut) == (b"", 0x9000)


def test_an_unknown_network_is_a_number_and_its_unit_is_unknown() -> None:
    shown: list[Page] = []
    ledger = SoftwareLedger(screens=lambda pages: not shown.extend(pages))  # type: ignore[func-returns-value]
    fields = "8203e9" + "80" + "01" + "01" + "825208" + "94" + "11" * 20 + "8829a2241af62c0000" + "80" + "c0"
    length = len(fields) // 2
    EthereumApp(ledger).sign_transaction(PATH, bytes.fromhex("02" + f"{0xC0 + length:02x}" + fields))
    assert ["Amount", "3 ???"] in shown
    assert ["Network", "1001"] in shown


def test_a_path_outside_ethereum_is_named() -> None:
    with pytest.raises(PathNotAllowed):
        open_app(SoftwareLedger()).address("m/44'/0'/0'/0/0")


def test_typed_data_with_both_settings_off_names_the_setting() -> None:
    with pytest.raises(SettingOff, match="Raw messages"):
        sign(SoftwareLedger(settings=AppSettings(raw_messages=False)))


def test_hashes_are_not_signed_with_the_advised_settings() -> None:
    with pytest.raises(SettingOff, match="Blind signing"):
        open_app(SoftwareLedger()).sign_hashes(PATH, bytes(32), bytes(32))


def test_a_type_of_transaction_that_the_app_does_not_know_is_named() -> None:
    with pytest.raises(NotSupported):
        EthereumApp(SoftwareLedger()).sign_in_pieces(Ins.SIGN_TRANSACTION, encode_path(PATH) + b"\x03\xc0", 0, "sign")


@pytest.mark.parametrize("garbage", ["01", "8101", "80ff", "c0ff", "05" + "ff" + "41", "420141" + "00", "0003414243"])
def test_a_definition_that_is_cut_or_has_a_rest_is_refused(garbage: str) -> None:
    ledger = SoftwareLedger()
    ledger.exchange(bytes.fromhex("e01a00000141"))
    data = bytes.fromhex(garbage)
    assert ledger.exchange(bytes((0xE0, 0x1A, 0, 0xFF, len(data))) + data)[1] == 0x6A80


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


@pytest.mark.parametrize("served", [{"disconnect"}], indirect=True)
def test_a_connection_that_breaks_in_the_middle_is_named(served: Served) -> None:
    transport = LoopbackTransport(served.port)
    app = open_app(transport)
    with pytest.raises(DeviceLost):
        app.sign_typed_data(PATH, DELEGATE.typed_data()[0])
    with pytest.raises(DeviceLost):
        app.configuration()
    again = LoopbackTransport(served.port)
    assert not open_app(again).configuration().blind_signing
    again.close()


def test_a_second_client_comes_after_the_first(served: Served) -> None:
    for _ in range(2):
        transport = LoopbackTransport(served.port)
        assert open_app(transport).app_and_version().version == "1.22.0"
        transport.close()


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


def test_nobody_on_the_port_is_a_device_error() -> None:
    served = Served(set())
    served.stop()
    with pytest.raises(DeviceError, match="no software Ledger"):
        LoopbackTransport(served.port)


# ---- what it shows on the terminal, and its command line ----------------------------------------------------------


def test_its_pages_are_blocks_of_at_most_80_columns_marked_as_a_simulators() -> None:
    lines = list(page_lines([["Title", "short"], ["x" * 200, ""]]))
    assert lines[:4] == ["SIMULATOR screen 1 of 2", "  | Title", "  | short", ""]
    assert max(map(len, lines)) == 80
    assert sum("x" in line for line in lines) == 3


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


@pytest.mark.parametrize(
    ("kind", "sw"), [("uint24", 0x9000), ("uint248", 0x9000), ("int64", 0x9000), ("int24", 0x6A80), ("int96", 0x6A80)]
)
@pytest.mark.parametrize("model", ["flex", "nanosp"])
def test_a_signed_integer_without_a_form_is_refused_where_it_would_be_shown(kind: str, sw: int, model: str) -> None:
    assert answer_to_a_value(kind, SoftwareLedger(model=model)) == sw
    unshown = SoftwareLedger(model=model, settings=AppSettings(raw_messages=False, blind_signing=True))
    assert answer_to_a_value(kind, unshown) == (0x9000 if model == "nanosp" else sw)


def answer_to_a_value(kind: str, device: SoftwareLedger) -> int:
    """Return the status word of a value of this type, sent whether the client would send it or not."""
    code, size = (2, int(kind[4:])) if kind.startswith("u") else (1, int(kind[3:]))
    for ins, p2, data in (
        (Ins.EIP712_DEFINITION, 0x00, b"EIP712Domain"), (Ins.EIP712_DEFINITION, 0xFF, b"\x05\x04name"),
        (Ins.EIP712_DEFINITION, 0x00, b"X"), (Ins.EIP712_DEFINITION, 0xFF, bytes((code | 0x40, size // 8)) + b"\x01a"),
        (Ins.EIP712_VALUE, 0x00, b"EIP712Domain"), (Ins.EIP712_VALUE, 0xFF, b"\0\x01d"), (Ins.EIP712_VALUE, 0x00, b"X"),
    ):  # fmt: skip
        assert device.exchange(ethereum_apdu(ins, 0, p2, data).encode()) == (b"", 0x9000)
    return device.exchange(ethereum_apdu(Ins.EIP712_VALUE, 0, 0xFF, b"\0\x01\x05").encode())[1]


def test_a_port_that_is_taken_is_told_as_that(served: Served) -> None:
    command = [
        sys.executable,
        "-c",
        "from airlock_software_ledger.server import main; main()",
        "--port",
        str(served.port),
    ]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert f"nothing can listen at port {served.port}" in ended.stderr
    assert "name another port" in ended.stderr
    assert "free space" not in ended.stderr
