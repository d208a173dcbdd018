"""``airlock-online``: the program of the online machine."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import ClassVar

import click

from airlock_shared.cli.console import run
from airlock_shared.cli.lazy_commands import LazyCommands

# name -> (module, attribute, one line for the list of commands): a module is imported only when it is used
COMMANDS = {
    "plan": ("plans", "PLAN", "Show a ceremony plan with its fingerprint."),
    "deployment": ("deployments", "DEPLOYMENT", "Fetch a venue's deployment, to be pinned offline."),
    "ready": ("deployments", "READY", "Ask the builder whether it is ready."),
    "actions": ("plans", "ACTIONS_COMMAND", "List the actions that a plan can ask for, with their fields."),
    "ceremony": ("ceremonies", "CEREMONY", "Record who holds which role, and what people confirm."),
    "prepare": ("prepare", "PREPARE", "Build and check every step of a plan."),
    "build": ("build", "BUILD", "Build and check one action, without a plan file."),
    "call": ("call", "CALL", "Ask the builder for any path; take the answer as a step's payload."),
    "show": ("show", "COMMAND", "Show a document as QR codes."),
    "scan": ("scan", "COMMAND", "Read a document from QR codes, and write it."),
    "meta": ("reads", "META", "Show what the venue says of itself, against what is pinned."),
    "pairs": ("reads", "PAIRS", "List the venue's pairs."),
    "positions": ("reads", "POSITIONS", "List an account's positions and waiting orders."),
    "nonce": ("reads", "NONCE", "Tell whether a nonce is used."),
    "delegate": ("delegates", "COMMAND", "Prove a delegate key that lives on a server."),
    "delegation": ("reads", "DELEGATION", "Tell what a delegate may do, and until when."),
    "referral": ("referrals", "REFERRAL", "Tell who owns a referral code, by builder and chain."),
    "relay": ("reads", "RELAY", "Tell what became of a relayed transaction."),
    "submit": ("submit", "SUBMIT", "Deliver signatures once, and follow what becomes of them."),
    "follow": ("follow", "FOLLOW", "Go on following what was submitted."),
    "resolve": ("resolve", "RESOLVE", "Say what is known of what has not ended, and what it waits for."),
    "status": ("follow", "STATUS", "List what was submitted and what became of it."),
    "export": ("export", "EXPORT", "Write signatures as a package for another sender."),
    "descriptors": ("descriptors", "DESCRIPTORS", "Write ERC-7730 clear-signing descriptors of a deployment."),
    "report": ("reports", "COMMAND", "Make the report of a ceremony, or verify one."),
    "doctor": ("doctor", "DOCTOR", "Find out why something does not work; change nothing."),
    "explain": ("explain", "EXPLAIN", "Say what a code, a check or an exit code means."),
    "rehearse": ("rehearse", "REHEARSE", "Run whole ceremonies on this machine, or serve what they need."),
    "config": ("config", "CONFIG", "Show the configuration, and where each value comes from."),
    "completion": ("completion", "COMMAND", "Print what makes a shell complete this program's commands."),
}


class Commands(LazyCommands):
    """The commands of this half."""

    table: ClassVar = {
        name: (f"airlock_online.cli.{module}", attribute, line) for name, (module, attribute, line) in COMMANDS.items()
    }


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80})
@click.option(
    "--home",
    type=click.Path(path_type=Path, file_okay=False),
    help="This machine's folder (default: $AIRLOCK_ONLINE_HOME, or ~/.airlock-online).",
)
@click.version_option(package_name="airlock-online")
@click.pass_context
def program(context: click.Context, home: Path | None) -> None:
    """Airlock's online half: builds requests, submits signatures, follows outcomes. It holds no key."""
    from airlock_online.state import State, default_home

    context.obj = State(home or default_home())


def main() -> None:
    """Run the program and leave with its exit code."""
    sys.exit(run(program))
