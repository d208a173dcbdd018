"""``relay``: the outcome of a relayed transaction."""

from __future__ import annotations

import re

import click

from airlock_online.cli.venue_reads import compare, reading, show_one, venue
from airlock_online.clients import builder_reads
from airlock_online.home import OnlineHome
from airlock_shared.errors import UsageError

_HASH = re.compile(r"0x[0-9a-fA-F]{64}", re.ASCII)


@click.command("relay")
@click.argument("tx_hash", metavar="HASH")
@reading
def relay(home: OnlineHome, tx_hash: str, name: str | None, as_json: bool) -> None:
    r"""Show the outcome of the relayed transaction HASH. A hash that the relay does not know is shown as pending.

    \b
    Example:
      airlock-online relay 0xb10e…27
    """
    if not _HASH.fullmatch(tx_hash):
        raise UsageError("that is not a transaction hash", do="give 0x and 64 hex digits")
    with venue(home, name) as at:
        reply = at.builder.read(f"{at.config.reads.relay}/{tx_hash.lower()}")
    compare("relay's read", reply, {"hash": tx_hash.lower()})
    show_one(f"transaction {tx_hash.lower()}", reply, builder_reads.RELAYED, as_json)
