"""Every wait of both machines of a led ceremony says what it sees, and what frees it."""

import errno
import json
import os
import re
import select
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from airlock_shared.ceremony.roles import Half
from airlock_shared.ceremony.workflow import Facts, Task, workflow_tasks
from airlock_shared.cli.ceremony import crossing as crossing_module
from airlock_shared.cli.ceremony import run as run_module
from airlock_shared.cli.ceremony import workflow as workflow_module
from airlock_shared.cli.ceremony.lead import Lead, WorkflowState
from airlock_shared.cli.ceremony.run import _do
from airlock_shared.cli.ceremony.waits import LATE, OVER, STOPPED, leave_note, names_in, other_machine
from airlock_shared.cli.terminal import MACHINES
from airlock_shared.errors import AirlockError, UsageError
from airlock_shared.host.files import alone_in
from airlock_shared.plan.reader import parse_plan
from shared.test_roles_commands import Table
from shared.test_workflow import PLAN

AT_MS = (10 * 60 + 32) * 60_000
CROSSING = f"desk-2027-{'0a' * 8}"
OTHER: dict[Half, Half] = {"online": "offline", "offline": "online"}


def at(task: int, name: str) -> Callable[[Path, Half], None]:
    """Return what the other machine does: it goes to a task, and says so."""
    return lambda crossing, half: leave_note(crossing, OTHER[half], (task, 19), name, AT_MS)


def beside(name: str) -> Callable[[Path, Half], None]:
    """Return what is on the stick: the folder of another ceremony, or of this one with another plan."""
    return lambda crossing, _half: (crossing.parent / f"{name}-{'0b' * 8}").mkdir()


SEEN: list[tuple[str, Callable[[Path, Half], None], str]] = [
    ("not begun", lambda _crossing, _half: None, "start ceremony run on {other}"),
    ("at another plan", beside("desk-2027"), "another plan of this id is there; compare it with paper"),
    ("another's stick", beside("desk-2026"), "is it this stick? Start run on {other}"),
    ("at a task", at(9, "address"), "{other} is at 9/19: address, 10:32"),
    ("waiting for a proof", at(10, "proof"), "{other} is at 10/19: proof of a key, 10:32"),
    ("late: still signing", at(14, "sign"), "{other} is at 14/19: signing, 10:32"),
    ("too late to sign", at(14, LATE), "{other} is at 14/19: too late to sign, 10:32"),
    ("waiting too", at(11, "take"), "{other} waits, 10:32: carry the stick"),
    ("stopped", at(14, STOPPED), "{other} stopped 10:32 at 14/19: start it"),
    ("ended", at(19, OVER), "{other} ended 10:32; is it this stick?"),
]


STICKS: list[tuple[str, dict[str, int], str]] = [
    ("absent", {}, "{stick} is not there: plug it in"),
    ("unreadable", {}, "{stick} cannot be read: plug it in"),
    ("read-only", {"f_flag": os.ST_RDONLY}, "{stick} is read-only: unlock it"),
    ("full", {"f_bavail": 1}, "{stick} is full: make room on it"),
]


def at_fault(monkeypatch: pytest.MonkeyPatch, stick: Path, case: str, told: dict[str, int]) -> None:
    """Put a stick into a state: absent, unreadable, or as its file system tells of it."""
    if case != "absent":
        stick.mkdir(exist_ok=True)
    facts = {"f_flag": 0, "f_bavail": 1000, "f_frsize": 4096} | told

    def statvfs(_path: Path) -> SimpleNamespace:
        if case == "unreadable":
            raise OSError(errno.EIO, "Input/output error")
        return SimpleNamespace(**facts)

    monkeypatch.setattr(os, "statvfs", statvfs)


