"""``ceremony``: the people of a ceremony and what they confirm, in this machine's transcript."""

from __future__ import annotations

import click

from airlock_online.clock import now_ms
from airlock_online.home import OnlineHome
from airlock_shared.cli.ceremony.commands import CEREMONY_COMMANDS
from airlock_shared.cli.ceremony.context import Place


@click.group("ceremony")
@click.pass_context
def ceremony(context: click.Context) -> None:
    """Record who holds which role, and what people confirm at each station."""
    home: OnlineHome = context.obj
    context.obj = Place("online", home.transcript, now_ms, lambda name: home.require_deployment(name).fingerprint)


for command in CEREMONY_COMMANDS:
    ceremony.add_command(command)
