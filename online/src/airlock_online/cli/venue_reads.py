"""What the builder reads, for a person: what ``meta``, ``pairs``, ``positions``, ``nonce`` and their like share.

Each asks the builder of a fetched deployment. ``--json`` gives the reply word for word beside what was read in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property, wraps
from typing import Any

import click

from airlock_online.cli.connections import connections
from airlock_online.clients import builder_reads
from airlock_online.clients.builder import BuilderClient, builder_of
from airlock_online.clients.builder_reads import Column, ToldValue
from airlock_online.clients.echo import named, require_named
from airlock_online.config import OnlineConfig
from airlock_online.home import OnlineHome
from airlock_shared.cli.console import json_option, rows, say, show, show_json
from airlock_shared.documents.deployment import Deployment
from airlock_shared.errors import Refusal, UsageError
from airlock_shared.ethereum.addresses import checksum_address, parse_address


class VenueRead:
    """A read of the venue by a command: whose builder is asked, and how the answer is shown.

    Nothing is looked up before it is needed, so that wrong words are refused first. Raises ``UsageError`` when there is no
    such deployment, and for a wrong configuration.
    """

    def __init__(self, home: OnlineHome, name: str | None, *, as_json: bool) -> None:
        self.home, self.name, self.as_json = home, name, as_json

    @cached_property
    def deployment(self) -> Deployment:
        """The deployment of the name that was given, or the only one."""
        return self.home.choose_deployment(self.name)

    @cached_property
    def config(self) -> OnlineConfig:
        """The configuration, with how the venue's services speak."""
        return self.home.config()

    @contextmanager
    def builder(self) -> Iterator[BuilderClient]:
        """Open the deployment's builder."""
        deployment, config = self.deployment, self.config
        with connections(self.home) as http:
            yield builder_of(deployment, http, config)

    def ask(self, read: str, fields: Mapping[str, str] = {}, asked: str = "") -> Any:
        """Return the reply of a read by its name in the services file, ``[paths]``; ``asked`` is the id in its path."""
        with self.builder() as builder:
            return builder.read(read, fields, asked)

    def show_one(
        self,
        heading: str,
        reply: object,
        columns: Iterable[Column],
        read: object = None,
        judged: Mapping[str, tuple[bool | None, str]] = {},
    ) -> None:
        """Show a reply of one thing: what was read in it, or as JSON beside the reply word for word.

        ``read`` is the reply in Airlock's own words, where the services file says otherwise; ``judged`` is what follows from
        it, with the reason where it is no, or not known.
        """
        told = builder_reads.rows(reply if read is None else read, columns)
        if self.as_json:
            why = {label: {"is": answer, "why": reason} for label, (answer, reason) in judged.items()}
            shown = {"ok": True, "told": builder_reads.as_json(told), "reply": reply}
            show_json(shown | ({"judged": why} if judged else {}))
            return
        show(heading)
        words = {True: "yes", False: "NO", None: "not known"}
        for label, (answer, reason) in judged.items():
            told.append(ToldValue(label, answer, f"{words[answer]}{': ' if reason else ''}{reason}"))
        show_rows(told)


def reading(command: Callable[..., None]) -> Callable[..., None]:
    """Add what every read has, which deployment and JSON; the command gets both as a ``VenueRead``, before its own."""

    @click.option("--deployment", "name", help="The fetched deployment (default: the only one).")
    @json_option
    @click.pass_obj
    @wraps(command)
    def asked(home: OnlineHome, /, name: str | None, as_json: bool, **given: Any) -> None:
        command(VenueRead(home, name, as_json=as_json), **given)

    return asked


def compare(what: str, reply: object, asked: Mapping[str, str], also: Mapping[str, str] = {}) -> None:
    """Compare what a reply names with what was asked, and say it where it leaves one out; ``also`` is seldom named.

    Raises ``ServiceError`` when it names something else.
    """
    require_named(what, reply, **asked, **also)
    if named(reply, **asked) is None:
        say(f"The {what} does not name what it is about ({', '.join(asked)}): it proves nothing.")


def show_rows(told: Iterable[ToldValue]) -> None:
    """Show what was read, a row a line, untrusted text escaped."""
    for row in told:
        for line in rows(f"  {row.label:<24} ", row.text):
            show(line)


def account_of(text: str) -> str:
    """Return an account that was typed, in EIP-55. Raises ``UsageError`` for what is no address."""
    try:
        return checksum_address(parse_address(text))
    except Refusal as refusal:
        raise UsageError(
            f"{refusal.what}: {refusal.got}", do="give the account's whole address, as in 0x…"
        ) from refusal
