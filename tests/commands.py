"""A command that ran and ended, and how an installed one is run: what every part of the tests shares."""

import fcntl
import io
import json
import os
import re
import subprocess
import sys
import termios
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple, Self, TextIO
from unittest.mock import patch

import click
import pytest

from airlock_shared.cli.program import run
from airlock_shared.documents.requests import parse_signatures
from airlock_shared.errors import AirlockError
from airlock_shared.text.safe import spoken
from loaded import LoadedCommand, Streams, can_be_forked, loaded_program

Screen = pytest.CaptureFixture[str]
Variables = Mapping[str, str] | None
_YES = b"Type Yes to go on, no to stop: "
_PLACES = re.compile(r"word (\d+) and word (\d+): $")


class FinishedCommand(NamedTuple):
    """A command that ended: its exit code, and what it wrote to stdout and stderr."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)

    def done(self) -> Self:
        """Require that it did what was asked, and return it."""
        assert self.code == 0, self.out + self.err
        return self

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


def contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return what is in a folder: the mode and the bytes of each path."""
    paths = {str(path.relative_to(folder)): path for path in folder.rglob("*")}
    return {name: (path.lstat().st_mode, path.read_bytes() if path.is_file() else b"") for name, path in paths.items()}


def other_screen(words: tuple[object, ...]) -> str:
    """Return the words that the signing machine shows of the signatures to submit or export; none without any."""
    begins = next((at for at, word in enumerate(words) if word in ("submit", "export")), len(words))
    for word in words[begins:]:
        try:
            if (path := Path(str(word))).is_file():
                return spoken(parse_signatures(path.read_bytes())[2])
        except AirlockError:
            continue
    return ""


def asked_words(question: str, screen: str) -> str:
    """Return what answers a question for two words, from the other machine's screen; empty for any other question."""
    found = _PLACES.search(question)
    if found is None:
        return ""
    return " ".join(screen.split()[int(at) - 1] for at in found.groups())


def begin(
    words: list[str],
    streams: Streams,
    env: Variables = None,
    cwd: Path | None = None,
    *,
    started: bool = False,
    terminal: bool = False,
) -> LoadedCommand | subprocess.Popen[bytes]:
    """Begin a command on three streams, perhaps as the one whose ``terminal`` they are.

    One of ours is a fork of its program, which is loaded already (``loaded.py``), unless it is to be ``started``.
    """
    env = os.environ if env is None else env
    if not started and can_be_forked(env) and (program := loaded_program(words[0])):
        return program.begin(words[1:], env, cwd, streams, terminal=terminal)
    stdin, stdout, stderr = streams
    own = partial(fcntl.ioctl, 0, termios.TIOCSCTTY, 0) if terminal else None
    return subprocess.Popen(
        words, stdin=stdin, stdout=stdout, stderr=stderr, env=env, cwd=cwd, start_new_session=terminal, preexec_fn=own
    )


def run_command(
    *words: object,
    typed: str | None = None,
    env: Variables = None,
    cwd: Path | None = None,
    screen: str = "",
    started: bool = False,
) -> FinishedCommand:
    """Run a command to its end, with what is typed on its stdin; a stack trace on stderr is a failure of the test.

    ``screen`` are the words on the other machine's, of which two are typed at each question; `submit FILE` finds them.
    Where the start itself is the subject, the command is ``started``; otherwise it is a fork of its program (``loaded.py``).
    """
    screen = screen or other_screen(words)
    with TemporaryFile() as given, TemporaryFile() as out, TemporaryFile() as err:
        given.write((typed or "").encode())
        given.seek(0)
        if screen:
            code, said = _type_words([*map(str, words)], out.fileno(), screen, typed or "", env, cwd, started)
        else:
            streams = (given.fileno(), out.fileno(), err.fileno())
            code = begin([*map(str, words)], streams, env, cwd, started=started).wait(300)
            err.seek(0)
            said = err.read()
        out.seek(0)
        ended = FinishedCommand(code, _text(out.read()), _text(said))
    assert "Traceback" not in ended.err, ended.err
    return ended


def run_here(
    program: click.Command,
    *words: object,
    typed: str | None = None,
    out: TextIO | None = None,
    err: TextIO | None = None,
) -> FinishedCommand:
    """Run a program in this process to its end, with what is typed on its stdin, or this process's own stdin.

    It may write to streams of the test's own; what goes there is not returned.
    """
    stdin = sys.stdin if typed is None else io.StringIO(typed)
    told = io.StringIO(), io.StringIO()
    with patch.object(sys, "stdin", stdin), redirect_stdout(out or told[0]), redirect_stderr(err or told[1]):
        code = run(program, [*map(str, words)])
    return FinishedCommand(code, told[0].getvalue(), told[1].getvalue())


class LineProcess:
    """A program beside a test that answers a line with a line, and ends with its stdin; a context manager."""

    def __init__(self, *words: object, cwd: Path | None = None) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen([*map(str, words)], stdin=pipe, stdout=pipe, cwd=cwd, text=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def say(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    def ask(self, line: str) -> str:
        self.say(line)
        return self.line()

    def rest(self) -> str:
        """Let it end well, and return what it said at last."""
        said, _ = self._process.communicate()
        assert self._process.returncode == 0
        return said


def at_the_same_moment(*commands: list[str], cwd: Path | None = None) -> list[str]:
    """Start commands, have all go on together once each says that it is ready, and return what each wrote then."""
    running = [LineProcess(*words, cwd=cwd) for words in commands]
    assert [each.line() for each in running] == ["ready\n"] * len(running)
    for each in running:
        each.say("go")
    return [each.rest() for each in running]


def _text(data: bytes) -> str:
    return data.decode(errors="replace").replace("\r\n", "\n").replace("\r", "\n")


def _type_words(
    words: list[str], stdout: int, screen: str, typed: str, env: Variables, cwd: Path | None, started: bool
) -> tuple[int, bytes]:
    """Run a command to its end, and type the two words for which it asks, as often as it does; ``typed`` is for a Yes.

    Returns its exit code, and what it wrote to stderr.
    """
    (stdin, types), (reads, stderr) = os.pipe(), os.pipe()
    command = begin(words, (stdin, stdout, stderr), env, cwd, started=started)
    for end in (stdin, stderr):
        os.close(end)
    answers, said = iter(typed.splitlines(keepends=True)), b""
    try:
        while chunk := os.read(reads, 1 << 16):
            said += chunk
            if answer := asked_words(said.decode(errors="replace"), screen):
                os.write(types, f"{answer}\n".encode())
            elif said.endswith(_YES):
                os.write(types, next(answers, "\n").encode())
    finally:
        for end in (types, reads):
            os.close(end)
    return command.wait(300), said
