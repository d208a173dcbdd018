"""The processes of a rehearsal: both commands as an operator runs them, and the software Ledger sibling them.

What a command prints passes through to the terminal as it comes, and is kept, so that the rehearsal can compare what the
two screens showed. Every process that is started here is ended here.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from airlock_shared.errors import DeviceError, UsageError

_STOP_TIMEOUT_S = 10


def find_command(name: str, given: Path | None) -> Path:
    """Return the path of a program: the one given, the one sibling this program, or the one on the PATH."""
    sibling = Path(sys.argv[0]).absolute().parent / name
    found = given or (sibling if sibling.is_file() else None) or shutil.which(name)
    if found is None or not Path(found).is_file():
        raise UsageError(
            f"the command {name} was not found" + (f" at {given}" if given else ""),
            do="use `make rehearse`, which installs both halves, or name it with --offline-command",
        )
    return Path(found).absolute()


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Put off Ctrl-C and termination until the block is over: between a start and its assignment a process has no owner."""
    pending: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        pending.append(number)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if pending:
        raise KeyboardInterrupt


@contextmanager
def _running(
    words: Sequence[str | Path], stdin: int | None = None, stderr: int | None = None, cwd: Path | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a process, and end it afterwards."""
    process: subprocess.Popen[bytes] | None = None
    try:
        with _uninterrupted():
            process = subprocess.Popen(  # noqa: S603  (our own programs)
                [str(word) for word in words], stdin=stdin, stdout=subprocess.PIPE, stderr=stderr, cwd=cwd
            )
        yield process
    finally:
        if process is not None:
            with suppress(BrokenPipeError), process:  # its end closes what is open, and waits
                process.terminate()  # does nothing to one that has ended
                try:
                    process.wait(_STOP_TIMEOUT_S)
                except subprocess.TimeoutExpired:
                    process.kill()


Typist = Callable[[str], str]
"""Types at a question: it gets what stands on the screen so far, and gives what is typed, empty where nothing is asked."""


def run_command(words: Sequence[str | Path], answers: str | Typist, cwd: Path) -> tuple[str, int]:
    """Run a command in a folder, its output passing through; return everything that it printed, and its exit code.

    ``answers`` is what is typed, at once or at each question.
    """
    with _running(words, subprocess.PIPE, subprocess.STDOUT, cwd) as process:
        if isinstance(answers, str) and process.stdin is not None:
            process.stdin.write(answers.encode())
            process.stdin.close()
        typist = answers if callable(answers) else None
        kept = bytearray()
        if process.stdout is not None:
            while chunk := os.read(process.stdout.fileno(), 4096):
                kept += chunk
                sys.stdout.write(chunk.decode(errors="replace"))
                sys.stdout.flush()
                if typist and process.stdin is not None and (typed := typist(kept.decode(errors="replace"))):
                    process.stdin.write(typed.encode())
                    process.stdin.flush()
        return kept.decode(errors="replace"), process.wait()


@contextmanager
def software_ledger(offline: Path, arguments: Sequence[str]) -> Iterator[int]:
    """Run the software Ledger and give its port: the one beside the air-gapped half's command, or as for other programs.

    Its screens go to the terminal. Raises ``UsageError`` when there is none, ``DeviceError`` when it does not start.
    """
    sibling = offline.with_name("airlock-software-ledger")  # a kit has none
    command = sibling if sibling.is_file() else find_command(sibling.name, None)
    with _running([command, *arguments]) as process:
        line = process.stdout.readline() if process.stdout is not None else b""
        try:
            port = int(json.loads(line)["port"])
        except (ValueError, KeyError, TypeError) as error:
            raise DeviceError("the software Ledger did not start", do="read its messages above") from error
        yield port
