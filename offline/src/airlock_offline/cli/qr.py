"""``scan`` and ``show``: a document as QR codes, read into a file, or shown to the other machine."""

from __future__ import annotations

from pathlib import Path

import click

from airlock_offline.cli.wallet_exchange import answer_transfer, scan_request
from airlock_offline.home import OfflineHome
from airlock_shared.cli.qr.documents import scan_to_file, scanning_options, show_file, show_result
from airlock_shared.cli.qr.transfer import Showing, showing_options
from airlock_shared.cli.terminal import INPUT
from airlock_shared.errors import UsageError

# ---- scan -----------------------------------------------------------------------------------------------------------
# ``scan``: a document that the other machine shows as QR codes, into a file.


@click.command("scan")
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True)
@click.option("--plan", "plan_file", type=INPUT, help="Read a hot wallet's request, as the step of this plan.")
@click.option("--step", help="With --plan: the step's id, as a check.")
@scanning_options
@click.pass_obj
def scan(
    state: OfflineHome,
    sources: tuple[str, ...],
    plan_file: Path | None,
    step: str | None,
    output: Path,
    restart: bool,
    as_json: bool,
) -> None:
    r"""Read the QR codes in SOURCE..., confirm the document that they hold, and write it to a file.

    A source is camera, camera:1, a video, a GIF, a picture, or a folder of pictures. After Ctrl-C, the
    same command continues the scan.

    \b
    Examples:
      airlock-offline scan camera -o requests.json
      airlock-offline scan pictures/ -o requests.json
      airlock-offline scan camera --plan plan.toml -o requests.json
    """
    if plan_file is not None:
        scan_request(state, sources, plan_file, step, output, restart=restart, as_json=as_json)
        return
    if step is not None:
        raise UsageError("--step is only for a wallet's request", do="add --plan PLAN")
    scan_to_file(state.home, sources, output, known=state.pins, restart=restart, as_json=as_json)


# ---- show -----------------------------------------------------------------------------------------------------------
# ``show``: a document as QR codes, for the other machine's camera.


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
      airlock-offline show signatures.json --for wallet
    """
    if wallet is not None:
        show_result(answer_transfer(state, file), state.home, showing)
        return
    show_file(state.home, file, showing)
