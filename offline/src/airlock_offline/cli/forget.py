"""``forget``: remove this machine's copies of signatures that can execute no more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from airlock_offline.clock import now_ms, uptime
from airlock_offline.home import OfflineHome
from airlock_shared.checks.clock import advice, clock_of
from airlock_shared.checks.nonces import Use, spent_by
from airlock_shared.cli.console import INPUT, json_option, say
from airlock_shared.cli.kept_signatures import (
    KeptCopy,
    ceremony_option,
    copies_by_light,
    copies_in_codes,
    remove_copies,
)
from airlock_shared.documents.transcript import Entry
from airlock_shared.host.files import read_input
from airlock_shared.host.transcript_file import MAX_BYTES
from airlock_shared.report.alive import outcomes_told, standings
from airlock_shared.report.evidence.transcript_entries import read_transcript


@click.command("forget")
@click.option(
    "--transcript", "online_transcript", type=INPUT, help="The online machine's transcript, for the outcomes."
)
@ceremony_option
@json_option
@click.pass_obj
def forget(state: OfflineHome, online_transcript: Path | None, ceremonies: tuple[Path, ...], as_json: bool) -> None:
    r"""Remove this machine's copies of signatures that can execute no more.

    A signature can execute no more when its deadline is surely past, or when its nonce is spent, as the online
    machine's transcript says. Until then its copy stays. Each copy is named, with the reason. The record of what was
    signed stays as it is.

    \b
    Example:
      airlock-offline forget --transcript online-transcript.jsonl
    """
    entries = state.transcript.entries()
    clock = clock_of(entries, now_ms(), uptime())
    if clock.uncertainty_ms is None:
        say(f"No deadline counts as past: nobody has compared this machine's clock with a watch today; {advice()}")
    states = {}
    if online_transcript is not None:
        states = outcomes_told(read_transcript(read_input(online_transcript, max_bytes=MAX_BYTES)))
        say("The outcomes are what the online machine says; compare its transcript's head with its screen.")
    uses, _ = spent_by(entries)
    now = None if clock.uncertainty_ms is None else clock.now_ms
    found = {each.use.digest: each for each in standings(uses, states, now, clock.uncertainty_ms or 0)}
    in_codes = [copy for each in ceremonies for copy in copies_in_codes(each.absolute())]
    remove_copies(state.home, [*_copies(state, entries, uses), *in_codes], found, state.transcript, clock.now_ms,
           piped=state.rehearses(), as_json=as_json)  # fmt: skip


def _copies(state: OfflineHome, entries: Sequence[Entry], uses: Sequence[Use]) -> Iterator[KeptCopy]:
    for path in sorted((state.home / "signed").glob("*.json")):
        yield KeptCopy(path, ["0x" + path.stem])
    for copy in copies_by_light(state.home):
        yield copy if copy.digests is not None else copy._replace(digests=_shown_in(copy.path, entries, uses))


def _shown_in(page: Path, entries: Sequence[Entry], uses: Sequence[Use]) -> list[str] | None:
    """Return every digest of the ceremony whose signatures a page shows, of which no document is kept beside it."""
    mark = page.name.removeprefix("signatures-")[:16]
    begun = {
        str(entry.data.get("requests")): entry.data.get("ceremony") for entry in entries if entry.event == "sign-begun"
    }
    for entry in entries:
        if entry.event == "signatures-written" and str(entry.data.get("signatures")).startswith(mark):
            ceremony = begun.get(str(entry.data.get("requests")))
            return [use.digest for use in uses if use.ceremony == ceremony]
    return None
