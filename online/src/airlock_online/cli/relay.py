"""``relay``: the outcome of a relayed transaction."""

from __future__ import annotations

import re

import click

from airlock_online.cli.venue_reads import VenueRead, compare, reading
from airlock_online.clients.builder_reads import relayed
from airlock_online.clients.reply_values import hashes_named, status_word
from airlock_shared.cli.console import say
from airlock_shared.errors import UsageError

_HASH = re.compile(r"0x[0-9a-fA-F]{64}", re.ASCII)


@click.command("relay")
@click.argument("tx_hash", metavar="HASH")
@reading
def relay(at: VenueRead, tx_hash: str) -> None:
    r"""Show the outcome of the relayed transaction HASH. A hash that the relay does not know is shown as pending.

    \b
    Example:
      airlock-online relay 0xb10e…27
    """
    if not _HASH.fullmatch(tx_hash):
        raise UsageError("that is not a transaction hash", do="give 0x and 64 hex digits")
    asked = tx_hash.lower()
    reply = at.ask("relay-status", asked=asked)
    speech, members = at.config.speech, reply if type(reply) is dict else {}
    places = speech.replies["relay"]
    named = {"hash": next(iter(hashes_named(members, places["transaction"])), None), **members}
    compare("relay's read", named, {"hash": asked})
    at.show_one(f"transaction {asked}", reply, relayed(places))
    told = status_word(members, speech.words, places["status"])
    if (told.word or told.unknown) and not at.as_json:
        say(f"{told.told}.")
