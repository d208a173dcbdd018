"""``delegate challenge`` and ``delegate proof``: a delegate key that lives on a server proves itself with its own wallet."""

from __future__ import annotations

from pathlib import Path

import click

from airlock_online.home import OnlineHome
from airlock_shared.ceremony.proofs import choose_step, read_signature, write_proof
from airlock_shared.cli.console import json_option, plan_option, rows, show, show_json
from airlock_shared.cli.possession import challenge_command, step_option
from airlock_shared.host.files import read_input, require_new, write_new
from airlock_shared.plan.delegate_proofs import Challenge, challenge_of, check_possession
from airlock_shared.plan.reader import parse_plan
from airlock_shared.text.safe import safe

_HOW = """\
Have the delegate key's own wallet sign exactly this text, as a personal message
(personal_sign, EIP-191). Then:
  airlock-online delegate proof --signature 0x… --plan PLAN -o proof.json"""


@click.group("delegate")
def delegate() -> None:
    """Prove a delegate key that is on a server."""


def _challenge(home: OnlineHome, plan_file: Path, step_id: str | None) -> Challenge:
    plan = parse_plan(read_input(plan_file))
    return challenge_of(plan, home.require_deployment(plan.deployment), choose_step(plan, step_id))


delegate.add_command(challenge_command(OnlineHome.require_deployment, _HOW))


@delegate.command("proof")
@plan_option
@step_option
@click.option("--signature", metavar="0x…", required=True, help="The answer of the delegate key's wallet.")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="The proof to write.")
@json_option
@click.pass_obj
def proof_command(
    home: OnlineHome, plan_file: Path, step_id: str | None, signature: str, output: Path, as_json: bool
) -> None:
    r"""Check a signature over the challenge, and write the proof to carry.

    Only the air-gapped machine's own check counts: airlock-offline delegate check.

    \b
    Example:
      airlock-online delegate proof --signature 0x… --plan plan.toml \
        -o proof.json
    """
    require_new(output)
    challenge, signed = _challenge(home, plan_file, step_id), read_signature(signature)
    check_possession(challenge, signed)
    write_new(output, write_proof(challenge, signed))
    if as_json:
        show_json({"ok": True, "step": challenge.step, "delegate": challenge.delegate, "file": str(output)})
    else:
        show(f"recovered  {challenge.delegate}\n           the plan's delegate, step {challenge.step}")
        show("\n".join(rows("Wrote ", safe(str(output)))))
