"""What the commands about proofs of possession share in both halves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from airlock_shared.ceremony.seals import (
    Proof,
    check_claim,
    check_possession,
    choose_step,
    parse_proofs,
    read_seal,
    write_proofs,
)
from airlock_shared.cli.terminal import (
    INPUT,
    PATH_TYPE,
    advice,
    json_option,
    plan_option,
    say,
    say_all,
    show,
    show_json,
)
from airlock_shared.errors import Refusal, UsageError
from airlock_shared.host.files import read_document, read_input, write_new
from airlock_shared.plan.delegate_proofs import Challenge, challenge_of, is_waived, registrations
from airlock_shared.plan.model import Plan
from airlock_shared.plan.toml_positions import parse_written_plan
from airlock_shared.text.safe import safe

if TYPE_CHECKING:
    from airlock_shared.documents.deployment import Deployment

step_option = click.option("--step", "step_id", help="Which step alone, when the plan registers several delegates.")
signature_option = click.option(
    "--signature", metavar="0x…", help="The bare signature of one key, instead of the document."
)
proofs_argument = click.argument("sources", metavar="[PROOFS]...", type=INPUT, nargs=-1, required=False)


def challenge_command(require: Callable[[Any, str], Deployment], how: str) -> click.Command:
    """Return ``delegate challenge`` of a half: ``require`` gives its deployment of a name, ``how`` says how it goes on."""

    @click.command("challenge")
    @plan_option
    @step_option
    @click.option(
        "-o", "--output", type=PATH_TYPE, help="Also write them to a new file, for each to be answered there."
    )
    @json_option
    @click.pass_obj
    def challenge(home: Any, plan_file: Path, step_id: str | None, output: Path | None, as_json: bool) -> None:
        r"""Show the text that each delegate key has to sign.

        \b
        Example:
          PROGRAM delegate challenge --plan plan.toml -o challenges.json
        """
        plan = parse_written_plan(read_input(plan_file))
        deployment = require(home, plan.deployment)
        steps = [step for step in registrations(plan) if not is_waived(step)] if step_id is None else []
        asked = [challenge_of(plan, deployment, step) for step in steps or [choose_step(plan, step_id)]]
        if output is not None:
            write_new(output, write_proofs((each, "") for each in asked))
            say(f"Wrote {safe(str(output))}, {len(asked)} to sign")
        if as_json:
            show_json(
                {
                    "ok": True,
                    "challenges": [
                        {**each._asdict(), "text": each.text().decode(), "sha256": each.sha256()} for each in asked
                    ],
                }
            )
            return
        for each in asked if output is None or len(asked) == 1 else ():
            show(each.text().decode())
            say()
        say_all(how.splitlines())

    return challenge


def proved_keys(
    plan: Plan, deployment: Deployment, files: Sequence[Path], signature: str | None, step_id: str | None
) -> list[tuple[Challenge, str]]:
    """Return the challenges of a plan that were answered, each with its signature, in documents or by a bare one.

    Every one of them holds. Raises as the readers do, ``UsageError`` without either, or for both, and ``Refusal`` for an
    answer that is none, with its file and step.
    """
    if bool(files) == (signature is not None):
        raise UsageError("give either the document or --signature, not both", do="see the help of this command: -h")
    proofs: list[tuple[Path | None, Proof]] = [
        (file, proof) for file in files for proof in read_document(file, parse_proofs)
    ]
    if signature is not None:
        asked = challenge_of(plan, deployment, choose_step(plan, step_id))
        proofs = [(None, Proof(asked, asked.text().decode(), signature))]
    found = dict[Challenge, str]()  # a proof may stand twice
    for file, proof in proofs:
        try:
            asked = challenge_of(plan, deployment, choose_step(plan, step_id or _step_of(proof, plan)))
            check_claim(proof, asked)
            check_possession(asked, read_seal(proof.signature))
        except Refusal as refusal:
            if file:
                refusal.at(f"{file}, step {proof.claimed.step}")
                refusal.do = f"{advice(refusal)} A right proof lies beside this file? Then move this one away."
            raise
        found[asked] = proof.signature
    return [*found.items()]


def _step_of(proof: Proof, plan: Plan) -> str | None:
    """Return the step that a proof names when the plan registers a delegate in it, else None: the only one is meant."""
    known = [step.id for step in registrations(plan)]
    return proof.claimed.step if proof.claimed.step in known or len(known) != 1 else None


def tell_proved(proved: list[tuple[Challenge, str]]) -> None:
    """Say whose keys have proved themselves: the one, or how many."""
    if len(proved) == 1:
        show(f"recovered  {proved[0][0].delegate}\n           the plan's delegate, step {proved[0][0].step}")
    else:
        show(f"recovered  the plan's delegate keys of {len(proved)} steps")