def test_a_note_does_not_follow_a_link_that_lies_on_the_stick(tmp_path: Path) -> None:
    crossing, outside = tmp_path / CROSSING, tmp_path / "outside"
    crossing.mkdir()
    (crossing / "offline-at-2-of-9-seal-1032").symlink_to(outside)
    leave_note(crossing, "offline", (2, 9), "seal", AT_MS)
    assert not outside.exists()
    outside.mkdir()
    (tmp_path / "linked").symlink_to(outside)
    leave_note(tmp_path / "linked", "offline", (2, 9), "seal", AT_MS)
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("at", ["0-of-9-seal-1032", "1-of-9-\x1b[2J-1032", "1-of-9-forget-1032", "1-of-9-seal-1032\n"])
def test_a_name_that_is_no_note_is_not_shown_and_not_removed(tmp_path: Path, at: str) -> None:
    crossing, name = tmp_path / CROSSING, f"offline-at-{at}"
    crossing.mkdir()
    (crossing / name).touch()
    leave_note(crossing, "offline", (2, 9), "seal", AT_MS)
    assert name in names_in(crossing)
    (crossing / "offline-at-2-of-9-seal-1032").unlink()
    assert other_machine(crossing, "online", "") == "start ceremony run on the air-gapped machine"


def at_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (run_module, crossing_module):
        monkeypatch.setattr(module, "at_a_terminal", lambda: True)


def lead_at(folder: Path, *, exchange: bool = True, pictures: str = "") -> Lead:
    (folder / "c").mkdir(exist_ok=True)
    stick = folder / "stick" if exchange and not pictures else None
    return Lead(("x",), "/p", folder / "c", stick, to_stderr=False, pictures=pictures)


@pytest.fixture
def lead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lead:
    """Return a run at a terminal that takes documents from a stick."""
    at_terminals(monkeypatch)
    return lead_at(tmp_path)


def answering(asked: list[str], typed: str) -> Callable[..., str]:
    """Return somebody who types the same at every question, and notes it."""

    def answer(question: str, *, piped: bool) -> str:
        assert not piped
        asked.append(question)
        return typed

    return answer


PREPARE = Task("prepare", (), "", done=True, attempt=2)


def reply_members(lead: Lead, half: Half = "online", sign_by_ms: int = 0, *tasks: Task) -> WorkflowState:
    crossing = lead.exchange and lead.exchange / CROSSING
    return WorkflowState(half, crossing, {}, [PREPARE, *tasks], sign_by_ms, unsent=False, there=names_in(lead.folder))


TAKE = Task("take", (), "Wait for the requests.", done=False, brings=("requests.json",))


def test_without_a_terminal_the_wait_ends_and_says_what_stands_in_the_way(tmp_path: Path) -> None:
    for exchange, said in ((True, "stick is not there: plug it in"), (False, "bring c/requests.json here")):
        lead = lead_at(tmp_path, exchange=exchange)
        with pytest.raises(UsageError, match=said):
            _do(lead, reply_members(lead), TAKE, set())
    with pytest.raises(UsageError, match="photograph the other screen into p/requests"):
        _do(lead._replace(pictures="p"), reply_members(lead), TAKE, set())
    for place in ("signatures", "p"):
        (tmp_path / "p" / place[:-1]).mkdir(parents=True, exist_ok=True)
        (tmp_path / "p" / place[:-1] / "1.JPG").touch()
        with pytest.raises(UsageError, match=f"move the photos in {place[:-1] or 'p'} to .*p/requests"):
            _do(lead._replace(pictures=str(tmp_path / "p")), reply_members(lead), TAKE, set())


def test_what_is_new_is_looked_at_at_once(tmp_path: Path, lead: Lead, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "stick").mkdir()
    told = reply_members(lead)
    slept: list[float] = []

    def bring(seconds: float) -> None:
        slept.append(seconds)
        assert len(slept) < 3
        (lead.folder / "proofs.json").touch()

    monkeypatch.setattr(crossing_module, "sleep", bring)
    monkeypatch.setattr(Lead, "child", lambda *_: pytest.fail("nothing has come"))
    assert _do(lead, told, TAKE, set()) is False


