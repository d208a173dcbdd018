"""Preflight and doctor: the page, the machine, its network and radios, and the kernel."""

import json
import os
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from airlock_offline.cli.machine import health_lines, ledger_lines
from airlock_offline.confinement.command import UNCONFINED, Confinement
from airlock_offline.home import OfflineHome
from airlock_offline.installation import Installation, KitFinding
from airlock_offline.ledger import usb
from airlock_offline.ledger.usb import PluggedLedger, UsbPort
from airlock_offline.preflight.isolation import interface_lines, radio_lines, route_lines
from airlock_offline.preflight.page import kit_lines, look_at
from airlock_shared.cli.machine import read_deployments, transcript_line
from airlock_shared.errors import DocumentError, ExitCode
from airlock_shared.host import machine as host
from airlock_shared.host.files import FAULT, LOOK, OK, REFUSED, MachineProbes, Observed, TranscriptFile, current
from commands import FinishedCommand, contents, run_command
from offline import machine_trees as trees
from offline.confined import confined, require_seccomp
from offline.test_preflight_isolation import ENFORCED, pin

# ---- the page of `preflight`: what is on it, what it fits on, what the transcript keeps, and how the command ends ---


NOW_MS = 1_795_000_000_000
READY = {"app": "Ethereum", "version": "1.22.0", "model": "flex", "blind_signing": False, "raw_messages": "proven on",
         "transaction_check": False}  # fmt: skip
SOURCE = Installation("", "", 0, ())
KIT = Installation("airlock-offline-kit-0.1.0-cp311-x86_64", "ab" * 32, 1234, ())
CHANGED = KitFinding("KIT-INSTALLED", "lib/python3.11/site-packages/airlock_offline/home.py", "changed", "00", "11")


def look(home: Path, world: MachineProbes, told: Mapping[str, Any] | None = None) -> SimpleNamespace:
    usual: dict[str, Any] = {"now_ms": NOW_MS, "valid_ms": None, "device": READY, "software_ledger": False, "medium": (),
             "statement": {"stated_ms": NOW_MS, "machine_ms": NOW_MS, "uncertainty_s": 60}, "kernel": ENFORCED,
             "rule": "/etc/udev/rules.d/70-airlock-ledger.rules", "installation": KIT, **(told or {})}  # fmt: skip
    made = look_at(home, TranscriptFile(home / "transcript.jsonl"), world, **usual)
    lines = [Observed(**line) for line in made["lines"]]
    return SimpleNamespace(report=made, lines=lines, production=made["production"])


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "home"
    path.mkdir(mode=0o700)
    pin(path, rehearsal=False)
    TranscriptFile(path / "transcript.jsonl").record("deployment-pinned", {}, NOW_MS)
    return path


@pytest.fixture
def world(tmp_path: Path) -> MachineProbes:
    return trees.machine(tmp_path / "machine")._replace(
        load=lambda _soname: trees.zbar_of(0, 23, 93), spec=lambda name: name
    )


def test_a_page_with_every_fault_fits_and_is_recorded(home: Path, world: MachineProbes) -> None:
    for name in ("enp0s31f6", "wlp0s20f3", "wwan0"):
        trees.interface(world, name, "0x1003", "up", "1")
    with (world.root / "proc/net/route").open("a") as file:
        file.write(trees.route("enp0s31f6") + trees.route("wlp0s20f3"))
    trees.radio(world, "wlan", "phy0")
    trees.radio(world, "bluetooth", "hci0")
    (world.root / "dev/video0").touch(mode=0o000)
    world = world._replace(spec=lambda name: None, load=Mock(side_effect=OSError))
    pin(home, rehearsal=True, name="practice")
    report = READY | {"blind_signing": True, "raw_messages": "not stated"}
    installation = KIT._replace(findings=(CHANGED,) * 40)
    result = look(home, world, {"statement": None, "device": report, "rule": "", "installation": installation})
    lines = list(host.page_lines(result.lines))
    assert max(map(len, lines)) <= 80
    assert sum(line.rstrip().endswith((OK, LOOK, REFUSED)) for line in lines) >= len(result.lines)
    for line in result.lines:
        assert line.verdict == OK or line.do, line
    assert result.report["refused"] == ["AIRGAP-INTERFACE", "AIRGAP-RADIO", "AIRGAP-ROUTE", "KIT-INSTALLED"]
    assert len(result.report["installed"]["findings"]) == 40  # the page shows the first few
    changed = [line.found for line in result.lines if line.check == "KIT-INSTALLED"]
    assert (changed[:5], changed[5][:11]) == ([f"changed: {CHANGED.path}"] * 5, "and 35 more")
    assert result.report["lines"] == [line.as_json() for line in result.lines]
    transcript = TranscriptFile(home / "transcript.jsonl")
    transcript.record("preflight", result.report, NOW_MS)
    assert transcript.entries()[-1].data == result.report


