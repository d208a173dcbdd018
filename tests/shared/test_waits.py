"""Every wait of both machines of a led ceremony says what it sees, and what frees it."""

from __future__ import annotations

import json
import os
import re
import select
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from airlock_shared.ceremony.checkpoints import Half
from airlock_shared.ceremony.course import NAMES, CoursePlace, Stop
from airlock_shared.cli.ceremony import course
from airlock_shared.cli.ceremony import run as run_module
from airlock_shared.cli.ceremony.run import _Course, _do, _Lead
from airlock_shared.cli.ceremony.waits import OVER, STOPPED, cannot_cross, leave_note, names_in, other_machine
from airlock_shared.errors import UsageError
from airlock_shared.plan.reader import parse_plan

AT_MS = (10 * 60 + 32) * 60_000
CROSSING = f"desk-2027-{'0a' * 8}"
OTHER: dict[Half, Half] = {"online": "offline", "offline": "online"}
SEEN_AT_MOST = 78 - len("waiting:  (12345 s)")


def at(stop: int, name: str) -> Callable[[Path, Half], None]:
    """Return what the other machine does: it goes to a stop, and says so."""
    return lambda crossing, half: leave_note(crossing, OTHER[half], (stop, 19), name, AT_MS)


def another_plan(crossing: Path, _half: Half) -> None:
    (crossing.parent / f"desk-2027-{'0b' * 8}").mkdir()


def nothing(_crossing: Path, _half: Half) -> None: ...


SEEN: list[tuple[str, Callable[[Path, Half], None], str]] = [
    ("not begun", nothing, "start ceremony run on {other}"),
    ("at another plan", another_plan, "another plan of this id is there; compare it with paper"),
    ("at a stop", at(9, "address"), "{other} is at 9/19: address, 10:32"),
    ("waiting for a proof", at(10, "proof"), "{other} is at 10/19: proof of a key, 10:32"),
    ("late: still signing", at(14, "sign"), "{other} is at 14/19: signing, 10:32"),
    ("waiting too", at(11, "take"), "{other} waits too, 10:32"),
    ("stopped", at(14, STOPPED), "{other} stopped at 14/19, 10:32: start it"),
    ("ended", at(19, OVER), "{other} has ended, 10:32"),
]


@pytest.mark.parametrize("half", ["online", "offline"])
@pytest.mark.parametrize(("case", "happens", "line"), SEEN, ids=[row[0] for row in SEEN])
def test_what_a_machine_sees_of_the_other_while_it_waits(
    tmp_path: Path, half: Half, case: str, happens: Callable[[Path, Half], None], line: str
) -> None:
    happens(tmp_path / CROSSING, half)
    leave_note(tmp_path / CROSSING, half, (3, 14), "take", AT_MS)  # its own note is not the other's
    machine = {"online": "the air-gapped machine", "offline": "the online machine"}[half]
    assert other_machine(tmp_path / CROSSING, half) == line.format(other=machine)
    assert len(other_machine(tmp_path / CROSSING, half)) <= SEEN_AT_MOST


STICKS: list[tuple[str, dict[str, int], str]] = [
    ("absent", {}, "{stick} is not there: plug in the stick"),
    ("read-only", {"f_flag": os.ST_RDONLY}, "{stick} cannot be written: unlock the stick"),
    ("full", {"f_bavail": 1}, "{stick} is full: make room on it"),
    ("well", {}, ""),
]


