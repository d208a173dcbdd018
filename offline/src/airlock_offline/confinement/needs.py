"""What a command line needs of the machine, read from its parameters before the command begins."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from airlock_offline.confinement.confine import Needs, own_temporary_folder
from airlock_shared.host.files import make_folder

EVERYWHERE = ("doctor",)  # it reads no document, and looks at other processes for whoever holds the Ledger
KEEP_NOTHING = frozenset(
    {"doctor", "digest", "verify", "config", "completion", "explain", "report", "plan", "transcript show",
     "transcript verify", "delegate challenge", "ceremony show", "ceremony course"}
)  # fmt: skip
"""Commands that write nothing into this machine's folder, and may not; the others find it made."""


OUTPUTS = {"-o", "--hardware-record"}
"""Options whose path is written; every other path of a command is read."""

APDU_LOG = "airlock.apdu-log"  # where the click context keeps the path of a file that is no parameter of the command


def needs_of(context: click.Context, home: Path) -> Needs:
    """Return what a command needs.

    The folder of what is written is written to: a file is made beside its place first. Nothing is read here.
    Raises ``UsageError`` when a folder of ours cannot be made.
    """
    words = context.params
    command, *inner = context.command_path.split()[1:]
    keeps = KEEP_NOTHING.isdisjoint((command, " ".join((command, *inner)))) or bool(words.get("qr"))
    if keeps and command != "forget":  # which removes, and makes nothing
        make_folder(home.absolute())
    outputs = [*filter(None, [context.meta.get(APDU_LOG)])]
    inputs: list[Path] = []
    for parameter in context.command.params:
        is_output = isinstance(parameter, click.Option) and not OUTPUTS.isdisjoint(parameter.opts)
        (outputs if is_output else inputs).extend(_paths(parameter, words.get(parameter.name or "")))
    outputs += [page for folder in words.get("ceremonies", ()) if (page := folder / "codes" / "page").parent.is_dir()]
    if "ledger_path" in words and (words.get("emulator_port") is None or command == "sign"):  # locks are there
        outputs.append(own_temporary_folder() / "lock")
    return Needs(
        reads=(*(path.absolute() for path in inputs), *(() if keeps else (home.absolute(),))),
        writes=(*((home.absolute(),) if keeps else ()), *(path.absolute().parent for path in outputs)),
        connect=words.get("emulator_port"),
        files=command not in EVERYWHERE,
    )


def _paths(parameter: click.Parameter, value: Any) -> Iterator[Path]:
    """Yield the paths in a parameter's value: those of a path's type, and the words of a list of sources."""
    if isinstance(value, Path):
        yield value
    elif isinstance(value, tuple) and parameter.name == "sources":
        yield from map(Path, value)
    elif isinstance(value, str) and isinstance(parameter.type, (click.Path, click.File)):
        yield Path(value)
