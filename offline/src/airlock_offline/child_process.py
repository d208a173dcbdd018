"""Starting a child of our own: the same interpreter and packages, no environment, no terminal, no descriptors but its pipes.

A child that begins after the kernel's filter inherits it, and narrows it before it loads what it was started for. The
printer of reports begins before. Each ends with us.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress

from airlock_offline.confinement.filter import end_with_parent

_BEGIN = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from airlock_offline.child_process import begun; begun(); "
    "from {module} import main; main()"
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
