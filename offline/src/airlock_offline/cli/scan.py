"""``scan``: a document that the other machine shows as QR codes, into a file."""

from __future__ import annotations

from pathlib import Path

import click

from airlock_offline.cli.wallet_exchange import scan_request
from airlock_offline.home import OfflineHome
from airlock_shared.cli.console import INPUT
from airlock_shared.cli.qr.documents import scan_to_file, scanning_options
from airlock_shared.errors import UsageError


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

    A source is camera, camera:1, a video, a GIF, a picture, a PDF sheet, or a folder of pictures. After Ctrl-C, the
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
