"""The result of a preflight: every line in the order of the page, and the whole as the transcript keeps it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from airlock_offline.confinement.command import Confinement
from airlock_offline.installation import INSTALL_AGAIN, Installation, KitFinding, paper
from airlock_offline.preflight.isolation import airgap_lines, is_production, kernel_lines
from airlock_offline.preflight.ledger import device_lines
from airlock_shared.checks.times import time_advice
from airlock_shared.cli.machine import read_deployments, transcript_line
from airlock_shared.errors import ExitCode
from airlock_shared.host.files import (
    FAULT,
    LOOK,
    OK,
    REFUSED,
    MachineProbes,
    Observed,
    TranscriptFile,
    current,
)
from airlock_shared.host.machine import (
    LIBRARIES,
    Library,
    camera_line,
    disk_line,
    fingerprint_text,
    home_line,
    library_lines,
    page_lines,
)
from airlock_shared.text.safe import WIDTH, safe, safe_again, spoken, wrapped
from airlock_shared.units import utc_text
from airlock_shared.wire.strict_json import JsonObject

# ---- clock ----------------------------------------------------------------------------------------------------------
# The clock's line on the page: the machine's time, and the watch that vouches for it.


def clock_lines(machine_ms: int, statement: JsonObject | None, valid_ms: int | None) -> list[Observed]:
    """Return the machine's time, and who vouches for it.

    ``statement`` is what was stated just now, ``valid_ms`` the uncertainty of an earlier statement that still holds.
    """
    now = Observed("time", "this machine", utc_text(machine_ms))
    if statement is not None:
        return [now, Observed("time", "watch", f"agrees within {statement['uncertainty_s']} s")]
    if valid_ms is not None:
        return [now, Observed("time", "watch", f"agreed within {valid_ms // 1000} s, in the last 24 hours")]
    return [
        now,
        Observed("time", "watch", "nobody has compared it with a watch today; `sign` needs that", LOOK, time_advice()),
    ]


# ---- installation ---------------------------------------------------------------------------------------------------
# Installed files against the kit's lists, a kit on its medium, and pins as the transcript keeps them.


FINDINGS_SHOWN = 5
FROM_SOURCE = "install from a kit (docs/reference/kit.md): without a kit, nobody can check these files"


def system_libraries(root: Path | None = None) -> tuple[Library, ...]:
    """Return what the kit's SYSTEM-LIBRARIES asks of the system; nothing when not installed from a kit."""
    rows = (line.split("\t") for line in paper("SYSTEM-LIBRARIES", root).splitlines())
    return tuple(Library(row[0], row[1], row[3], row[2] == "optional") for row in rows if len(row) == 4)


def installation_lines(found: Installation) -> Iterator[Observed]:
    """Judge an installation: what differs from the kit's list is refused; what is from no kit is to be looked at."""
    if not found.from_a_kit:
        yield Observed("installed", "installed", "not from a kit, but from source", LOOK, FROM_SOURCE)
        return
    yield from _findings(found.findings)
    if not found.findings:
        yield Observed("installed", "installed", f"{found.files} files as {safe(found.kit)} lists them")
        yield Observed("installed", "kit", fingerprint_text(found.fingerprint))


def kit_lines(findings: Sequence[KitFinding], folder: Path, fingerprint: str) -> Iterator[Observed]:
    """Judge a kit's own medium, of which the fingerprint was given: 64 hex digits."""
    yield from _findings(findings)
    if not findings:
        given = fingerprint_text(fingerprint)
        yield Observed("installed", "medium", f"{safe(str(folder))} is whole, with the fingerprint given: {given}")


def _findings(findings: Sequence[KitFinding]) -> Iterator[Observed]:
    for finding in findings[:FINDINGS_SHOWN]:
        found = f"{finding.what}: {safe(finding.path)}"
        yield Observed("installed", "files", found, REFUSED, INSTALL_AGAIN, finding.check, ExitCode.REFUSED)
    if len(findings) > FINDINGS_SHOWN:
        more = f"and {len(findings) - FINDINGS_SHOWN} more; the transcript has them all"
        yield Observed("installed", "files", more, REFUSED, INSTALL_AGAIN, findings[0].check, ExitCode.REFUSED)


# ---- page -----------------------------------------------------------------------------------------------------------


