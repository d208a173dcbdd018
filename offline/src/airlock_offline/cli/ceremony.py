"""``ceremony``: the people of a ceremony and what they confirm, in this machine's transcript."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from airlock_offline.device_connection import Command, emulator_option, ledger_option, model_option
from airlock_offline.home import OfflineHome, now_ms, uptime
from airlock_offline.preflight.page import preflight_verdict_lines, report_lines
from airlock_shared.cli.ceremony.commands import ceremony_group
from airlock_shared.cli.ceremony.status import CeremonyMachine
from airlock_shared.documents.transcript import Entry


def _shown(checkpoint: str, entries: Sequence[Entry], whole: bool) -> Iterator[str]:
    """Yield the page of the last preflight, or what is not in order there; at the review the steps that are not signed."""
    reports = [entry.data for entry in entries if entry.event == "preflight"]
    if checkpoint == "preflight" and reports:
        yield from report_lines(reports[-1], kit=False, whole=whole)
        yield from preflight_verdict_lines(reports[-1], whole=whole)
    if checkpoint == "review":
        begun = max((entry.seq for entry in entries if entry.event == "sign-begun"), default=0)
        left = [entry for entry in entries if entry.seq > begun and entry.event in ("declined", "refused")]
        yield from (f"NOT signed: {entry.data['step']} ({entry.event})" for entry in left)


def _place(home: OfflineHome) -> CeremonyMachine:
    return CeremonyMachine(
        "offline",
        home.transcript,
        now_ms,
        lambda name: home.require_pinned(name).fingerprint,
        home.all_worth_nothing,
        shows=_shown,
        uptime=uptime,
    )


def _which_ledger(command: Command) -> Command:
    """Add ``--model``, ``--emulator`` and ``--ledger``, which are handed on to other commands."""
    return model_option(emulator_option(ledger_option(command)))


ceremony = ceremony_group(_place, _which_ledger)
