"""What is in the process that talks to the Ledger, after it has signed: our own code, and five packages of others."""

import json
import os
import subprocess

import pytest

from airlock_rehearsal.scenarios import DELEGATE_PATH
from e2e.conftest import OFFLINE, BothMachines, Ledger
from e2e.transaction_requests import write_transaction

OURS = {"airlock-offline", "airlock-shared"}
SIGNING = {"click", "coincurve", "hidapi", "ledgerblue", "safe-pysha3"}
"""The whole list. A new name here is a decision, not a detail."""

CHILDREN = {"eth-account", "eth-abi", "rlp", "pydantic", "pillow", "zxing-cpp", "pyzbar", "opencv-python-headless"}

PROGRAM = """
import json, os, sys
from airlock_offline.cli import main
sys.argv = ["airlock-offline", *sys.argv[2:]]
try:
    main.main()
except SystemExit as end:
    code = end.code

class Hid:
    reports = [bytes.fromhex("010105000000029000").ljust(64, b"\\0")]
    open_path = close = lambda *_: None
    def write(self, data): return len(data)
    def read(self, size, timeout_ms): return list(self.reports.pop(0))

from airlock_offline.ledger import usb  # a rehearsal's Ledger is software: what a real one takes is loaded here
usb.plugged_ledgers()
one = usb.PluggedLedger("1-2:1.0", "Flex")
class Lock:
    release = lambda self: None
usb.DeviceLock = lambda path: Lock()
assert usb.HidTransport(device=Hid, plugged=lambda: [one]).exchange(b"\\xb0\\x01\\0\\0\\0", person=False) == (b"", 0x9000)
usb.hidapi().device()

files = {getattr(module, "__file__", None) or "" for module in list(sys.modules.values())}
from importlib.metadata import packages_distributions  # only now: it is no part of what was loaded
names = {name.partition(".")[0] for name in sys.modules}
found = sorted({d for name, ds in packages_distributions().items() if name in names for d in ds})
with open("/proc/self/maps") as maps:
    mapped = sorted({line.split()[-1] for line in maps if "site-packages" in line})
os.write(int(os.environ["RESULT"]), json.dumps([code, found, mapped]).encode())
"""


def after(desk: BothMachines, words: tuple[object, ...], typed: str, before: str = "") -> tuple[set[str], list[str]]:
    """Run the installed offline half, and return the distributions it has loaded, and its mapped libraries."""
    reading, writing = os.pipe()
    python = OFFLINE.with_name("python")
    line = [str(python), "-I", "-c", before + PROGRAM, "--", "--home", str(desk.path("offline-home")), *map(str, words)]
    ended = subprocess.run(line, input=typed, capture_output=True, text=True, check=False, timeout=300,
                           pass_fds=(writing,), env={**os.environ, "RESULT": str(writing)})  # fmt: skip
    os.close(writing)
    with os.fdopen(reading) as result:
        told = result.read()
    assert told, ended.stderr
    code, found, mapped = json.loads(told)
    assert code == 0, ended.stderr
    return set(found) - OURS, mapped


def require_small(found: set[str], mapped: list[str]) -> None:
    assert not found & CHILDREN
    assert found == SIGNING
    allowed = ("coincurve", "hidraw", "hidapi.libs", "_pysha3")
    assert [path for path in mapped if not any(name in path for name in allowed)] == []


@pytest.mark.parametrize("kind", ["intent", "transaction"])
def test_after_a_whole_signing_five_packages_of_others_are_loaded_and_no_more(
    desk: BothMachines, blind: Ledger, kind: str
) -> None:
    if kind == "intent":
        plan, requests = desk.prepare("delegate-key")
    else:
        plan, requests, _ = write_transaction(desk.folder, desk.path("deployment.json"))
    words = ("sign", requests, "--plan", plan, "-o", desk.path("signatures.json"), "--emulator", blind.port)
    require_small(*after(desk, words, "Yes\n" * 9))


def test_what_comes_by_qr_is_read_elsewhere_and_shown_as_a_page_here(desk: BothMachines, ledger: Ledger) -> None:
    plan = desk.write_plan("delegate-key")
    desk.prove(plan)
    shown = desk.online("prepare", plan, "--qr", "--json").json()
    codes = desk.path("codes")
    assert desk.online("show", shown["file"], "--as", "png", "-o", codes).code == 0
    words = ("sign", codes, "--qr", "--plan", plan, "--emulator", ledger.port, "--json")
    require_small(*after(desk, words, "Yes\nYes\n"))


WITHOUT_LANDLOCK = """
from airlock_offline.confinement import filter
def version():
    raise OSError(38, "Function not implemented")
filter.landlock_version = version
"""


def test_a_kernel_without_landlock_signs_and_it_stands_in_the_record(desk: BothMachines, ledger: Ledger) -> None:
    plan, requests = desk.prepare("delegate-key")
    given: tuple[object, ...] = ("--plan", plan, "--emulator", ledger.port)
    sign, prove = ("sign", requests, "-o", desk.path("s.json")), ("delegate", "prove", "-o", desk.path("p.json"))
    for words in (sign, (*prove, "--path", DELEGATE_PATH), ("transcript", "seal")):
        after(desk, (*words, *given), "Yes\n" * 9, before=WITHOUT_LANDLOCK)
    found, *others = [entry["data"] for entry in desk.entries() if entry["event"] == "kernel-not-enforced"]
    assert ((found["seccomp"], found["landlock"]), others) == ((True, 0), [found] * 2)
    assert found["landlock_why"] == "the kernel has no Landlock: Function not implemented"
