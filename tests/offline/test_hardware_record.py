"""The hardware record: what a person can send about a Ledger, and nothing that says whose it is."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from airlock_offline.cli.preflight import record_bytes, recorded
from airlock_offline.device_connection import Device
from airlock_offline.ledger.device_errors import RefusedOnDevice, WrongAnswer
from airlock_offline.ledger.ethereum_app import EthereumApp, open_app
from airlock_offline.ledger.usb import PluggedLedger, Unplugged
from airlock_offline.preflight.ledger import PROOF_PATH, device_lines, device_report, raw_messages_options, udev_rule
from airlock_shared.errors import Declined
from airlock_shared.ethereum.signatures import checksum_address
from airlock_shared.host.files import LOOK, OK
from airlock_software_ledger.answers import AppSettings
from airlock_software_ledger.app import SoftwareLedger

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
    """Make a record with these answers, of a Ledger that behaves like a Flex on USB."""
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
    assert (found.record, found.report) == (None, {"error": "the Ledger was unplugged", "do": "plug it in"})


def test_the_file_is_written_once_and_before_it_nothing_is_asked(tmp_path: Path) -> None:
    from airlock_offline.cli.main import program

    there = tmp_path / "record.json"
    there.write_text("another")
    ended = CliRunner().invoke(
        program, ["--home", str(tmp_path / "home"), "preflight", "--hardware-record", str(there)]
    )
    assert "exists already" in str(ended.exception)
    assert there.read_text() == "another"
    assert not (tmp_path / "home/transcript.jsonl").exists()


def test_without_the_pages_nobody_is_asked_about_them() -> None:
    made = record("", ledger=ledger_with(raw=False)).record
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


# ---- the Ledger's part of preflight: settings read, attested and proven; the udev rule looked for ---------------------

SHIPPED = Path(__file__).parents[2] / "offline/udev/70-airlock-ledger.rules"


def report(ledger: SoftwareLedger, *words: str) -> dict[str, Any]:
    """What ``preflight`` reports with these words on its command line."""
    found: dict[str, Any] = {}

    @click.command()
    @raw_messages_options
    def command() -> None:
        device = Device(None, None)
        device._app = open_app(ledger)
        found.update(device_report(device))

    command.main(args=list(words), standalone_mode=False)
    return found


def ledger_with(*, raw: bool = True, blind: bool = False, faults: tuple[str, ...] = ()) -> SoftwareLedger:
    return SoftwareLedger(settings=AppSettings(raw_messages=raw, blind_signing=blind), faults=frozenset(faults))


@pytest.mark.parametrize("blind", [True, False])
def test_the_version_and_the_blind_signing_flag_are_read(blind: bool) -> None:
    found = report(ledger_with(blind=blind))
    assert (found["app"], found["version"], found["blind_signing"]) == ("Ethereum", "1.22.0", blind)
    assert found["raw_messages"] == "not stated"


@pytest.mark.parametrize(("raw", "proven"), [(True, "proven on"), (False, "proven off")])
def test_a_harmless_message_proves_raw_messages_against_the_operators_word(raw: bool, proven: str) -> None:
    assert report(ledger_with(raw=raw), "--prove-raw-messages", "--raw-messages", "on")["raw_messages"] == proven


def test_a_proof_that_does_not_recover_is_an_error() -> None:
    with pytest.raises(WrongAnswer, match="test message was signed by"):
        report(ledger_with(faults=("wrong-hash",)), "--prove-raw-messages")


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({"blind_signing": True}, "Blind signing ON"),
        ({"transaction_check": True}, "Transaction Check ON"),
        ({"raw_messages": "proven off"}, "switch it ON"),
        ({"raw_messages": "not stated"}, "--prove-raw-messages"),
        ({"model": "flex"}, "open More"),
        ({"model": "nanos"}, "stopped its updates"),
    ],
)
def test_what_is_not_as_advised_is_said(found: dict[str, Any], said: str) -> None:
    good = {"app": "Ethereum", "version": "1.22.0", "model": "", "blind_signing": False, "raw_messages": "proven on",
            "transaction_check": False}  # fmt: skip
    assert all(line.verdict == OK for line in device_lines(good, None))
    noted = [line for line in device_lines(good | found, None) if said in f"{line.what} {line.found}; {line.do}"]
    assert len(noted) == 1
    assert noted[0].verdict == (OK if "model" in found else LOOK)


@pytest.mark.parametrize("folder", ["etc/udev/rules.d", "lib/udev/rules.d"])
def test_an_installed_rule_is_found(tmp_path: Path, folder: str) -> None:
    (tmp_path / folder).mkdir(parents=True)
    path = tmp_path / folder / SHIPPED.name
    path.write_text('# ATTRS{idVendor}=="2c97"\nATTRS{idVendor}=="1209"\n')  # a comment, and another vendor's
    assert udev_rule(tmp_path, "linux") == ""
    line = next(device_lines({"error": ""}, ""))
    assert (line.found, line.verdict, "70-airlock-ledger.rules" in line.do) == ("none is installed", LOOK, True)
    path.write_text(SHIPPED.read_text())
    assert udev_rule(tmp_path, "linux") == str(path)
    line = next(device_lines({"error": ""}, str(path)))
    assert (line.what, line.found, line.verdict) == ("udev rule", str(path), OK)


def test_the_shipped_rule_is_for_ledgers_only_and_open_to_nobody_else() -> None:
    rules = [line for line in SHIPPED.read_text().splitlines() if line and not line.startswith("#")]
    assert rules
    assert all('=="2c97"' in rule and 'MODE="0600"' in rule and 'TAG+="uaccess"' in rule for rule in rules)
    assert int(SHIPPED.name[:2]) < 73
