"""``delegation``: what a delegate may do, and until when."""

from __future__ import annotations

import click

from airlock_online.cli.venue_reads import account_of, compare, reading, show_one, venue
from airlock_online.clients import builder_reads
from airlock_online.clients.reply_values import delegation_told
from airlock_online.clock import now_ms
from airlock_online.home import OnlineHome
from airlock_online.readback.delegates import able_now


@click.command("delegation")
@click.argument("trader")
@click.argument("delegate")
@reading
def delegation(home: OnlineHome, trader: str, delegate: str, name: str | None, as_json: bool) -> None:
    r"""Show what DELEGATE may do for TRADER and until when, and whether it can do it now by this machine's clock.

    \b
    Example:
      airlock-online delegation 0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D \
        0x52908400098527886E0F7030069857D2E4169EE7
    """
    fields = {"trader": account_of(trader), "delegate": account_of(delegate)}
    with venue(home, name) as at:
        reply = at.builder.read(at.config.reads.delegation, fields)
    compare("delegation read", reply, fields)
    told = delegation_told(reply, at.config.delegation_reply)
    heading = f"delegate {fields['delegate']}\nfor trader {fields['trader']}"
    show_one(heading, reply, builder_reads.DELEGATION, as_json, told, able_now(told, now_ms()))
