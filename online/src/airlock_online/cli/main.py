"""``airlock-online``: the program of the online machine."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import ClassVar

import click

from airlock_online.home import OnlineHome, default_home
from airlock_shared.cli.program import LazyCommands, run
from airlock_shared.cli.terminal import FOLDER_TYPE
from airlock_shared.errors import UsageError
from airlock_shared.text.safe import WIDTH

# heading -> name -> its line in the list of commands; its module is imported only when it is used
_HEADINGS = {
    "Days before": {
        "plan": "Write, check or show a ceremony plan.",
        "actions": "List the actions that a plan can ask for, with their fields.",
    },
    "The venue": {
        "deployment": "Fetch a venue's deployment, to be pinned offline.",
        "venue": "Try a venue's files against its builder; nothing is sent.",
        "ready": "Ask the builder whether it is ready.",
        "meta": "Compare the venue's own description with the pinned one.",
        "pairs": "List the venue's pairs.",
        "nonce": "Show whether a nonce is used.",
    },
    "The people": {
        "ceremony": "Lead people through a ceremony; record what they confirm.",
    },
    "The account, the delegate, the code": {
        "positions": "List an account's positions and pending orders.",
        "delegation": "Show what a delegate may do, and until when.",
        "delegate": "Prove a delegate key that is on a server.",
        "referral": "Show who owns a referral code, by builder and chain.",
    },
    "The requests": {
        "prepare": "Build and check every step of a plan.",
        "build": "Build and check one action, without a plan file.",
        "call": "Ask the builder for any path; take the answer as a step's payload.",
    },
    "Across the gap": {
        "show": "Show a document as QR codes.",
        "scan": "Read a document from QR codes, and write it.",
    },
    "Deliver, and follow to the outcome": {
        "submit": "Deliver signatures once, and follow them to their outcome.",
        "export": "Write signatures as a package for another sender.",
        "follow": "Follow submitted signatures to their outcome.",
        "resolve": "Show what is known of open submissions, and what they wait for.",
        "status": "List what was submitted, with its outcome.",
        "relay": "Show the outcome of a relayed transaction.",
        "explain": "Explain a code, a check or an exit code.",
    },
    "The evidence": {
        "report": "Make the report of a ceremony, or verify one.",
        "forget": "Remove kept copies of signatures that can execute no more.",
    },
    "This machine": {
        "doctor": "Find out why something does not work; change nothing.",
        "config": "Show the configuration, and where each value comes from.",
        "completion": "Print shell completion for this program's commands.",
    },
    "Outside ceremonies": {
        "rehearse": "Run whole ceremonies on this machine, or serve what they need.",
        "descriptors": "Write ERC-7730 clear-signing descriptors of a deployment.",
    },
}

_READS = ("ready", "meta", "pairs", "positions", "nonce", "delegation", "referral", "relay")
MODULES = {
    **dict.fromkeys(_READS, "reads"),
    **dict.fromkeys(("config", "completion", "explain", "forget"), "machine"),
    **dict.fromkeys(("show", "scan"), "qr"),
    "descriptors": "wallet_exchange",
    "plan": "ceremony",
    "status": "follow",
}
"""The module of each command that does not stand in one of its own name."""


class OnlineCommands(LazyCommands):
    """The commands of this half."""

    package = "airlock_online.cli"
    headings: ClassVar = _HEADINGS
    modules: ClassVar = MODULES

    def load(self, name: str) -> click.Command:
        """Import a command; ``rehearse`` is of another distribution, which says by an entry point that it is there."""
        return _rehearse() if name == "rehearse" else super().load(name)


def _rehearse() -> click.Command:
    from importlib.metadata import entry_points  # noqa: PLC0415 - slow to load, and for this command alone

    for entry in entry_points(group="airlock_online.commands", name="rehearse"):
        command: click.Command = entry.load()
        return command
    raise UsageError("the rehearsal is not installed", do="use `make rehearse`, or install airlock-rehearsal")


@click.command(cls=OnlineCommands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDTH})
@click.option(
    "--home",
    type=FOLDER_TYPE,
    help="This machine's folder (default: $AIRLOCK_ONLINE_HOME, or ~/.airlock-online).",
)
@click.version_option(package_name="airlock-online")
@click.pass_context
def program(context: click.Context, home: Path | None) -> None:
    """Airlock's online half: builds requests, submits signatures, follows outcomes. It holds no key."""
    context.obj = OnlineHome(home or default_home())


def main() -> None:
    """Run the program and leave with its exit code."""
    sys.exit(run(program))
