"""``preflight``: what to look at before a ceremony begins, on one page."""

from __future__ import annotations

import json
import platform
import re
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import click

from airlock_offline.cli.device_waits import wait_notice
from airlock_offline.device_connection import Device, device_options, nothing_is_signed, opened
from airlock_offline.home import OfflineHome, now_ms, uptime
from airlock_offline.installation import examine_installation, examine_kit, read_installation_fingerprint
from airlock_offline.ledger.models import DEFAULT_MODEL, shown_models
from airlock_offline.ledger.screens import typed_data_pages
from airlock_offline.ledger.usb import LEDGER_VENDOR
from airlock_offline.preflight.ledger import PROOF, PROVEN, device_report, not_ready, udev_rule
from airlock_offline.preflight.page import (
    kit_lines,
    look_at,
    preflight_verdict_lines,
    report_lines,
)
from airlock_offline.signing.review import screen_lines
from airlock_shared.checks.times import CONTRADICTED, STATED, Uptime, clock_of, time_advice
from airlock_shared.cli.ceremony.by_screens import show_by_screens
from airlock_shared.cli.progress import working
from airlock_shared.cli.qr.file_or_qr import require_output
from airlock_shared.cli.terminal import (
    FOLDER_TYPE,
    INPUT,
    ask,
    explain_error,
    finish,
    json_option,
    led,
    rows,
    say,
    say_all,
    show,
    show_json,
    worst,
)
from airlock_shared.errors import DeviceError, ExitCode, Expired, UsageError
from airlock_shared.ethereum.typed_document import read_typed_data
from airlock_shared.host.files import MachineProbes, write_new
from airlock_shared.host.machine import installed
from airlock_shared.text.safe import safe
from airlock_shared.units import span_text, utc_text
from airlock_shared.wire.strict_json import JsonObject

# ---- hardware record ------------------------------------------------------------------------------------------------
# The hardware record: which Ledger showed which pages, as a small file that people can send.
# It holds USB ids, versions, settings and a person's answers. It has no address, no path, no serial number, nothing
# of a ceremony, and no name of a machine or a person, so that sending it tells nobody who holds what.


_FORMAT = "airlock/hardware-record@1"


def recorded(device: Device, *, software: bool) -> tuple[JsonObject, JsonObject]:
    """Have the harmless message shown and signed; return the report of ``preflight``, and the record.

    Pages are asked about where they can be listed: of a known model, and when the message was shown field by field.
    Raises ``DeviceError`` for a Ledger that is not ready, ``Declined`` when the message is rejected or nobody answers.
    """
    device.app()
    model = device.model or (DEFAULT_MODEL if software else "")
    pages = _pages(model)
    report = device_report(device, prove=True)
    answers = _confirmed(pages, piped=software) if report["raw_messages"] == PROVEN else []
    return report, _record(device, report, model, answers, software=software)


def record_bytes(record: JsonObject) -> bytes:
    """Return the record as it is written: JSON that a person can read before it is sent."""
    return (json.dumps(record, indent=2, ensure_ascii=True) + "\n").encode()


def _pages(model: str) -> list[list[str]]:
    """Return the pages of the harmless message and list them on the screen; none for a model that is not known."""
    if model not in shown_models():
        say("The pages of this model are not known: the record holds its USB ids and versions alone.")
        return []
    pages = [list(page) for page in typed_data_pages(*read_typed_data(PROOF), model, by_hashes=False)]
    for line in ("", *screen_lines(pages, model)):
        say(line)
    say("Compare each page with this list while the Ledger shows it. You will be asked about each.")
    return pages


def _confirmed(pages: list[list[str]], *, piped: bool) -> list[JsonObject]:
    """Ask of each page whether the Ledger showed it so, until the answer is Yes or No."""
    answers = []
    for number, page in enumerate(pages, start=1):
        answer = ""
        while answer not in ("Yes", "No"):
            shown = " | ".join(safe(line.strip()) for line in page)
            say(f"Page {number} of {len(pages)}: {shown}")
            answer = ask("Did the Ledger show this page exactly so? Type Yes or No: ", piped=piped)
        answers.append({"page": number, "lines": page, "shown": answer == "Yes"})
    return answers


