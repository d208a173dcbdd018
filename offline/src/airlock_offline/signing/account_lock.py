"""One signature at a time for an account of this machine: from a person's Yes until what came of it is on record.

An advisory lock on two files, let go with the process if not before. The one in the state folder holds whatever TMPDIR says;
the one among the temporary files is shared by state folders that hold the same account, by mistake.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.host.files import lock, locked, make_folder, open_lock

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
    # the terminal's comfort, which no signing reads: nobody waits as a rule
    from airlock_shared.cli.progress import working

    with working(
        f"Another airlock-offline signs with {account}; this one continues when that is on record", first_s=0.2
    ):
        lock(descriptor, file, wait=True)
