"""What the builder reads, for a person: the parts that ``meta``, ``pairs``, ``positions``, ``nonce`` and their like share.

Each takes the builder of a fetched deployment. ``--json`` gives the reply word for word beside what was read in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

import click

from airlock_online.cli.connections import connections
from airlock_online.clients import builder_reads
from airlock_online.clients.builder import BuilderClient, builder_of
from airlock_online.clients.echo import named, require_named
from airlock_online.config import OnlineConfig
from airlock_online.home import OnlineHome
from airlock_shared.cli.console import json_option, rows, say, show, show_json
from airlock_shared.documents.deployment import Deployment
from airlock_shared.errors import Refusal, ServiceError, UsageError
from airlock_shared.ethereum.addresses import checksum_address, parse_address

F = TypeVar("F", bound=Callable[..., Any])


class VenueBuilder(NamedTuple):
    """The builder of a fetched deployment."""

    deployment: Deployment
    builder: BuilderClient
    config: OnlineConfig


@contextmanager
def venue(home: OnlineHome, name: str | None) -> Iterator[VenueBuilder]:
    """Open the builder of the deployment of this name, or of the only one. Raises ``UsageError`` when there is none."""
    deployment = home.choose_deployment(name)
    config = home.config()
    with connections(home) as http:
        builder = builder_of(deployment, http, config)
        yield VenueBuilder(deployment, builder, config)


def reading(command: F) -> F:
    """Add what every read has: which deployment, and JSON."""
    option = click.option("--deployment", "name", help="The fetched deployment (default: the only one).")
    return option(json_option(click.pass_obj(command)))  # type: ignore[return-value]


def show_one(
    heading: str,
    reply: object,
    columns: tuple[builder_reads.Column, ...],
    as_json: bool,
    read: object = None,
    judged: Mapping[str, tuple[bool | None, str]] = {},
) -> None:
    """Show a reply of one thing: what was read in it, or as JSON beside the reply word for word.

    ``read`` is the reply in Airlock's own words, where the services file says otherwise; ``judged`` is what follows from
    it, with the reason where it is no, or not known.
    """
    told = builder_reads.rows(reply if read is None else read, columns)
    if as_json:
        shown: dict[str, object] = {"ok": True, "told": {row.label: row.as_json() for row in told}, "reply": reply}
        why = {label: {"is": answer, "why": reason} for label, (answer, reason) in judged.items()}
        show_json(shown | ({"judged": why} if judged else {}))
        return
    show(heading)
    words = {True: "yes", False: "NO", None: "not known"}
    show_rows(
        [
            *told,
            *(
                builder_reads.ToldValue(label, answer, f"{words[answer]}{': ' if reason else ''}{reason}")
                for label, (answer, reason) in judged.items()
            ),
        ]
    )


def compare(what: str, reply: object, asked: Mapping[str, str], also: Mapping[str, str] = {}) -> None:
    """Compare what a reply names with what was asked, and say it where it leaves one out; ``also`` is seldom named.

    Raises ``ServiceError`` when it names something else.
    """
    require_named(what, reply, **asked, **also)
    if named(reply, **asked) is None:
        say(f"The {what} does not name what it is about ({', '.join(asked)}): it proves nothing.")


def show_rows(told: list[builder_reads.ToldValue]) -> None:
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


def unreadable(what: str, path: str) -> ServiceError:
    """Return the error for a reply whose shape is not the configured one."""
    return ServiceError(
        f"the {what} has an unknown shape", do=f"look at `airlock-online call`; set {path} in config.toml, [reads]"
    )