def _record(device: Device, report: JsonObject, model: str, answers: list[JsonObject], *, software: bool) -> JsonObject:
    plugged = device.plugged
    usb = plugged and {
        "vendor_id": f"{LEDGER_VENDOR:04x}",
        "product_id": f"{plugged.product_id:04x}",
        "release": f"{plugged.release:04x}",
    }
    return {
        "format": _FORMAT,
        "simulator": software,
        "date": datetime.fromtimestamp(now_ms() / 1000, UTC).date().isoformat(),
        "model": model,
        "usb": usb,
        "app": {"name": safe(report["app"], limit=40), "version": safe(report["version"], limit=40)},
        "settings": {"blind_signing": report["blind_signing"], "raw_messages": report["raw_messages"]},
        "system": {
            "airlock": version("airlock-offline"),
            "system": platform.system(),
            "kernel": _digits(platform.release()),  # what follows the digits may name a machine
            "machine": platform.machine(),
            "python": platform.python_version(),
            "hidapi": installed("hidapi"),
        },
        "pages": answers,
    }


def _digits(release: str) -> str:
    found = re.match(r"\d+(\.\d+)*", release)
    return found[0] if found else ""


# ---- stated time ----------------------------------------------------------------------------------------------------
# The time as a person states it from a watch: the only thing that can vouch for the clock of a machine without
# network. For how long it vouches is in :mod:`airlock_shared.checks.times`, which judges by it.


UNCERTAINTY_AT_MOST_S = 300


class Statement(NamedTuple):
    """What a person said: the time on the watch in unix ms, and by how many seconds it may be wrong."""

    stated_ms: int
    uncertainty_s: int

    def as_data(self, machine_ms: int, uptime: Uptime | None = None) -> JsonObject:
        """Return the statement as the transcript records it, beside the machine's clock and how long it has been running."""
        said = {"stated_ms": self.stated_ms, "machine_ms": machine_ms, "uncertainty_s": self.uncertainty_s}
        return said | (uptime._asdict() if uptime is not None else {})


def read_time(text: str) -> int:
    """Return the unix ms of a time with a zone, such as ``2026-11-21T02:43:00Z``. Raises ``UsageError``."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise UsageError(
            f"not a time with a zone: {text[:40]!r}", do="write it in UTC, such as --time 2026-11-21T02:43:00Z"
        )
    return int(moment.timestamp()) * 1000


def compare_clocks(statement: Statement, machine_ms: int) -> None:
    """Compare the watch with the machine's clock. Raises ``Expired`` when they differ by more than the uncertainty."""
    off_ms = machine_ms - statement.stated_ms
    if abs(off_ms) > statement.uncertainty_s * 1000:
        raise Expired(
            f"TIME-CLOCK: this machine's clock is {span_text(abs(off_ms) // 1000)} {'fast' if off_ms > 0 else 'slow'}: "
            f"it says {utc_text(machine_ms)}, the watch {utc_text(statement.stated_ms)}, "
            f"which may be wrong by {span_text(statement.uncertainty_s)}",
            do="check the watch again; if it is right, set this machine's clock, and state the time again",
        )


# ---- preflight ------------------------------------------------------------------------------------------------------


ASKED_UNCERTAINTY_S = 60


@click.command("preflight")
@click.option("--time", "stated", metavar="UTC", help="The time on your watch, such as 2026-11-21T02:43:00Z.")
@click.option(
    "--uncertainty",
    type=click.IntRange(1, UNCERTAINTY_AT_MOST_S),
    metavar="SECONDS",
    help="How many seconds the watch may be wrong, including the time to type.",
)
@click.option("--watch", is_flag=True, help="Ask for the time on your watch, which may be a minute wrong.")
@click.option("--kit", "kit", type=FOLDER_TYPE, metavar="DIR", help="Also examine the kit on its medium.")
@click.option("--fingerprint", metavar="HEX", help="The kit's fingerprint, as you received it by another way.")
@click.option(
    "--hardware-record",
    "record",
    type=INPUT,
    metavar="FILE",
    help="Also write which Ledger showed which pages to a new file, to send; see below.",
)
@click.option(
    "--raw-messages",
    type=click.Choice(["on", "off"]),
    help="What you see in the app's settings; the record says that you stated it.",
)
@click.option(
    "--prove-raw-messages", "prove", is_flag=True, help="Prove it: sign a harmless test message on the Ledger."
)
@device_options
@json_option
@click.pass_obj
def preflight(
    state: OfflineHome,
    stated: str | None,
    uncertainty: int | None,
    watch: bool,
    kit: Path | None,
    fingerprint: str | None,
    record: Path | None,
    raw_messages: str | None,
    prove: bool,
    emulator_port: int | None,
    ledger_path: str | None,
    as_json: bool,
) -> None:
    r"""Show on one page whether this machine is fit for a ceremony, and record it.

    Network, radios, kernel, time, disk, camera, Ledger, libraries, installed files, deployments, transcript. `sign` needs
    the time from a watch, stated in the last 24 hours. State it, and how many seconds it may be wrong.

    Production refuses an interface or a radio that is on, a route, and a kernel that allows sockets (exit code 3). A file
    that is not as the kit lists it is always refused. Everything is production, except a rehearsal or a test network
    with the software Ledger. Exit code 7: the clock differs from the watch. Exit code 5: the Ledger is not ready.

    --hardware-record lists the pages of a harmless message, has the Ledger sign it, and asks of each page whether it was
    shown so. The file has USB ids, versions and answers, and no address, path or serial number.

    \b
    Example:
      airlock-offline preflight --time 2026-11-21T02:43:00Z --uncertainty 60
    """
    if (kit is None) != (fingerprint is None):
        raise UsageError("a kit needs its fingerprint", do="give --kit DIR and --fingerprint HEX, from paper, together")
    expected = None if fingerprint is None else read_installation_fingerprint(fingerprint)
    if record is not None:
        require_output(record)
    if watch and stated is not None:
        raise UsageError("the time is given already", do="leave out --time, or --watch")
    clock = _ask_time(state, uncertainty) if watch else _state_time(state, stated, uncertainty)
    valid_ms = clock_of(state.transcript.entries(), now_ms(), uptime()).uncertainty_ms
    device = _device(emulator_port, ledger_path, record, raw_messages, prove=prove)
    with working("Looking at every installed file"):
        installation = examine_installation()
    with working("Looking at every file of the kit"):
        medium = () if kit is None or expected is None else kit_lines(examine_kit(kit, expected), kit, expected)
    report = look_at(
        state.home,
        state.transcript,
        MachineProbes(),
        now_ms=now_ms(),
        statement=clock,
        valid_ms=valid_ms,
        device=device,
        rule=udev_rule(),
        software_ledger=emulator_port is not None,
        installation=installation,
        medium=medium,
        kernel=state.confinement,
    )
    state.transcript.record("preflight", report, now_ms())
    _end(report, as_json=as_json)


