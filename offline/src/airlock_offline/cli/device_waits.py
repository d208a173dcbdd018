"""What a person is told while a Ledger is waited for. ``sign`` does without: it shows the pages to wait for."""

from __future__ import annotations

from contextlib import AbstractContextManager

from airlock_shared.cli.progress import working


def wait_notice(person: bool) -> AbstractContextManager[None]:
    """Say what is waited for: the device, or the person who holds it."""
    return working("Waiting for you on the Ledger" if person else "Waiting for the Ledger")
