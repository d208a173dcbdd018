"""What the commands about proofs of possession share in both halves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from airlock_shared.ceremony.proofs import choose_step
from airlock_shared.cli.console import PATH, json_option, plan_option, say, say_all, show, show_json
from airlock_shared.host.files import read_input, write_new
from airlock_shared.plan.delegate_proofs import Challenge, challenge_of
from airlock_shared.plan.reader import parse_plan
from airlock_shared.text.safe import safe

if TYPE_CHECKING:
    from airlock_shared.documents.deployment import Deployment

step_option = click.option("--step", "step_id", help="Which step, when the plan registers several delegates.")


def challenge_command(require: Callable[[Any, str], Deployment], how: str) -> click.Command:
    """Return ``delegate challenge`` of a half: ``require`` gives its deployment of a name, ``how`` says how it goes on."""

    @click.command("challenge")
    @plan_option
    @step_option
    @click.option("-o", "--output", type=PATH, help="Also write the text to a new file.")
    @json_option
    @click.pass_obj
    def challenge(home: Any, plan_file: Path, step_id: str | None, output: Path | None, as_json: bool) -> None:
        r"""Show the text that the delegate key has to sign.

        \b
        Example:
          PROGRAM delegate challenge --plan plan.toml -o challenge.txt
        """
        plan = parse_plan(read_input(plan_file))
        asked = challenge_of(plan, require(home, plan.deployment), choose_step(plan, step_id))
        tell_challenge(asked, output, how, as_json=as_json)

    return challenge


def tell_challenge(challenge: Challenge, output: Path | None, how: str, *, as_json: bool) -> None:
    """Show the text that a delegate key has to sign, write it to a new file when one is named, and say how it goes on."""
    text = challenge.text()
    if output is not None:
        write_new(output, text)
        say(f"Wrote {safe(str(output))}, {len(text)} bytes, without a newline at its end")
    if as_json:
        show_json({"ok": True, **challenge._asdict(), "text": text.decode(), "sha256": challenge.sha256()})
        return
    show(text.decode())
    say()
    say_all(how.splitlines())
