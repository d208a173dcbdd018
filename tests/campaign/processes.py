"""Commands as processes: the installed program, or a fork of a process that has imported the same, which costs less.

A forked command is a process of its own all the same: its own process id, journal, connections and files, and the program's
own ``main``. Only the import of the modules lies before it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_TESTS = Path(__file__).parents[1]


class Command:
    """A running command; ``poll`` is its exit code (negative: the signal) or None, ``wait`` waits for it."""

    pid: int

    def poll(self) -> int | None:
        raise NotImplementedError

    def wait(self) -> int:
        raise NotImplementedError


class Started(Command):
    """The installed program, started as from a shell."""

    def __init__(self, program: Path, words: Sequence[str], env: Mapping[str, str], out: Path, err: Path) -> None:
        with out.open("wb") as screen, err.open("wb") as talk:
            self._process = subprocess.Popen(
                [str(program), *words], stdin=subprocess.DEVNULL, stdout=screen, stderr=talk, env=env
            )
        self.pid = self._process.pid

    def poll(self) -> int | None:
        return self._process.poll()

    def wait(self) -> int:
        return self._process.wait()


class Forked(Command):
    """A fork of a launcher that has imported the program."""

    def __init__(self, launcher: Launcher, words: Sequence[str], env: Mapping[str, str], out: Path, err: Path) -> None:
        self._launcher = launcher
        self._code: int | None = None
        self.pid = int(launcher.ask({"words": list(words), "env": dict(env), "out": str(out), "err": str(err)}))

    def poll(self) -> int | None:
        if self._code is None:
            stat = Path(f"/proc/{self.pid}/stat")
            try:
                running = stat.read_text().rpartition(")")[2].split()[0] != "Z"
            except (FileNotFoundError, ProcessLookupError):
                running = False
            if not running:
                self.wait()
        return self._code

    def wait(self) -> int:
        if self._code is None:
            self._code = int(self._launcher.answer())
        return self._code


class Launcher:
    """A process that forks; one command at a time."""

    def __init__(self) -> None:
        pipe = subprocess.PIPE
        command = [sys.executable, "-m", "campaign.processes"]
        self._process = subprocess.Popen(command, cwd=_TESTS, stdin=pipe, stdout=pipe, text=True)

    def ask(self, run: dict[str, Any]) -> str:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(run) + "\n")
        self._process.stdin.flush()
        return self.answer()

    def answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)
        if self._process.stdout:
            self._process.stdout.close()


def main() -> None:
    """Fork for each line, and tell the child's id, then its end."""
    import psycopg  # noqa: F401 (loaded before the first fork, as all of these)
    import sqlalchemy.dialects.postgresql.psycopg
    import sqlalchemy.dialects.sqlite  # noqa: F401

    from airlock_online.start import main as program

    for line in sys.stdin:
        run = json.loads(line)
        child = os.fork()
        if not child:
            _become(run)
            code: object = 70
            try:
                program()
            except SystemExit as ended:
                code = ended.code
            finally:
                if sys.exc_info()[0]:  # what the program should have dealt with
                    traceback.print_exc()
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code if type(code) is int else int(code is not None))
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _become(run: dict[str, Any]) -> None:
    """Take a command's arguments, environment and files."""
    sys.argv = ["airlock-online", *run["words"]]
    os.environ.clear()
    os.environ.update(run["env"])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for where, descriptor in ((os.devnull, 0), (run["out"], 1), (run["err"], 2)):
        flags = os.O_RDONLY if descriptor == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        opened = os.open(where, flags, 0o600)
        os.dup2(opened, descriptor)
        os.close(opened)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115


if __name__ == "__main__":
    main()
