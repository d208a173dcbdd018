"""``show``: a document as QR codes, for the other machine's camera."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from airlock_online.cli.wallet_exchange import show_step
from airlock_online.home import OnlineHome
from airlock_shared.cli.console import INPUT
from airlock_shared.cli.master_fingerprint import read_fingerprint
from airlock_shared.cli.qr.documents import show_file, showing_options
from airlock_shared.errors import UsageError


@click.command("show")
@click.argument("file", type=INPUT)
@click.option("--for", "wallet", type=click.Choice(["keystone"]), help="A step of requests, for another wallet.")
@click.option("--step", help="With --for: which step (default: the first that is not answered).")
@click.option("--master-fingerprint", "fingerprint", callback=read_fingerprint, metavar="HEX",
              help="With --for: of the other wallet's seed, eight hex digits.")  # fmt: skip
@showing_options
@click.pass_obj
def show(
    home: OnlineHome, /, file: Path, wallet: str | None, step: str | None, fingerprint: int | None, **how: Any
) -> None:
    r"""Show FILE as QR codes: a deployment, a plan, requests or signatures.

    In the terminal when it fits there, until Ctrl-C; otherwise as a page that you open in a browser. No server is started.

    \b
    Examples:
      airlock-online show requests.json
      airlock-online show requests.json --as page
      airlock-online show requests.json --as sheet -o sheet.pdf
      airlock-online show requests.json --for keystone --step desk-key
    """
    if wallet is not None:
        show_step(home, file, step, fingerprint, **how)
        return
    if step is not None or fingerprint is not None:
        raise UsageError("--step and --master-fingerprint are for another wallet", do="add --for keystone")
    show_file(home.folder, file, **how)