def test_in_a_rehearsal_what_is_not_cut_off_is_to_be_looked_at(home: Path, world: MachineProbes) -> None:
    (home / "pins/venue.json").unlink()
    pin(home, rehearsal=True)
    trees.interface(world, "eth0", "0x1003", "up", "1")
    result = look(home, world, {"software_ledger": True, "installation": SOURCE})
    assert (result.production, result.report["refused"]) == (False, [])
    assert [line.what for line in result.lines if line.verdict == LOOK] == ["eth0", "installed"]
    assert look(home, world, {"installation": SOURCE}).report["refused"] == ["AIRGAP-INTERFACE"]  # a real Ledger
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


@pytest.mark.parametrize("text", ["", "\xff", '{"format": "airlock/deployment@9"}'])
def test_a_damaged_pin_is_refused_and_makes_it_production(home: Path, world: MachineProbes, text: str) -> None:
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


def test_a_whole_kit_is_in_order_and_of_a_changed_one_the_file_is_named(
    home: Path, world: MachineProbes, tmp_path: Path
) -> None:
    assert [line.verdict for line in kit_lines((), tmp_path, "ab" * 32)] == [OK]
    [line] = kit_lines((KitFinding("KIT-FILE", "install.sh", "changed"),), tmp_path, "ab" * 32)
    assert (line.found, line.verdict, line.check) == ("changed: install.sh", REFUSED, "KIT-FILE")
    found = (KitFinding("KIT-MANIFEST", "MANIFEST", "changed, or of another kit"),)
    result = look(home, world, {"medium": kit_lines(found, tmp_path, "ab" * 32)})
    assert result.report["refused"] == ["KIT-MANIFEST"]  # it is on the page with the installation


def last(home: Path) -> dict[str, Any]:
    entry = TranscriptFile(home / "transcript.jsonl").entries()[-1]
    assert entry.event == "preflight"
    return entry.data


def test_with_loopback_alone_only_the_ledger_is_missing(home: Path) -> None:
    trees.require_namespaces()
    ended = trees.inside(trees.OWN_SYS, *trees.program(home), "preflight", "--json")
    result = json.loads(ended.out)
    assert (ended.code, result["refused"], result["ok"]) == (int(ExitCode.DEVICE), [], False), ended.err
    assert {name: value for name, value in result.items() if name != "ok"} == last(home)
    found = [line["found"] for line in result["lines"]]
    assert {"none but loopback", "none that leaves this machine"} <= set(found)


def test_an_interface_that_is_up_is_refused_after_the_page_was_shown_and_recorded(home: Path) -> None:
    ended = trees.inside(trees.with_an_interface(up=True), *trees.program(home), "preflight")
    assert ended.code == int(ExitCode.REFUSED), ended.err
    assert "AIRGAP-INTERFACE" in ended.err
    assert "PRODUCTION" in ended.out.splitlines()[0]
    assert any(line.startswith("  dummy0") and line.endswith("REFUSED") for line in ended.out.splitlines())
    assert "AIRGAP-INTERFACE" in last(home)["refused"]


def test_on_a_machine_that_is_fit_every_line_is_ok(home: Path, world: MachineProbes) -> None:
    result = look(home, world)
    assert [line for line in result.lines if line.verdict != OK] == []
    assert (result.production, result.report["refused"]) == (True, [])
    assert list(dict.fromkeys(line.group for line in result.lines)) == [
        "network", "radios", "kernel", "time", "disk", "camera", "Ledger", "libraries", "installed", "deployments",
        "transcript",
    ]  # fmt: skip
    assert len(list(host.page_lines(result.lines))) <= 59
    lines = look(home, world, {"statement": None, "valid_ms": 60_000}).lines
    assert "agreed within 60 s, in the last 24 hours" in [line.found for line in lines]


