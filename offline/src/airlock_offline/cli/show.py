"""``show``: a document as QR codes, for the other machine's camera."""

from __future__ import annotations

from pathlib import Path

import click

from airlock_offline.cli.wallet_exchange import answer_transfer
from airlock_offline.home import OfflineHome
from airlock_shared.cli.console import INPUT
from airlock_shared.cli.qr.documents import show_file, show_result
from airlock_shared.cli.qr.transfer import Showing, showing_options


@click.command("show")
@click.argument("file", type=INPUT)
@click.option("--for", "wallet", type=click.Choice(["wallet"]), help="The signature, for the wallet that asked.")
@showing_options
@click.pass_obj
def show(state: OfflineHome, file: Path, wallet: str | None, showing: Showing) -> None:
    r"""Show FILE as QR codes: a deployment, a plan, requests or signatures.

    In the terminal when it fits there, until Ctrl-C; otherwise as a page that you open in a browser. No server is started.

    \b
    Examples:
      airlock-offline show signatures.json
      airlock-offline show signatures.json --as page
      airlock-offline show signatures.json --as sheet -o sheet.pdf
      airlock-offline show signatures.json --for wallet
    """
    if wallet is not None:
        show_result(answer_transfer(state, file), state.home, showing)
        return
    show_file(state.home, file, showing)
