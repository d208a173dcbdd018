"""``report make`` and ``report verify`` on the air-gapped machine: the evidence up to the signatures, or of the whole."""

from __future__ import annotations

from pathlib import Path

import click

from airlock_offline.cli.report_pages import model_of, screens_of
from airlock_offline.config import read_config
from airlock_offline.home import OfflineHome
from airlock_offline.printing import begin_printing
from airlock_shared.cli.console import INPUT, json_option, plan_option
from airlock_shared.cli.report import (
    add_deployment,
    folder_option,
    make_report,
    read_artefacts,
    signatures_option,
    verify_command,
)
from airlock_shared.host.files import require_new
from airlock_shared.report.evidence.artefacts import PLAN, REQUESTS, SCREENS, SIGNATURES, TRANSCRIPTS
from airlock_shared.report.evidence.reading import read_evidence
from airlock_shared.report.evidence.redaction import withhold
from airlock_shared.report.evidence.screens import write_screens
from airlock_shared.report.reexamined import judge


class PrintedCommand(click.Command):
    """A command whose browser's process is begun before the command is confined, which is when its work begins."""

    def invoke(self, context: click.Context) -> None:
        """Begin that process where ``--pdf`` asks for it, then run the command."""
        if context.params["pdf"]:
            context.find_root().obj.printing = begin_printing(context.params["folder"])
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
    given = {PLAN: plan_file, REQUESTS: requests_file, TRANSCRIPTS["online"]: online_transcript}
    own = state.transcript.path
    files = read_artefacts(given | {TRANSCRIPTS["offline"]: own if own.exists() else None})
    add_deployment(files, state.pin_path("any").parent)
    if signatures_file is not None:
        files |= read_artefacts({SIGNATURES: signatures_file})
        files[SIGNATURES] = withhold(files[SIGNATURES], ())
    if requests_file is not None and signatures_file is not None:
        evidence = read_evidence(files)
        model = model_of(evidence, read_config(state.settings_file).ledger.model)
        files[SCREENS] = write_screens(screens_of(evidence, model))
    make_report(folder, files, judge, state.printing, as_json=as_json)


report.add_command(verify_command(judge, screens_of, "PROGRAM report verify evidence --signatures signatures.json"))
