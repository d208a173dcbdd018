"""``airlock-offline``: the program of the air-gapped machine. The network guard is the first thing that runs.

The kernel's is next: when a command's words are read, and before it reads anything else.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import click

from airlock_offline import airgap
from airlock_shared.cli.lazy_commands import READER, LazyCommands
from airlock_shared.cli.program import run

# name -> its line in the list of commands; the module of the same name is imported only when it is used
COMMANDS = {
    "plan": "Write, check, show or draft a ceremony plan.",
    "trust": "Pin a deployment after comparing its fingerprint.",
    "trust-struct": "Pin a struct beyond the catalogue.",
    "preflight": "Check the machine, its clock and the Ledger before a ceremony.",
    "doctor": "Find out why something does not work; change nothing.",
    "explain": "Explain a check or an exit code.",
    "config": "Show the configuration, and where each value comes from.",
    "ceremony": "Lead people through a ceremony; record what they confirm.",
    "address": "Show the Ledger's address at a path, and confirm it on its screen.",
    "accounts": "Show an account to a watch-only wallet, as a QR code.",
    "delegate": "Have a delegate key sign a proof before it is registered.",
    "show": "Show a document as QR codes.",
    "scan": "Read a document from QR codes, and write it.",
    "verify": "Run every check over a requests document, without a device.",
    "sign": "Review and sign a requests document, step by step.",
    "digest": "Print the hashes of any EIP-712 document.",
    "transcript": "Show or verify this machine's transcript.",
    "report": "Make the report of a ceremony, or verify one.",
    "forget": "Remove kept copies of signatures that can execute no more.",
    "completion": "Print shell completion for this program's commands.",
}

STATIONS = {  # the first command of each, and the heading above it
    "plan": "Days before",
    "trust": "The venue",
    "preflight": "This machine",
    "ceremony": "The people",
    "address": "The account, the delegate",
    "show": "Across the gap",
    "verify": "Check and sign",
    "transcript": "The evidence",
    "completion": "Beside ceremonies",
}


LEADS = ["ceremony", "run"]


class OfflineCommands(LazyCommands):
    """The commands of this half; ``before`` is called when a command's words are read, before the command begins."""

    package = "airlock_offline.cli"
    table: ClassVar = COMMANDS
    stations: ClassVar = STATIONS
    before: Callable[[click.Context], None] | None = None

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Return the command of this name, or None."""
        found = super().get_command(context, name)
        return found if found is None or self.before is None else _after(self.before, found)


def _after(before: Callable[[click.Context], None], command: click.Command) -> click.Command:
    """Return a command, or a group's commands, that call ``before`` first; the copy is the program's own already."""
    if isinstance(command, click.Group):
        command.commands = {name: _after(before, member) for name, member in command.commands.items()}
    elif (work := command.callback) is not None:

        def both(*given: Any, **named: Any) -> Any:
            before(click.get_current_context())
            return work(*given, **named)

        command.callback = both
    return command


def _read_pictures_elsewhere(context: click.Context) -> None:
    """Have pictures read in another process, by whichever command is given some."""

    def texts_of(sources: Sequence[str], tell: Callable[[str], None]) -> Iterator[list[str]]:
        from airlock_offline.scanning import pictures_process

        return pictures_process.texts_of(sources, tell)

    context.meta[READER] = texts_of


def confine_command(context: click.Context) -> None:
    """Have the kernel refuse what this command does not need, and keep what it enforces in the state.

    Not the command that leads a ceremony: it reads nothing that others made, and each command that it starts is confined.
    """
    from airlock_offline.confinement.confine import confine
    from airlock_offline.confinement.needs import needs_of

    if context.command_path.split()[1:] == LEADS:
        return
    state = context.find_root().obj
    state.confinement = confine(needs_of(context, state.home))


@click.command(cls=OfflineCommands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80})
@click.option(
    "--home",
    type=click.Path(path_type=Path, file_okay=False),
    help="This machine's folder (default: $AIRLOCK_OFFLINE_HOME, or ~/.airlock-offline).",
)
@click.version_option(package_name="airlock-offline")
@click.pass_context
def program(context: click.Context, home: Path | None) -> None:
    """Airlock's air-gapped half: checks, shows and signs on a Ledger. It uses no network."""
    from airlock_offline.home import OfflineHome, default_home

    state = context.obj = OfflineHome(home or default_home())
    _read_pictures_elsewhere(context)
    if (
        state.settings_file.exists() and context.invoked_subcommand != "doctor"
    ):  # which says what is wrong with the file
        from airlock_offline.config import option_defaults, read_config
        from airlock_offline.device_connection import REVIEW

        context.default_map = option_defaults(state.settings_file)
        context.meta[REVIEW] = 60 * read_config(state.settings_file).ledger.review_minutes


def main() -> None:
    """Run the program and leave with its exit code."""
    airgap.install()
    assert isinstance(program, OfflineCommands)  # noqa: S101 (it was declared so)
    program.before = confine_command
    sys.exit(run(program))
