"""``delegation``: what a delegate may do, and until when."""

from __future__ import annotations

import click

from airlock_online.cli.venue_reads import VenueRead, account_of, compare, reading
from airlock_online.clients.builder_reads import DELEGATION
from airlock_online.clients.reply_values import delegation_told
from airlock_online.clock import now_ms
from airlock_online.readback.delegates import able_now


@click.command("delegation")
@click.argument("trader")
@click.argument("delegate")
@reading
def delegation(at: VenueRead, trader: str, delegate: str) -> None:
    r"""Show what DELEGATE may do for TRADER and until when, and whether it can do it now by this machine's clock.

    \b
    Example:
      airlock-online delegation 0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D \
        0x52908400098527886E0F7030069857D2E4169EE7
    """
    fields = {"trader": account_of(trader), "delegate": account_of(delegate)}
    reply = at.ask("delegation", fields)
    compare("delegation read", reply, fields)
    told = delegation_told(reply, at.config.speech.replies["delegation"])
    heading = f"delegate {fields['delegate']}\nfor trader {fields['trader']}"
    at.show_one(heading, reply, DELEGATION, told, able_now(told, now_ms()))
