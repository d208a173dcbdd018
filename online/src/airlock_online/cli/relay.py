"""``relay``: the outcome of a relayed transaction."""

from __future__ import annotations

import re

import click

from airlock_online.cli.venue_reads import compare, reading, show_one, venue
from airlock_online.clients import builder_reads
from airlock_online.clients.reply_values import hashes_named, status_word
from airlock_online.home import OnlineHome
from airlock_online.speech.sections import RelayReply
from airlock_shared.cli.console import say
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
    compare("relay's read", _with_hash(reply, at.config.relay_reply), {"hash": tx_hash.lower()})
    show_one(f"transaction {tx_hash.lower()}", reply, builder_reads.relayed(at.config.relay_reply), as_json)
    told = status_word(reply if type(reply) is dict else {}, at.config.words.meanings, at.config.relay_reply.status)
    if (told.word or told.unknown) and not as_json:
        say(f"{told.told}.")


def _with_hash(reply: object, places: RelayReply) -> object:
    """Return a reply with its transaction's hash where Airlock has it; what it names there itself stays."""
    if type(reply) is not dict or "hash" in reply:
        return reply
    return {**reply, "hash": next(iter(hashes_named(reply, places.transaction)), None)}
