"""``report make`` and ``report verify`` on the air-gapped machine: the evidence up to the signatures, or of the whole."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import click

from airlock_offline.confinement.command import start_child
from airlock_offline.home import OfflineHome, read_config
from airlock_offline.ledger.models import DEFAULT_MODEL, shown_models, words_of
from airlock_offline.ledger.typed_data import device_pages
from airlock_shared.cli.report import (
    add_deployment,
    folder_option,
    make_report,
    read_artefacts,
    signatures_option,
    verify_command,
)
from airlock_shared.cli.terminal import INPUT, json_option, plan_option
from airlock_shared.host.files import require_new
from airlock_shared.host.print_pdf import print_page
from airlock_shared.report.evidence.artefacts import (
    PLAN_FILE,
    REPORT_HTML,
    REPORT_PDF,
    REQUESTS_FILE,
    SCREENS,
    SIGNATURES_FILE,
    TRANSCRIPTS,
    Evidence,
)
from airlock_shared.report.evidence.redaction import withhold
from airlock_shared.report.evidence.timeline import Screens, ShownPages, write_screens
from airlock_shared.report.facts import ELSEWHERE, models_named
from airlock_shared.report.reexamined import judge
from airlock_shared.report.verify import read_evidence

# ---- report pages ---------------------------------------------------------------------------------------------------
# The Ledger's pages for a report: computed from the requests as they were when they were signed.


def signed_screens(evidence: Evidence, model: str) -> Screens:
    """Return the pages of every step that a Ledger has signed. Raises as ``judge``."""
    shown = []
    for each in judge(evidence):
        signed, case = each.signed, each.examined.case
        if signed is not None and case is not None and signed.shown != ELSEWHERE:
            words = words_of(model, signed.app)
            pages = [list(page) for page in device_pages(case, words, by_hashes=signed.shown == "hashes")]
            shown.append(ShownPages(case.request.step, each.digest, pages))
    return Screens(model, evidence.requests.fingerprint, tuple(shown))


# ---- printing -------------------------------------------------------------------------------------------------------
# A browser for ``report make --pdf``, outside of the kernel's filter: under it no browser runs.
# Its process is begun before the command is confined, knows from the start which page it may print and where to, and
# is told nothing but to begin. Without ``--pdf`` there is none.


BEGIN = b"print\n"
PRINTING = "airlock.printing"  # where the click context keeps what prints a page, if the command line asks for it


def begin_printing(folder: Path) -> Callable[[Path, Path], str]:
    """Begin a process that can print the report of an evidence folder, and return what has it done."""
    process = start_child("airlock_offline.cli.report")
    assert process.stdin is not None  # noqa: S101 (it is a pipe)
    process.stdin.write(
        json.dumps([str(folder.absolute() / name) for name in (REPORT_HTML, REPORT_PDF)]).encode() + b"\n"
    )
    process.stdin.flush()

    def printing(_html: Path, _pdf: Path) -> str:
        said, _ = process.communicate(BEGIN)
        return said.decode(errors="replace") if process.returncode == 0 else "the process that prints has failed"

    return printing


def main() -> None:
    """Read the page's name and the new file's, wait for the word, print, and say why not if not."""
    html, pdf = json.loads(sys.stdin.buffer.readline())
    if sys.stdin.buffer.readline() == BEGIN:
        sys.stdout.write(print_page(Path(html), Path(pdf)))


# ---- report ---------------------------------------------------------------------------------------------------------


class PrintedCommand(click.Command):
    """A command whose browser's process is begun before the command is confined, which is when its work begins."""

    def invoke(self, context: click.Context) -> None:
        """Begin that process where ``--pdf`` asks for it, then run the command."""
        if context.params["pdf"]:
            context.meta[PRINTING] = begin_printing(context.params["folder"])
        super().invoke(context)


@click.group("report")
def report() -> None:
    """Make the report of a ceremony, or verify one from its artefacts."""


@report.command("make", cls=PrintedCommand)
@plan_option
@click.option("--requests", "requests_file", type=INPUT, help="The requests that were signed.")
@signatures_option
@click.option("--transcript", "online_transcript", type=INPUT, help="The online machine's transcript, if you have it.")
@folder_option
@click.option(
    "--pdf", is_flag=True, help="Also print it as PDF, with a browser on this machine, started only for that."
)
@json_option
@click.pass_obj
def make_command(
    state: OfflineHome,
    plan_file: Path,
    requests_file: Path | None,
    signatures_file: Path | None,
    online_transcript: Path | None,
    folder: Path,
    pdf: bool,  # noqa: ARG001 (the browser's process is begun before this command is confined)
    as_json: bool,
) -> None:
    r"""Write the evidence of a ceremony into a new folder: a page to print, the same as JSON, and the artefacts.

    The signatures are secrets until they are submitted, so the folder has only their SHA-256. The report names what was
    not given. The same files and the same transcript give the same report. Carry
    artefacts/offline-transcript.jsonl and screens.json to the online machine for its report.

    \b
    Example:
      airlock-offline report make --plan plan.toml --requests requests.json \
        --signatures signatures.json -o evidence
    """
    require_new(folder)
    given = {PLAN_FILE: plan_file, REQUESTS_FILE: requests_file, TRANSCRIPTS["online"]: online_transcript}
    own = state.transcript.path
    files = read_artefacts(given | {TRANSCRIPTS["offline"]: own if own.exists() else None})
    add_deployment(files, state.pin_path("any").parent)
    if signatures_file is not None:
        files |= read_artefacts({SIGNATURES_FILE: signatures_file})
        files[SIGNATURES_FILE] = withhold(files[SIGNATURES_FILE], ())
    if requests_file is not None and signatures_file is not None:
        evidence = read_evidence(files)
        otherwise = read_config(state.settings_file).ledger.model or DEFAULT_MODEL  # where the transcript does not tell
        models = [model for model in models_named(evidence) if model in shown_models()]
        files[SCREENS] = write_screens(signed_screens(evidence, [otherwise, *models][-1]))
    make_report(folder, files, click.get_current_context().meta.get(PRINTING), as_json=as_json)


report.add_command(verify_command(signed_screens, "PROGRAM report verify evidence --signatures signatures.json"))
