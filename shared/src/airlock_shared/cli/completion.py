"""``completion``: the lines that make a shell complete a program's command lines."""

from __future__ import annotations

import click

from airlock_shared.cli.console import json_option, paint, show_json
from airlock_shared.cli.lazy_commands import completion_variable

SHELLS = ("bash", "zsh", "fish")


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
@json_option
@click.pass_context
def completion(context: click.Context, shell: str, as_json: bool) -> None:
    r"""Print the lines that make a shell complete this program's commands, options and file names.

    \b
    Example for bash, in this terminal (in each: the same line in ~/.bashrc):
      eval "$(PROGRAM completion bash)"
    zsh: the same with zsh; fish: PROGRAM completion fish | source
    """
    from click.shell_completion import ShellComplete, get_completion_class

    program = context.find_root().command_path
    kind = get_completion_class(shell)
    if kind is None:  # click always has the three
        raise click.UsageError(f"no completion for {shell}")
    script = ShellComplete.source(kind(context.find_root().command, {}, program, completion_variable(program)))
    if as_json:
        show_json({"ok": True, "shell": shell, "script": script})
    else:
        paint(script, end="")
