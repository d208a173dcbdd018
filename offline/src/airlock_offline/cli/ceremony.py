"""``ceremony``: the people of a ceremony and what they confirm, in this machine's transcript."""

from __future__ import annotations

import click

from airlock_offline.clock import now_ms
from airlock_offline.home import OfflineHome
from airlock_shared.cli.ceremony.commands import CEREMONY_COMMANDS
from airlock_shared.cli.ceremony.context import Place


@click.group("ceremony")
@click.pass_context
def ceremony(context: click.Context) -> None:
    """Record who holds which role, and what people confirm at each station."""
    state: OfflineHome = context.obj
    context.obj = Place("offline", state.transcript, now_ms, lambda name: state.require_pinned(name).fingerprint)


for command in CEREMONY_COMMANDS:
    ceremony.add_command(command)
