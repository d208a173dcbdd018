"""``show`` and ``scan`` for Airlock's own documents, the same on both machines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from airlock_shared.cli.console import json_option, say, show_json
from airlock_shared.cli.document_lines import fingerprint_lines
from airlock_shared.cli.qr.options import restart_option
from airlock_shared.cli.qr.scanning import Deployments, kept_frames, scan_document
from airlock_shared.cli.qr.transfer import HOWS, How, density_option, show_transfer
from airlock_shared.host.files import read_input, require_new, write_new
from airlock_shared.plan.reader import parse_plan
from airlock_shared.qr.documents import PLAN_TEXT, transfer_of
from airlock_shared.text.fingerprint_words import spoken
from airlock_shared.text.safe import safe

Command = Callable[..., Any]


def showing_options(command: Command) -> Command:
    """Add the options of ``show``: ``how``, ``output``, ``version`` and ``as_json``."""
    how = click.option("--as", "how", type=click.Choice(HOWS), help="How (default: what fits, the terminal or a page).")
    output = click.option("-o", "--output", type=click.Path(path_type=Path), help="A new file, or for png a folder.")
    return how(output(density_option(json_option(command))))


def scanning_options(command: Command) -> Command:
    """Add the options of ``scan``: ``output``, ``restart`` and ``as_json``."""
    output = click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="The file to write.")
    return output(restart_option(json_option(command)))


def show_file(home: Path, file: Path, how: How | None, output: Path | None, version: int | None, as_json: bool) -> None:
    """Show the document in a file. Raises ``DocumentError``, ``PlanError`` or ``UsageError``."""
    data = read_input(file)
    transfer = transfer_of(data)
    for line in fingerprint_lines("plan", parse_plan(data).fingerprint) if transfer.kind == PLAN_TEXT else ():
        say(line)
    shown = show_transfer(transfer, how=how, output=output, folder=home / "qr", version=version, as_json=as_json)
    if as_json:
        show_json({"ok": True} | shown.as_json())


def scan_to_file(
    home: Path, sources: Sequence[str], output: Path, *, known: Deployments, restart: bool, as_json: bool
) -> None:
    """Scan a document of any kind, have it confirmed, and write its file. Raises as ``scan_document``."""
    require_new(output)
    kept = kept_frames(home, "scan", restart=restart)
    document = scan_document(sources, kept=kept, known=known)
    write_new(output, document.data)
    kept.forget()
    say(f"Wrote {safe(str(output))}")
    if as_json:
        names = {"kind": document.kind, "ceremony": document.ceremony, "fingerprint": document.fingerprint}
        words = spoken(document.fingerprint)
        show_json({"ok": True} | names | {"words": words, "plan": document.plan, "file": str(output)})


# ---- the ``--qr`` of other commands -----------------------------------------------------------------------------------


def outgoing(home: Path, data: bytes, *, as_json: bool) -> dict[str, Any]:
    """Show a document that a command has made, in the terminal or as a page; return the members of a JSON result."""
    transfer = transfer_of(data)
    return show_transfer(transfer, how=None, output=None, folder=home / "qr", version=None, as_json=as_json).as_json()