@pytest.mark.parametrize(("case", "told", "line"), STICKS, ids=[row[0] for row in STICKS])
def test_what_is_wrong_with_a_stick(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str, told: dict[str, int], line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    stick = Path("stick")
    if case != "absent":
        stick.mkdir()
    facts = {"f_flag": 0, "f_bavail": 1000, "f_frsize": 4096} | told
    monkeypatch.setattr(os, "statvfs", lambda _path: SimpleNamespace(**facts))
    assert cannot_cross(stick, 100_000) == line.format(stick="stick")


def test_a_long_name_of_a_stick_is_cut_in_front(tmp_path: Path) -> None:
    said = cannot_cross(tmp_path / ("long" * 30) / "stick", 0)
    assert re.fullmatch(r"….*long/stick is not there: plug in the stick", said)
    assert len(said) <= SEEN_AT_MOST


def test_a_machine_has_one_note_and_each_stop_can_be_told(tmp_path: Path) -> None:
    crossing = tmp_path / CROSSING
    for number, name in enumerate((*NAMES, STOPPED, OVER), 1):
        leave_note(crossing, "offline", (number, 40), name, AT_MS)
        assert len(names_in(crossing)) == 1
        assert f"{number}/40" in other_machine(crossing, "online") or name in ("take", OVER)
        assert len(other_machine(crossing, "online")) <= SEEN_AT_MOST


@pytest.mark.parametrize(
    "name",
    [
        "offline-at-0-of-9-seal-1032",
        "offline-at-1-of-9-\x1b[2J-1032",
        "offline-at-1-of-9-forget-1032",
        "offline-at-1-of-9-seal-1032\n",
    ],
)
def test_a_name_that_is_no_note_is_not_shown_and_not_removed(tmp_path: Path, name: str) -> None:
    crossing = tmp_path / CROSSING
    crossing.mkdir()
    (crossing / name).touch()
    leave_note(crossing, "offline", (2, 9), "seal", AT_MS)
    assert name in names_in(crossing)
    (crossing / "offline-at-2-of-9-seal-1032").unlink()
    assert other_machine(crossing, "online") == "start ceremony run on the air-gapped machine"


def test_without_a_stick_there_is_no_note(tmp_path: Path) -> None:
    leave_note(tmp_path / "gone" / CROSSING, "online", (2, 9), "seal", AT_MS)
    assert not (tmp_path / "gone").exists()
    (tmp_path / "file").touch()
    leave_note(tmp_path / "file" / CROSSING, "online", (2, 9), "seal", AT_MS)


# ---- in the run -----------------------------------------------------------------------------------------------------


def lead_at(folder: Path, *, exchange: bool = True) -> _Lead:
    (folder / "c").mkdir(exist_ok=True)
    return _Lead(("x",), CoursePlace("/p", str(folder / "c")), folder / "stick" if exchange else None, to_stderr=False)


PREPARE = Stop("prepare", (), "", done=True, attempt=2)


def told_by(lead: _Lead, half: Half = "online", sign_by_ms: int = 0) -> _Course:
    return _Course(half, CROSSING, {}, [PREPARE], sign_by_ms, names_in(lead.folder))


TAKE = Stop("take", (), "Wait for the requests.", done=False, brings=("requests.json",))


def test_without_a_terminal_the_wait_ends_and_says_what_stands_in_the_way(tmp_path: Path) -> None:
    for exchange, said in ((True, "stick is not there: plug in the stick"), (False, "bring c/requests.json here")):
        lead = lead_at(tmp_path, exchange=exchange)
        with pytest.raises(UsageError, match=said):
            _do(lead, told_by(lead), TAKE, set())


def test_what_is_new_in_the_folder_is_looked_at_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lead = lead_at(tmp_path)
    (tmp_path / "stick").mkdir()
    told = told_by(lead)
    slept: list[float] = []

    def bring(seconds: float) -> None:
        slept.append(seconds)
        assert len(slept) < 3
        (lead.folder / "proofs.json").touch()

    monkeypatch.setattr(run_module, "at_a_terminal", lambda: True)
    monkeypatch.setattr(run_module, "sleep", bring)
    monkeypatch.setattr(_Lead, "child", lambda *_: pytest.fail("nothing has come"))
    assert _do(lead, told, TAKE, set()) is False


@pytest.mark.parametrize("name", ["preflight", "address", "sign", "seal"])
def test_a_ledger_that_is_not_ready_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    lead, asked = lead_at(tmp_path), []

    def press_enter(question: str, *, piped: bool) -> str:
        asked.append(question)
        assert not piped
        return ""

    monkeypatch.setattr(run_module, "at_a_terminal", lambda: True)
    monkeypatch.setattr(run_module, "ask", press_enter)
    monkeypatch.setattr(_Lead, "child", lambda *_: 5)
    stop = Stop(name, ("signer",), "", done=False, of="first", brings=("requests.json",))
    assert _do(lead, told_by(lead, "offline"), stop, set()) is False
    assert len(asked) == 1
    assert "Ledger" in asked[0]


PLAYED = Path(__file__).parents[1] / "vectors/report/market-close"


def test_until_when_requests_can_be_signed_is_read_from_them(tmp_path: Path) -> None:
    plan = parse_plan((PLAYED / "plan.toml").read_bytes())
    for name in ("requests.json", "deployment.json"):
        shutil.copy(PLAYED / name, tmp_path)
    [item] = json.loads((PLAYED / "requests.json").read_text())["requests"]
    until = int(item["payload"]["message"]["_deadline"]) - plan.limits.remaining_at_least_ms
    assert course._sign_by_ms(tmp_path, plan, names_in(tmp_path)) == until
    (tmp_path / "deployment.json").unlink()
    assert course._sign_by_ms(tmp_path, plan, names_in(tmp_path)) == 0


SIGNATURES = Stop("take", (), "Wait for the signatures.", done=False, brings=("signatures.json",))


def test_the_time_to_sign_is_counted_down_and_then_enter_prepares_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lead, said, ran, pressed = lead_at(tmp_path), list[str](), list[tuple[str, ...]](), list[str]()
    (tmp_path / "stick").mkdir()
    now_s = [1_000_000]
    monkeypatch.setattr(run_module, "at_a_terminal", lambda: True)
    monkeypatch.setattr(run_module, "time_ns", lambda: now_s[0] * 1_000_000_000)
    monkeypatch.setattr(run_module, "_progress", said.append)
    monkeypatch.setattr(select, "select", lambda *_: ([1] if len(said) > 4 else [], [], []))
    monkeypatch.setattr(run_module, "typed_line", lambda: pressed.append("\n"))
    monkeypatch.setattr(run_module, "sleep", lambda _s: now_s.__setitem__(0, now_s[0] + 50))

    def child(_lead: _Lead, words: tuple[str, ...]) -> int:
        ran.append(words)
        return 0

    monkeypatch.setattr(_Lead, "child", child)
    assert _do(lead, told_by(lead, sign_by_ms=1_000_130_000), SIGNATURES, set()) is False
    late = "waiting: it is too late to sign these; Enter prepares them again"
    begin = "waiting: start ceremony run on the air-gapped machine"
    assert said == [f"{begin} (2 min left)", f"{begin} (1 min left)", f"{begin} (30 s left)", late, late, ""]
    assert ran == [("prepare", "/p", "-o", f"{tmp_path}/c/requests-3.json")]
    assert pressed == ["\n"]
