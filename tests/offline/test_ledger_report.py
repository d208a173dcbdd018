"""The Ledger's part of preflight: settings read, attested and proven; the udev rule looked for."""

from pathlib import Path
from typing import Any

import pytest

from airlock_offline.device_connection import Device
from airlock_offline.ledger.device_errors import WrongAnswer
from airlock_offline.ledger.ethereum_app import open_app
from airlock_offline.preflight.ledger import device_lines, device_report, udev_rule
from airlock_shared.host.files import LOOK, OK
from airlock_software_ledger.answers import AppSettings
from airlock_software_ledger.app import SoftwareLedger

SHIPPED = Path(__file__).parents[2] / "offline/udev/70-airlock-ledger.rules"


def report(ledger: SoftwareLedger, attested: str | None = None, *, prove: bool = False) -> dict[str, Any]:
    """What ``preflight`` reports of a Ledger with these options on its command line."""
    device = Device(None, None)
    device._app = open_app(ledger)
    return device_report(device, attested, prove=prove)


def ledger(*, raw: bool = True, blind: bool = False, faults: tuple[str, ...] = ()) -> SoftwareLedger:
    return SoftwareLedger(settings=AppSettings(raw_messages=raw, blind_signing=blind), faults=frozenset(faults))


@pytest.mark.parametrize("blind", [True, False])
def test_the_version_and_the_blind_signing_flag_are_read(blind: bool) -> None:
    found = report(ledger(blind=blind))
    assert (found["app"], found["version"], found["blind_signing"]) == ("Ethereum", "1.22.0", blind)
    assert found["raw_messages"] == "not stated"


@pytest.mark.parametrize(("raw", "proven"), [(True, "proven on"), (False, "proven off")])
def test_a_harmless_message_proves_raw_messages_against_the_operators_word(raw: bool, proven: str) -> None:
    assert report(ledger(raw=raw), "on", prove=True)["raw_messages"] == proven


def test_a_proof_that_does_not_recover_is_an_error() -> None:
    with pytest.raises(WrongAnswer, match="test message was signed by"):
        report(ledger(faults=("wrong-hash",)), prove=True)


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
