"""``nonce``: whether a nonce is used."""

from __future__ import annotations

import re

import click

from airlock_online.cli.venue_reads import VenueRead, account_of, compare, reading
from airlock_online.clients.builder_reads import NONCE
from airlock_online.clients.nonce_reads import flag_told, question_of, to_name
from airlock_shared.errors import UsageError

_NONCE = re.compile(r"0|[1-9][0-9]{0,77}", re.ASCII)


@click.command("nonce")
@click.argument("account")
@click.argument("nonce")
@click.option("--space", type=click.Choice(["trading", "referral"]), default="trading", show_default=True,
              help="Which contract's nonces.")  # fmt: skip
@reading
def nonce(at: VenueRead, account: str, nonce: str, space: str) -> None:
    r"""Show whether NONCE is used for ACCOUNT, in the nonce space of a contract.

    \b
    Example:
      airlock-online nonce 0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D 7
    """
    if not _NONCE.fullmatch(nonce) or int(nonce) >= 1 << 256:
        raise UsageError("the nonce is not a whole number below 2^256", do="give it in decimal digits")
    trader = account_of(account)
    reply = at.ask("nonce", question_of(trader, nonce, space))
    compare("nonce read", reply, to_name(nonce, space), {"trader": trader})
    read = {"used": flag_told(reply, at.config.speech.replies["nonce"])}
    at.show_one(f"nonce {nonce} of {trader}, {space}", reply, NONCE, read)
