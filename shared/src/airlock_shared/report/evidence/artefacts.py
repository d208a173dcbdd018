"""The artefacts of a ceremony: what a report is made from, and nothing else is.

``FILES`` names them. The report of the online machine has a ``timeline.jsonl``, and no other report has one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from airlock_shared.ceremony.sections import without_others
from airlock_shared.documents.requests import Header
from airlock_shared.report.rows import SIGN_BEGUN

if TYPE_CHECKING:
    from airlock_shared.documents.deployment import Deployment
    from airlock_shared.documents.requests import Request
    from airlock_shared.documents.transcript import Entry
    from airlock_shared.plan.model import Plan
    from airlock_shared.report.evidence.redaction import Answers
    from airlock_shared.report.evidence.timeline import Screens, Sent

PLAN_FILE, DEPLOYMENT_FILE, REQUESTS_FILE, SIGNATURES_FILE = (
    "plan.toml",
    "deployment.json",
    "requests.json",
    "signatures.json",
)
SCREENS, TIMELINE = "screens.json", "timeline.jsonl"
TRANSCRIPTS = {"offline": "offline-transcript.jsonl", "online": "online-transcript.jsonl"}
FILES = {
    PLAN_FILE: "the ceremony plan",
    DEPLOYMENT_FILE: "the pinned deployment",
    REQUESTS_FILE: "what was asked to be signed",
    SIGNATURES_FILE: "what was answered",
    SCREENS: "the Ledger's pages, as the air-gapped machine computed them",
    TRANSCRIPTS["offline"]: "the air-gapped machine's transcript",
    TRANSCRIPTS["online"]: "the online machine's transcript",
    TIMELINE: "the journal of what was submitted",
}
"""Every artefact that a report may have, in the order in which they are listed."""

REQUIRED = (PLAN_FILE, DEPLOYMENT_FILE)
REPORT_JSON, REPORT_HTML, REPORT_PDF = "report.json", "report.html", "report.pdf"
"""What stands in the folder beside the artefacts."""


class Requests(NamedTuple):
    """The requests document; without one all of it is empty."""

    header: Header = Header("", "", "", "", False, "", 0)
    items: Sequence[Request] = ()
    fingerprint: str = ""


class Evidence(NamedTuple):
    """The artefacts as they were read; what was not given is empty. ``half`` made the report."""

    half: str
    files: Mapping[str, bytes]
    plan: Plan
    deployment: Deployment
    requests: Requests
    answers: Answers
    screens: Screens
    transcripts: Mapping[str, list[Entry]]
    timeline: dict[str, Sent]

    def fingerprints(self) -> dict[str, str]:
        """Return the fingerprint of each document, empty for one that was not given."""
        return {
            "plan": self.plan.fingerprint,
            "deployment": self.deployment.fingerprint,
            "requests": self.requests.fingerprint,
            "signatures": self.answers.fingerprint,
        }

    def events(self, half: str, event: str, **members: object) -> list[Entry]:
        """Return the entries of a machine's transcript that have this event and these members, oldest first."""
        entries = self.transcripts.get(half, ())
        return [entry for entry in entries if entry.event == event and members.items() <= entry.data.items()]

    def signings(self, **members: object) -> list[list[Entry]]:
        """Return the entries of each signing in this ceremony, oldest first: from its beginning to that of the next one.

        Only of those whose beginning has these members.
        """
        found: list[list[Entry]] = []
        for entry in without_others(self.transcripts.get("offline", ()), self.plan.id):
            if entry.event == SIGN_BEGUN:
                found.append([])
            if found:
                found[-1].append(entry)
        return [signing for signing in found if members.items() <= signing[0].data.items()]
