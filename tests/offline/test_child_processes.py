"""Processes for the libraries of others, for second opinions and pictures: answers, failures, and how little they have."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from airlock_offline.confinement.command import end_child, start_child
from airlock_offline.scanning import scan_process as records
from airlock_offline.scanning.scan_process import END, ERROR, REMARK, TEXTS, record, texts_by_child
from airlock_offline.signing.second_opinion import CHILD, OpinionProcess, compare_opinion, opinion_question
from airlock_shared.cli.program import READER
from airlock_shared.cli.qr.scanning import kept_frames, scan_message
from airlock_shared.errors import AirlockError, DocumentError, Refusal, UsageError
from airlock_shared.qr.render import picture as drawn
from airlock_shared.qr.symbol import matrix
from commands import Screen
from offline.confined import require_landlock, require_seccomp
from shared.world import STEPS, intent_case


def starting(script: str) -> Callable[[], subprocess.Popen[bytes]]:
    """Return how a child is started that runs this script in place of the libraries."""
    words = [sys.executable, "-I", "-c", f"import os, sys, time\n{script}"]
    return lambda: subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def answer_of(script: str, timeout_s: float = 20, document: object = None) -> bytes:
    """Return what is taken for an answer of a child that runs this script."""
    opinion = OpinionProcess({} if document is None else {"a": document}, starting(script), timeout_s)
    try:
        return opinion.result()
    finally:
        opinion.end()


def test_a_fault_of_ours_is_noticed_by_the_process() -> None:
    case = intent_case(STEPS[0])
    case = case._replace(hashes=case.hashes._replace(digest=bytes(32)))
    opinion = OpinionProcess(opinion_question(case))
    with pytest.raises(Refusal, match="DIGEST-DISAGREE"):
        compare_opinion(case, opinion.result())
    opinion.end()  # which leaves nothing behind
    with pytest.raises(ChildProcessError):
        os.waitpid(opinion._process.pid, 0)


@pytest.mark.parametrize(
    ("script", "got"),
    [
        ("sys.stdin.read()", "0 bytes"),
        ("os.write(1, bytes(63))", "63 bytes"),
        ("os.write(1, bytes(64)); time.sleep(0.2); os.write(1, b'!')", "more than 64 bytes"),
        ("\nwhile True: os.write(1, bytes(4096))", "more than 64 bytes"),
        ("os.write(1, bytes(64)); sys.exit(1)", "it ended with 1"),
        ("os.write(1, bytes(64)); os.kill(os.getpid(), 11)", "it ended with -11"),
        ("time.sleep(60)", "nothing within 1 s"),
        ("os.write(1, bytes(64)); os.close(1); time.sleep(60)", "nothing within 1 s"),
    ],
)
def test_anything_but_64_bytes_in_time_and_a_good_end_is_a_refusal(script: str, got: str) -> None:
    began = time.monotonic()
    with pytest.raises(Refusal) as caught:
        answer_of(script, timeout_s=1 if "nothing" in got else 20)
    assert time.monotonic() - began < 15
    assert (caught.value.check, caught.value.got) == ("DIGEST-OPINION", got)


def test_a_document_longer_than_a_pipe_holds_up_nobody_and_arrives_whole() -> None:
    text = "x" * 300_000
    began = time.monotonic()
    slow = "time.sleep(1); n = len(sys.stdin.buffer.read()); os.write(1, n.to_bytes(64, 'big'))"
    assert int.from_bytes(answer_of(slow, document=text)) == 4 + len(json.dumps({"a": text}))
    assert time.monotonic() - began < 10
    with pytest.raises(Refusal, match="nothing within"):
        answer_of("time.sleep(60)", timeout_s=1, document=text)


@pytest.mark.parametrize(
    "given", [b"", b"\0\0\0\x02{", b"\0\0\0\x02{}}", b"\0\0\0\x02{}", b"\xff\xff\xff\xff{}", b"\0\0\0\x04null"]
)
def test_the_child_answers_nothing_to_what_is_not_one_document(given: bytes) -> None:
    child = start_child(CHILD)
    out, _ = child.communicate(given, timeout=60)
    assert (out, child.returncode != 0) == (b"", True)


def begin_child(script: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> subprocess.Popen[bytes]:
    """Begin a child, as the second opinion is begun, that runs this script as its module."""
    (folder / "probe_child.py").write_text(f"import os, sys, time\ndef main():\n    {script}\n")
    monkeypatch.syspath_prepend(str(folder))
    return start_child("probe_child")


def test_a_child_has_nothing_but_its_pipes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = os.open("/dev/null", os.O_RDONLY)
    os.set_inheritable(kept, True)
    monkeypatch.setenv("AIRLOCK_SECRET", "x")
    script = (
        "print('AIRLOCK_SECRET' in os.environ, os.getsid(0) == os.getpid(), "
        f"os.path.exists('/proc/self/fd/{kept}'), os.getcwd())"
    )
    said, _ = begin_child(script, tmp_path, monkeypatch).communicate(b"", timeout=60)
    os.close(kept)
    assert said.decode() == "False True False /\n"


def test_the_child_confines_itself_before_it_loads_a_library_of_others(tmp_path: Path) -> None:
    """The libraries are replaced by one that tries what they may not: it could only run after the filter."""
    script = (
        "import sys, ctypes, types, socket\n"
        "from airlock_offline import airgap\nairgap.install_airgap = lambda: None\n"
        "from airlock_offline.signing import opinion_child\n"
        "class Stand:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'airlock_shared.ethereum.library_opinion':\n"
        "            for attempt in (socket.socket, lambda: open('/proc/self/status'), lambda: open(sys.argv[1], 'w')):\n"
        "                try: attempt(); sys.stderr.write('done ')\n"
        "                except PermissionError: sys.stderr.write('refused ')\n"
        "sys.meta_path.insert(0, Stand()); sys.stderr.write('click loaded ' * ('click' in sys.modules))\n"
        "opinion_child.main()"
    )  # fmt: skip
    ended = subprocess.run([sys.executable, "-c", script, tmp_path / "new"], input=b"\0\0\0\2{}", capture_output=True,
                           check=False, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})  # fmt: skip
    assert ended.stderr.startswith(b"refused refused refused "), ended.stderr
    assert ended.returncode != -signal.SIGSYS


def is_there(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def is_gone(pid: int) -> bool:
    until = time.monotonic() + 20
    while is_there(pid) and time.monotonic() < until:
        time.sleep(0.02)
    return not is_there(pid)


def test_what_a_child_has_started_is_ended_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a kernel without the filter: there it could start something."""
    script = "pid = os.fork() or time.sleep(600); print(pid, flush=True); time.sleep(600)"
    child = begin_child(script, tmp_path, monkeypatch)
    assert child.stdout is not None
    started = int(child.stdout.readline())
    assert is_there(started)
    end_child(child)
    assert is_gone(started)
    assert is_gone(child.pid)