FAMILY = "AIRGAP-"
TRUST = "bring deployment.json from the online machine, and run: airlock-offline trust deployment.json"


def look_at(
    home: Path,
    transcript: TranscriptFile,
    world: MachineProbes,
    *,
    now_ms: int,
    statement: JsonObject | None,
    valid_ms: int | None,
    device: JsonObject,
    rule: str | None,
    software_ledger: bool,
    installation: Installation,
    medium: Iterable[Observed],
    kernel: Confinement,
) -> JsonObject:
    """Look at the machine, judge it, and return the result as the transcript keeps it, with every line of the page.

    ``statement`` is the time as stated just now, ``valid_ms`` the uncertainty of an earlier statement that still holds, and
    ``medium`` the lines about a kit that was examined too. Raises ``DocumentError("DOC-CHAIN")`` when nothing can be
    recorded.
    """
    head = transcript.head()
    pins, pin_lines = read_deployments(current(home / "pins"), first=TRUST)
    damaged = any(line.verdict == REFUSED for line in pin_lines)
    production = damaged or is_production(pins, software_ledger=software_ledger)
    airgap = [*airgap_lines(world), *kernel_lines(kernel)]
    lines = [
        *(airgap if production else as_notes(airgap)),
        *clock_lines(now_ms, statement, valid_ms),
        home_line(home),
        disk_line(home, world),
        camera_line(world),
        *device_lines(device, rule),
        *library_lines(world, system_libraries() or LIBRARIES),
        *installation_lines(installation),
        *medium,
        *pin_lines,
        transcript_line(transcript),
    ]
    lines = [line._replace(verdict=LOOK) if line.verdict == FAULT else line for line in lines]
    differ = [{"check": each.check, "path": each.path, "what": each.what} for each in installation.findings]
    return {
        "airlock": version("airlock-offline"),
        "time_utc": utc_text(now_ms),
        "production": production,
        "clock": statement,
        "pins": [
            {
                "name": pin.name,
                "rehearsal": pin.rehearsal,
                "fingerprint": pin.fingerprint,
                "words": spoken(pin.fingerprint),
            }
            for pin in pins
        ],
        "transcript_head": head,
        "udev_rule": rule,
        "device": device,
        "kernel": kernel.as_json(),
        "installed": installation._asdict() | {"findings": differ},
        "lines": [line.as_json() for line in lines],
        "refused": sorted({line.check for line in lines if line.verdict == REFUSED}),
    }


def as_notes(lines: Iterable[Observed]) -> list[Observed]:
    """Return lines as judged where nothing is at stake: what would be refused about the air gap is to be looked at."""
    return [
        line._replace(verdict=LOOK, do=f"production refuses this; {line.do}")
        if line.verdict == REFUSED and line.check.startswith(FAMILY)
        else line
        for line in lines
    ]


def report_lines(report: Mapping[str, Any], *, kit: bool = True, whole: bool = True) -> Iterator[str]:
    """Yield the page of a report as the transcript keeps it; perhaps without what people are to type from their paper.

    Without ``whole``, what is in order is counted.
    """
    kind = "PRODUCTION" if report["production"] else "REHEARSAL"
    yield f"preflight of airlock-offline {report['airlock']}, {report['time_utc']}, {kind}"
    lines = [line for line in _lines_of(report) if kit or line.what not in ("kit", "medium")]
    yield from page_lines([line for line in lines if whole or line.verdict != OK])
    if not whole:
        yield f"in order: {sum(line.verdict == OK for line in lines)} of {len(lines)} checks"


def preflight_verdict_lines(report: Mapping[str, Any], *, whole: bool = True) -> Iterator[str]:
    """Yield what is refused, and which lines need a person: on a ``whole`` page they stand some screens above."""
    yield f"REFUSED: {', '.join(report['refused'])}" if report["refused"] else "No check is refused."
    if not whole:
        yield "Say the reason for each check that stands here aloud before you go on."
    elif doubts := [line.what for line in _lines_of(report) if line.verdict == LOOK]:
        named = ", ".join(f"{number} {what}" for number, what in enumerate(doubts, 1))
        yield from wrapped(safe_again(f"LOOK: {len(doubts)} need a reason. Say each aloud: {named}."), WIDTH)


def _lines_of(report: Mapping[str, Any]) -> list[Observed]:
    return [Observed(**line) for line in report["lines"]]
