"""What a person has mistyped: a command of the other machine, a slip in a name, a value without quotes."""

from __future__ import annotations

import re
from difflib import get_close_matches

import click

from airlock_shared.cli.terminal import MACHINES, say
from airlock_shared.errors import UsageError

OF_ONE = {
    "online": frozenset({
        "actions", "build", "call", "delegate proof", "delegation", "deployment", "descriptors", "export", "follow",
        "meta", "nonce", "pairs", "positions", "prepare", "ready", "referral", "rehearse", "relay", "resolve", "status",
        "submit", "venue",
    }),
    "offline": frozenset({
        "accounts", "address", "delegate check", "delegate prove", "digest", "plan draft", "preflight", "sign",
        "transcript", "trust", "verify",
    }),
}  # fmt: skip
"""The commands that the other machine does not have: who gives one there is told where it belongs."""
_LEFT_OVER = re.compile(r"Got unexpected extra arguments? \((.*)\)", re.DOTALL)
_GROUPS = re.compile(r"(?:[0-9a-fA-F]{4} ?)+")


def mistyped(error: click.ClickException) -> UsageError:
    """Return the error that says which mistake it is."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is None:
        return UsageError(error.format_message())
    see = f"see: {context.command_path} --help"
    if isinstance(error, click.exceptions.NoSuchCommand):
        path = " ".join((*context.command_path.split()[1:], error.command_name))
        half = next((half for half, commands in OF_ONE.items() if path in commands), None)
        if half:
            return UsageError(
                f"`{path}` is a command of {MACHINES[half]}", do=f"type it there: airlock-{half} {path} ..."
            )
        names = context.command.list_commands(context) if isinstance(context.command, click.Group) else []
        near = " or ".join(get_close_matches(error.command_name, names))
        return UsageError(f"there is no command {path!r}", do=f"did you mean {near}? {see}" if near else see)
    if left_over := _LEFT_OVER.fullmatch(error.format_message()):
        quoted = '--fingerprint "abcd 1234 ..."' if _GROUPS.fullmatch(left_over[1]) else '"two words"'
        return UsageError(
            f"words are left over: {left_over[1]}", do=f"a value with blanks stands in quotes: {quoted}; {see}"
        )
    say(context.get_usage())
    return UsageError(error.format_message(), do=see)