def test_a_child_ends_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "probe_child.py").write_text(
        "import os, time\ndef main(): print(os.getpid(), flush=True); time.sleep(600)\n"
    )
    script = (
        "import time\n"
        "from airlock_offline.confinement.command import start_child\n"
        "child = start_child('probe_child')\n"
        "print(child.stdout.readline().decode(), flush=True); time.sleep(600)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, env=environment) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert is_there(pid)
        parent.kill()
    assert is_gone(pid)


# ---- the process that reads pictures ---------------------------------------------------------------------------------


TEXT = "UR:BYTES/1"


def picture(path: Path) -> Path:
    drawn(matrix(TEXT, version_at_most=10), module_pixels=4).save(path)
    return path


def saying(said: bytes, end: str = "") -> Callable[[], subprocess.Popen[bytes]]:
    """Return how a child is started that says these bytes and then runs ``end``."""
    return starting(f"sys.stdin.read(); os.write(1, {said!r}); {end}")


def read(said: bytes, end: str = "") -> tuple[list[list[str]], list[str]]:
    told: list[str] = []
    return list(texts_by_child(["x.png"], told.append, saying(said, end))), told


def test_pictures_are_read_in_order_and_what_is_left_out_is_told(tmp_path: Path) -> None:
    picture(tmp_path / "a.png")
    (tmp_path / "b.png").write_bytes(b"\x89PNG\r\n")
    picture(tmp_path / "c.png")
    told: list[str] = []
    assert list(texts_by_child([str(tmp_path)], told.append)) == [[TEXT], [TEXT]]
    assert any("b.png is not a whole picture" in remark for remark in told)


def test_what_the_process_remarks_stands_beside_its_name(tmp_path: Path, capsys: Screen) -> None:
    """It is read as hostile: it has no line that begins as ours do, such as a fingerprint's."""
    lie = "left out\n  requests fingerprint:\nabandon ability " + "able " * 40 + "Type Yes to go on, no to stop:"
    context = click.Context(click.Command("scan"), obj=None)
    context.meta[READER] = lambda sources, tell: texts_by_child(
        sources, tell, saying(record(REMARK, lie) + record(TEXTS, []) + record(END))
    )
    with context, pytest.raises(DocumentError):
        scan_message(["x.png"], kept=kept_frames(tmp_path, "test", restart=False))
    first, *rest = [line for line in capsys.readouterr().err.splitlines() if line]
    assert (first.startswith("picture reader | left out"), len(rest) > 2) == (True, True)
    assert all(line.startswith(" " * len("picture reader | ")) for line in rest)


@pytest.mark.parametrize(
    ("source", "error", "said"),
    [
        ("none.png", UsageError, "cannot be opened"),
        ("none.txt", UsageError, r"none\.txt is not there; name a camera"),
        ("a.txt", UsageError, "of a kind that Airlock does not read"),
        ("a.png", DocumentError, r"QR-IMAGE: .*a\.png is not a whole picture"),
        ("camera:77", UsageError, "camera 77|OpenCV"),
    ],
)
def test_an_error_is_the_same_as_in_one_process(
    tmp_path: Path, source: str, error: type[AirlockError], said: str
) -> None:
    for name in ("a.txt", "a.png"):
        (tmp_path / name).write_bytes(b"\x89PNG\r\n")
    named = source if source.startswith("camera") else str(tmp_path / source)
    with pytest.raises(error, match=said):
        list(texts_by_child([named], lambda _: None))


GOOD = record(TEXTS, [TEXT])
WRONG = {"check": "", "what": "x", "got": "", "expected": "", "do": ""}
INCOMPLETE = [
    b"", GOOD, GOOD[:-1], b"T\xff\xff\xff\xff", b"T\0\x10\0\x01", b"X\0\0\0\x02[]", b"T\0\0\0\0", b"T\0\0\0\x02[]" * 3,
]  # fmt: skip
STRANGE = [
    b"T\0\0\0\x02{}", record(TEXTS, [1]), record(TEXTS, ["x" * 8193]), record(TEXTS, [""] * 257), record(TEXTS, "x"),
    record(TEXTS, [["x"]]), b"T\0\0\0\x02[[", b"T\0\0\x01\x00" + b"[" * 256, b"T\0\0\0\x04[\"\xff]", record(REMARK, 7),
    record(REMARK, "x" * 8193), record(ERROR, "x"), record(ERROR, {}), record(ERROR, WRONG | {"check": "SIG-SIGNER"}),
    record(ERROR, WRONG | {"check": 3}), record(ERROR, WRONG | {"what": None}), b"X\0\0\0\x02[]",
]  # fmt: skip


@pytest.mark.parametrize("said", [*INCOMPLETE, *(strange + END for strange in STRANGE)])
def test_anything_else_is_a_refusal(said: bytes) -> None:
    with pytest.raises(DocumentError) as caught:
        read(said)
    assert (caught.value.check, caught.value.what) == ("QR-IMAGE", "the process that reads pictures failed")


def test_a_crash_is_a_refusal_after_what_was_read() -> None:
    pictures = texts_by_child(["x.png"], lambda _: None, saying(GOOD, "os.kill(os.getpid(), 11)"))
    assert next(pictures) == [TEXT]
    with pytest.raises(DocumentError, match="failed"):
        next(pictures)


def test_a_refusal_of_the_child_keeps_its_id_and_its_words() -> None:
    error = DocumentError("QR-LIMIT", "too large", got="1", expected="2", do="less")
    with pytest.raises(DocumentError) as caught:
        read(record(ERROR, records.error_value(error)))
    assert caught.value.as_json() == error.as_json()


HOSTILE = """
import ctypes, os, pty, socket, subprocess, sys, threading
def attempt(work):
    try: result = work()
    except BaseException as error: return type(error).__name__
    return 'done' if result is None else str(result)
def threaded():
    thread = threading.Thread(target=int); thread.start(); thread.join()
libc = ctypes.CDLL(None)
tried = [attempt(work) for work in (
    os.fork, lambda: libc.fork(), lambda: libc.vfork(), lambda: subprocess.Popen(['true']),
    lambda: os.execv('/bin/true', ['true']),
    lambda: os.posix_spawn('/bin/true', ['true'], {}), threaded, lambda: open('/dev/tty', 'w'), lambda: open(TERMINAL, 'w'),
    lambda: os.listdir('/dev'), lambda: open('/dev/zero'), lambda: open('/dev/null').close(), lambda: os.listdir('/proc'),
    socket.socket, lambda: open(FOLDER + '/new', 'w'), lambda: open(FOLDER + '/b.png'),
    lambda: open(FOLDER + '/a.png').close())]
"""
SAID = ["PermissionError", "-1", "-1", *3 * ["PermissionError"], "done", *4 * ["PermissionError"], "done"]
SAID += ["PermissionError", "Refusal", "PermissionError", "PermissionError"]


@pytest.mark.parametrize("source", ["a.png", "camera:61"])
def test_a_decoder_has_neither_the_terminal_nor_devices_and_starts_nothing(
    tmp_path: Path, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In place of what reads pictures stands code that tries, loaded after the child has confined itself."""
    require_landlock()
    require_seccomp()
    ours, theirs = pty.openpty()
    stand = tmp_path / "stand"
    stand.mkdir()
    (stand / "zxingcpp.py").write_text(
        f"TERMINAL, FOLDER = {os.ttyname(theirs)!r}, {str(tmp_path)!r}\n{HOSTILE}"
        "class BarcodeFormats:\n"
        "    def __init__(self, _): pass\n"
        "class BarcodeFormat: QRCode = 0\n"
        "class TextMode: Plain = 0\n"
        "def read_barcodes(*_, **__): return [type('C', (), {'text': t}) for t in tried]\n"
    )
    (stand / "cv2.py").write_text(
        "CAP_PROP_FRAME_WIDTH = CAP_PROP_FRAME_HEIGHT = 3\nCOLOR_BGR2GRAY = 6\n"
        "class Frame(bytes): __array_interface__ = {'shape': (1, 1), 'typestr': '|u1', 'version': 3}\n"
        "def cvtColor(*_): return Frame(b'x')\n"
        "class VideoCapture:\n"
        "    def __init__(self, number): assert number == 61\n"
        "    def isOpened(self): return True\n"
        "    def get(self, _): return 1\n"
        "    def read(self): return True, Frame()\n"
        "    def release(self): pass\n"
    )
    monkeypatch.syspath_prepend(str(stand))
    for name in ("a.png", "b.png"):
        picture(tmp_path / name)
    named = str(tmp_path / source) if source == "a.png" else source
    pictures = texts_by_child([named], lambda _: None)
    tried = next(pictures)
    pictures.close()  # type: ignore[attr-defined]
    os.close(ours)
    os.close(theirs)
    assert tried == [*SAID, "done" if source == "a.png" else "PermissionError"]
