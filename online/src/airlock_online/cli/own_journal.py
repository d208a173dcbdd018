"""This machine's journal, opened where its configuration says that it is: for the commands that need the database."""

from __future__ import annotations

from airlock_online.clock import now_ms
from airlock_online.home import OnlineHome
from airlock_online.journal.journal import Journal, open_journal


def journal_of(home: OnlineHome, *, make: bool = False) -> Journal:
    """Open this machine's journal; only with ``make``, to send, is one made. Raises ``JournalError``."""
    return open_journal(home.journal_url(), now_ms, make=make, own=home.journal_is_own())