def test_a_pin_is_shown_with_its_kind_fingerprint_and_words(home: Path) -> None:
    pin(home, rehearsal=True, name="practice")
    pins, lines = read_deployments(current(home / "pins"), first="trust one")
    assert [line.what for line in lines] == ["practice", "venue"]
    assert [line.found.split(",")[0] for line in lines] == ["REHEARSAL", "production"]
    assert [line.found.partition(", ")[2] for line in lines] == [
        host.fingerprint_text(each.fingerprint) for each in pins
    ]
    assert " 24." in lines[0].found
    for name in ("practice", "venue"):
        (home / f"pins/{name}.json").rename(home / f"pins/{name}.0123456789abcdef.replaced.json")
    [line] = read_deployments(current(home / "pins"), first="trust one")[1]
    assert (line.found, line.verdict, line.do) == ("none yet", LOOK, "trust one")


def test_a_kit_without_its_fingerprint_is_a_mistake_and_a_folder_that_is_none_is_refused(home: Path) -> None:
    trees.require_namespaces()

    def preflight(*words: object) -> FinishedCommand:
        return trees.inside(trees.OWN_SYS, *trees.program(home), "preflight", *words)

    before, mark = (home / "transcript.jsonl").read_bytes(), "ab" * 32
    kits = (("--kit", "."), ("--fingerprint", mark), ("--kit", ".", "--fingerprint", "ab"), ("--kit", "none"))
    for words in (("--ledger", "/dev/hidraw0", "--emulator", "1"), *kits):
        assert (ended := preflight(*words)).code == int(ExitCode.USAGE), ended.err
    assert (home / "transcript.jsonl").read_bytes() == before
    ended = preflight("--kit", home / "pins", "--fingerprint", mark, "--json")
    assert (ended.code, json.loads(ended.out)["refused"]) == (3, ["KIT-MANIFEST"]), ended.err


# ---- what both halves look at: folder, disk, libraries, camera, versions; each fault is named with what to do -------


def statvfs(**changed: int) -> os.statvfs_result:
    names = ("f_bsize", "f_frsize", "f_blocks", "f_bfree", "f_bavail", "f_files", "f_ffree", "f_favail", "f_flag")
    values = dict.fromkeys(names, 0) | {"f_frsize": 4096, "f_bavail": 1 << 20} | changed
    return os.statvfs_result((*(values[name] for name in names), 255))


@pytest.mark.parametrize("mode", [0o755, 0o707, 0o500])
def test_other_permissions_than_0700_are_a_fault(tmp_path: Path, mode: int) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home").chmod(mode)
    line = host.home_line(tmp_path / "home")
    (tmp_path / "home").chmod(0o700)
    assert (line.verdict, line.code, f"{mode:04o}" in line.found) == (FAULT, 2, True)
    assert line.do == f"run: chmod 700 {tmp_path / 'home'}"
    (tmp_path / "file").touch()
    assert [host.home_line(tmp_path / name).verdict for name in ("file", "file/more", "new")] == [FAULT, FAULT, OK]


@pytest.mark.parametrize(
    ("changed", "said", "verdict"),
    [
        ({}, "4096 MiB free", OK),
        ({"f_bavail": 16384}, "64 MiB free", OK),
        ({"f_bavail": 16383}, "63 MiB free, less than 64 MiB", FAULT),
        ({"f_flag": os.ST_RDONLY}, "read-only", FAULT),
    ],
)
def test_a_full_or_read_only_disk_is_a_fault(tmp_path: Path, changed: dict[str, int], said: str, verdict: str) -> None:
    disks = {tmp_path: statvfs(**changed)}  # of a folder that is not there, the nearest one above it is asked
    line = host.disk_line(tmp_path / "not/yet/there", MachineProbes(disk=disks.__getitem__))
    assert (line.verdict, said in line.found) == (verdict, True)
    unknown = host.disk_line(tmp_path, MachineProbes(disk=lambda path: os.statvfs(path / "none")))
    assert (unknown.verdict, unknown.found) == (LOOK, "unknown: No such file or directory")


