"""``meta``, ``pairs``, ``positions``, ``nonce``, ``delegation``, ``relay``: what the builder reads, for a person.

Each takes the builder of a fetched deployment. ``--json`` gives the reply word for word beside what was read in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

import click

from airlock_online.clients import builder_reads
from airlock_online.clients.builder import BuilderClient
from airlock_online.config import Config
from airlock_online.clients.http import Http
from airlock_online.preparing.deployment_fetch import decisive_differences
from airlock_online.state import State
from airlock_shared.ethereum.addresses import checksum_address, parse_address
from airlock_shared.cli.console import json_option, rows, say, show, show_json
from airlock_shared.documents.deployment import Deployment
from airlock_shared.errors import Refusal, ServiceError, UsageError
from airlock_shared.cli.comparison_lines import deployment_lines
from airlock_shared.cli.progress import working

F = TypeVar("F", bound=Callable[..., Any])
_HASH = re.compile(r"0x[0-9a-fA-F]{64}", re.ASCII)
_NONCE = re.compile(r"0|[1-9][0-9]{0,77}", re.ASCII)


class Venue(NamedTuple):
    """The builder of a fetched deployment."""

    deployment: Deployment
    builder: BuilderClient
    config: Config


@contextmanager
def venue(state: State, name: str | None) -> Iterator[Venue]:
    """Open the builder of the deployment of this name, or of the only one. Raises ``UsageError`` when there is none."""
    deployment = state.choose_deployment(name)
    with working("Waiting for the builder"), Http() as http:
        yield Venue(deployment, BuilderClient(deployment.base_urls["builder"], http), state.config())


def reading(command: F) -> F:
    """Add what every read has: which deployment, and JSON."""
    option = click.option("--deployment", "name", help="The fetched deployment (default: the only one).")
    return option(json_option(click.pass_obj(command)))  # type: ignore[return-value]


@click.command("meta")
@reading
def META(state: State, name: str | None, as_json: bool) -> None:  # noqa: N802
    r"""Show what the venue says of itself now, and whether it is still what was fetched (exit code 3 if not).

    \b
    Example:
      airlock-online meta
    """
    with venue(state, name) as at:
        meta = at.builder.meta()
    changed = decisive_differences(meta.data, at.deployment, at.config.meta)
    if as_json and not changed:
        show_json({"ok": True, "deployment": at.deployment.name, "reply": meta.data})
    if not as_json:
        for line in deployment_lines(at.deployment):
            show(line)
    if changed:
        raise Refusal(
            "PIN-DEPLOYMENT",
            f"the venue's meta document is no longer what was fetched for {at.deployment.name}",
            got="; ".join(f"{difference.where}: {difference.now}" for difference in changed),
            expected="; ".join(f"{difference.where}: {difference.pinned}" for difference in changed),
            do="sign nothing; ask the venue why, then fetch and trust the deployment again on both machines",
        )
    say("The venue says the same now.")


@click.command("pairs")
@reading
def PAIRS(state: State, name: str | None, as_json: bool) -> None:  # noqa: N802
    r"""List the pairs of the venue, as it lists them now.

    \b
    Example:
      airlock-online pairs
    """
    with venue(state, name) as at:
        reply = at.builder.read(at.config.reads.pairs)
    if type(reply) is not list:
        raise _unreadable("pair catalogue", "pairs")
    paths = at.config.meta
    table = builder_reads.pair_rows(reply, paths.pair_number, paths.pair_name, paths.pair_pnl, at.deployment)
    if as_json:
        show_json({"ok": True, "pairs": [row._asdict() for row in table], "reply": reply})
        return
    show(f"{'index':>9}  {'name':<20} {'kind':<9} {'leverage':<12} remarks")
    for row in table:
        remarks = row.remarks if row.pinned else f"{row.remarks}, not as pinned".removeprefix(", ")
        show(f"{row.number:>9}  {row.name:<20} {row.kind:<9} {row.leverages:<12} {remarks}".rstrip())


@click.command("positions")
@click.argument("trader")
@reading
def POSITIONS(state: State, trader: str, name: str | None, as_json: bool) -> None:  # noqa: N802
    r"""List the open positions and the waiting limit orders of TRADER.

    \b
    Example:
      airlock-online positions 0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D
    """
    account = account_of(trader)
    with venue(state, name) as at:
        reply = at.builder.read(at.config.reads.positions, {"trader": account})
    trades, orders = builder_reads.entries(reply, "trades"), builder_reads.entries(reply, "orders")
    if trades is None and orders is None:
        raise _unreadable("positions read", "positions")
    told = {
        "positions": [builder_reads.named_pair(builder_reads.rows(t, builder_reads.POSITION), at.deployment) for t in trades or []],
        "orders": [builder_reads.named_pair(builder_reads.rows(o, builder_reads.ORDER), at.deployment) for o in orders or []],
    }
    if as_json:
        tables = {kind: [{row.label: row.as_json() for row in thing} for thing in told[kind]] for kind in told}
        show_json({"ok": True, "trader": account, **tables, "reply": reply})
        return
    for kind, found in (("positions", trades), ("orders", orders)):
        show(f"{kind} of {account}: {builder_reads.NOT_TOLD if found is None else len(found)}")
        for number, thing in enumerate(told[kind], start=1):
            show(f"{kind.removesuffix('s')} {number}")
            _show_rows(thing)


@click.command("nonce")
@click.argument("account")
@click.argument("nonce")
@click.option("--space", type=click.Choice(["trading", "referral"]), default="trading", show_default=True,
              help="Which contract's nonces.")  # fmt: skip
@reading
def NONCE(state: State, account: str, nonce: str, space: str, name: str | None, as_json: bool) -> None:  # noqa: N802
    r"""Tell whether NONCE is used for ACCOUNT, in the nonce space of a contract.

    \b
    Example:
      airlock-online nonce 0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D 7
    """
    if not _NONCE.fullmatch(nonce) or int(nonce) >= 1 << 256:
        raise UsageError("the nonce is no whole number below 2^256", do="give it in decimal digits")
    fields = {"trader": account_of(account), "check": nonce} | ({"space": space} if space == "referral" else {})
    with venue(state, name) as at:
        reply = at.builder.read(at.config.reads.nonce, fields)
    _show_one(f"nonce {nonce} of {fields['trader']}, {space}", reply, builder_reads.NONCE[1:], as_json)


@click.command("delegation")
@click.argument("trader")
@click.argument("delegate")
@reading
def DELEGATION(state: State, trader: str, delegate: str, name: str | None, as_json: bool) -> None:  # noqa: N802
    r"""Tell what DELEGATE may do for TRADER, and until when.

    \b
    Example:
      airlock-online delegation 0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D \
        0x52908400098527886E0F7030069857D2E4169EE7
    """
    fields = {"trader": account_of(trader), "delegate": account_of(delegate)}
    with venue(state, name) as at:
        reply = at.builder.read(at.config.reads.delegation, fields)
    _show_one(f"delegate {fields['delegate']}\nfor trader {fields['trader']}", reply, builder_reads.DELEGATION, as_json)


@click.command("relay")
@click.argument("tx_hash", metavar="HASH")
@reading
def RELAY(state: State, tx_hash: str, name: str | None, as_json: bool) -> None:  # noqa: N802
    r"""Tell what became of the relayed transaction HASH. A hash that the relay does not know reads as pending.

    \b
    Example:
      airlock-online relay 0xb10e…27
    """
    if not _HASH.fullmatch(tx_hash):
        raise UsageError("that is no transaction hash", do="give 0x and 64 hex digits")
    with venue(state, name) as at:
        reply = at.builder.read(f"{at.config.reads.relay}/{tx_hash.lower()}")
    _show_one(f"transaction {tx_hash.lower()}", reply, builder_reads.RELAYED, as_json)


def _show_one(heading: str, reply: object, columns: tuple[builder_reads.Column, ...], as_json: bool) -> None:
    told = builder_reads.rows(reply, columns)
    if as_json:
        show_json({"ok": True, "told": {row.label: row.as_json() for row in told}, "reply": reply})
        return
    show(heading)
    _show_rows(told)


def _show_rows(told: list[builder_reads.Told]) -> None:
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


def _unreadable(what: str, path: str) -> ServiceError:
    return ServiceError(
        f"the {what} has an unknown shape", do=f"look at `airlock-online call`; set {path} in config.toml, [reads]"
    )
