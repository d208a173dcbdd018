"""What a command may still do, and the kernel told so: before anything is read that somebody else wrote.

Where the kernel cannot, it is said and never passed over: what is missing is in the :class:`Confinement` that comes back.
"""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from airlock_offline.confinement import filter as kernel_filter
from airlock_offline.confinement.filter import (
    ARCHITECTURES,
    MAY_READ,
    MAY_RUN,
    MAY_USE,
    MAY_WRITE,
    end_with_parent,
    landlock_version,
    no_new_privileges,
    restrict_files,
)
from airlock_shared.errors import UsageError
from airlock_shared.host.files import make_folder

if TYPE_CHECKING:
    import click


# ---- enforced -------------------------------------------------------------------------------------------------------
# What the kernel enforces on this process, as it is recorded and shown.


class Confinement(NamedTuple):
    """What the kernel enforces on this process and its children, and why not where it does not.

    ``seccomp`` is True when sockets were asked for and refused; ``landlock`` is the ABI that is enforced, 0 for none.
    """

    seccomp: bool
    seccomp_why: str
    landlock: int
    landlock_why: str

    def as_json(self) -> dict[str, object]:
        """Return it as the transcript and ``--json`` have it, with the kernel's release."""
        return {"kernel": f"{os.uname().sysname} {os.uname().release}", **self._asdict()}


NOT_ASKED = "the kernel has it; this command reads no document"
UNCONFINED = Confinement(False, "no filter was requested", 0, "no filter was requested")

# ---- confine --------------------------------------------------------------------------------------------------------


_LIBRARIES = ("/usr", "/lib", "/lib64", "/bin", "/sbin")
READ_ONLY = ("/etc", "/sys", "/proc", "/run/udev", "/var/lib/dpkg/status")
DEVICES = ("/dev",)  # as a folder: a Ledger that is plugged in again, or whose app opens, is another file in it


class Needs(NamedTuple):
    """What a command needs.

    ``reads``: files and folders to read. ``writes``: folders to write into.
    ``connect``: the software Ledger's loopback port.
    ``landlock``: whether Landlock is wanted at all.
    ``alone``: it starts no other process, and has nothing of ``/dev``, ``/sys`` and ``/proc`` but the ``devices``.
    """

    reads: tuple[Path, ...] = ()
    writes: tuple[Path, ...] = ()
    connect: int | None = None
    landlock: bool = True
    alone: bool = False
    devices: tuple[Path, ...] = ()


ALONE = Needs(alone=True)
"""What a child needs in which other people's libraries run: packages to read, and no process beside it."""


def confine(needs: Needs) -> Confinement:
    """Have the kernel refuse what the command does not need, and return what it enforces."""
    if not sys.platform.startswith("linux"):
        why = f"this system is {os.uname().sysname}, and the filter needs Linux"
        return Confinement(False, why, 0, why)
    try:
        no_new_privileges()
    except OSError as error:
        why = f"the kernel does not lock this program's privileges: {error.strerror}"
        return Confinement(False, why, 0, why)
    seccomp_why = _refuse_calls(needs)
    abi, landlock_why = _restrict_files(needs)
    return Confinement(not seccomp_why, seccomp_why, abi, landlock_why)


def _refuse_calls(needs: Needs) -> str:
    """Install the filter and look whether it holds; return why there is none, or an empty text."""
    machine = ARCHITECTURES.get(os.uname().machine)
    if machine is None or sys.maxsize < 2**32:
        return f"no table of system calls for {os.uname().machine}"
    rules = kernel_filter.rules_for(machine, loopback=needs.connect is not None, starting=not needs.alone)
    try:
        kernel_filter.install_filter(machine, kernel_filter.assemble(machine, rules))
    except OSError as error:
        return f"the kernel takes no filter: {error.strerror}"
    return "" if kernel_filter.is_refused(machine) else "the kernel took the filter, but still allowed a socket"


def _restrict_files(needs: Needs) -> tuple[int, str]:
    """Return (the ABI that is enforced, ""), or (0, why there is none)."""
    try:
        abi = landlock_version()
    except OSError as error:
        return 0, f"the kernel has no Landlock: {error.strerror}"
    if not needs.landlock:
        return 0, NOT_ASKED
    if (threads := len(os.listdir("/proc/self/task"))) != 1:  # noqa: PTH208 (names alone)
        return 0, f"{threads} threads run already, and it would apply to only one of them"
    runs = (sys.prefix, sys.base_prefix, *sys.path, *_LIBRARIES)
    looks, uses = (("/etc",), ("/dev/null", "/dev/urandom")) if needs.alone else (READ_ONLY, DEVICES)
    paths = [
        *((Path(path), MAY_RUN) for path in dict.fromkeys(runs) if path),
        *((Path(path), MAY_READ) for path in (*looks, *needs.reads)),
        *((Path(path), MAY_USE) for path in (*uses, *needs.devices)),
        *((Path(path), MAY_WRITE) for path in needs.writes),
    ]
    try:
        restrict_files(abi, paths, connect=needs.connect)
    except OSError as error:
        return 0, f"the kernel takes no Landlock rules: {error.strerror}"
    return abi, ""


