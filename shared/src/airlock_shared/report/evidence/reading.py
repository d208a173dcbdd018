"""The artefacts of a ceremony read strictly, each by the reader of its kind."""

from __future__ import annotations

from collections.abc import Mapping

from airlock_shared.documents.deployment import parse_deployment
from airlock_shared.documents.requests import parse_requests
from airlock_shared.errors import DocumentError
from airlock_shared.plan.reader import parse_plan
from airlock_shared.report.evidence.artefacts import (
    DEPLOYMENT,
    FILES,
    PLAN,
    REQUESTS,
    REQUIRED,
    SCREENS,
    SIGNATURES,
    TIMELINE,
    TRANSCRIPTS,
    Evidence,
    Requests,
)
from airlock_shared.report.evidence.redaction import parse_withheld
from airlock_shared.report.evidence.screens import parse_screens
from airlock_shared.report.evidence.timeline import parse_timeline
from airlock_shared.report.evidence.transcript_entries import read_transcript


def read_evidence(files: Mapping[str, bytes]) -> Evidence:
    """Read every artefact, by its name in ``FILES``.

    Raises ``DocumentError("REPORT-ARTEFACT")`` for one that is missing or unknown, ``PlanError``, or another
    ``DocumentError`` or ``Refusal`` of the artefact that is damaged.
    """
    for name in REQUIRED:
        if name not in files:
            raise DocumentError(
                "REPORT-ARTEFACT", f"the artefact {name} is missing", do="find the folder as it was made"
            )
    if unknown := sorted(set(files) - set(FILES)):
        raise DocumentError("REPORT-ARTEFACT", "a file that is no artefact", got=unknown[0][:80])
    return Evidence(
        half="online" if TIMELINE in files else "offline",
        files={name: files[name] for name in FILES if name in files},
        plan=parse_plan(files[PLAN]),
        deployment=parse_deployment(files[DEPLOYMENT]),
        requests=Requests(*parse_requests(files[REQUESTS])) if REQUESTS in files else None,
        answers=parse_withheld(files[SIGNATURES]) if SIGNATURES in files else None,
        screens=parse_screens(files[SCREENS]) if SCREENS in files else None,
        transcripts={half: read_transcript(files[name]) for half, name in TRANSCRIPTS.items() if name in files},
        timeline=parse_timeline(files[TIMELINE]) if TIMELINE in files else None,
    )
