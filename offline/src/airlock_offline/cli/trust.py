"""``trust``: a deployment becomes a pin, after people have compared it."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import click

from airlock_offline.home import OfflineHome, now_ms
from airlock_offline.ledger.typed_data import BY_HASHES_DO, EXPECTED, WIDTHS, refused_integers, type_faults
from airlock_shared.ceremony.sections import BY_PAPER, no_on_record, proved_by_words
from airlock_shared.checks.intent import definitions
from airlock_shared.cli.ceremony.by_screens import show_above_question
from airlock_shared.cli.comparison_lines import changed_lines, deployment_lines
from airlock_shared.cli.qr.file_or_qr import incoming, qr_option, restart_option
from airlock_shared.cli.terminal import INPUT, PATH_TYPE, ask_yes, json_option, say, say_all, show_json
from airlock_shared.documents.deployment import (
    DEPLOYMENT_FORMAT,
    REHEARSAL_CHAINS,
    all_worth_nothing,
    parse_deployment,
    valid_elsewhere,
)
from airlock_shared.errors import Refusal
from airlock_shared.host.files import read_input
from airlock_shared.plan.toml_positions import parse_written_plan


@click.command("trust")
@click.argument("source", type=PATH_TYPE)
@click.option("--plan", "plan_file", type=INPUT, help="Its ceremony, in which the words may have been typed already.")
@qr_option
@restart_option
@json_option
@click.pass_obj
def trust(state: OfflineHome, source: Path, plan_file: Path | None, qr: bool, restart: bool, as_json: bool) -> None:
    r"""Pin the deployment in SOURCE, after the whole word Yes. If it replaces a pin, the lines that change are shown.

    With --plan nothing is asked when signer and witness typed its words in that open ceremony and no pin is replaced.

    \b
    Example:
      airlock-offline trust deployment.json
      airlock-offline trust camera --qr
    """
    data = incoming(state.home, source, DEPLOYMENT_FORMAT, "trust", known=state.pins, qr=qr, restart=restart)
    deployment = parse_deployment(data)
    if deployment.rehearsal and deployment.chain_id not in REHEARSAL_CHAINS:
        raise Refusal(
            "PIN-REHEARSAL",
            "it calls itself a rehearsal, and its chain is not one of a rehearsal's own",
            got=f"chain id {deployment.chain_id}",
            expected=" or ".join(map(str, REHEARSAL_CHAINS)),
        )
    refused: list[str] = []
    for intent in deployment.structs.values():
        structs = definitions(intent).structs
        refused += refused_integers(structs)
        if faults := type_faults(structs, intent.name):
            raise Refusal(
                "DIGEST-LEDGER",
                f"no Ledger signs {intent.name} field by field",
                got="; ".join(faults),
                expected=EXPECTED,
                do="leave it out of the venue's profile, and fetch that again",
            )
    widths = [f"NOTE: the Ethereum app takes {WIDTHS} alone, and not {', '.join(refused)}:", f"  {BY_HASHES_DO}."]
    notes = [*valid_elsewhere(deployment, state.pins()), *(widths if refused else ())]
    pinned = state.pinned(deployment.name)
    on_record = state.pin_on_record(deployment.name)
    if pinned and pinned.fingerprint == deployment.fingerprint == on_record:
        say(f"{deployment.name} is pinned already, with this fingerprint; nothing to do.")
    else:
        plan = None if plan_file is None else parse_written_plan(read_input(plan_file))
        compared = plan is not None and proved_by_words(  # from paper, in the open ceremony of this plan
            state.transcript.entries(), plan, "deployment", deployment.fingerprint, BY_PAPER
        )
        if pinned or on_record or not compared:
            new = list(deployment_lines(deployment))
            if pinned is None:
                lost = f"The file of the pin is not there; on record is {on_record}." if on_record else ""
                say(f"{lost or 'No deployment of this name is pinned yet.'} The new one:")
            else:
                say("Lines that change (- pinned now, + the new one); the others do not change:")
                new = [f"{mark} {line}" for mark, line in changed_lines(list(deployment_lines(pinned)), new)]
            show_above_question([*new, *notes])
            with no_on_record(state.transcript, plan, "deployment", "signer", now_ms) if plan else nullcontext():
                ask_yes(f"Pin {deployment.name} on this machine?", piped=all_worth_nothing([*state.pins(), deployment]))
        else:
            say_all(notes)
        state.pin(deployment, data, now_ms())
        say(f"Pinned {deployment.name}.")
    if as_json:
        show_json(
            {"ok": True, "name": deployment.name, "fingerprint": deployment.fingerprint, "refused_by_ledger": refused}
        )