def own_temporary_folder() -> Path:
    """Return this account's own folder for temporary files, made when it is not there; Python uses it from now on.

    Raises ``UsageError`` when somebody else made it: what is in it would be theirs to change.
    """
    folder = Path(tempfile.gettempdir()) / f"airlock-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
        raise UsageError(f"{folder} is not this account's own folder", do="find out who made it, and remove it")
    tempfile.tempdir = str(folder)
    return folder


# ---- needs ----------------------------------------------------------------------------------------------------------
# What a command line needs of the machine, read from its parameters before the command begins.


_WITHOUT_LANDLOCK = ("doctor",)  # it reads no document, and looks at other processes for whoever holds the Ledger
KEEP_NOTHING = frozenset(
    {"doctor", "digest", "verify", "config", "completion", "explain", "report", "plan", "transcript show",
     "transcript verify", "delegate challenge", "ceremony show", "ceremony workflow"}
)  # fmt: skip
"""Commands that write nothing into this machine's folder, and may not; for the others it is made first."""


OUTPUTS = {"-o", "--hardware-record"}
"""Options whose path is written; every other path of a command is read."""

APDU_LOG = "airlock.apdu-log"  # where the click context keeps the path of a file that is no parameter of the command


def needs_of(context: click.Context, home: Path) -> Needs:
    """Return what a command needs.

    The folder of an output file must be writable, since a file is made beside its place first. Nothing is read here.
    Raises ``UsageError`` when a folder of ours cannot be made, or when the temporary one is not our own.
    """
    import click  # noqa: PLC0415 - the children import this module, and load no library of others before they are confined

    words = context.params
    command, *inner = context.command_path.split()[1:]
    keeps = KEEP_NOTHING.isdisjoint((command, " ".join((command, *inner)))) or bool(words.get("qr"))
    if keeps and command != "forget":  # which removes, and makes nothing
        make_folder(home.absolute())
    log = context.meta.get(APDU_LOG)
    inputs, folders = list[Path](), [log.absolute().parent] if log else []
    (folders if keeps else inputs).append(home.absolute())
    for parameter in context.command.params:
        paths = [path.absolute() for path in _paths(parameter, words.get(parameter.name or ""))]
        if isinstance(parameter, click.Option) and not OUTPUTS.isdisjoint(parameter.opts):
            folders += [path.parent for path in paths]
        else:
            inputs += paths
    folders += [codes for folder in words.get("ceremonies", ()) if (codes := folder.absolute() / "codes").is_dir()]
    if "ledger_path" in words and (words.get("emulator_port") is None or command == "sign"):  # locks are there
        folders.append(own_temporary_folder())
    return Needs(
        reads=tuple(inputs),
        writes=tuple(folders),
        connect=words.get("emulator_port"),
        landlock=command not in _WITHOUT_LANDLOCK,
    )


def _paths(parameter: click.Parameter, value: Any) -> Iterator[Path]:
    """Yield the paths in a parameter's value: those of a path's type, and the words of a list of sources."""
    import click  # noqa: PLC0415 - as above

    if isinstance(value, Path):
        yield value
    elif isinstance(value, tuple) and parameter.name == "sources":
        yield from map(Path, value)
    elif isinstance(value, str) and isinstance(parameter.type, (click.Path, click.File)):
        yield Path(value)


# ---- children -------------------------------------------------------------------------------------------------------
# Starting a child of our own: the same interpreter and packages, no environment, no terminal, no descriptors but its pipes.
#
# A child that begins after the kernel's filter inherits it, and narrows it before it loads what it was started for. The
# browser that prints a report (``--pdf``) begins before the filter. Each ends with us.


_BEGIN = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from airlock_offline.confinement.command import begun; begun(); from {module} import main; main()"
)


def begun() -> None:
    """In the child: end with whoever started it, also where that one is killed."""
    if sys.platform.startswith("linux"):
        end_with_parent()


def start_child(module: str, cwd: str = "/") -> subprocess.Popen[bytes]:
    """Start ``main`` of a module of ours, with pipes for its input and output; what it says of errors is dropped.

    ``-I -S``: neither variables nor site files decide what it loads. A session of its own: Ctrl-C is the person's word to
    us, and it has no terminal to type into.
    """
    return subprocess.Popen(  # noqa: S603 (our own interpreter, module and arguments)
        [sys.executable, "-I", "-S", "-B", "-c", _BEGIN.format(module=module), json.dumps(sys.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={},
        cwd=cwd,
        close_fds=True,
        start_new_session=True,
    )


def end_child(process: subprocess.Popen[bytes]) -> None:
    """End a child and whatever it has started, whatever they are doing, and close its pipes."""
    if process.returncode is None:  # not waited for yet: until then its number is nobody else's
        with suppress(ProcessLookupError):  # it leads no group
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    process.wait()
