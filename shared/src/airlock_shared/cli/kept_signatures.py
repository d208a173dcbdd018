"""``forget`` of both halves: copies of signatures in a machine's folder, removed once they can execute no more.

A copy is removed whole or not at all: while one of its signatures may still execute, or nothing is known of one, it stays.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import click

from airlock_shared.checks.nonces import Use
from airlock_shared.cli.terminal import ask_yes, rows, say, say_all, show_if_json
from airlock_shared.documents.hand_over import parse_hand_over
from airlock_shared.documents.requests import parse_signatures
from airlock_shared.errors import AirlockError
from airlock_shared.host.files import MAX_FILE_BYTES, TranscriptFile, as_usage_error, read_input
from airlock_shared.report.facts import Liveness, until_text
from airlock_shared.text.safe import safe

ceremony_option = click.option(
    "--ceremony",
    "ceremonies",
    multiple=True,
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    metavar="DIR",
    help="Also the pages of codes of `ceremony run --qr`: the folder beside the plan, such as plan.ceremony.",
)
NOTHING_KEPT = "No copy of a signature is kept; nothing to do."
FORGOTTEN = "signatures-forgotten"
"""The transcript's event: ``files``, names within the machine's folder, and ``digests``; written before they are removed."""


class KeptCopy(NamedTuple):
    """A file with signatures, and the digests (0x-hex) that they are over; None when that cannot be told."""

    path: Path
    digests: Collection[str] | None


def copies_by_qr(folder: Path) -> Iterator[KeptCopy]:
    """Yield the signatures documents that came or went by QR codes, and the pages and pictures that showed them."""
    known: dict[str, Collection[str] | None] = {}
    paths = sorted(folder.glob("qr/*signatures-*"))
    for path in paths:
        if ".json" in path.suffixes:
            known[written_as(path).partition(".")[0]] = _digests_in(path)
    for path in paths:
        stem = next((stem for stem in known if written_as(path).startswith(stem)), "")
        yield KeptCopy(path, known.get(stem))


def written_as(path: Path) -> str:
    """Return the name that a file was to have: what a kill leaves of its writing begins with a dot (``write_new``)."""
    return path.name.removeprefix(".")


def copies_in_codes(folder: Path) -> Iterator[KeptCopy]:
    """Yield the pages of codes in a ceremony's folder, and what they show: the hand-overs of ``ceremony run --qr``."""
    for path in sorted((folder / "codes").glob("*hand-over-*")):
        yield KeptCopy(path, _digests_in(path.with_name(f"{written_as(path).partition('.')[0]}.json"), hand_over=True))


def _digests_in(path: Path, *, hand_over: bool = False) -> Collection[str] | None:
    """Return the digests of every signature in a document, or in a hand-over's; None when it cannot be read whole."""
    try:
        if hand_over:
            _, files = parse_hand_over(read_input(path, max_bytes=MAX_FILE_BYTES))
            documents = [data for name, data in files.items() if name.startswith("signatures")]
        else:
            documents = [read_input(path)]
        items = [item for data in documents for item in parse_signatures(data)[1]]
    except AirlockError:
        return None
    return frozenset(item.digest for item in items if item.result == "signed")


def remove_copies(
    folder: Path,
    copies: Collection[KeptCopy],
    found: Mapping[str, Liveness],
    transcript: TranscriptFile,
    now_ms: Callable[[], int],
    *,
    piped: bool,
    as_json: bool,
) -> None:
    """Say of each copy whether it is removed or kept and why, have a person confirm, record it, and remove.

    Raises ``Declined`` without the whole word Yes, and ``UsageError`` when it cannot be recorded or removed.
    """
    removed: dict[str, KeptCopy] = {}
    kept: list[str] = []
    for copy in copies:
        path = copy.path
        name = str(path.relative_to(folder) if path.is_relative_to(folder) else path)  # whole in a ceremony's folder
        if why := _why_kept(copy, found):
            kept.append(name)
        else:
            removed[name] = copy
        say_all(rows("keep    " if why else "remove  ", f"{safe(name)}: {why or _why_removed(copy, found)}"))
    if removed:
        noun = "this copy" if len(removed) == 1 else f"these {len(removed)} copies"
        ask_yes(f"Remove {noun}, for good?", piped=piped)
        digests = {digest for copy in removed.values() for digest in copy.digests or ()}
        transcript.record(FORGOTTEN, {"files": list(removed), "digests": sorted(digests)}, now_ms())
        for copy in removed.values():
            with as_usage_error(f"{copy.path} cannot be removed", "remove it by hand"):
                copy.path.unlink()
        say(f"Removed {len(removed)}, kept {len(kept)}. Destroy the copies that you carried or made yourself.")
    else:
        say(f"Nothing to remove: {len(kept)} copies are kept." if kept else NOTHING_KEPT)
    show_if_json(as_json, removed=list(removed), kept=kept)


def _why_kept(copy: KeptCopy, found: Mapping[str, Liveness]) -> str:
    """Return why a copy stays; empty when everything in it can execute no more."""
    if copy.digests is None:
        return "which signatures are in it cannot be told"
    for digest in copy.digests:
        standing = found.get(digest)
        if standing is None:
            return f"nothing is on record here of {digest}"
        if not standing.over:
            return f"{_named(standing.use)} may execute {until_text(standing.use)}; {standing.known}"
    return ""


def _why_removed(copy: KeptCopy, found: Mapping[str, Liveness]) -> str:
    told = [f"{_named(found[digest].use)}: {found[digest].over}" for digest in sorted(copy.digests or ())]
    return "; ".join(told) or "there is no signature in it"


def _named(use: Use) -> str:
    return f"step {use.step} of ceremony {use.ceremony}, {use.digest}"
