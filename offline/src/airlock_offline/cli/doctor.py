"""``doctor``: what to run when something does not work."""

from __future__ import annotations

import click

from airlock_offline.home import OfflineHome
from airlock_offline.installation.manifest import examine_installation
from airlock_offline.preflight.doctor import health_lines
from airlock_offline.preflight.installation import system_libraries
from airlock_offline.preflight.ledger import udev_rule
from airlock_shared.cli.console import json_option, say
from airlock_shared.cli.doctor import finish_doctor
from airlock_shared.host.observed import MachineProbes


@click.command("doctor")
@json_option
@click.pass_obj
def doctor(state: OfflineHome, as_json: bool) -> None:
    r"""Find out why something does not work; change nothing.

    Versions, installed files, folder, disk, configuration, deployments, transcript, libraries, camera, udev rule and
    plugged Ledgers, each with what to do. It does not talk to a Ledger, and records nothing. Exit code 0 when nothing
    is wrong, else the worst exit code of its lines.

    \b
    Example:
      airlock-offline doctor
    """
    say("Looking at every installed file ...")
    installation = examine_installation()
    lines = health_lines(state, installation, system_libraries(), udev_rule(), MachineProbes())
    finish_doctor(list(lines), as_json=as_json)
