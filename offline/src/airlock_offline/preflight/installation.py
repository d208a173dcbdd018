"""Installed files against the kit's lists, a kit on its medium, and pins as the transcript keeps them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from airlock_offline.installation.manifest import Installation, KitFinding, paper
from airlock_shared.documents.deployment import Deployment
from airlock_shared.errors import ExitCode
from airlock_shared.host.machine import Library
from airlock_shared.host.observed import LOOK, REFUSED, Observed
from airlock_shared.text.fingerprint_words import spoken
from airlock_shared.text.safe import safe

FINDINGS_SHOWN = 5
AGAIN = "install again from a kit whose fingerprint you have on paper, and find out who changed this"
FROM_SOURCE = "install from a kit (docs/reference/kit.md): without a kit, nobody can check these files"


def pin_as_json(pin: Deployment) -> dict[str, Any]:
    """Return a pin for the transcript."""
    return {"name": pin.name, "rehearsal": pin.rehearsal, "fingerprint": pin.fingerprint,
            "words": spoken(pin.fingerprint)}  # fmt: skip


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
        name, digits = safe(found.kit), found.fingerprint
        yield Observed("installed", "installed", f"{found.files} files as {name} lists them")
        yield Observed("installed", "kit", f"{digits[:32]} {digits[32:]} {spoken(digits)}")


def kit_lines(findings: Sequence[KitFinding], folder: Path, fingerprint: str) -> Iterator[Observed]:
    """Judge a kit's own medium."""
    yield from _findings(findings)
    if not findings:
        words = spoken("".join(fingerprint.split()).lower())
        yield Observed("installed", "medium", f"{safe(str(folder))} is whole, with the fingerprint given: {words}")


def installation_as_json(found: Installation) -> dict[str, Any]:
    """Return an installation for the transcript, with every finding."""
    differ = [{"check": finding.check, "path": finding.path, "what": finding.what} for finding in found.findings]
    return {"kit": found.kit, "fingerprint": found.fingerprint, "files": found.files, "findings": differ}


def _findings(findings: Sequence[KitFinding]) -> Iterator[Observed]:
    for finding in findings[:FINDINGS_SHOWN]:
        found = f"{finding.what}: {safe(finding.path)}"
        yield Observed("installed", "files", found, REFUSED, AGAIN, finding.check, ExitCode.REFUSED)
    if len(findings) > FINDINGS_SHOWN:
        more = f"and {len(findings) - FINDINGS_SHOWN} more; the transcript has them all"
        yield Observed("installed", "files", more, REFUSED, AGAIN, findings[0].check, ExitCode.REFUSED)
