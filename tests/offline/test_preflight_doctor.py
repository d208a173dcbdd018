"""``airlock-offline doctor``: every fault is named with what to do and its exit code, and nothing is changed by looking."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from airlock_offline.cli import machine as health
from airlock_offline.cli.machine import health_lines, ledger_lines
from airlock_offline.home import OfflineHome
from airlock_offline.installation import Installation, KitFinding
from airlock_offline.ledger.usb import PluggedLedger, UsbPort
from airlock_shared.errors import ExitCode
from airlock_shared.host.files import FAULT, OK, REFUSED, MachineProbes, TranscriptFile
from airlock_shared.host.machine import Library
from commands import contents
from offline.machine_trees import machine
from offline.namespaces import program
from offline.test_preflight_isolation import pin


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "home"
    path.mkdir(mode=0o700)
    TranscriptFile(path / "transcript.jsonl").record("one", {}, 0)
    pin(path, rehearsal=False)
    (path / "pins").chmod(0o700)
    return path


def doctor(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*program(home), "doctor", *words], capture_output=True, text=True, check=False, timeout=120)


def test_where_nothing_is_wrong_it_ends_with_0_and_changes_nothing(home: Path) -> None:
    before = contents(home)
    ended = doctor(home)
    assert (ended.returncode, "Nothing is wrong." in ended.stderr) == (0, True), ended.stdout
    assert max(map(len, ended.stdout.splitlines())) <= 80
    assert contents(home) == before


def test_on_a_new_machine_nothing_is_made(tmp_path: Path) -> None:
    assert doctor(tmp_path / "home").returncode == 0
    assert list(tmp_path.iterdir()) == []


def _open_home(home: Path) -> None:
    home.chmod(0o755)


def _broken_chain(home: Path) -> None:
    path = home / "transcript.jsonl"
    path.write_bytes(path.read_bytes().replace(b"one", b"two"))


def _damaged_pin(home: Path) -> None:
    (home / "pins/venue.json").write_text("{}")


def _wrong_config(home: Path) -> None:
    (home / "config.toml").write_text("[ledger")


@pytest.mark.parametrize(
    ("harm", "what", "code"),
    [
        (_wrong_config, "config.toml", 2),
        (_open_home, "folder", 2),
        (_broken_chain, "transcript", 4),
        (_damaged_pin, "venue", 4),
    ],
)
def test_what_is_wrong_is_named_with_what_to_do_and_its_exit_code(
    home: Path, harm: object, what: str, code: int
) -> None:
    assert callable(harm)
    harm(home)
    ended = doctor(home, "--json")
    result = json.loads(ended.stdout)
    wrong = [line for line in result["lines"] if line["verdict"] in (FAULT, REFUSED)]
    assert (ended.returncode, result["ok"], [line["what"] for line in wrong]) == (code, False, [what]), ended.stdout
    assert wrong[0]["do"]


def test_a_changed_installed_file_and_a_missing_library_are_faults(home: Path, tmp_path: Path) -> None:
    changed = KitFinding("KIT-INSTALLED", "bin/airlock-offline", "changed")
    installation = Installation("kit", "ab" * 32, 10, (changed,))
    missing = Library("libairlock-has-no-such.so.7", "libairlock7", "everything")
    world = machine(tmp_path / "machine")._replace(load=MachineProbes().load)
    lines = {line.what: line for line in health_lines(OfflineHome(home), installation, (missing,), None, world)}
    assert (lines["files"].check, lines["files"].code) == ("KIT-INSTALLED", ExitCode.REFUSED)
    assert (lines[missing.soname].verdict, lines[missing.soname].code) == (FAULT, ExitCode.USAGE)
    assert "udev rule" not in lines


# ---- the Ledger -------------------------------------------------------------------------------------------------------

PLUGGED = PluggedLedger("1-2:1.0", "Flex\x1b[2J", "flex")


def at(monkeypatch: pytest.MonkeyPatch, *, may_open: bool, held_by: list[str]) -> None:
    monkeypatch.setattr(health, "port_of", lambda path: UsbPort(Path("/dev/bus/usb/001/002"), "1-2"))
    monkeypatch.setattr(health, "may_open", lambda port: may_open)
    monkeypatch.setattr(health, "holders", lambda port: held_by)


@pytest.mark.parametrize(
    ("may_open", "held_by", "said", "verdict", "code"),
    [
        (True, [], "plugged in", OK, ExitCode.DONE),
        (False, [], "may not open it", FAULT, ExitCode.DEVICE),
        (True, ["wallet (process 7)"], "held by wallet (process 7)", FAULT, ExitCode.DEVICE),
    ],
)
def test_a_plugged_ledger_is_said_with_what_stands_in_the_way(
    monkeypatch: pytest.MonkeyPatch, may_open: bool, held_by: list[str], said: str, verdict: str, code: ExitCode
) -> None:
    at(monkeypatch, may_open=may_open, held_by=held_by)
    [line] = ledger_lines(lambda: [PLUGGED])
    assert (said in line.found, line.verdict, line.code) == (True, verdict, code)
    assert "\x1b" not in line.found
