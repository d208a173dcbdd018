"""Starting a child of our own: the same interpreter and packages, no environment, no terminal, no descriptors but its pipes.

It inherits the kernel's filter, and narrows it further before it loads what it was started for.
"""

from __future__ import annotations

import json
import subprocess
import sys

_BEGIN = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from {module} import main; main()"


def start(module: str, cwd: str = "/") -> subprocess.Popen[bytes]:
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


def end(process: subprocess.Popen[bytes]) -> None:
    """End a child, whatever it is doing, and close its pipes."""
    process.kill()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    process.wait()