@pytest.mark.parametrize("library", host.LIBRARIES, ids=lambda library: library.soname)
def test_a_library_that_is_missing_is_named_with_its_package(library: host.Library) -> None:
    def load(soname: str) -> object:
        if soname == library.soname:
            raise OSError(soname)
        return trees.zbar_of(0, 23, 93)

    [line] = [line for line in host.library_lines(MachineProbes(load=load)) if line.verdict != OK]
    assert (line.what, line.verdict) == (library.soname, LOOK if library.optional else FAULT)
    assert library.package in line.do
    assert f"needed by {library.needed_by}" in line.found


def entry(package: str, version: str, status: str = "install ok installed") -> str:
    return f"Package: {package}\nStatus: {status}\nDescription: text\n Version: 9\nVersion: {version}\n\n"


FIXED = entry("libzbar0", "0.23.92-7+deb12u1")


@pytest.mark.parametrize(
    ("version", "status", "sound"),
    [
        ((0, 23, 93), "", True),
        ((1, 0, 0), "", True),
        ((0, 23, 92), FIXED, True),
        ((0, 23, 92), entry("libzbar0t64", "0.23.92-7+deb12u3"), True),
        ((0, 23, 90), entry("libzbar0", "0.23.90-1+deb11u1"), True),
        ((0, 23, 92), "", False),
        ((0, 23, 92), entry("libzbar0", "0.23.92-7"), False),
        ((0, 23, 92), entry("libzbar0", "0.23.92-7+deb12u1~bpo1"), False),
        ((0, 23, 92), entry("libzbar0", "0.23.92-7+deb12u1", "deinstall ok config-files"), False),
        ((0, 23, 92), entry("libzbar0", "0.23.92-7+deb12u1", "install ok half-configured"), False),
        ((0, 23, 90), FIXED, False),
        ((0, 23, 92), entry("libzbar0", "0.23.92-4") + FIXED.replace("libzbar0", "libzbar0-dev"), False),
    ],
)
def test_a_zbar_that_a_hostile_code_may_overflow_is_left_out_and_said(
    version: tuple[int, ...], status: str, sound: bool, tmp_path: Path
) -> None:
    (tmp_path / "var/lib/dpkg").mkdir(parents=True)
    (tmp_path / "var/lib/dpkg/status").write_text(entry("libc6", "2.36") + status + entry("zlib1g", "1.2"))
    library = next(one for one in host.LIBRARIES if one.soname == "libzbar.so.0")
    world = MachineProbes(tmp_path, load=lambda _soname: trees.zbar_of(*version))
    [line] = host.library_lines(world, [library])
    assert (line.verdict, "left out" in line.found) == ((OK, False) if sound else (LOOK, True))
    assert sound or "libzbar0" in line.do


def test_a_camera_is_found_with_what_reads_it(tmp_path: Path) -> None:
    (tmp_path / "dev").mkdir()
    with_opencv = MachineProbes(tmp_path, spec=lambda name: name)
    assert (host.camera_line(with_opencv).verdict, host.camera_line(with_opencv).found.startswith("none")) == (OK, True)
    (tmp_path / "dev/video0").touch()
    assert "/dev/video0, readable; OpenCV is installed" in host.camera_line(with_opencv).found
    without = host.camera_line(with_opencv._replace(spec=lambda name: None))
    assert (without.verdict, "OpenCV is not installed" in without.found) == (LOOK, True)


@pytest.mark.parametrize(
    ("pinned", "said"),
    [
        (f"click=={version('click')} \\\n    --hash=sha256:00\n", "all 1 are"),
        ("click==0.0.1 \\\n    --hash=sha256:00\n", "pinned 0.0.1"),
        ("no-such-package==1.0 \\\n    --hash=sha256:00\n", "no-such-package is missing"),
        ("no-such-package==1.0 ; implementation_name == 'pypy' \\\n", "all 1 are"),
    ],
)
def test_the_installed_versions_are_compared_with_the_pinned_ones(tmp_path: Path, pinned: str, said: str) -> None:
    (tmp_path / "requirements.txt").write_text(f"# made by a tool\n{pinned}    # via something\n")
    assert said in host.closure_line(tmp_path / "requirements.txt").found


NO_LOOPBACK = ("LO", "docker0", "lo0", "lo:1", "sit0", "tun0", "wlan0")


def verdicts(lines: list[Observed]) -> set[tuple[str, str]]:
    return {(line.verdict, line.check) for line in lines}


