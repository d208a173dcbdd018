"""An installed program that is loaded once: each command that a test runs is a fork of it, a process with its own home,
streams and end, but without the time that Python takes to start and to load.

A test whose subject is the start itself (what is loaded, Ctrl-C while it loads, who its children are) starts the command.
"""

import atexit
import fcntl
import gc
import json
import mmap
import os
import random
import select
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import threading
import time
import traceback
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from pkgutil import walk_packages
from threading import Lock
from typing import Any, NoReturn

STARTS = {  # program -> the module in which it starts; its whole package is loaded
    "airlock-online": "airlock_online.start",
    "airlock-offline": "airlock_offline.start",
    "airlock-software-ledger": "airlock_software_ledger.server",
}
LATER = {  # what a program imports only where it needs it
    "airlock-online": "stringprep encodings.idna coincurve sqlalchemy.dialects.sqlite PIL.PngImagePlugin qrcode".split(),
    "airlock-offline": "stringprep encodings.idna coincurve hid PIL.PngImagePlugin qrcode".split(),
    "airlock-software-ledger": "coincurve eth_account.hdaccount".split(),
}
CLOCK = "AIRLOCK_TESTS_CLOCK"
"""Names a file of 8 bytes: by how many seconds all clocks of a command are ahead, so that nobody waits for a deadline."""
AT_START = ("PYTHON", "LANG", "LC_")  # variables that Python reads when it starts
Streams = tuple[int, int, int]
_BEGAN_WITH = {name: value for name, value in os.environ.items() if name.startswith(AT_START)}


class LoadedCommand:
    """A command that runs as a fork of its program."""

    def __init__(self, told: int) -> None:
        self._told = open(told, "rb")  # noqa: SIM115 (closed by wait)
        self.pid = int(self._told.readline())
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit code of a command that has ended."""
        return (
            self.wait(0) if self.returncode is None and select.select([self._told], [], [], 0)[0] else self.returncode
        )

    def send_signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def wait(self, timeout: float) -> int:
        """Wait for its end, and return its exit code, negative for the signal that ended it; after so long it is killed."""
        if self.returncode is None:
            with self._told:
                if not select.select([self._told], [], [], timeout)[0]:
                    os.kill(self.pid, signal.SIGKILL)
                    raise TimeoutError(timeout)
                self.returncode = int(self._told.read())
        return self.returncode


class LoadedProgram:
    """A process that has loaded a program and forks for each command."""

    def __init__(self, script: Path, python: str) -> None:
        self._ours, theirs = socket.socketpair()
        self._lock = Lock()
        with theirs:
            words = [python, __file__, str(theirs.fileno()), str(script)]
            self._process = subprocess.Popen(words, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        atexit.register(self._end)

    def _end(self) -> None:
        self._ours.close()  # it ends when nobody can ask it for anything
        self._process.wait(20)

    def begin(
        self, words: list[str], env: Mapping[str, str], cwd: Path | None, streams: Streams, *, terminal: bool
    ) -> LoadedCommand:
        """Begin a command on three streams, perhaps as the one whose ``terminal`` they are."""
        told, tells = os.pipe()
        asked = json.dumps([words, dict(env), str(cwd or Path.cwd()), terminal]).encode()
        with self._lock:
            socket.send_fds(self._ours, [len(asked).to_bytes(4, "big")], [*streams, tells])
            self._ours.sendall(asked)
        os.close(tells)
        return LoadedCommand(told)


@cache
def loaded_program(script: str) -> LoadedProgram | None:
    """Return the program behind an installed command, loaded; None when it is none of ours, or no script of a Python's."""
    path = Path(script)
    if path.name not in STARTS or not path.is_file():
        return None
    first = path.read_bytes().partition(b"\n")[0].decode(errors="replace")
    return LoadedProgram(path, first[2:]) if first.startswith("#!") and first.endswith("/python") else None


def can_be_forked(env: Mapping[str, str]) -> bool:
    """Return whether Python would start with these variables as it did."""
    return {name: value for name, value in env.items() if name.startswith(AT_START)} == _BEGAN_WITH


# ---- in the process that has loaded the program -----------------------------------------------------------------------


_AHEAD: list[mmap.mmap] = []  # the file, in memory that a confined command and its children still read


def _ahead(clock: Callable[..., Any], second: int, *which: int) -> Any:
    """Return what a clock says, so many seconds ahead."""
    return clock(*which) + second * sum(int.from_bytes(seconds[:8], "big") for seconds in _AHEAD)


