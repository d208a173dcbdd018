"""The page of `preflight`: what is on it, what it fits on, what the transcript keeps, and how the command ends."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from airlock_offline.installation import Installation, KitFinding
from airlock_offline.preflight.page import Kit, PreflightInputs, PreflightResult, installation_lines, kit_lines, look_at
from airlock_shared.cli.machine import read_deployments, transcript_line
from airlock_shared.errors import DocumentError, ExitCode
from airlock_shared.host.files import LOOK, OK, REFUSED, MachineProbes, TranscriptFile, current
from airlock_shared.host.machine import fingerprint_text, page_lines
from offline.machine_trees import interface, machine, radio, route, zbar_of
from offline.namespaces import NO_SYS, OWN_SYS, inside, program, require_namespaces, with_an_interface
from offline.test_preflight_isolation import ENFORCED, pin

NOW_MS = 1_795_000_000_000
READY = {"app": "Ethereum", "version": "1.22.0", "model": "flex", "blind_signing": False, "raw_messages": "proven on",
         "transaction_check": False}  # fmt: skip
SOURCE = Installation("", "", 0, ())
KIT = Installation("airlock-offline-kit-0.1.0-cp311-x86_64", "ab" * 32, 1234, ())
CHANGED = KitFinding("KIT-INSTALLED", "lib/python3.11/site-packages/airlock_offline/home.py", "changed", "00", "11")


def look(home: Path, world: MachineProbes, told: Mapping[str, Any] | None = None) -> PreflightResult:
    statement = {"stated_ms": NOW_MS, "machine_ms": NOW_MS, "uncertainty_s": 60}
    usual = PreflightInputs(
        NOW_MS, statement, None, READY, "/etc/udev/rules.d/70-airlock-ledger.rules", False, KIT, None, ENFORCED
    )
    return look_at(home, TranscriptFile(home / "transcript.jsonl"), usual._replace(**(told or {})), world)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "home"
    path.mkdir(mode=0o700)
    pin(path, rehearsal=False)
    TranscriptFile(path / "transcript.jsonl").record("deployment-pinned", {}, NOW_MS)
    return path


@pytest.fixture
def world(tmp_path: Path) -> MachineProbes:
    return machine(tmp_path / "machine")._replace(load=lambda _soname: zbar_of(0, 23, 93), spec=lambda name: name)


# ---- the result -------------------------------------------------------------------------------------------------------


def worst_case(home: Path, world: MachineProbes) -> PreflightResult:
    for name in ("enp0s31f6", "wlp0s20f3", "wwan0"):
        interface(world, name, "0x1003", "up", "1")
    with (world.root / "proc/net/route").open("a") as file:
        file.write(route("enp0s31f6") + route("wlp0s20f3"))
    radio(world, "wlan", "phy0")
    radio(world, "bluetooth", "hci0")
    (world.root / "dev/video0").touch(mode=0o000)
    world = world._replace(spec=lambda name: None, load=_no_library)
    pin(home, rehearsal=True, name="practice")
    report = READY | {"blind_signing": True, "raw_messages": "not stated"}
    installation = KIT._replace(findings=(CHANGED,) * 40)
    return look(home, world, {"statement": None, "device": report, "rule": "", "installation": installation})


def _no_library(soname: str) -> object:
    raise OSError(soname)


def test_the_page_fits_eighty_columns_and_every_line_has_a_verdict(home: Path, world: MachineProbes) -> None:
    result = worst_case(home, world)
    lines = list(page_lines(result.lines))
    assert max(map(len, lines)) <= 80
    assert sum(line.rstrip().endswith((OK, LOOK, REFUSED)) for line in lines) >= len(result.lines)
    for line in result.lines:
        assert line.verdict == OK or line.do, line


def test_everything_that_is_refused_is_in_the_result(home: Path, world: MachineProbes) -> None:
    result = worst_case(home, world)
    assert result.report["refused"] == ["AIRGAP-INTERFACE", "AIRGAP-RADIO", "AIRGAP-ROUTE", "KIT-INSTALLED"]
    assert len(result.report["installed"]["findings"]) == 40  # the page shows the first few
    assert result.report["lines"] == [line.as_json() for line in result.lines]


def test_in_a_rehearsal_what_is_not_cut_off_is_to_be_looked_at(home: Path, world: MachineProbes) -> None:
    (home / "pins/venue.json").unlink()
    pin(home, rehearsal=True)
    interface(world, "eth0", "0x1003", "up", "1")
    result = look(home, world, {"software_ledger": True, "installation": SOURCE})
    assert (result.production, result.report["refused"]) == (False, [])
    assert [line.what for line in result.lines if line.verdict == LOOK] == ["eth0", "installed"]
    assert look(home, world, {"installation": SOURCE}).report["refused"] == ["AIRGAP-INTERFACE"]  # a real Ledger


def test_a_changed_file_is_refused_in_a_rehearsal_too(home: Path, world: MachineProbes) -> None:
    (home / "pins/venue.json").unlink()
    pin(home, rehearsal=True)
    told = {"software_ledger": True, "installation": KIT._replace(findings=(CHANGED,))}
    assert look(home, world, told).report["refused"] == ["KIT-INSTALLED"]


@pytest.mark.parametrize(
    ("told", "what"),
    [
        ({"statement": None}, "watch"),
        ({"device": {"error": "it is locked", "do": "unlock it"}}, "Ledger"),
        ({"device": READY | {"blind_signing": True}}, "Blind signing"),
        ({"device": READY | {"raw_messages": "attested off"}}, "Raw messages"),
        ({"rule": ""}, "udev rule"),
        ({"installation": SOURCE}, "installed"),
    ],
)
def test_what_is_not_as_it_should_be_is_to_be_looked_at_and_says_what_to_do(
    home: Path, world: MachineProbes, told: dict[str, Any], what: str
) -> None:
    [line] = [line for line in look(home, world, told).lines if line.verdict != OK]
    assert (line.what, line.verdict) == (what, LOOK)
    assert line.do


# ---- what is kept -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "{}", "\xff", '{"format": "airlock/deployment@9"}'])
def test_a_damaged_pin_is_refused_and_makes_the_machine_one_of_production(
    home: Path, world: MachineProbes, text: str
) -> None:
    (home / "pins/venue.json").unlink()
    pin(home, rehearsal=True, name="practice")
    (home / "pins/venue.json").write_text(text, encoding="latin-1")
    result = look(home, world, {"software_ledger": True})
    [line] = [line for line in result.lines if line.verdict == REFUSED]
    assert (line.what, line.check.startswith("DOC-"), result.production) == ("venue", True, True)


def test_a_broken_chain_ends_the_preflight(home: Path, world: MachineProbes) -> None:
    path = home / "transcript.jsonl"
    path.write_bytes(path.read_bytes().replace(b"pinned", b"forged"))
    assert transcript_line(TranscriptFile(path)).check == "DOC-CHAIN"
    with pytest.raises(DocumentError, match="DOC-CHAIN"):
        look(home, world)


def test_a_whole_kit_says_its_fingerprint_and_a_changed_one_which_file(tmp_path: Path) -> None:
    assert [line.verdict for line in kit_lines((), tmp_path, "ab" * 32)] == [OK]
    [line] = kit_lines((KitFinding("KIT-FILE", "install.sh", "changed"),), tmp_path, "ab" * 32)
    assert (line.found, line.verdict, line.check) == ("changed: install.sh", REFUSED, "KIT-FILE")


def last(home: Path) -> dict[str, Any]:
    entry = TranscriptFile(home / "transcript.jsonl").entries()[-1]
    assert entry.event == "preflight"
    return entry.data


def test_with_loopback_alone_only_the_ledger_is_missing(home: Path) -> None:
    require_namespaces()
    ended = inside(OWN_SYS, *program(home), "preflight", "--json")
    result = json.loads(ended.stdout)
    assert (ended.returncode, result["refused"], result["ok"]) == (int(ExitCode.DEVICE), [], False), ended.stderr
    assert {name: value for name, value in result.items() if name != "ok"} == last(home)
    found = [line["found"] for line in result["lines"]]
    assert {"none but loopback", "none that leaves this machine"} <= set(found)


def test_an_interface_that_is_up_is_refused_after_the_page_was_shown_and_recorded(home: Path) -> None:
    ended = inside(with_an_interface(up=True), *program(home), "preflight")
    assert ended.returncode == int(ExitCode.REFUSED), ended.stderr
    assert "AIRGAP-INTERFACE" in ended.stderr
    assert "PRODUCTION" in ended.stdout.splitlines()[0]
    assert any(line.startswith("  dummy0") and line.endswith("REFUSED") for line in ended.stdout.splitlines())
    assert "AIRGAP-INTERFACE" in last(home)["refused"]


def test_an_interface_that_is_switched_off_is_not(home: Path) -> None:
    ended = inside(with_an_interface(up=False), *program(home), "preflight")
    assert ended.returncode == int(ExitCode.DEVICE), ended.stderr
    assert "switched off: dummy0" in ended.stdout


def test_without_sys_it_says_that_it_cannot_tell_and_refuses(home: Path) -> None:
    require_namespaces()
    ended = inside(NO_SYS, *program(home), "preflight", "--json")
    assert ended.returncode == int(ExitCode.REFUSED), ended.stderr
    assert json.loads(ended.stdout)["refused"] == ["AIRGAP-RADIO"]  # /proc shows loopback alone


def test_on_a_machine_that_is_fit_every_line_is_ok(home: Path, world: MachineProbes) -> None:
    result = look(home, world)
    assert [line for line in result.lines if line.verdict != OK] == []
    assert (result.production, result.report["refused"]) == (True, [])
    assert list(dict.fromkeys(line.group for line in result.lines)) == [
        "network", "radios", "kernel", "time", "disk", "camera", "Ledger", "libraries", "installed", "deployments",
        "transcript",
    ]  # fmt: skip


@pytest.mark.parametrize("production", [True, False])
def test_the_usual_page_is_one_page(home: Path, world: MachineProbes, production: bool) -> None:
    if not production:
        (home / "pins/venue.json").unlink()
        pin(home, rehearsal=True)
    result = look(home, world, {"software_ledger": not production, "installation": KIT if production else SOURCE})
    assert result.production is production
    assert len(list(page_lines(result.lines))) <= 59


def test_the_result_can_be_recorded(home: Path, world: MachineProbes) -> None:
    transcript = TranscriptFile(home / "transcript.jsonl")
    result = worst_case(home, world)
    transcript.record("preflight", result.report, NOW_MS)
    assert transcript.entries()[-1].data == result.report


def test_an_earlier_statement_of_the_time_that_holds_is_shown(home: Path, world: MachineProbes) -> None:
    lines = look(home, world, {"statement": None, "valid_ms": 60_000}).lines
    assert "agreed within 60 s, in the last 24 hours" in [line.found for line in lines]


def test_a_pin_is_shown_with_its_kind_fingerprint_and_words(home: Path) -> None:
    pin(home, rehearsal=True, name="practice")
    pins, lines = read_deployments(current(home / "pins"), first="trust one")
    assert [line.what for line in lines] == ["practice", "venue"]
    assert [line.found.split(",")[0] for line in lines] == ["REHEARSAL", "production"]
    assert [line.found.partition(", ")[2] for line in lines] == [fingerprint_text(each.fingerprint) for each in pins]
    assert " 24." in lines[0].found


def test_a_replaced_pin_is_not_one(home: Path) -> None:
    (home / "pins/venue.json").rename(home / "pins/venue.0123456789abcdef.replaced.json")
    [line] = read_deployments(current(home / "pins"), first="trust one")[1]
    assert (line.found, line.verdict, line.do) == ("none yet", LOOK, "trust one")


def test_findings_are_named_and_counted() -> None:
    lines = list(installation_lines(KIT._replace(findings=(CHANGED,) * 7)))
    assert [line.check for line in lines] == ["KIT-INSTALLED"] * 6
    assert lines[0].found == f"changed: {CHANGED.path}"
    assert lines[-1].found.startswith("and 2 more")


def test_a_kit_is_on_the_page_with_the_installation(home: Path, world: MachineProbes, tmp_path: Path) -> None:
    found = (KitFinding("KIT-MANIFEST", "MANIFEST", "changed, or of another kit"),)
    result = look(home, world, {"kit": Kit(tmp_path, "ab" * 32, found)})
    assert result.report["refused"] == ["KIT-MANIFEST"]


@pytest.mark.parametrize(
    "words", [("--kit", "."), ("--fingerprint", "ab" * 32), ("--kit", ".", "--fingerprint", "ab"), ("--kit", "none")]
)
def test_a_kit_without_its_fingerprint_is_a_mistake(home: Path, words: tuple[str, ...]) -> None:
    require_namespaces()
    before = (home / "transcript.jsonl").read_bytes()
    ended = inside(OWN_SYS, *program(home), "preflight", *words)
    assert ended.returncode == int(ExitCode.USAGE), ended.stderr
    assert (home / "transcript.jsonl").read_bytes() == before


def test_a_folder_that_is_no_kit_is_refused(home: Path, tmp_path: Path) -> None:
    require_namespaces()
    (tmp_path / "kit").mkdir()
    ended = inside(
        OWN_SYS, *program(home), "preflight", "--kit", tmp_path / "kit", "--fingerprint", "ab" * 32, "--json"
    )
    assert (ended.returncode, json.loads(ended.stdout)["refused"]) == (3, ["KIT-MANIFEST"]), ended.stderr
