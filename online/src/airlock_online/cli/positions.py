"""``positions``: the open positions and waiting orders of an account."""

from __future__ import annotations

import click

from airlock_online.cli.venue_reads import VenueRead, account_of, reading, show_rows
from airlock_online.clients.builder_reads import NOT_TOLD, ORDER, POSITION, as_json, entries, of_pair
from airlock_online.clients.echo import require_named
from airlock_shared.cli.console import show, show_json
from airlock_shared.errors import ServiceError


@click.command("positions")
@click.argument("trader")
@reading
def positions(at: VenueRead, trader: str) -> None:
    r"""List the open positions and the pending limit orders of TRADER.

    \b
    Example:
      airlock-online positions 0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D
    """
    account = account_of(trader)
    reply = at.ask("positions", {"trader": account})
    trades, orders = entries(reply, "trades"), entries(reply, "orders")
    if trades is None and orders is None:
        raise ServiceError(
            "the positions read has an unknown shape",
            do="look at `airlock-online call`; set [paths] positions in the services file",
        )
    for entry in (reply, *(trade.get("trade") for trade in trades or [] if type(trade) is dict)):
        require_named("positions read", entry, trader=account)
    tables = {}
    for kind, found, columns in (("positions", trades, POSITION), ("orders", orders, ORDER)):
        told = [of_pair(entry, columns, at.deployment) for entry in found or []]
        tables[kind] = [as_json(each) for each in told]
        if at.as_json:
            continue
        show(f"{kind} of {account}: {NOT_TOLD if found is None else len(told)}")
        for number, each in enumerate(told, start=1):
            show(f"{kind.removesuffix('s')} {number}")
            show_rows(each)
    if at.as_json:
        show_json({"ok": True, "trader": account, **tables, "reply": reply})
