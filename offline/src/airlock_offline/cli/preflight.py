"""``preflight``: what to look at before a ceremony begins."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

import click

from airlock_offline.clock import now_ms
from airlock_offline.devices import emulator_option, ledger_option, opened
from airlock_offline.ledger_report import device_lines, raw_messages_options, report_or_error, udev_rule
from airlock_offline.state import State
from airlock_offline.watch import (
    CONTRADICTED,
    STATED,
    UNCERTAINTY_AT_MOST_S,
    Statement,
    advice,
    compare,
    read_time,
)
from airlock_shared.command import explain, json_option, show, show_json
from airlock_shared.deployment import parse_deployment
from airlock_shared.errors import ExitCode, Expired, UsageError
from airlock_shared.files import read_input
from airlock_shared.units import utc_text
from airlock_shared.words import spoken

_INTERFACES = Path("/sys/class/net")


@click.command("preflight")
@click.option("--time", "stated", metavar="UTC", help="The time on your watch, such as 2026-11-21T02:43:00Z.")
@click.option("--uncertainty", type=click.IntRange(1, UNCERTAINTY_AT_MOST_S), metavar="SECONDS",
              help="By how much the watch may be wrong, typing included.")  # fmt: skip
@raw_messages_options
@emulator_option
@ledger_option
@json_option
@click.pass_obj
def COMMAND(  # noqa: N802
    state: State,
    stated: str | None,
    uncertainty: int | None,
    emulator_port: int | None,
    ledger_path: str | None,
    as_json: bool,
) -> None:
    """Show the state of network, clock, pins and Ledger, to compare and write down.

    State the time from a watch, and by how many seconds it may be wrong: `sign` needs such a statement from the last 24
    hours. A clock that differs by more ends with exit code 7. The Ledger's setting Raw messages must be looked up on the
    device, because the app does not tell it.

    Example: airlock-offline preflight --time 2026-11-21T02:43:00Z --uncertainty 60
    """
    clock = _state_time(state, stated, uncertainty)
    report: dict[str, Any] = {
        "airlock": version("airlock-offline"),
        "time_utc": utc_text(now_ms()),
        "clock": clock,
        "network_up": interfaces_up(_INTERFACES),
        "pins": [_pin(path) for path in sorted((state.home / "pins").glob("*.json")) if "replaced" not in path.name],
        "transcript_head": state.transcript.head(),
        "udev_rule": udev_rule(),
        "device": _device(emulator_port, ledger_path),
    }
    state.transcript.record("preflight", report, now_ms())
    if as_json:
        show_json({"ok": "error" not in report["device"], **report})
    else:
        _show(report)
    if "error" in report["device"]:
        raise click.exceptions.Exit(int(ExitCode.DEVICE))


def _state_time(state: State, stated: str | None, uncertainty_s: int | None) -> dict[str, int] | None:
    """Compare the clock with what a person says, and record it; None when nobody says anything.

    Raises ``Expired`` when they differ by more than the uncertainty: then an earlier statement holds no longer either.
    """
    machine_ms = now_ms()
    if stated is None and uncertainty_s is None:
        return None
    if stated is None or uncertainty_s is None:
        raise UsageError("the time and its uncertainty are stated together", do=advice())
    statement = Statement(read_time(stated), uncertainty_s)
    data = statement.as_data(machine_ms)
    try:
        compare(statement, machine_ms)
    except Expired:
        state.transcript.record(CONTRADICTED, data, machine_ms)
        raise
    state.transcript.record(STATED, data, machine_ms)
    return data


def interfaces_up(folder: Path) -> list[str]:
    """Return the names of the network interfaces, loopback aside, that the system reports as up."""
    names = []
    for interface in sorted(folder.iterdir()) if folder.is_dir() else []:
        operstate = interface / "operstate"
        state = operstate.read_text().strip() if operstate.is_file() else "unknown"
        if interface.name != "lo" and state not in ("down", "notpresent"):
            names.append(interface.name)
    return names


def _pin(path: Path) -> dict[str, str]:
    deployment = parse_deployment(read_input(path))
    words = spoken(deployment.fingerprint)
    return {"name": deployment.name, "fingerprint": deployment.fingerprint, "words": words}


def _device(emulator_port: int | None, ledger_path: str | None) -> dict[str, Any]:
    with opened(emulator_port, ledger_path) as device:
        return report_or_error(device, explain)


def _show(report: dict[str, Any]) -> None:
    show(f"Airlock        {report['airlock']}")
    show(f"time           {report['time_utc']}")
    if report["clock"] is None:
        show("               not vouched for: `sign` needs the time from a watch, at most a day old;")
        show(f"               {advice()}")
    else:
        show(f"               the watch agrees within {report['clock']['uncertainty_s']} s")
    up = ", ".join(report["network_up"])
    show(f"network        {f'UP: {up}. Unplug or switch it off.' if up else 'no interface is up'}")
    for pin in report["pins"]:
        show(f"pinned         {pin['name']}: {pin['fingerprint'][:16]}…\n               {pin['words']}")
    if not report["pins"]:
        show("pinned         nothing yet: airlock-offline trust deployment.json")
    for line in device_lines(report["device"], report["udev_rule"]):
        show(line)
