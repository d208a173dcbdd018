"""``rehearse`` and ``services``: the embedded default, where nothing is at stake."""

from __future__ import annotations

import signal
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType

import click

from airlock_online.rehearsal.plans import TRADER
from airlock_online.rehearsal.processes import find_command, software_ledger
from airlock_online.rehearsal.stage import Stage, rehearse, summary_lines
from airlock_shared.command import say, show
from airlock_shared.errors import Refusal, UsageError
from airlock_shared.files import require_new


@click.command("rehearse")
@click.option("--yes", is_flag=True, help="Run unattended: every question is answered with Yes.")
@click.option(
    "--folder", type=click.Path(path_type=Path), help="Where to keep the artefacts (default: rehearsals/TIME)."
)
@click.option("--model", default="flex", show_default=True, help="Which Ledger to simulate: flex or nanosp.")
@click.option("--offline-command", type=click.Path(path_type=Path), help="The airlock-offline program to use.")
def REHEARSE(yes: bool, folder: Path | None, model: str, offline_command: Path | None) -> None:  # noqa: N802
    """Play three whole ceremonies on this machine, with simulated services and a software Ledger.

    On a terminal you confirm with Yes and see the Ledger's screens; with --yes, or when standard input is not a terminal,
    it runs unattended. Nothing is left running, also after Ctrl-C.
    """
    try:
        from airlock_online.rehearsal.services.server import RehearsalServices
    except ModuleNotFoundError as error:
        raise UsageError(
            "the rehearsal services are not installed", do="use `make rehearse`, or install airlock-online[rehearsal]"
        ) from error
    unattended = yes or not sys.stdin.isatty()
    folder = (folder or Path("rehearsals") / datetime.now(UTC).strftime("%Y%m%d-%H%M%S")).absolute()
    require_new(folder)
    online, offline = find_command("airlock-online", None), find_command("airlock-offline", offline_command)
    signal.signal(signal.SIGTERM, _interrupt)
    say("SIMULATOR: services, Ledger and funds of this rehearsal are not real.")
    ledger_words = ["--model", model, *([] if unattended else ["--ask"])]
    with RehearsalServices(trader=TRADER) as services, software_ledger(offline, ledger_words) as port:
        rows = rehearse(Stage(folder, online, offline, services.urls, port, model, unattended, show))
    for line in summary_lines(rows, folder):
        show(line)
    if not all(row.same_fingerprint for row in rows):
        raise Refusal(
            "DOC-CHAIN", "the two screens showed different fingerprints", do="this must never happen: report it"
        )


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


@click.command("services")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Loopback port; 0 takes a free one.")
@click.option("--trader", default=TRADER, show_default=True, help="Who holds the simulated positions.")
def SERVICES(port: int, trader: str) -> None:  # noqa: N802
    """Serve the rehearsal services alone, on loopback, until Ctrl-C. Prints their addresses as one JSON line."""
    from airlock_online.rehearsal.services.server import RehearsalServices, serve_forever

    serve_forever(RehearsalServices(trader=trader), port=port)
