"""``delegate challenge`` and ``delegate proof``: delegate keys on a server prove themselves with its own wallet."""

from __future__ import annotations

from pathlib import Path

import click

from airlock_online.home import OnlineHome
from airlock_shared.ceremony.seals import write_proofs
from airlock_shared.cli.possession import (
    challenge_command,
    proofs_argument,
    proved_keys,
    signature_option,
    step_option,
    tell_proved,
)
from airlock_shared.cli.qr.file_or_qr import require_output
from airlock_shared.cli.terminal import json_option, output_option, plan_option, rows, show_all, show_json
from airlock_shared.host.files import read_input, write_new
from airlock_shared.plan.toml_positions import parse_written_plan
from airlock_shared.text.safe import safe

_HOW = """\
Have each delegate key's own wallet sign exactly its text, as a personal message
(personal_sign, EIP-191). Write each signature into the file of the challenges:
  airlock-online delegate proof challenges.json --plan PLAN -o proofs.json
Or, of one key:
  airlock-online delegate proof --signature 0x… --plan PLAN -o proofs.json"""


@click.group("delegate")
def delegate() -> None:
    """Prove delegate keys that are on a server."""


delegate.add_command(challenge_command(OnlineHome.require_deployment, _HOW))


@delegate.command("proof")
@proofs_argument
@plan_option
@step_option
@signature_option
@output_option("The proofs to write.")
@json_option
@click.pass_obj
def proof_command(
    home: OnlineHome,
    sources: tuple[Path, ...],
    plan_file: Path,
    step_id: str | None,
    signature: str | None,
    output: Path,
    as_json: bool,
) -> None:
    r"""Check the signatures over the challenges, and write the proofs to carry.

    PROOFS is the file of the challenges, in which each has its signature. Only the air-gapped machine's own check counts:
    airlock-offline delegate check.

    \b
    Examples:
      airlock-online delegate proof challenges.json --plan plan.toml \
        -o proofs.json
      airlock-online delegate proof --signature 0x… --plan plan.toml \
        -o proofs.json
    """
    require_output(output)
    plan = parse_written_plan(read_input(plan_file))
    proved = proved_keys(plan, home.require_deployment(plan.deployment), sources, signature, step_id)
    write_new(output, write_proofs(proved))
    if as_json:
        keys = {asked.step: asked.delegate for asked, _ in proved}
        show_json({"ok": True, "delegates": keys, "file": str(output)})
    else:
        tell_proved(proved)
        show_all(rows("Wrote ", safe(str(output))))
