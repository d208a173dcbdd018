"""The second opinion's process: what it answers, every way in which it may fail, and how little it is given."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from airlock_offline import child_process
from airlock_offline.signing.opinion_process import CHILD, OpinionProcess
from airlock_shared.checks.model import Case, IntentCase
from airlock_shared.checks.second_opinion import compare_opinion, opinion_question
from airlock_shared.errors import Refusal
from shared.world import STEPS, case_of, good, situation


def examined(step: str) -> Case:
    return case_of(good(step)) if step in STEPS else case_of(good(step, "transactions"), situation("transactions"))


def answer_of(script: str, timeout_s: float = 20, document: object = None) -> bytes:
    """Return what is taken for an answer of a child that runs this script in place of the libraries."""

    def start() -> subprocess.Popen[bytes]:
        words = [sys.executable, "-I", "-c", f"import os, sys, time\n{script}"]
        return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    opinion = OpinionProcess({} if document is None else {"a": document}, start, timeout_s)
    try:
        return opinion.result()
    finally:
        opinion.end()


def test_a_fault_of_ours_is_noticed_by_the_process() -> None:
    case = examined(STEPS[0])
    assert isinstance(case, IntentCase)
    case = case._replace(hashes=case.hashes._replace(digest=bytes(32)))
    opinion = OpinionProcess(opinion_question(case))
    with pytest.raises(Refusal, match="DIGEST-DISAGREE"):
        compare_opinion(case, opinion.result())
    opinion.end()


@pytest.mark.parametrize(
    ("script", "got"),
    [
        ("sys.stdin.read()", "0 bytes"),
        ("os.write(1, bytes(63))", "63 bytes"),
        ("os.write(1, bytes(65))", "more than 64 bytes"),
        ("os.write(1, bytes(64)); time.sleep(0.2); os.write(1, b'!')", "more than 64 bytes"),
        ("\nwhile True: os.write(1, bytes(4096))", "more than 64 bytes"),
        ("os.write(1, bytes(64)); sys.exit(1)", "it ended with 1"),
        ("os.write(1, bytes(64)); os.kill(os.getpid(), 11)", "it ended with -11"),
        ("raise SystemExit(3)", "it ended with 3"),
        ("time.sleep(60)", "nothing within 1 s"),
        ("os.write(1, bytes(64)); time.sleep(60)", "nothing within 1 s"),
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


def test_an_ended_process_leaves_nothing_behind() -> None:
    opinion = OpinionProcess(opinion_question(examined(STEPS[0])))
    opinion.end()
    with pytest.raises(ChildProcessError):
        os.waitpid(opinion._process.pid, 0)


@pytest.mark.parametrize(
    "given", [b"", b"\0\0\0\x02{", b"\0\0\0\x02{}}", b"\0\0\0\x02{}", b"\xff\xff\xff\xff{}", b"\0\0\0\x04null"]
)
def test_the_child_answers_nothing_to_what_is_not_one_document(given: bytes) -> None:
    child = child_process.start_child(CHILD)
    out, _ = child.communicate(given, timeout=60)
    assert (out, child.returncode != 0) == (b"", True)


def begin_child(script: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> subprocess.Popen[bytes]:
    """Begin a child, as the second opinion is begun, that runs this script as its module."""
    (folder / "probe_child.py").write_text(f"import os, sys, time\ndef main():\n    {script}\n")
    monkeypatch.syspath_prepend(str(folder))
    return child_process.start_child("probe_child")


def test_a_child_has_no_environment_no_terminal_and_no_descriptor_but_its_pipes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_the_child_confines_itself_before_it_loads_a_library_of_others() -> None:
    """The libraries are replaced by one that tries what they may not: it could only run after the filter."""
    script = (
        "import sys, ctypes, types, socket\n"
        "from airlock_offline import airgap\nairgap.install_airgap = lambda: None\n"
        "from airlock_offline.signing import opinion_child\n"
        "class Stand:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'airlock_shared.ethereum.library_opinion':\n"
        "            for attempt in (socket.socket, lambda: open('/proc/self/status'), lambda: open('/tmp/x', 'w')):\n"
        "                try: attempt(); sys.stderr.write('done ')\n"
        "                except PermissionError: sys.stderr.write('refused ')\n"
        "sys.meta_path.insert(0, Stand()); sys.stderr.write('click loaded ' * ('click' in sys.modules))\n"
        "opinion_child.main()"
    )  # fmt: skip
    ended = subprocess.run([sys.executable, "-c", script], input=b"\0\0\0\2{}", capture_output=True, check=False,
                           env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})  # fmt: skip
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
    child_process.end_child(child)
    assert is_gone(started)
    assert is_gone(child.pid)


def test_a_child_ends_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "probe_child.py").write_text(
        "import os, time\ndef main(): print(os.getpid(), flush=True); time.sleep(600)\n"
    )
    script = (
        "import time\n"
        "from airlock_offline import child_process\n"
        "child = child_process.start_child('probe_child')\n"
        "print(child.stdout.readline().decode(), flush=True); time.sleep(600)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, env=environment) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert is_there(pid)
        parent.kill()
    assert is_gone(pid)
