"""``trust``: a deployment becomes a pin, after people have compared it."""

from __future__ import annotations

from pathlib import Path

import click

from airlock_offline.clock import now_ms
from airlock_offline.home import OfflineHome
from airlock_offline.ledger.app_faults import EXPECTED, type_faults
from airlock_shared.catalogue.intents import Intent
from airlock_shared.ceremony.sections import BY_PAPER, proved_by_words
from airlock_shared.checks.payload import definitions
from airlock_shared.cli.ceremony.by_screens import show_by_screens
from airlock_shared.cli.comparison_lines import changed_lines, deployment_lines
from airlock_shared.cli.console import INPUT, PATH, ask_yes, json_option, say, say_all, show_json
from airlock_shared.cli.qr.file_or_light import incoming
from airlock_shared.cli.qr.options import qr_option, restart_option
from airlock_shared.documents.deployment import (
    FORMAT,
    REHEARSAL_CHAINS,
    Deployment,
    only_rehearsals,
    parse_deployment,
    valid_elsewhere,
)
from airlock_shared.errors import Refusal
from airlock_shared.host.files import read_input
from airlock_shared.plan.reader import parse_plan


@click.command("trust")
@click.argument("source", type=PATH)
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
    data = incoming(state.home, source, FORMAT, "trust", known=state.pins, qr=qr, restart=restart)
    deployment = parse_deployment(data)
    _require_own_chain(deployment)
    for intent in deployment.structs.values():
        require_signed_by_fields(intent, "leave it out of the venue's profile, and fetch that again")
    pinned = state.pinned(deployment.name)
    if pinned and pinned.fingerprint == deployment.fingerprint:
        say(f"{deployment.name} is pinned already, with this fingerprint; nothing to do.")
    else:
        if pinned or not _was_compared(state, plan_file, deployment):
            _compare(deployment, pinned)
            say_all(valid_elsewhere(deployment, state.pins()))
            ask_yes(f"Pin {deployment.name} on this machine?", piped=only_rehearsals([*state.pins(), deployment]))
        state.pin(deployment, data, now_ms())
        say(f"Pinned {deployment.name}.")
    if as_json:
        show_json({"ok": True, "name": deployment.name, "fingerprint": deployment.fingerprint})


def _require_own_chain(deployment: Deployment) -> None:
    """Raise ``Refusal("PIN-REHEARSAL")`` for a rehearsal on a chain where a signature made in it may be worth something."""
    if deployment.rehearsal and deployment.chain_id not in REHEARSAL_CHAINS:
        raise Refusal(
            "PIN-REHEARSAL",
            "it calls itself a rehearsal, and its chain is not one of a rehearsal's own",
            got=f"chain id {deployment.chain_id}",
            expected=f"{' or '.join(map(str, REHEARSAL_CHAINS))}",
        )


def require_signed_by_fields(intent: Intent, do: str) -> None:
    """Raise ``Refusal("DIGEST-LEDGER")`` for a struct of which the Ledger's app signs another digest."""
    if faults := type_faults(definitions(intent).structs, intent.name):
        raise Refusal("DIGEST-LEDGER", f"no Ledger signs {intent.name} field by field", got="; ".join(faults),
                      expected=EXPECTED, do=do)  # fmt: skip


def _was_compared(state: OfflineHome, plan_file: Path | None, deployment: Deployment) -> bool:
    """Tell whether signer and witness typed the words of this deployment from paper in the open ceremony of a plan."""
    if plan_file is None:
        return False
    plan = parse_plan(read_input(plan_file))
    return proved_by_words(state.transcript.entries(), plan, "deployment", deployment.fingerprint, BY_PAPER)


def _compare(deployment: Deployment, pinned: Deployment | None) -> None:
    new = list(deployment_lines(deployment))
    if pinned is None:
        say("No deployment of this name is pinned yet. The new one:")
        show_by_screens(new, stays=1)
    else:
        say("Lines that change (- pinned now, + the new one); the others do not change:")
        say_all(f"{mark} {line}" for mark, line in changed_lines(list(deployment_lines(pinned)), new))
