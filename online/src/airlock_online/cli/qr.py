"""``scan`` and ``show``: a document as QR codes, read into a file, or shown to the other machine."""

from __future__ import annotations

from pathlib import Path

import click

from airlock_online.cli.wallet_exchange import scan_answer, step_transfer
from airlock_online.home import OnlineHome
from airlock_shared.cli.qr.documents import read_fingerprint, scan_to_file, scanning_options, show_file, show_result
from airlock_shared.cli.qr.transfer import Showing, showing_options
from airlock_shared.cli.terminal import INPUT
from airlock_shared.errors import UsageError

# ---- scan -----------------------------------------------------------------------------------------------------------
# ``scan``: a document that the other machine shows as QR codes, into a file.


@click.command("scan")
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True)
@click.option(
    "--requests", "requests_file", type=INPUT, help="Take another wallet's answer to a step of these requests."
)
@scanning_options
@click.pass_obj
def scan(
    home: OnlineHome, sources: tuple[str, ...], requests_file: Path | None, output: Path, restart: bool, as_json: bool
) -> None:
    r"""Read the QR codes in SOURCE..., confirm the document that they hold, and write it to a file.

    A source is camera, camera:1, a video, a GIF, a picture, or a folder of pictures. After Ctrl-C, the
    same command continues the scan.

    \b
    Examples:
      airlock-online scan camera -o signatures.json
      airlock-online scan pictures/ -o signatures.json
      airlock-online scan camera --requests requests.json -o signatures.json
    """
    if requests_file is not None:
        scan_answer(home, sources, requests_file, output, restart=restart, as_json=as_json)
        return
    scan_to_file(home.folder, sources, output, known=home.deployments, restart=restart, as_json=as_json)


# ---- show -----------------------------------------------------------------------------------------------------------
# ``show``: a document as QR codes, for the other machine's camera.


@click.command("show")
@click.argument("file", type=INPUT)
@click.option("--for", "wallet", type=click.Choice(["keystone"]), help="A step of requests, for another wallet.")
@click.option("--step", help="With --for: which step (default: the first that is not answered).")
@click.option(
    "--master-fingerprint",
    "fingerprint",
    callback=read_fingerprint,
    metavar="HEX",
    help="With --for: of the other wallet's seed, eight hex digits.",
)
@showing_options
@click.pass_obj
def show(
    home: OnlineHome,
    file: Path,
    wallet: str | None,
    step: str | None,
    fingerprint: int | None,
    showing: Showing,
) -> None:
    r"""Show FILE as QR codes: a deployment, a plan, requests or signatures.

    In the terminal when it fits there, until Ctrl-C; otherwise as a page that you open in a browser. No server is started.

    \b
    Examples:
      airlock-online show requests.json
      airlock-online show requests.json --as page
      airlock-online show requests.json --for keystone --step desk-key
    """
    if wallet is not None:
        show_result(step_transfer(home, file, step, fingerprint), home.folder, showing)
        return
    if step is not None or fingerprint is not None:
        raise UsageError("--step and --master-fingerprint are for another wallet", do="add --for keystone")
    show_file(home.folder, file, showing)
