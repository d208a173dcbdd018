"""The artefacts of a ceremony, read strictly: what a report is made from, and nothing else is.

``FILES`` names them. The report of the online machine has a ``timeline.jsonl``, and no other report has one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from airlock_shared.documents.deployment import Deployment, parse_deployment
from airlock_shared.documents.requests import Header, Request, parse_requests
from airlock_shared.documents.transcript import Entry
from airlock_shared.errors import DocumentError
from airlock_shared.plan.model import Plan, parse_plan
from airlock_shared.report.evidence.redaction import Answers, parse_withheld
from airlock_shared.report.evidence.screens import Screens, parse_screens
from airlock_shared.report.evidence.timeline import Timeline, parse_timeline
from airlock_shared.report.evidence.transcript_entries import read_transcript

PLAN, DEPLOYMENT, REQUESTS, SIGNATURES = "plan.toml", "deployment.json", "requests.json", "signatures.json"
SCREENS, TIMELINE = "screens.json", "timeline.jsonl"
TRANSCRIPTS = {"offline": "offline-transcript.jsonl", "online": "online-transcript.jsonl"}
FILES = {
    PLAN: "the ceremony plan",
    DEPLOYMENT: "the pinned deployment",
    REQUESTS: "what was asked to be signed",
    SIGNATURES: "what was answered",
    SCREENS: "the Ledger's pages, as the offline machine computed them",
    TRANSCRIPTS["offline"]: "the offline machine's transcript",
    TRANSCRIPTS["online"]: "the online machine's transcript",
    TIMELINE: "the journal of what was submitted",
}
"""Every artefact that a report may have, in the order in which they are listed."""

REQUIRED = (PLAN, DEPLOYMENT)


class Requests(NamedTuple):
    """The requests document."""

    header: Header
    items: list[Request]
    fingerprint: str


class Evidence(NamedTuple):
    """The artefacts as they were read; None or an empty list for what was not given. ``half`` made the report."""

    half: str
    files: Mapping[str, bytes]
    plan: Plan
    deployment: Deployment
    requests: Requests | None
    answers: Answers | None
    screens: Screens | None
    transcripts: Mapping[str, list[Entry]]
    timeline: Timeline | None


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
