"""``nonce``: whether a nonce is used."""

from __future__ import annotations

import re

import click

from airlock_online.cli.venue_reads import account_of, compare, reading, show_one, venue
from airlock_online.clients import builder_reads
from airlock_online.clients.nonce_reads import REFERRAL, flag_told, question_of
from airlock_online.home import OnlineHome
from airlock_shared.errors import UsageError

_NONCE = re.compile(r"0|[1-9][0-9]{0,77}", re.ASCII)


@click.command("nonce")
@click.argument("account")
@click.argument("nonce")
@click.option("--space", type=click.Choice(["trading", "referral"]), default="trading", show_default=True,
              help="Which contract's nonces.")  # fmt: skip
@reading
def nonce(home: OnlineHome, account: str, nonce: str, space: str, name: str | None, as_json: bool) -> None:
    r"""Show whether NONCE is used for ACCOUNT, in the nonce space of a contract.

    \b
    Example:
      airlock-online nonce 0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D 7
    """
    if not _NONCE.fullmatch(nonce) or int(nonce) >= 1 << 256:
        raise UsageError("the nonce is not a whole number below 2^256", do="give it in decimal digits")
    fields = question_of(account_of(account), nonce, space)
    with venue(home, name) as at:
        reply = at.builder.read(at.config.reads.nonce, fields)
    asked = {"nonce": nonce} | ({"space": space} if space == REFERRAL else {})
    compare("nonce read", reply, asked, {"trader": fields["trader"]})
    read = {"used": flag_told(reply, at.config.nonce_reply)}
    show_one(f"nonce {nonce} of {fields['trader']}, {space}", reply, builder_reads.NONCE[1:], as_json, read)