@pytest.mark.parametrize(
    ("name", "flags", "operstate", "carrier", "said"),
    [
        ("enp1s0", "0x1003", "up", "1", "up, connected"),
        ("enp1s0", "0x1003", "down", "0", "up, without a connection"),  # no cable: plugged in, it is on the network
        ("enp1s0", "0x10c3", "unknown", "1", "up, connected"),  # dummies, tunnels
        ("enp1s0", "0x1002", "up", "1", "up, connected"),  # the two disagree
        ("enp1s0", "0x1003", "", "", "up"),
        *((name, "0x1043", "unknown", "1", "up, connected") for name in NO_LOOPBACK),
    ],
)
def test_an_interface_that_is_up_is_refused_and_no_name_but_that_of_loopback_excuses_it(
    tmp_path: Path, name: str, flags: str, operstate: str, carrier: str, said: str
) -> None:
    world = trees.machine(tmp_path)
    trees.interface(world, name, flags, operstate, carrier)
    [line] = [line for line in interface_lines(world) if line.verdict == REFUSED]
    assert (line.what, line.check) == (name, "AIRGAP-INTERFACE")
    assert line.found.removesuffix(", seen from another network namespace") == said  # as is a name with a colon
    assert f"ip link set {name} down" in line.do


def test_an_interface_that_only_another_namespace_shows_is_refused(tmp_path: Path) -> None:
    world = trees.machine(tmp_path)
    trees.interface(world, "e\x1b[2Jth0", "0x1003", "up", "1", own=False)
    with (world.root / "proc/net/dev").open("a") as file:
        file.write("  eth7: 0 0\n")  # of which nobody can tell
    trees.interface(world, "eth8", "", "down", "0")  # it may be on, without a cable
    elsewhere, untold, no_flags = interface_lines(world)
    assert (elsewhere.verdict, elsewhere.found) == (REFUSED, "up, connected, seen from another network namespace")
    assert "\x1b" not in elsewhere.do
    assert (untold.what, untold.verdict, untold.check) == ("eth7", REFUSED, "AIRGAP-INTERFACE")
    assert {untold.found, no_flags.found} == {"unknown: /sys does not show it"}
    (world.root / "proc/net/dev").unlink()  # then those of /sys are judged, and a file beside them is none
    trees.write(world.root / "sys/class/net/bonding_masters", "")
    assert [line.verdict for line in interface_lines(world)] == [REFUSED] * 2


def test_a_machine_without_sys_and_proc_is_not_called_cut_off(tmp_path: Path) -> None:
    assert verdicts(list(interface_lines(MachineProbes(tmp_path)))) == {(REFUSED, "AIRGAP-INTERFACE")}
    assert verdicts(list(route_lines(MachineProbes(tmp_path)))) == {(REFUSED, "AIRGAP-ROUTE")}
    assert verdicts(list(radio_lines(MachineProbes(tmp_path)))) == {(REFUSED, "AIRGAP-RADIO")}
    for lines in (interface_lines, route_lines, radio_lines):
        assert all("unknown" in line.found for line in lines(MachineProbes(tmp_path)))


def six(name: str, flags: int, *, to: int, bits: int) -> str:
    return f"{to:032x} {bits:02x} {0:032x} 00 {0:032x} 00000100 00000001 00000000 {flags:08x} {name:>8}\n"


@pytest.mark.parametrize(
    ("four", "six_text", "what", "said"),
    [
        (trees.route("eth0"), "", "IPv4 routes", "1 through eth0"),
        (trees.route("eth0", destination="00000000", mask="00000000"), "", "IPv4 routes", "one of them to everywhere"),
        ("eth0 00000000\n", "", "IPv4 routes", "cannot be read"),
        (trees.route("eth0", flags="zzzz"), "", "IPv4 routes", "cannot be read"),
        ("", six("eth0", 0x3, to=0, bits=0), "IPv6 routes", "one of them to everywhere"),
        ("", "nonsense\n", "IPv6 routes", "cannot be read"),
    ],
)
def test_a_route_out_of_the_machine_is_refused(tmp_path: Path, four: str, six_text: str, what: str, said: str) -> None:
    world = trees.machine(tmp_path, routes=four, routes_six=six_text)
    [line] = route_lines(world)
    assert (line.what, line.verdict, line.check, said in line.found) == (what, REFUSED, "AIRGAP-ROUTE", True)


