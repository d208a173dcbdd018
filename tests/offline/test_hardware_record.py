"""The hardware record: what a person can send about a Ledger, and nothing that says whose it is."""

import json
import re
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest
from click.testing import CliRunner

from airlock_offline.cli import preflight
from airlock_offline.cli.main import program
from airlock_offline.cli.preflight import record_bytes, recorded
from airlock_offline.device_connection import Device
from airlock_offline.home import OfflineHome
from airlock_offline.ledger.device_errors import RefusedOnDevice
from airlock_offline.ledger.ethereum_app import EthereumApp, open_app
from airlock_offline.ledger.usb import PluggedLedger, Unplugged
from airlock_offline.preflight.ledger import PROOF_PATH
from airlock_shared.errors import Declined
from airlock_shared.ethereum.signatures import checksum_address
from airlock_software_ledger.answers import AppSettings
from airlock_software_ledger.app import SoftwareLedger
from commands import run_here

SERIAL = "0001SERIAL"
PLUGGED = PluggedLedger(f"/dev/hidraw7-{SERIAL}", f"Flex {SERIAL}", "flex", 0x7011, 0x0201)


class Found:
    """What the command found: the report of preflight, and the record."""

    report: dict[str, Any]
    record: dict[str, Any] | None = None
    error: BaseException | None = None
    said = ""


def record(
    answers: str,
    *,
    ledger: SoftwareLedger | None = None,
    plugged: PluggedLedger | None = PLUGGED,
    software: bool = True,
) -> Found:
    found = Found()

    @click.command()
    def command() -> None:
        device = Device(None, None)
        device._app = open_app(ledger or SoftwareLedger(model="flex"))
        device.plugged, device.model = plugged, plugged.model if plugged else ""
        found.report, found.record = recorded(device, software=software)

    ended = CliRunner().invoke(command, input=answers)
    found.error, found.said = ended.exception, ended.output
    return found


def test_it_holds_ids_versions_settings_and_an_answer_for_each_page() -> None:
    found = record("Yes\nNo\n" + "Yes\n" * 20)
    made = found.record
    assert made is not None, found.error
    assert made["format"] == "airlock/hardware-record@1"
    assert made["usb"] == {"vendor_id": "2c97", "product_id": "7011", "release": "0201"}
    assert (made["model"], made["app"]) == ("flex", {"name": "Ethereum", "version": "1.22.0"})
    assert made["settings"] == {"blind_signing": False, "raw_messages": "proven on"}
    assert [page["shown"] for page in made["pages"]] == [True, False, *[True] * (len(made["pages"]) - 2)]
    assert [page["page"] for page in made["pages"]] == list(range(1, len(made["pages"]) + 1))
    assert any("Airlock settings test" in line for page in made["pages"] for line in page["lines"])
    assert set(made["system"]) == {"airlock", "system", "kernel", "machine", "python", "hidapi"}
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", made["date"])
    assert "THE LEDGER WILL SHOW (flex" in found.said
    assert json.loads(record_bytes(made)) == made


def test_it_says_nothing_about_whose_ledger_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.release", lambda: "6.18.5-desk-of-ada")
    ledger = SoftwareLedger(model="flex")
    address = checksum_address(open_app(ledger).address(PROOF_PATH).address)
    made = record("Yes\n" * 20, ledger=ledger).record
    assert made is not None
    text = record_bytes(made).decode()
    for secret in (address, address[2:], PROOF_PATH, SERIAL, "hidraw", "ada", "0x"):
        assert secret.lower() not in text.lower()
    assert made["system"]["kernel"] == "6.18.5"
    assert set(made) == {"format", "simulator", "date", "model", "usb", "app", "settings", "system", "pages"}


@pytest.mark.parametrize("answers", ["yes\n", "y\nYES\n", "Ja\n Yes\n"])
def test_only_a_whole_word_answers(answers: str) -> None:
    made = record(answers + "No\n" * 20).record
    assert made is not None
    assert not any(page["shown"] for page in made["pages"])


def test_a_pipe_a_rejected_message_and_answers_that_end_give_no_record() -> None:
    rejects = SoftwareLedger(model="flex", faults=frozenset({"refuse"}))
    for found, error in (
        (record("Yes\n" * 20, software=False), Declined),  # about a real Ledger
        (record("Yes\n" * 20, ledger=rejects), RefusedOnDevice),
        (record("Yes\n"), Declined),
    ):
        assert isinstance(found.error, error)
        assert found.record is None


def test_a_ledger_that_is_not_ready_gives_no_record(monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(_app: EthereumApp) -> None:
        raise Unplugged("the Ledger was unplugged", do="plug it in")

    monkeypatch.setattr(EthereumApp, "configuration", lost)
    found = record("Yes\n" * 20)
    assert (found.record, isinstance(found.error, Unplugged)) == (None, True)


def test_of_a_ledger_that_is_not_ready_preflight_tells_goes_on_and_writes_no_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost() -> None:
        raise Unplugged("the Ledger was unplugged", do="plug it in")

    monkeypatch.setattr(preflight, "opened", lambda *_, **__: nullcontext(SimpleNamespace(app=lost)))
    file, home = tmp_path / "record.json", tmp_path / "home"
    words = ("--home", home, "preflight", "--emulator", "9", "--hardware-record", file, "--json")
    ended = run_here(program, *words)
    assert ("No hardware record is written: the Ledger is not ready." in ended.err, file.exists()) == (True, False)
    found = {"error": "the Ledger was unplugged", "do": "plug it in"}
    assert (ended.code in (3, 5), ended.json()["device"]) == (True, found), ended.err
    [entry] = OfflineHome(home).transcript.entries()
    assert (entry.event, entry.data["device"]) == ("preflight", found)


def test_the_file_is_written_once_and_before_it_nothing_is_asked(tmp_path: Path) -> None:
    there = tmp_path / "record.json"
    there.write_text("another")
    for file, said in ((there, "exists already"), (tmp_path / "absent/record.json", "could not be written")):
        words = ["--home", str(tmp_path / "home"), "preflight", "--hardware-record", str(file)]
        assert said in str(CliRunner().invoke(program, words).exception)
    assert there.read_text() == "another"
    assert not (tmp_path / "home/transcript.jsonl").exists()


def test_without_the_pages_nobody_is_asked_about_them() -> None:
    made = record("", ledger=SoftwareLedger(model="flex", settings=AppSettings(raw_messages=False))).record
    assert made is not None
    assert made["pages"] == []
    assert made["settings"]["raw_messages"] != "proven on"


def test_a_model_that_nobody_knows_is_recorded_by_its_ids_alone_and_the_software_ledger_as_one() -> None:
    made = record("", plugged=PLUGGED._replace(model="", product_id=0xA011), software=False).record
    assert made is not None
    assert (made["model"], made["usb"]["product_id"], made["pages"]) == ("", "a011", [])
    made = record("Yes\n" * 20, plugged=None, ledger=SoftwareLedger(model="nanosp")).record
    assert made is not None
    assert (made["simulator"], made["usb"], made["model"]) == (True, None, "nanosp")