def test_who_carries_by_hand_is_told_where_each_file_lies(
    lead: Lead, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(crossing_module, "ask_yes", lambda *_, **__: None)
    hand = TAKE._replace(name="hand", brings=("evidence/artefacts/screens.json",))
    assert _do(lead._replace(exchange=None), reply_members(lead)._replace(crossing=None), hand, set()) is True
    told = "".join(capsys.readouterr().err.split())
    assert told.endswith("/c/evidence/artefactsintotheceremony'sfolderontheothermachine:screens.json")


A_MINUTE_MS = 60_000  # so much a watch may be wrong
PLAYED = Path(__file__).parents[1] / "vectors/report/market-close"


def test_until_when_requests_can_be_signed_is_read_from_them(tmp_path: Path) -> None:
    plan = parse_plan((PLAYED / "plan.toml").read_bytes())
    for name in ("requests.json", "deployment.json"):
        shutil.copy(PLAYED / name, tmp_path)
    [item] = (document := json.loads((PLAYED / "requests.json").read_text()))["requests"]
    place = Table(tmp_path / "here", "offline").place
    until = int(item["payload"]["message"]["_deadline"]) - plan.limits.remaining_at_least_ms - A_MINUTE_MS
    assert workflow_module.facts_of(place, plan, tmp_path, None).sign_by_ms == until
    for never in ("9" * 1000, "9" * 620, "9" * 19):  # it is refused where it is judged
        item["payload"]["message"]["_deadline"] = never
        (tmp_path / "requests.json").write_text(json.dumps(document))
        assert workflow_module.facts_of(place, plan, tmp_path, None).sign_by_ms == 0
    item["payload"]["message"]["_deadline"], item["payload"]["message"][""] = str(until), "1790000000000"
    (tmp_path / "requests.json").write_text(json.dumps(document))  # a member without a name is no time of the struct
    left_ms = plan.limits.remaining_at_least_ms + A_MINUTE_MS
    assert workflow_module.facts_of(place, plan, tmp_path, None).sign_by_ms == until - left_ms
    (tmp_path / "deployment.json").unlink()
    assert workflow_module.facts_of(place, plan, tmp_path, None).sign_by_ms == 0


SIGNATURES = Task("take", (), "Wait for the signatures.", done=False, brings=("signatures.json",))


@pytest.mark.parametrize(("clock_s", "ran_s"), [(50, 50), (-3600, 50), (50, 0)], ids=["", "set back", "suspended"])
def test_the_time_to_sign_is_counted_down_to_its_end(
    tmp_path: Path, lead: Lead, monkeypatch: pytest.MonkeyPatch, clock_s: int, ran_s: int
) -> None:
    said, ran, pressed = list[str](), list[tuple[str, ...]](), ["\n"]
    (tmp_path / "stick").mkdir()
    looked = list[float]()
    clock = [(1_000_000 + clock_s * turn) * 1_000_000_000 for turn in range(9)]  # a wait that does not end fails
    monkeypatch.setattr(crossing_module, "time_ns", lambda: clock[len(looked)])
    monkeypatch.setattr(crossing_module, "monotonic", lambda: ran_s * len(looked))
    monkeypatch.setattr(crossing_module, "renew", said.append)
    monkeypatch.setattr(select, "select", lambda *_: ([1] if len(said) > 4 else [], [], []))
    monkeypatch.setattr(crossing_module, "typed_line", pressed.pop)
    monkeypatch.setattr(crossing_module, "sleep", looked.append)

    def child(_lead: Lead, words: tuple[str, ...]) -> int:
        ran.append(words)
        return 0

    monkeypatch.setattr(Lead, "child", child)
    assert _do(lead, reply_members(lead, sign_by_ms=1_000_130_000), SIGNATURES, set()) is False
    late = "waiting: too late to sign; signed ones still count; Enter prepares them again"
    begin = "waiting: start ceremony run on the air-gapped machine"
    assert said == [f"{begin} (2 min left)", f"{begin} (1 min left)", f"{begin} (30 s left)", late, late, ""]
    assert ran == [("prepare", "/p", "-o", f"{tmp_path}/c/requests-3.json")]
    assert pressed == []


WAITS = [
    (half, task)
    for half in ("online", "offline")
    for task in workflow_tasks(PLAN, half, (), Facts())
    if task.name in ("take", "hand")
]
"""Every task at which a machine needs the other one, or the stick: what the workflow has, so that none is left out."""
WAIT_IDS = [f"{half} {task.name} {task.brings[0].rpartition('/')[2]}" for half, task in WAITS]


class Stands(Exception):
    """Raised in the place of the wait that goes on, so that a test sees the line that stands there."""


@pytest.fixture
def line_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Return what gives the line that stands at a wait; it fails where a command runs instead."""
    lines = list[str]()

    def sleep(_seconds: float) -> None:
        raise Stands

    at_terminals(monkeypatch)
    monkeypatch.setattr(select, "select", lambda *_: ([], [], []))
    monkeypatch.setattr(crossing_module, "renew", lines.append)
    monkeypatch.setattr(crossing_module, "sleep", sleep)
    monkeypatch.setattr(Lead, "child", lambda _lead, words: pytest.fail(" ".join(words)))

    def line(half: Half, task: Task, **way: object) -> str:
        lead = lead_at(tmp_path, **way)  # type: ignore[arg-type]
        if task.name == "hand":
            (lead.folder / "evidence/artefacts").mkdir(parents=True, exist_ok=True)
            for name in task.brings:
                (lead.folder / name).touch()
        with pytest.raises(Stands):
            _do(lead, reply_members(lead, half, 0, task), task, set())
        assert len(lines[-1]) <= 78, lines[-1]
        return lines[-1]

    return line


@pytest.mark.parametrize("way", ["", "camera:1"])
@pytest.mark.parametrize(("half", "task"), WAITS, ids=WAIT_IDS)
def test_what_fails_at_a_hand_over_is_put_right_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, half: Half, task: Task, way: str
) -> None:
    """A camera that is absent, busy or unreadable, another document of this name."""
    lead, asked = lead_at(tmp_path, pictures=way), list[str]()
    (tmp_path / "stick" / CROSSING).mkdir(parents=True)
    for name in task.brings:
        there = (lead.folder if task.name == "hand" else tmp_path / "stick" / CROSSING) / name
        there.parent.mkdir(parents=True, exist_ok=True)
        there.touch()
    at_terminals(monkeypatch)
    monkeypatch.setattr(crossing_module, "ask", answering(asked, ""))
    for code in (2, 4, 8):
        monkeypatch.setattr(Lead, "child", lambda _lead, _words, code=code: code)
        assert _do(lead, reply_members(lead, half, 0, task), task, set()) is False
    assert asked == ["Put this right, then press Enter: it goes on here. Ctrl-C stops. "] * 3
    assert not (lead.folder / "handed-over").exists()


def test_a_page_that_is_not_whole_is_read_again_once_another_picture_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line_of: Callable[..., str]
) -> None:
    (tmp_path / "p/requests").mkdir(parents=True)
    (tmp_path / "p/requests/1.png").touch()
    monkeypatch.setattr(Lead, "child", lambda *_: 4)
    assert line_of("offline", TAKE, pictures=str(tmp_path / "p")) == "waiting: more pictures; Enter looks again"
    monkeypatch.setattr(crossing_module, "sleep", lambda _: (tmp_path / "p/requests/2.png").touch())
    lead = lead_at(tmp_path, pictures=str(tmp_path / "p"))
    assert _do(lead, reply_members(lead, "offline", 0, TAKE), TAKE, set()) is False


def test_documents_of_a_day_that_is_over_there_are_not_taken(tmp_path: Path, line_of: Callable[..., str]) -> None:
    (crossing := tmp_path / "stick" / CROSSING).mkdir(parents=True)
    (crossing / "requests.json").touch()
    leave_note(crossing, "online", (14, 14), OVER, AT_MS)
    assert line_of("offline", TAKE).startswith("waiting: the online machine ended 10:32; is it this stick?")


SIGN = Task("sign", ("signer",), "", done=False, brings=("requests.json",))
NOW_MS = 1_800_000_000_000


def test_what_was_signed_in_time_goes_on_and_a_time_that_preparing_does_not_put_right_ends_the_run(
    tmp_path: Path, lead: Lead, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crossing_module, "time_ns", lambda: NOW_MS * 1_000_000)
    monkeypatch.setattr(Lead, "child", lambda *_: 7)
    with pytest.raises(AirlockError, match="stops here"):
        _do(lead, reply_members(lead, "offline", NOW_MS + 1, SIGN), SIGN, set())
    (lead.folder / "signatures.json").touch()
    assert _do(lead, reply_members(lead, "offline", NOW_MS, SIGN), SIGN, set()) is True


SUBMIT = Task("submit", (), "", done=False, brings=("signatures.json",))


def test_what_is_perhaps_sent_is_not_prepared_anew(tmp_path: Path, lead: Lead, monkeypatch: pytest.MonkeyPatch) -> None:
    state = reply_members(lead, "online", NOW_MS, SUBMIT)
    monkeypatch.setattr(Lead, "child", lambda _lead, words: 7 if words[0] == "submit" else pytest.fail(" ".join(words)))
    monkeypatch.setattr(Lead, "state", lambda _lead: state)
    with pytest.raises(AirlockError, match="stops here"):
        _do(lead, state, SUBMIT, set())
    others = reply_members(lead, "online", NOW_MS, SUBMIT._replace(name="compare", of="outcome"))
    monkeypatch.setattr(Lead, "state", lambda _lead: others)  # another signature was sent: people look at both
    assert _do(lead, state, SUBMIT, set()) is False


SEAL = Task("seal", ("signer",), "", done=False, of="first")
READ = "read the outcome on the online machine"


@pytest.mark.parametrize("case", [("", 18), ("n", 18), ("", 9)])
def test_before_the_seal_somebody_says_that_the_outcome_was_read(
    lead: Lead, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], case: tuple[str, int]
) -> None:
    (typed, number), lines, ran = case, list[str](), list[str]()
    (stick := lead.folder.with_name("stick")).mkdir()
    at(number, "take" if number == 18 else "compare")(stick / CROSSING, "offline")
    monkeypatch.setattr(crossing_module, "renew", lines.append)
    monkeypatch.setattr(select, "select", lambda *_: ([1] if len(lines) > 1 else [], [], []))
    monkeypatch.setattr(crossing_module, "typed_line", lambda: f"{typed}\n")
    monkeypatch.setattr(crossing_module, "sleep", lambda _s: None)
    monkeypatch.setattr(crossing_module, "ask", answering([], "Yes"))
    monkeypatch.setattr(crossing_module, "take", lambda *told: ran.append(f"take {told[2].brings[0]}"))

    def child(_lead: Lead, words: tuple[str, ...]) -> int:
        ran.append(" ".join(words[:2]))
        return 0

    monkeypatch.setattr(Lead, "child", child)
    (lead.folder / "requests.json").touch()
    told = reply_members(lead, "offline", 0, SEAL)
    monkeypatch.setattr(Lead, "state", lambda _lead: told._replace(tasks=[*told.tasks[:1], SEAL]))
    assert _do(lead, told, SEAL, set()) is (not typed)
    sees = {18: "has its outcome", 9: "is at 9/19: comparison, 10:32"}[number]
    assert lines[:2] == [f"waiting: the online machine {sees}; Enter seals"] * 2
    assert ("has NO outcome yet" in capsys.readouterr().err) is (number == 9)
    assert ran == (["take requests-2.json"] if typed else ["transcript seal"])
    assert names_in(lead.folder / "handed-over") == ({"requests.json", "requests-2.json"} if typed else set())


def test_one_key_alone_sets_nothing_signed_aside(tmp_path: Path, lead: Lead, monkeypatch: pytest.MonkeyPatch) -> None:
    (crossing := tmp_path / "stick" / CROSSING).mkdir(parents=True)
    for place in (lead.folder / "requests.json", crossing / "requests-2.json"):
        place.touch()
    asked, typed = list[str](), ["", "n"]
    monkeypatch.setattr(select, "select", lambda *_: ([1], [], []))
    monkeypatch.setattr(crossing_module, "typed_line", typed.pop)
    monkeypatch.setattr(crossing_module, "ask", answering(asked, "no"))
    monkeypatch.setattr(Lead, "child", lambda *_: 0)
    assert _do(lead, reply_members(lead, "offline", 0, SEAL), SEAL, set()) is True
    assert asked == ["Was it too late on the online machine? Type Yes: "]
    assert not (lead.folder / "handed-over").exists()


ROWS = [*((case, {}, happens, line) for case, happens, line in SEEN), *((*each[:2], None, each[2]) for each in STICKS)]
TABLE = [
    (half, task, *row)
    for half, task in (*WAITS, ("offline", SEAL._replace(by=())), ("offline", SIGN))
    for row in ROWS
    if task.name != "hand" or row[2] is None  # it needs the stick alone
]


@pytest.mark.parametrize(("half", "task", "case", "told", "happens", "line"), TABLE)
def test_the_line_at_every_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line_of: Callable[..., str], half: Half, task: Task, case: str,
    told: dict[str, int], happens: Callable[[Path, Half], None] | None, line: str,
) -> None:  # fmt: skip
    """At sign it is the wait for requests in the place of those that are too old."""
    if happens is None:
        at_fault(monkeypatch, tmp_path / "stick", case, told)
        if case in ("read-only", "full") and task.name != "hand":  # nothing is written there
            line = "start ceremony run on {other}"
        elif task.name == "seal":
            line = READ
    else:
        (tmp_path / "stick").mkdir()
        happens(tmp_path / "stick" / CROSSING, half)
        leave_note(tmp_path / "stick" / CROSSING, half, (3, 14), "take", AT_MS)  # its own note is not the other's
    if (case, task.name) == ("waiting too", "sign"):
        line = "press Enter on the online machine: it prepares them again"
    if task.name == "sign":
        monkeypatch.setattr(run_module, "is_past", lambda _ms: True)
        monkeypatch.setattr(Lead, "child", lambda *_: 7)
    found = re.sub("waiting: [^ ]*/stick ", "waiting: STICK ", line_of(half, task))
    wanted = line.format(other=MACHINES[OTHER[half]], stick="STICK")
    assert found == f"waiting: {wanted}{'; Enter seals' if task.name == 'seal' else ' (0 s)'}"


@pytest.mark.parametrize("place", [f"stick/{CROSSING}/requests.json", "pictures/requests/1.png"])
def test_new_requests_that_come_before_the_seal_are_told_and_nothing_is_signed_by_itself(
    tmp_path: Path, line_of: Callable[..., str], place: str
) -> None:
    (tmp_path / place).parent.mkdir(parents=True)
    pictures = str(tmp_path / "pictures") if place.endswith("png") else ""
    seal = SEAL._replace(by=())
    assert ("codes/now.html open (signatures)" in line_of("offline", seal, pictures=pictures)) is bool(pictures)
    (tmp_path / place).touch()
    said = "waiting: new requests are there; was it too late? Then type n; Enter seals"
    assert line_of("offline", seal, pictures=pictures) == said


def test_two_terminals_do_not_lead_one_ceremony_on_a_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both would ask the same people the same words, and record them twice."""
    led: list[Path] = []
    monkeypatch.setattr(run_module, "_walk", lambda lead: led.append(lead.folder))
    (tmp_path / "plan.toml").write_text("")
    folder = tmp_path / "plan.ceremony"
    folder.mkdir()
    words = [str(tmp_path / "plan.toml")]
    with alone_in(folder):
        ended = CliRunner().invoke(run_module.run_command(), words)
    assert (led, isinstance(ended.exception, UsageError)) == ([], True)
    assert "another terminal leads this ceremony" in str(ended.exception)
    assert CliRunner().invoke(run_module.run_command(), words).exit_code == 0
    assert (led, folder.exists()) == ([folder], False)
    ended = CliRunner().invoke(run_module.run_command(), [*words, "--qr", str(tmp_path / "nope")])
    assert f"{tmp_path}/nope is not there" in str(ended.exception)


def test_what_went_by_a_stick_that_failed_is_shown_as_codes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_module, "_walk", lambda _lead: None)
    (tmp_path / "plan.toml").write_text("")
    given, codes = tmp_path / "plan.ceremony/handed-over/signatures.json", tmp_path / "plan.ceremony/codes"
    given.parent.mkdir(parents=True)
    given.touch()
    for there in (True, False):
        codes.mkdir() if there else codes.rmdir()
        CliRunner().invoke(run_module.run_command(), [str(tmp_path / "plan.toml"), "--qr", "camera"])
        assert given.exists() == there


def test_a_page_of_codes_is_named_again_after_a_restart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lead = lead_at(tmp_path, pictures="p")
    for there in (False, True):
        if there:
            (lead.folder / "codes").mkdir()
        with pytest.raises(UsageError):
            _do(lead, reply_members(lead), TAKE, set())
        assert ("c/codes/now.html for the other machine" in capsys.readouterr().err) is there
