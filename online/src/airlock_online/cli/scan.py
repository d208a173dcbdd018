"""``scan``: a document that the other machine shows as QR codes, into a file."""

from __future__ import annotations

from pathlib import Path

import click

from airlock_online.cli.wallet_exchange import scan_answer
from airlock_online.home import OnlineHome
from airlock_shared.cli.console import INPUT
from airlock_shared.cli.qr.documents import scan_to_file, scanning_options


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

    A source is camera, camera:1, a video, a GIF, a picture, a PDF sheet, or a folder of pictures. After Ctrl-C, the
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
