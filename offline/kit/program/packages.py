"""What the kit's scripts need Python for. It runs our own modules out of the kit's wheels, never the installed ones.

``interpreter`` says whether this Python can have the kit, and prints its path; ``compile FOLDER`` writes the bytecode;
``examine FOLDER FINGERPRINT`` compares an installation with the kit; ``name FOLDER NEW`` gives a finished one its name.
Modules are imported where they are used, so that an older Python gets as far as the message that it is one.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path

KIT = Path(__file__).resolve().parents[1]
sys.path[:0] = sorted(str(wheel) for wheel in (KIT / "wheels").glob("airlock_*.whl"))


def stop(what: str, do: str, code: int = 2) -> None:
    """Say what is wrong and what to do, and leave."""
    sys.stderr.write(f"{what}\n  do:       {do}\n")
    sys.exit(code)


def interpreter() -> None:
    """Print the path of this Python, or say why the kit is not for it."""
    kit = dict(line.split("=", 1) for line in (KIT / "KIT").read_text().splitlines())
    version, machine = f"{sys.version_info[0]}.{sys.version_info[1]}", os.uname().machine
    libc = (os.confstr("CS_GNU_LIBC_VERSION") or "none").split()[-1]
    if sys.implementation.name != "cpython" or version != kit["python"]:
        stop(
            f"this is {sys.implementation.name} {version}, but the kit is for CPython {kit['python']}",
            f"name the right Python as the third word, or build the kit with KIT_PYTHON={version}",
        )
    if machine != kit["machine"] or sys.maxsize < 2**32:
        stop(f"this machine is {machine}, but the kit is for 64-bit {kit['machine']}", "build a kit for it")
    if libc == "none" or [int(n) for n in libc.split(".")[:2]] < [int(n) for n in kit["glibc"].split(".")]:
        stop(f"the system's C library is {libc}, but the kit needs glibc {kit['glibc']}", "use a newer system")
    sys.stdout.write(f"{Path(sys.executable).resolve()}\n")


def compile_all(folder: str) -> None:
    """Write the bytecode of every installed module."""
    from airlock_offline.installation import write_all  # noqa: PLC0415 - an older Python gets as far as the message

    write_all(Path(folder))


def examine(folder: str, fingerprint: str) -> None:
    """Compare an installation with the kit's lists, and show the fingerprint; leave with 3 when anything differs."""
    from airlock_offline.installation import (  # noqa: PLC0415 - as above
        INSTALL_AGAIN,
        INTERPRETER,
        PAPERS,
        examine_installation,
    )
    from airlock_shared.text.safe import (  # noqa: PLC0415 - as above
        grouped,
        safe,
        spoken_rows,
    )

    root = Path(folder)
    if not os.path.lexists(root / PAPERS):
        stop(f"KIT-INSTALLED: {safe(folder)} was not installed from a kit", "name a folder that was", 3)
    runs, this = (root / INTERPRETER).resolve(), Path(sys.executable).resolve()
    if runs != this:
        stop(
            f"KIT-INSTALLED: {INTERPRETER}: another Python\n  got:      {safe(str(runs))}\n  expected: {this}",
            "if it was installed with that one, name it as the third word; if not, stop: somebody changed it",
            3,
        )
    installation = examine_installation(root, fingerprint)
    for finding in installation.findings:
        sys.stderr.write(f"{finding.check}: {safe(finding.path)}: {finding.what}\n")
        for name, value in (("got:      ", finding.got), ("expected: ", finding.expected)):
            sys.stderr.write(f"  {name}{value}\n" if value else "")
    if installation.findings:
        stop(f"{len(installation.findings)} findings", f"stop: {INSTALL_AGAIN}", 3)
    words = "\n  ".join(spoken_rows(fingerprint))
    sys.stderr.write(
        f"The installation matches the kit: {installation.files} files and their bytecode.\n"
        f"  {installation.kit}\n  {grouped(fingerprint)}\n  {words}\n"
    )


def name_it(folder: str, new: str) -> None:
    """Give a finished installation its name, unless somebody took it meanwhile."""
    try:
        Path(folder).rename(new)
    except OSError as error:
        stop(f"{new} cannot be given its name: {error.strerror}", "name a new folder")


COMMANDS: "dict[str, Callable[..., None]]" = {  # quoted: an older Python has no such type to make
    "interpreter": interpreter,
    "compile": compile_all,
    "examine": examine,
    "name": name_it,
}

if __name__ == "__main__":
    command, *words = sys.argv[1:]
    if command not in COMMANDS:
        stop(f"{command} is not a command of this program", "only the kit's scripts call it")
    COMMANDS[command](*words)