def _ask_time(state: OfflineHome, uncertainty_s: int | None) -> JsonObject | None:
    """Have a person type the time on a watch, and record it; what is no time, or not the clock's, is asked again."""
    question = "UTC on your watch, such as 2026-11-21T02:43:00Z: "  # with the answer no wider than the screen
    while True:
        try:
            typed = ask(question, piped=state.all_worth_nothing()).strip()
            return _state_time(state, typed, uncertainty_s or ASKED_UNCERTAINTY_S)
        except UsageError:
            say("Type it like 2026-11-21T02:43:00Z, with T and Z. UTC is local time less its offset.")
        except Expired as error:
            say(explain_error(error))


def _end(report: JsonObject, *, as_json: bool) -> None:
    """Show the page, and end with the worst exit code."""
    refused, not_ready = report["refused"], "error" in report["device"]
    fit = not refused and not not_ready
    if as_json:
        show_json({"ok": fit, **report})
    elif not (led() and fit):  # where it is led, the page comes when people agree to it
        show_by_screens(list(report_lines(report, kit=not led(), whole=not led())), show)
        say_all(preflight_verdict_lines(report, whole=not led()))
        if led() and not_ready:  # what is waited for stands last
            say_all(rows("The Ledger is not ready: ", ". ".join(report["device"].values())))
    finish(worst([*([ExitCode.REFUSED] if refused else []), *([ExitCode.DEVICE] if not_ready else [])]))


def _state_time(state: OfflineHome, stated: str | None, uncertainty_s: int | None) -> JsonObject | None:
    """Compare the clock with what a person says, and record it; None when nobody says anything.

    Raises ``Expired`` when they differ by more than the uncertainty: then an earlier statement holds no longer either.
    """
    machine_ms = now_ms()
    if stated is None and uncertainty_s is None:
        return None
    if stated is None or uncertainty_s is None:
        raise UsageError("the time and its uncertainty are stated together", do=time_advice())
    statement = Statement(read_time(stated), uncertainty_s)
    data = statement.as_data(machine_ms, uptime())
    try:
        compare_clocks(statement, machine_ms)
    except Expired:
        state.transcript.record(CONTRADICTED, data, machine_ms)
        raise
    state.transcript.record(STATED, data, machine_ms)
    return data


def _device(
    emulator_port: int | None, ledger_path: str | None, record: Path | None, attested: str | None, *, prove: bool
) -> JsonObject:
    with opened(emulator_port, ledger_path, wait_notice, guard=nothing_is_signed) as device:
        try:
            if record is None:
                return device_report(device, attested, prove=prove)
            report, found = recorded(device, software=emulator_port is not None)
        except DeviceError as error:
            if record is not None:
                say("No hardware record is written: the Ledger is not ready.")
            return not_ready(error)
    write_new(record, record_bytes(found))
    say(f"Wrote {record}: ids, versions and your answers; no address, path or serial number. Read it, and send it.")
    return report
