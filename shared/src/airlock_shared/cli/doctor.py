"""What both halves say of the records that they keep, and how ``doctor`` ends: its page or JSON, and an exit code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from airlock_shared.cli.console import finish, say, show_all, show_json, worst
from airlock_shared.documents.deployment import Deployment, parse_deployment
from airlock_shared.errors import AirlockError, ExitCode, Refusal
from airlock_shared.host.files import read_input
from airlock_shared.host.machine import page_lines
from airlock_shared.host.observed import LOOK, REFUSED, Observed
from airlock_shared.host.transcript_file import TranscriptFile
from airlock_shared.text.fingerprint_words import spoken


def read_deployments(paths: Iterable[Path], *, first: str) -> tuple[list[Deployment], list[Observed]]:
    """Return the deployments in files, and a line for each, refused when it is damaged; ``first`` is done without any."""
    found, lines = [], []
    for path in paths:
        try:
            one = parse_deployment(read_input(path))
        except AirlockError as error:
            do = "keep the file as evidence, and fetch and trust the deployment again"
            lines.append(_refused("deployments", path.stem, error, f"damaged: {error.what}")._replace(do=do))
            continue
        found.append(one)
        kind = "REHEARSAL" if one.rehearsal else one.test_mark or "production"
        digits = one.fingerprint
        told = f"{kind}, {digits[:32]} {digits[32:]} {spoken(digits)}"
        lines.append(Observed("deployments", one.name, told))
    return found, lines or [Observed("deployments", "deployments", "none yet", LOOK, first)]


def transcript_line(transcript: TranscriptFile) -> Observed:
    """Read the transcript whole, and give its length and head, to compare with what was written down."""
    try:
        entries = transcript.entries()
    except AirlockError as error:
        return _refused("transcript", "transcript", error, error.what)
    if not entries:
        return Observed("transcript", "transcript", "nothing is recorded yet")
    head = entries[-1].hash
    found = f"entries: {len(entries)}, the chain holds; head {head[:32]} {head[32:]} {spoken(head)}"
    return Observed("transcript", "transcript", found)


def _refused(group: str, what: str, error: AirlockError, found: str) -> Observed:
    check = error.check if isinstance(error, Refusal) else ""
    return Observed(group, what, found, REFUSED, error.do, check, error.exit_code)


def finish_doctor(lines: Sequence[Observed], *, as_json: bool) -> None:
    """Show the lines and end the command: 0 when nothing is wrong, else the worst of their exit codes."""
    wrong = [line for line in lines if line.code is not ExitCode.DONE]
    if as_json:
        show_json({"ok": not wrong, "lines": [line.as_json() for line in lines]})
    else:
        show_all(page_lines(lines))
    say(f"{len(wrong)} of {len(lines)} lines need something done." if wrong else "Nothing is wrong.")
    finish(worst([line.code for line in wrong]))
