"""``transcript show`` and ``transcript verify``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from airlock_offline.state import State
from airlock_shared.command import INPUT, json_option, show, show_json
from airlock_shared.text import safe
from airlock_shared.transcript import GENESIS, Entry
from airlock_shared.transcript_file import read_transcript
from airlock_shared.units import utc_text
from airlock_shared.words import spoken


@click.group("transcript")
def COMMAND() -> None:  # noqa: N802
    """Show or verify this machine's transcript, or one in a file."""


def _entries(state: State, file: Path | None) -> list[Entry]:
    return state.transcript.entries() if file is None else read_transcript(file)


@COMMAND.command("show")
@click.argument("file", type=INPUT, required=False)
@json_option
@click.pass_obj
def show_transcript(state: State, file: Path | None, as_json: bool) -> None:
    """Show every entry, after verifying the chain."""
    for entry in _entries(state, file):
        if as_json:
            show(json.dumps(entry._asdict()))
        else:
            show(f"{entry.seq:>4}  {utc_text(entry.at_ms)}  {safe(entry.event)}")
            show(f"      {safe(json.dumps(entry.data, ensure_ascii=False), limit=600)}")


@COMMAND.command("verify")
@click.argument("file", type=INPUT, required=False)
@json_option
@click.pass_obj
def verify_transcript(state: State, file: Path | None, as_json: bool) -> None:
    """Verify the chain and show its head, to compare with what was written down."""
    entries = _entries(state, file)
    head = entries[-1].hash if entries else GENESIS
    if as_json:
        show_json({"ok": True, "entries": len(entries), "head": head, "words": spoken(head)})
        return
    show(f"{len(entries)} entries, the chain holds\nhead  {head}\n      {spoken(head)}")