def test_routes_of_loopback_and_those_that_lead_to_an_error_pass(tmp_path: Path) -> None:
    own = six("lo", 0x80200001, to=1, bits=128) + six("lo", 0x00200200, to=0, bits=0)
    world = trees.machine(tmp_path, routes=trees.route("lo") + trees.route("eth0", flags="0201"), routes_six=own)
    assert verdicts(list(route_lines(world))) == {(OK, "")}
    (world.root / "proc/net/ipv6_route").unlink()
    assert [line.found for line in route_lines(world)] == ["none that leaves this machine"]


@pytest.mark.parametrize(
    ("switches", "drivers", "said", "verdict"),
    [
        ([("wlan", "phy0", "0", "0")], [], "phy0: ON", REFUSED),
        ([("bluetooth", "hci0", "0", "0")], [], "hci0: ON", REFUSED),
        ([("of a kind to come", "x0", "0", "0")], [], "x0: ON", REFUSED),
        ([("gps", "gps0", "0", "0")], [], "gps0: on; it only receives", LOOK),
        ([("wlan", "phy0", "1", "0")], ["ieee80211/phy0"], "phy0: blocked by software", OK),
        ([("wlan", "phy0", "0", "1")], ["ieee80211/phy0"], "phy0: blocked by hardware", OK),
        ([("wlan", "phy0", "1", "")], [], "unknown", REFUSED),
        ([("wlan", "phy0", "\x1b[2J", "0")], [], "unknown", REFUSED),
        ([("", "phy0", "1", "0")], [], "unknown", REFUSED),
        ([], ["ieee80211/phy0"], "phy0 has no switch to block it", REFUSED),
        ([], ["bluetooth/hci0"], "hci0 has no switch to block it", REFUSED),
        ([], ["nfc/nfc0"], "nfc0 has no switch to block it", REFUSED),
        ([], ["wwan/wwan0"], "wwan0 has no switch to block it", REFUSED),
        ([("bluetooth", "phy1", "1", "0")], ["ieee80211/phy1"], "phy1 has no switch to block it", REFUSED),
        ([("wwan", "modem", "1", "0")], ["wwan/wwan0"], "modem: blocked by software", OK),  # by its kind
    ],
)
def test_a_radio_is_off_only_where_its_own_switch_says_so(
    tmp_path: Path, switches: list[tuple[str, str, str, str]], drivers: list[str], said: str, verdict: str
) -> None:
    world = trees.machine(tmp_path)
    for switch in switches:
        trees.radio(world, *switch)
    for driver in [*drivers, "bluetooth/hci0:256"]:  # that one is a connection, and no radio
        (world.root / "sys/class" / driver).mkdir(parents=True)
    [line] = [line for line in radio_lines(world) if line.verdict == verdict]
    assert said in line.found
    assert line.check == ("AIRGAP-RADIO" if verdict == REFUSED else "")
    assert {each.verdict for each in radio_lines(world)} <= {verdict, OK}


def test_interfaces_that_are_switched_off_pass(tmp_path: Path) -> None:
    world = trees.machine(tmp_path)
    for name, flags, operstate in (
        ("eth0", "0x1002", "down"),
        ("eth1", "0x1002", "notpresent"),
        ("sit0", "0x80", "down"),
    ):
        trees.interface(world, name, flags, operstate, "")
    assert [(line.found, line.verdict) for line in interface_lines(world)] == [("switched off: eth0, eth1, sit0", OK)]


# ---- what is recorded of the kernel, when a browser is begun, and that a filter which does not hold is not claimed --


@pytest.mark.parametrize(
    "found", [ENFORCED, ENFORCED._replace(landlock=0), ENFORCED._replace(seccomp=False), UNCONFINED]
)
def test_what_the_kernel_does_not_enforce_is_recorded(tmp_path: Path, found: Confinement) -> None:
    state = OfflineHome(tmp_path)
    state.confinement = found
    state.record_unenforced(1)
    entries = [(entry.event, entry.data) for entry in state.transcript.entries()]
    assert entries == ([] if found is ENFORCED else [("kernel-not-enforced", found.as_json())])