def load(program: str) -> None:
    """Import all that a program may need, and have its forks share it: no collection looks at it again."""
    for name in ("time", "monotonic", "time_ns", "clock_gettime_ns"):
        setattr(time, name, partial(_ahead, getattr(time, name), 10**9 if name.endswith("_ns") else 1))
    for package in ("airlock_shared", STARTS[program].partition(".")[0]):
        for module in walk_packages(import_module(package).__path__, f"{package}."):
            if not module.name.endswith("__main__"):
                import_module(module.name)
    if program == "airlock-software-ledger":
        import_module("airlock_shared.ethereum.library_opinion").leave_out_key_files()
    for name in LATER[program]:
        import_module(name)
    if program == "airlock-online":
        import_module("airlock_online.clients.connection").tls_context("")
    gc.collect()
    gc.freeze()


def _serve(asks: socket.socket, script: Path) -> None:
    """Fork for each command that is asked for, until nobody can ask."""
    load(script.name)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    wakes, woken = os.pipe()
    for end in (wakes, woken):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    running: dict[int, int] = {}
    while True:
        ready, _, _ = select.select([asks.fileno(), wakes], [], [])
        if wakes in ready:
            os.read(wakes, 1 << 12)
            _tell_ends(running)
        if asks.fileno() in ready:
            head, descriptors, _, _ = socket.recv_fds(asks, 4, 4)
            if not head:
                return
            asked, length = b"", int.from_bytes(head, "big")
            while len(asked) < length:  # and nothing of the next one, which may be there already
                if not (more := asks.recv(length - len(asked))):
                    return
                asked += more
            child = os.fork()
            if not child:
                asks.detach()
                _be_the_command(script, descriptors[:3], *json.loads(asked))
            running[child] = descriptors[3]
            os.write(descriptors[3], f"{child}\n".encode())
            for descriptor in descriptors[:3]:
                os.close(descriptor)


def _tell_ends(running: dict[int, int]) -> None:
    for child in list(running):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            os.write(running[child], str(os.waitstatus_to_exitcode(status)).encode())
            os.close(running.pop(child))


def _text(number: int, mode: str, errors: str = "strict") -> TextIOWrapper:
    """Return a stream as Python makes it: stderr and terminals line by line."""
    binary = open(number, f"{mode}b", closefd=False)  # noqa: SIM115 (as long as the process)
    return TextIOWrapper(binary, "utf-8", errors, line_buffering=number == 2 or os.isatty(number))


class _Child(subprocess.Popen[bytes]):
    """A child of a command; its own program again, as a led ceremony starts it, is a fork of the command."""

    def _execute_child(self, args: Sequence[str], *how: Any) -> None:
        if list(args[:2]) != [sys.executable, sys.argv[0]]:
            super()._execute_child(args, *how)  # type: ignore[misc]
            return
        cwd, env = how[4:6]
        pipes = how[9:15]
        self.pid = os.fork()
        if not self.pid:
            atexit._clear()
            weakref.finalize._registry.clear()  # type: ignore[attr-defined]
            weakref.finalize._registered_with_atexit = False  # type: ignore[attr-defined]
            streams = [number if stream < 0 else stream for number, stream in enumerate((pipes[0], pipes[3], pipes[5]))]
            _be_the_command(Path(args[1]), streams, list(args[2:]), env or dict(os.environ), cwd or ".", terminal=False)
        self._child_created = True
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]


def _be_the_command(
    script: Path, streams: list[int], words: list[str], env: dict[str, str], cwd: str, terminal: bool
) -> NoReturn:
    """Go on as the command that would have been started, to its end."""
    code: object = 70
    try:
        signal.set_wakeup_fd(-1)
        for handled in filter(lambda number: callable(signal.getsignal(number)), signal.valid_signals()):
            signal.signal(handled, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number, stream in enumerate([os.dup(stream) for stream in streams]):
            os.dup2(stream, number)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        if terminal:
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        sys.stdin, sys.stdout, sys.stderr = _text(0, "r"), _text(1, "w"), _text(2, "w", "backslashreplace")
        os.environ.clear()
        os.environ.update(env)
        if CLOCK in env and not _AHEAD:
            with Path(env[CLOCK]).open("rb") as file:
                _AHEAD.append(mmap.mmap(file.fileno(), 8, access=mmap.ACCESS_READ))
        os.chdir(cwd)
        tempfile.tempdir = None
        random.seed()
        sys.argv = [str(script), *words]
        sys.orig_argv[:] = [sys.executable, *sys.argv]
        subprocess.Popen = _Child  # type: ignore[misc, assignment]
        import_module(STARTS[script.name]).main()
        code = 0
    except SystemExit as end:
        code = end.code
    except BaseException:  # noqa: BLE001 (as Python does at its end)
        traceback.print_exc()
        code = 1
    finally:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except (OSError, ValueError):
            code = code or 120
        os._exit(code if isinstance(code, int) else 0 if code is None else 1)


if __name__ == "__main__":
    sys.path[0] = str(Path(sys.argv[2]).parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with socket.socket(fileno=int(sys.argv[1])) as control:
        _serve(control, Path(sys.argv[2]))
