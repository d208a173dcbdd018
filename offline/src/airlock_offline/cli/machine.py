"""Commands about this machine: ``config show``, ``doctor``, ``explain``, ``forget``, and completion in a shell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from airlock_offline.home import HOME_VARIABLE, OfflineHome, default_home, now_ms, read_config, uptime
from airlock_offline.installation import Installation, examine_installation
from airlock_offline.ledger.usb import cannot_open, plugged_ledgers
from airlock_offline.preflight.isolation import kernel_lines
from airlock_offline.preflight.ledger import udev_lines, udev_rule
from airlock_offline.preflight.page import TRUST, as_notes, installation_lines, system_libraries
from airlock_shared.checks.catalogue import CHECKS_BY_ID
from airlock_shared.checks.nonces import Use, spent_by
from airlock_shared.checks.times import clock_of, time_advice
from airlock_shared.cli.explain import explain_command, of_checks, of_exit_codes
from airlock_shared.cli.kept_signatures import (
    KeptCopy,
    ceremony_option,
    copies_by_qr,
    copies_in_codes,
    remove_copies,
    written_as,
)
from airlock_shared.cli.machine import completion as completion  # the table of commands looks for it here
from airlock_shared.cli.machine import (
    finish_doctor,
    home_setting,
    read_deployments,
    settings_of,
    show_settings,
    transcript_line,
)
from airlock_shared.cli.terminal import INPUT, json_option, say
from airlock_shared.documents.transcript import Entry
from airlock_shared.errors import DeviceError
from airlock_shared.host import machine
from airlock_shared.host.files import LOOK, MAX_FILE_BYTES, MachineProbes, Observed, current, read_input
from airlock_shared.host.machine import (
    LIBRARIES,
    Library,
    broken,
    camera_line,
    closure_line,
    disk_line,
    fault,
    home_line,
    library_lines,
    program_line,
)
from airlock_shared.report.evidence.timeline import parse_transcript
from airlock_shared.report.facts import outcomes_recorded, proved_recorded, standings
from airlock_shared.text.safe import safe

# ---- config ---------------------------------------------------------------------------------------------------------
# ``config show``: the offline half's settings, and where each comes from.


@click.group("config")
def config() -> None:
    """Show the configuration of this machine."""


@config.command("show")
@json_option
@click.pass_obj
def show_config(state: OfflineHome, as_json: bool) -> None:
    r"""Show every setting, its value, and whether it is a default, from the file or from the environment.

    No setting weakens a check.

    \b
    Example:
      airlock-offline config show
    """
    file = state.settings_file
    home = home_setting(state.home, default_home(), HOME_VARIABLE)
    show_settings(file, home, settings_of(file, read_config(file), {}), as_json=as_json)


# ---- explain --------------------------------------------------------------------------------------------------------
# ``explain``: what a check's id or an exit code means, and what to do about it.


explain = explain_command(
    r"""Explain CODE: a check's id or an exit code. Without CODE, list them.

    A service's codes are explained by `airlock-online explain`.

    \b
    Examples:
      airlock-offline explain DOMAIN-CHAIN
      airlock-offline explain 5
    """,
    lambda: [*of_checks(CHECKS_BY_ID), *of_exit_codes()],
)

# ---- doctor ---------------------------------------------------------------------------------------------------------
# What ``doctor`` looks at beside the lines that it shares with ``preflight``: can the program work here at all.


_REQUIREMENTS = Path(__file__).resolve().parents[3] / "requirements.txt"  # of a source checkout: offline/


def health_lines(
    state: OfflineHome,
    installation: Installation,
    libraries: tuple[Library, ...],
    rule: str | None,
    world: MachineProbes,
) -> Iterator[Observed]:
    """Yield every line of ``doctor``, without changing anything and without talking to a Ledger."""
    yield program_line("airlock-offline")
    if not installation.from_a_kit:  # there every file is compared
        yield closure_line(_REQUIREMENTS)
    yield from installation_lines(installation)
    yield home_line(state.home)
    yield disk_line(state.home, world)
    yield from as_notes(kernel_lines(state.confinement))  # nothing is signed here
    yield machine.config_line(state.settings_file, read=read_config)
    yield from read_deployments(current(state.home / "pins"), first=TRUST)[1]
    yield transcript_line(state.transcript)
    yield from library_lines(world, libraries or LIBRARIES)
    yield camera_line(world)
    yield from udev_lines(rule)
    yield from ledger_lines()


def ledger_lines() -> Iterator[Observed]:
    """Say which Ledgers are plugged in, and whether this account may open them."""
    try:
        found = plugged_ledgers()
    except DeviceError as error:
        yield broken("Ledger", "Ledger", error)
        return
    if not found:
        yield Observed("Ledger", "Ledger", "none is plugged in", LOOK, "plug it in, unlock it, open the Ethereum app")
    for ledger in found:
        if why := cannot_open(ledger.path):
            yield fault("Ledger", "Ledger", safe(why.what), why.do, why.exit_code)
        else:
            yield Observed("Ledger", "Ledger", f"{safe(f'{ledger.product} at {ledger.path}')}: plugged in")


# ---- doctor ---------------------------------------------------------------------------------------------------------
# ``doctor``: what to run when something does not work.


@click.command("doctor")
@json_option
@click.pass_obj
def doctor(state: OfflineHome, as_json: bool) -> None:
    r"""Find out why something does not work; change nothing.

    Versions, installed files, folder, disk, configuration, deployments, transcript, libraries, camera, udev rule and
    plugged Ledgers, each with what to do. It does not talk to a Ledger, and records nothing. Exit code 0 when nothing
    is wrong, else the worst exit code of its lines.

    \b
    Example:
      airlock-offline doctor
    """
    say("Looking at every installed file ...")
    lines = health_lines(state, examine_installation(), system_libraries(), udev_rule(), MachineProbes())
    finish_doctor(list(lines), as_json=as_json)


# ---- forget ---------------------------------------------------------------------------------------------------------
# ``forget``: remove this machine's copies of signatures that can execute no more.


@click.command("forget")
@click.option(
    "--transcript", "online_transcript", type=INPUT, help="The online machine's transcript, for the outcomes."
)
@ceremony_option
@json_option
@click.pass_obj
def forget(state: OfflineHome, online_transcript: Path | None, ceremonies: tuple[Path, ...], as_json: bool) -> None:
    r"""Remove this machine's copies of signatures that can execute no more.

    A signature can execute no more when its deadline is surely past, or when its nonce is spent, as the online
    machine's transcript says of its node. Until then its copy stays. Each copy is named, with the reason. The record
    of what was signed stays as it is.

    \b
    Example:
      airlock-offline forget --transcript online-transcript.jsonl
    """
    entries = state.transcript.entries()
    clock = clock_of(entries, now_ms(), uptime())
    if clock.uncertainty_ms is None:
        say(f"No deadline counts as past: nobody has compared this machine's clock with a watch today; {time_advice()}")
    told: list[Entry] = []
    if online_transcript is not None:
        told = parse_transcript(read_input(online_transcript, max_bytes=MAX_FILE_BYTES))
        say("The outcomes are what the online machine says; compare its transcript's head with its screen.")
    uses, _ = spent_by(entries)
    now = None if clock.uncertainty_ms is None else clock.now_ms
    known = standings(uses, outcomes_recorded(told), proved_recorded(told), now, clock.uncertainty_ms or 0)
    in_codes = [copy for each in ceremonies for copy in copies_in_codes(each.absolute())]
    remove_copies(
        state.home,
        [*_copies(state, entries, uses), *in_codes],
        {each.use.digest: each for each in known},
        state.transcript,
        now_ms,
        piped=state.all_worth_nothing(),
        as_json=as_json,
    )


def _copies(state: OfflineHome, entries: Sequence[Entry], uses: Sequence[Use]) -> Iterator[KeptCopy]:
    for path in sorted((state.home / "signed").glob("*.json*")):
        yield KeptCopy(path, ["0x" + written_as(path).partition(".")[0]])
    for copy in copies_by_qr(state.home):
        yield copy if copy.digests is not None else copy._replace(digests=_shown_in(copy.path, entries, uses))


def _shown_in(page: Path, entries: Sequence[Entry], uses: Sequence[Use]) -> list[str] | None:
    """Return every digest of the ceremony whose signatures a page shows, of which no document is kept beside it."""
    mark = written_as(page).removeprefix("signatures-")[:16]
    begun = {
        str(entry.data.get("requests")): entry.data.get("ceremony") for entry in entries if entry.event == "sign-begun"
    }
    for entry in entries:
        if entry.event == "signatures-written" and str(entry.data.get("signatures")).startswith(mark):
            ceremony = begun.get(str(entry.data.get("requests")))
            return [use.digest for use in uses if use.ceremony == ceremony]
    return None