@pytest.mark.parametrize(("words", "expected"), [((), "True"), (("--pdf",), "False")])
def test_a_browser_is_begun_only_when_it_is_asked_for(tmp_path: Path, words: tuple[str, ...], expected: str) -> None:
    script = "import click\nprint('airlock.printing' not in click.get_current_context().meta)"
    given = ("--home", tmp_path / "home", "report", "make", "--plan", tmp_path / "p", "-o", tmp_path / "out", *words)
    assert confined(script, *given, name="report.make_command").stdout == f"{expected}\n"


def test_a_filter_that_does_not_hold_is_not_claimed(tmp_path: Path) -> None:
    require_seccomp()
    before = "from airlock_offline.confinement import filter as f\nf.install_filter = lambda *_: None"
    script = "import click\nprint(click.get_current_context().find_root().obj.confinement)"
    said = confined(script, "--home", tmp_path / "home", "digest", tmp_path / "x", before=before).stdout
    assert "seccomp=False" in said
    assert "still allowed a socket" in said


# ---- `doctor`: every fault is named with what to do and its exit code, and nothing is changed by looking ------------


def doctor(home: Path, *words: str) -> FinishedCommand:
    return run_command(*trees.program(home), "doctor", *words)


def test_where_nothing_is_wrong_doctor_ends_with_0_and_changes_nothing(home: Path, tmp_path: Path) -> None:
    before = contents(home)
    ended = doctor(home)
    assert (ended.code, "Nothing is wrong." in ended.err) == (0, True), ended.out
    assert max(map(len, ended.out.splitlines())) <= 80
    assert contents(home) == before
    assert doctor(tmp_path / "new").code == 0
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("file", "text", "what", "code"),
    [
        ("config.toml", "[ledger", "config.toml", 2),
        ("", "", "folder", 2),
        ("transcript.jsonl", "{}", "transcript", 4),
        ("pins/venue.json", "{}", "venue", 4),
    ],
)
def test_what_is_wrong_is_named_with_its_exit_code(home: Path, file: str, text: str, what: str, code: int) -> None:
    if file:
        (home / file).write_text(text)
    else:
        home.chmod(0o755)
    ended = doctor(home, "--json")
    result = json.loads(ended.out)
    wrong = [line for line in result["lines"] if line["verdict"] in (FAULT, REFUSED)]
    assert (ended.code, result["ok"], [line["what"] for line in wrong]) == (code, False, [what]), ended.out
    assert wrong[0]["do"]


def test_a_changed_installed_file_and_a_missing_library_are_faults(home: Path, world: MachineProbes) -> None:
    missing = host.Library("libairlock-has-no-such.so.7", "libairlock7", "everything")
    world, changed = world._replace(load=MachineProbes().load), KIT._replace(findings=(CHANGED,))
    lines = {line.what: line for line in health_lines(OfflineHome(home), changed, (missing,), None, world)}
    assert (lines["files"].check, lines["files"].code) == ("KIT-INSTALLED", ExitCode.REFUSED)
    assert (lines[missing.soname].verdict, lines[missing.soname].code) == (FAULT, ExitCode.USAGE)
    assert "udev rule" not in lines


@pytest.mark.parametrize(
    ("may_open", "held_by", "said", "code"),
    [
        (True, [], "plugged in", ExitCode.DONE),
        (False, [], "may not open the Ledger", ExitCode.DEVICE),
        (True, ["wallet\x1b (process 7)"], "held by wallet\\u{1b} (process 7)", ExitCode.DEVICE),
    ],
)
def test_a_plugged_ledger_is_said_with_what_stands_in_the_way(
    monkeypatch: pytest.MonkeyPatch, may_open: bool, held_by: list[str], said: str, code: ExitCode
) -> None:
    monkeypatch.setattr(usb, "port_of", lambda path: UsbPort(Path("/dev/bus/usb/001/002"), "1-2"))
    monkeypatch.setattr(usb, "may_open", lambda port: may_open)
    monkeypatch.setattr(usb, "holders", lambda port: held_by)
    ledger = PluggedLedger("1-2:1.0", "Flex\x1b[2J", "flex")
    monkeypatch.setattr("airlock_offline.cli.machine.plugged_ledgers", lambda: [ledger])
    [line] = ledger_lines()
    assert (said in line.found, line.verdict, line.code) == (True, OK if code == ExitCode.DONE else FAULT, code)
    assert "\x1b" not in line.found
