"""``rehearse`` and ``rehearse serve``: the embedded default, where nothing is at stake."""

from __future__ import annotations

import signal
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType

import click
from click.core import ParameterSource

from airlock_rehearsal.day import LED, SECOND, Day, begin, join
from airlock_rehearsal.machines import Play, RehearsalFailed
from airlock_rehearsal.play import rehearse as play_all
from airlock_rehearsal.play import summary_lines
from airlock_rehearsal.processes import find_command, software_ledger
from airlock_rehearsal.scenarios import TRADER
from airlock_shared.cli.terminal import say, show
from airlock_shared.errors import ExitCode, UsageError
from airlock_shared.host.files import require_new

PORT = 8787
"""Where ``rehearse serve`` serves: the same at each start, so that an address that was written down stays true."""

_MODEL = click.option("--model", default="flex", show_default=True, help="Which Ledger to simulate: flex or nanosp.")
_OFFLINE = click.option(
    "--offline-command", type=click.Path(path_type=Path), help="The airlock-offline program to use."
)
_CEREMONY = click.option(
    "--ceremony", type=click.Choice(LED), default=LED[0], show_default=True, help="Which one people lead."
)
_CHANNEL = click.option(
    "--channel",
    type=click.Choice(("file", "qr")),
    default="file",
    show_default=True,
    help="How documents cross the gap: as files, or by QR codes on pictures.",
)


@click.group("rehearse", invoke_without_command=True)
@click.option("--yes", is_flag=True, help="Unattended: six ceremonies, every question answered with Yes.")
@click.option(
    "--folder", type=click.Path(path_type=Path), help="Where to keep the artefacts (default: rehearsals/TIME)."
)
@_CEREMONY
@_MODEL
@_CHANNEL
@_OFFLINE
@click.pass_context
def rehearse(
    context: click.Context,
    yes: bool,
    folder: Path | None,
    ceremony: str,
    model: str,
    channel: str,
    offline_command: Path | None,
) -> None:
    r"""Rehearse a ceremony's day on this machine, with simulated services and a software Ledger.

    On a terminal: this one is the online machine, a second one the air-gapped machine, and people are led as on the day.
    With --yes, or when standard input is not a terminal, six ceremonies are played unattended. Nothing stays running at
    the end or after Ctrl-C.

    \b
    Example:
      airlock-online rehearse
    """
    if context.invoked_subcommand is not None:
        return
    from airlock_rehearsal.services.server import RehearsalServices  # noqa: PLC0415 - py-evm takes a second

    unattended = yes or not sys.stdin.isatty()
    if unattended and context.get_parameter_source("ceremony") is ParameterSource.COMMANDLINE:
        raise UsageError(
            "unattended, all six ceremonies are played", do="leave out --ceremony; or --yes, at a terminal"
        )
    folder = (folder or Path("rehearsals") / datetime.now(UTC).strftime("%Y%m%d-%H%M%S")).absolute()
    if (folder / SECOND).exists():
        raise UsageError(
            f"{folder} has a rehearsal: it cannot be resumed, for its services ended with its terminal",
            do="begin another one, without --folder or with another",
        )
    require_new(folder)
    online, offline = find_command("airlock-online", None), find_command("airlock-offline", offline_command)
    for hung_up in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(hung_up, _interrupt)
    say("SIMULATOR: services, Ledger and funds of this rehearsal are not real.")
    try:
        with RehearsalServices(trader=TRADER) as services:
            if not unattended:
                begin(Day(folder, online, offline, model, ceremony, channel), services.urls)
                return
            with (
                software_ledger(offline, ["--model", model]) as port,
                software_ledger(offline, ["--model", model, "--blind-signing"]) as blind_port,
            ):
                ports = {False: port, True: blind_port}.__getitem__
                rows = play_all(Play(folder, online, offline, services.urls, ports, model, channel))
    except KeyboardInterrupt:
        raise RehearsalFailed(
            "this rehearsal was ended, and is lost: begin another one", ExitCode.INTERRUPTED
        ) from None
    for line in summary_lines(rows, folder):
        show(line)


@rehearse.command("air-gapped", hidden=True)
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@_CEREMONY
@_MODEL
@_CHANNEL
@_OFFLINE
def air_gapped(folder: Path, ceremony: str, model: str, channel: str, offline_command: Path | None) -> None:
    r"""Be the air-gapped machine of the rehearsal in FOLDER, and its Ledger; the rehearsal writes a script that does this.

    \b
    Example:
      airlock-online rehearse air-gapped rehearsals/20261126-101500
    """
    online, offline = find_command("airlock-online", None), find_command("airlock-offline", offline_command)
    join(Day(folder, online, offline, model, ceremony, channel))


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


@rehearse.command("serve")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help=f"Loopback port (default: {PORT}, the same at each start); 0 takes a free one.",
)
@click.option("--trader", default=TRADER, show_default=True, help="Who holds the simulated positions.")
@click.option(
    "--fault",
    "names",
    multiple=True,
    metavar="NAME[=VALUE][@PLACE]",
    help="Simulate this fault; can be given more than once.",
)
@click.option("--eip7702", is_flag=True, help="Execute orders in EIP-7702 mode, which also needs a signed transaction.")
@click.option(
    "--rate-limit",
    type=click.IntRange(1),
    help="How many requests a minute the trading endpoints accept (default: no limit).",
)
def serve(port: int | None, trader: str, names: tuple[str, ...], eip7702: bool, rate_limit: int | None) -> None:
    r"""Serve the rehearsal services alone, on loopback, until Ctrl-C. Prints their addresses as one JSON line.

    The error for an unknown fault lists all faults; GET /rehearsal/faults explains each.

    \b
    Example:
      airlock-online rehearse serve --port 8788
    """
    from airlock_rehearsal.services.faults import Faults  # noqa: PLC0415 - as above
    from airlock_rehearsal.services.runtime import RehearsalSettings  # noqa: PLC0415 - as above
    from airlock_rehearsal.services.server import RehearsalServices, serve_forever  # noqa: PLC0415 - py-evm takes a second

    settings = RehearsalSettings(eip7702, rate_limit=rate_limit)
    faults = Faults.of(*names)
    services = RehearsalServices(trader=trader, settings=settings, faults=faults)
    serve_forever(services, port=PORT if port is None else port)
