"""The result of a preflight: every line in the order of the page, and the whole as the transcript keeps it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from airlock_offline.confinement.enforced import Confinement
from airlock_offline.installation.manifest import Installation, KitFinding
from airlock_offline.preflight.clock import clock_lines
from airlock_offline.preflight.installation import (
    installation_as_json,
    installation_lines,
    kit_lines,
    pin_as_json,
    system_libraries,
)
from airlock_offline.preflight.isolation import airgap_lines, is_production
from airlock_offline.preflight.kernel import kernel_lines
from airlock_offline.preflight.ledger import device_lines
from airlock_shared.cli.doctor import read_deployments, transcript_line
from airlock_shared.host.files import current
from airlock_shared.host.machine import (
    LIBRARIES,
    camera_line,
    disk_line,
    home_line,
    library_lines,
    page_lines,
)
from airlock_shared.host.observed import (
    FAULT,
    LOOK,
    OK,
    REFUSED,
    MachineProbes,
    Observed,
)
from airlock_shared.host.transcript_file import TranscriptFile
from airlock_shared.text.safe import WIDTH, safe_again, wrapped
from airlock_shared.units import utc_text

FAMILY = "AIRGAP-"
TRUST = "bring deployment.json from the online machine, and run: airlock-offline trust deployment.json"


class Kit(NamedTuple):
    """A kit's medium that was examined too: its folder, the fingerprint given, what was found."""

    folder: Path
    fingerprint: str
    findings: tuple[KitFinding, ...]


class PreflightInputs(NamedTuple):
    """What comes from people, device and disk, and not from looking at the machine.

    ``statement`` is the time as stated just now, ``valid_ms`` the uncertainty of an earlier statement that still holds.
    """

    now_ms: int
    statement: dict[str, int] | None
    valid_ms: int | None
    device: dict[str, Any]
    rule: str | None
    software_ledger: bool
    installation: Installation
    kit: Kit | None
    kernel: Confinement


class PreflightResult(NamedTuple):
    """The lines of the page, and the whole result."""

    lines: list[Observed]
    report: dict[str, Any]
    production: bool


def look_at(home: Path, transcript: TranscriptFile, told: PreflightInputs, world: MachineProbes) -> PreflightResult:
    """Look at the machine and judge it. Raises ``DocumentError("DOC-CHAIN")`` when nothing can be recorded."""
    head = transcript.head()
    pins, pin_lines = read_deployments(current(home / "pins"), first=TRUST)
    damaged = any(line.verdict == REFUSED for line in pin_lines)
    production = damaged or is_production(pins, software_ledger=told.software_ledger)
    airgap = [*airgap_lines(world), *kernel_lines(told.kernel)]
    lines = [
        *(airgap if production else as_rehearsal(airgap)),
        *clock_lines(told.now_ms, told.statement, told.valid_ms),
        home_line(home),
        disk_line(home, world),
        camera_line(world),
        *device_lines(told.device, told.rule),
        *library_lines(world, system_libraries() or LIBRARIES),
        *_installed(told),
        *pin_lines,
        transcript_line(transcript),
    ]
    lines = [line._replace(verdict=LOOK) if line.verdict == FAULT else line for line in lines]
    report = {
        "airlock": version("airlock-offline"),
        "time_utc": utc_text(told.now_ms),
        "production": production,
        "clock": told.statement,
        "pins": [pin_as_json(pin) for pin in pins],
        "transcript_head": head,
        "udev_rule": told.rule,
        "device": told.device,
        "kernel": told.kernel.as_json(),
        "installed": installation_as_json(told.installation),
        "lines": [line.as_json() for line in lines],
        "refused": sorted({line.check for line in lines if line.verdict == REFUSED}),
    }
    return PreflightResult(lines, report, production)


def as_rehearsal(lines: Iterable[Observed]) -> list[Observed]:
    """Return lines as a rehearsal judges them: what would be refused about the air gap is to be looked at."""
    return [line._replace(verdict=LOOK, do=f"production refuses this; {line.do}")
            if line.verdict == REFUSED and line.check.startswith(FAMILY) else line for line in lines]  # fmt: skip


def told_lines(report: Mapping[str, Any], *, kit: bool = True, whole: bool = True) -> Iterator[str]:
    """Yield the page of a report as the transcript keeps it; perhaps without what people are to type from their paper.

    Without ``whole``, what is in order is counted.
    """
    kind = "PRODUCTION" if report["production"] else "REHEARSAL"
    yield f"preflight of airlock-offline {report['airlock']}, {report['time_utc']}, {kind}"
    lines = [line for line in _lines_of(report) if kit or line.what not in ("kit", "medium")]
    yield from page_lines([line for line in lines if whole or line.verdict != OK])
    if not whole:
        yield f"in order: {sum(line.verdict == OK for line in lines)} of {len(lines)} lines"


def verdict_lines(report: Mapping[str, Any], *, whole: bool = True) -> Iterator[str]:
    """Yield what is refused, and which lines need a person: on a ``whole`` page they stand some screens above."""
    yield f"REFUSED: {', '.join(report['refused'])}" if report["refused"] else "No line is refused."
    if not whole:
        yield "Say the reason for each line that stands here aloud before you go on."
    elif look := [line.what for line in _lines_of(report) if line.verdict == LOOK]:
        named = ", ".join(f"{number} {what}" for number, what in enumerate(look, 1))
        yield from wrapped(safe_again(f"LOOK: {len(look)} need a reason. Say each aloud: {named}."), WIDTH)


def _lines_of(report: Mapping[str, Any]) -> list[Observed]:
    return [Observed(**line) for line in report["lines"]]


def _installed(told: PreflightInputs) -> list[Observed]:
    found = list(installation_lines(told.installation))
    return found if told.kit is None else [*found, *kit_lines(told.kit.findings, told.kit.folder, told.kit.fingerprint)]
