"""What holds while a signature is made: one at a time for an account, no signal in between; and of a wrong one, a record."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from airlock_shared.cli.terminal import say
from airlock_shared.errors import Refusal
from airlock_shared.ethereum.signatures import checksum_address, recover
from airlock_shared.host.files import lock, locked, make_folder, open_lock

# ---- account lock ---------------------------------------------------------------------------------------------------
# One signature at a time for an account of this machine: from a person's Yes until what came of it is on record.
# An advisory lock on two files, let go with the process if not before. The one in the state folder holds whatever
# TMPDIR says; the one among the temporary files is shared by state folders that hold the same account, by mistake.


Wait = Callable[[int], None]
"""Takes the descriptor of a file that somebody else has locked, and returns when the lock is ours."""


@contextmanager
def account_lock(home: Path, address: bytes, wait: Wait | None = None) -> Iterator[None]:
    """Keep every other Airlock of this user from signing with an account (20 bytes); wait for one that does.

    Raises ``UsageError`` when a lock file cannot be opened or locked.
    """
    account = checksum_address(address)
    files = (
        make_folder(home) / f"signing-{account}.lock",
        Path(tempfile.gettempdir()) / f"airlock-account-{os.getuid()}-{account}.lock",
    )
    with ExitStack() as held:
        for file in files:
            held.enter_context(locked(open_lock(file), file, wait or partial(_wait, account, file)))
        yield


def _wait(account: str, file: Path, descriptor: int) -> None:
    say(f"Another airlock-offline signs with {account}. This one continues when that is on record.")
    lock(descriptor, file, wait=True)


# ---- held signals ---------------------------------------------------------------------------------------------------
# Ctrl-C and the system's wish to end us wait while a signature is between the device's answer and the transcript.


ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def held_signals() -> Iterator[None]:
    """Hold back what would end this process; what came meanwhile comes afterwards. Source: pthread_sigmask(3)."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# ---- quarantine -----------------------------------------------------------------------------------------------------
# A signature that does not recover to the expected address over our own digest: recorded as such, and kept nowhere.
# It proves that the device signed something else than what was shown here, or with another key. It may be valid for
# whatever that was, so it is neither written to a file nor printed; the transcript says over which digest it was
# asked and whom it recovered to.


QUARANTINED = "signature-quarantined"


def recovered_by(digest: bytes, signature: bytes) -> str:
    """Return the address (EIP-55) that made a 65-byte signature over a digest, or why it is nobody's."""
    try:
        return checksum_address(recover(digest, signature))
    except Refusal as refusal:
        return f"no key: {refusal.check}"
