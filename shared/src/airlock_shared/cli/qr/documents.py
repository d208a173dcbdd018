"""``show`` and ``scan`` for Airlock's own documents, the same on both machines."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from airlock_shared.cli.qr.file_or_qr import require_output, restart_option
from airlock_shared.cli.qr.scanning import Deployments, kept_frames, scan_document
from airlock_shared.cli.qr.transfer import Showing, named_json, show_transfer
from airlock_shared.cli.terminal import json_option, output_option, say, say_all, show_if_json
from airlock_shared.errors import UsageError
from airlock_shared.host.files import read_input, write_new
from airlock_shared.plan.toml_positions import parse_written_plan
from airlock_shared.qr.documents import PLAN_TEXT, Transfer, transfer_of
from airlock_shared.text.safe import fingerprint_lines, safe
from airlock_shared.wire.strict_json import JsonObject

_Command = Callable[..., Any]


def scanning_options(command: _Command) -> _Command:
    """Add the options of ``scan``: ``output``, ``restart`` and ``as_json``."""
    return output_option("The file to write.")(restart_option(json_option(command)))


def show_file(home: Path, file: Path, showing: Showing) -> None:
    """Show the document in a file. Raises ``DocumentError``, ``PlanError`` or ``UsageError``."""
    data = read_input(file)
    transfer = transfer_of(data)
    say_all(fingerprint_lines("plan", parse_written_plan(data).fingerprint) if transfer.kind == PLAN_TEXT else ())
    show_result(transfer, home, showing)


def show_result(transfer: Transfer, home: Path, showing: Showing) -> None:
    """Show a transfer, and print a command's JSON result if it is asked for. Raises as ``show_transfer``."""
    shown = show_transfer(transfer, home, showing)
    show_if_json(showing.as_json, **shown)


def scan_to_file(
    home: Path, sources: Sequence[str], output: Path, *, known: Deployments, restart: bool, as_json: bool
) -> None:
    """Scan a document of any kind, have it confirmed, and write its file. Raises as ``scan_document``."""
    require_output(output)
    kept = kept_frames(home, "scan", restart=restart)
    document = scan_document(sources, kept=kept, known=known)
    write_new(output, document.data)
    kept.forget()
    say(f"Wrote {safe(str(output))}")
    show_if_json(as_json, **named_json(document), plan=document.plan, file=str(output))


# ---- the ``--qr`` of other commands -----------------------------------------------------------------------------------


def outgoing(home: Path, data: bytes, *, as_json: bool) -> JsonObject:
    """Show a document that a command has made, in the terminal or as a page; return the members of a JSON result."""
    return show_transfer(transfer_of(data), home, Showing(as_json=as_json))


# ---- master fingerprint ---------------------------------------------------------------------------------------------
# The master fingerprint of another wallet's seed on a command line: by it a wallet knows whether a request is its own.
# BIP-32, "Key identifiers": the first four bytes of the master key's identifier, here as eight hex digits.


_FINGERPRINT = re.compile(r"[0-9a-fA-F]{8}", re.ASCII)


def read_fingerprint(_context: click.Context, _option: click.Parameter, value: str | None) -> int | None:
    """Return the number that ``--master-fingerprint`` gives, None without it. Raises ``UsageError``."""
    if value is None:
        return None
    if not _FINGERPRINT.fullmatch(value):
        raise UsageError(f"not a master fingerprint: {value[:40]!r}", do="give its eight hex digits, such as 73c5da0a")
    return int(value, 16)
