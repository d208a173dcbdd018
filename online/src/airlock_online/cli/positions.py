"""``positions``: the open positions and waiting orders of an account."""

from __future__ import annotations

import click

from airlock_online.cli.venue_reads import account_of, reading, show_rows, unreadable, venue
from airlock_online.clients import builder_reads
from airlock_online.clients.echo import require_named
from airlock_online.home import OnlineHome
from airlock_shared.cli.console import show, show_json


@click.command("positions")
@click.argument("trader")
@reading
def positions(home: OnlineHome, trader: str, name: str | None, as_json: bool) -> None:
    r"""List the open positions and the pending limit orders of TRADER.

    \b
    Example:
      airlock-online positions 0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D
    """
    account = account_of(trader)
    with venue(home, name) as at:
        reply = at.builder.read(at.config.reads.positions, {"trader": account})
    trades, orders = builder_reads.entries(reply, "trades"), builder_reads.entries(reply, "orders")
    if trades is None and orders is None:
        raise unreadable("positions read", "positions")
    for entry in (reply, *(trade.get("trade") for trade in trades or [] if type(trade) is dict)):
        require_named("positions read", entry, trader=account)
    told = {
        "positions": [
            builder_reads.named_pair(builder_reads.rows(t, builder_reads.POSITION), at.deployment) for t in trades or []
        ],
        "orders": [
            builder_reads.named_pair(builder_reads.rows(o, builder_reads.ORDER), at.deployment) for o in orders or []
        ],
    }
    if as_json:
        tables = {kind: [{row.label: row.as_json() for row in thing} for thing in told[kind]] for kind in told}
        show_json({"ok": True, "trader": account, **tables, "reply": reply})
        return
    for kind, found in (("positions", trades), ("orders", orders)):
        show(f"{kind} of {account}: {builder_reads.NOT_TOLD if found is None else len(found)}")
        for number, thing in enumerate(told[kind], start=1):
            show(f"{kind.removesuffix('s')} {number}")
            show_rows(thing)
