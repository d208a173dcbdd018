"""``report make`` and ``report verify`` on the online machine: the whole evidence of a ceremony, with its outcome."""

from __future__ import annotations

from pathlib import Path

import click

from airlock_online.cli.delivery_context import recall
from airlock_online.cli.own_journal import journal_of
from airlock_online.clock import now_ms
from airlock_online.home import OnlineHome
from airlock_online.report_rows import record_timeline, timeline_of
from airlock_shared.cli.ceremony.status import head_lines
from airlock_shared.cli.report import (
    add_deployment,
    folder_option,
    make_report,
    read_artefacts,
    signatures_option,
    verify_command,
)
from airlock_shared.cli.terminal import INPUT, json_option, plan_option, show
from airlock_shared.documents.requests import parse_requests, parse_signatures
from airlock_shared.errors import UsageError
from airlock_shared.host.files import require_new
from airlock_shared.host.print_pdf import print_page
from airlock_shared.plan.toml_positions import parse_written_plan
from airlock_shared.report.evidence.artefacts import (
    PLAN_FILE,
    REQUESTS_FILE,
    SCREENS,
    SIGNATURES_FILE,
    TIMELINE,
    TRANSCRIPTS,
)
from airlock_shared.report.evidence.redaction import withhold


@click.group("report")
def report() -> None:
    """Make the report of a ceremony, or verify one from its artefacts."""


@report.command("make")
@plan_option
@click.option("--requests", "requests_file", type=INPUT, help="The requests, if not prepared on this machine.")
@signatures_option
@click.option("--transcript", "offline_transcript", type=INPUT, help="The air-gapped machine's transcript.")
@click.option("--screens", "screens_file", type=INPUT, help="The Ledger's pages, from the air-gapped machine's report.")
@folder_option
@json_option
@click.pass_obj
def make_command(
    home: OnlineHome,
    plan_file: Path,
    requests_file: Path | None,
    signatures_file: Path | None,
    offline_transcript: Path | None,
    screens_file: Path | None,
    folder: Path,
    as_json: bool,
) -> None:
    r"""Write the evidence of a ceremony into a new folder: a page to print, the same as JSON, and the artefacts.

    The folder has the signatures of ended steps whose deadline is past, or whose end your own node has proved
    (`follow DIGEST`). Any other signature is still secret, so the folder has only its SHA-256. The report names what was
    not given. The artefacts of the air-gapped machine's report hold its transcript and the Ledger's pages. The same
    files give the same report.

    \b
    Example:
      airlock-online report make --plan plan.toml --signatures signatures.json \
        --transcript offline-transcript.jsonl --screens screens.json -o evidence
    """
    require_new(folder)
    given = {
        PLAN_FILE: plan_file,
        REQUESTS_FILE: requests_file,
        SIGNATURES_FILE: signatures_file,
        SCREENS: screens_file,
    }
    files = read_artefacts(given | {TRANSCRIPTS["offline"]: offline_transcript})
    digests: set[str] = set()
    if SIGNATURES_FILE in files:
        answer, signed, _ = parse_signatures(files[SIGNATURES_FILE])
        home.note_signing_head(answer)
        digests = {item.digest for item in signed if item.result == "signed"}
        kept = home.requests_path(answer.requests)
        if REQUESTS_FILE not in files and kept.exists():
            files |= read_artefacts({REQUESTS_FILE: kept})
    elif REQUESTS_FILE not in files:
        raise UsageError(
            "neither requests nor signatures were given", do="give --signatures, or --requests when nothing was signed"
        )
    add_deployment(files, home.folder / "deployments")
    _add_outcome(home, files, digests)
    make_report(folder, files, print_page, as_json=as_json)
    for line in () if as_json else head_lines(home.transcript.entries()):  # last: it is written down by hand
        show(line)


def _add_outcome(home: OnlineHome, files: dict[str, bytes], digests: set[str]) -> None:
    """Add the timeline, whose SHA-256 goes into this machine's transcript, that transcript, and what may be shown."""
    ceremony = parse_written_plan(files[PLAN_FILE]).id
    requests = parse_requests(files[REQUESTS_FILE])[2] if REQUESTS_FILE in files else ""
    with journal_of(home) as journal:
        recall(home, journal)
        files[TIMELINE], ended = timeline_of(journal, ceremony, digests, now_ms())
    record_timeline(home.transcript, ceremony, requests, files[TIMELINE], now_ms())
    files |= read_artefacts({TRANSCRIPTS["online"]: home.transcript.path})
    if SIGNATURES_FILE in files:
        files[SIGNATURES_FILE] = withhold(files[SIGNATURES_FILE], ended)


report.add_command(verify_command(None, "PROGRAM report verify evidence"))
