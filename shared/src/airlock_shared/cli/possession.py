"""What the commands about proofs of possession share in both halves."""

from __future__ import annotations

from pathlib import Path

import click

from airlock_shared.ceremony.possession import Challenge
from airlock_shared.cli.console import INPUT, say, show, show_json
from airlock_shared.host.files import write_new
from airlock_shared.text.safe import safe

plan_option = click.option("--plan", "plan_file", type=INPUT, required=True, help="The ceremony plan.")
step_option = click.option("--step", "step_id", help="Which step, when the plan registers several delegates.")


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
    for line in how.splitlines():
        say(line)
