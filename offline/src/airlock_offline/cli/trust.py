"""``trust``: a deployment becomes a pin, after people have compared it."""

from __future__ import annotations

from pathlib import Path

import click

from airlock_offline.clock import now_ms
from airlock_offline.home import OfflineHome
from airlock_shared.cli.comparison_lines import deployment_lines
from airlock_shared.cli.console import ask_yes, json_option, say, show_json
from airlock_shared.cli.qr.file_or_light import incoming
from airlock_shared.cli.qr.options import qr_option, restart_option
from airlock_shared.documents.deployment import FORMAT, Deployment, only_rehearsals, parse_deployment


@click.command("trust")
@click.argument("source", type=click.Path(path_type=Path))
@qr_option
@restart_option
@json_option
@click.pass_obj
def trust(state: OfflineHome, source: Path, qr: bool, restart: bool, as_json: bool) -> None:
    r"""Pin the deployment in SOURCE, beside the pin that it replaces, after an exact Yes.

    \b
    Example:
      airlock-offline trust deployment.json
      airlock-offline trust camera --qr
    """
    data = incoming(state.home, source, FORMAT, "trust", known=state.pins, qr=qr, restart=restart)
    deployment = parse_deployment(data)
    pinned = state.pinned(deployment.name)
    if pinned and pinned.fingerprint == deployment.fingerprint:
        say(f"{deployment.name} is pinned already, with this fingerprint; nothing to do.")
    else:
        _compare(deployment, pinned)
        ask_yes(f"Pin {deployment.name} on this machine?", piped=only_rehearsals([*state.pins(), deployment]))
        state.pin(deployment, data, now_ms())
        say(f"Pinned {deployment.name}.")
    if as_json:
        show_json({"ok": True, "name": deployment.name, "fingerprint": deployment.fingerprint})


def _compare(deployment: Deployment, pinned: Deployment | None) -> None:
    new = list(deployment_lines(deployment))
    if pinned is None:
        say("No deployment of this name is pinned yet. The new one:")
        for line in new:
            say(line)
        return
    old = list(deployment_lines(pinned))
    say("Lines that change (- pinned now, + the new one); the others do not change:")
    for line in old:
        say(f"{' ' if line in new else '-'} {line}")
    for line in new:
        if line not in old:
            say(f"+ {line}")
