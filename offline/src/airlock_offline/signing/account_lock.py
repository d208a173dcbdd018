"""One signature at a time for an account of this machine: from a person's Yes until what came of it is on record.

An advisory lock on two files, let go with the process if not before. The one in the state folder holds whatever TMPDIR says;
the one among the temporary files is shared by state folders that hold the same account, by mistake.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from airlock_shared.errors import UsageError
from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.host.files import make_folder, open_lock

Wait = Callable[[int], None]
"""Takes the descriptor of a file that somebody else has locked, and returns when the lock is ours."""


@contextmanager
def account_lock(home: Path, address: bytes, wait: Wait | None = None) -> Iterator[None]:
    """Keep every other Airlock of this user from signing with an account (20 bytes); wait for one that does.

    Raises ``UsageError`` when a lock file cannot be opened.
    """
    account = checksum_address(address)
    files = (
        make_folder(home) / f"signing-{account}.lock",
        Path(tempfile.gettempdir()) / f"airlock-account-{os.getuid()}-{account}.lock",
    )
    with ExitStack() as held:
        for file in files:
            try:
                descriptor = open_lock(file)
            except OSError as error:
                raise UsageError(
                    f"the lock file {file} cannot be opened: {error.strerror}", do="find out who made it, and remove it"
                ) from error
            held.callback(os.close, descriptor)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                (wait or _waiting(account))(descriptor)
        yield


def _waiting(account: str) -> Wait:
    def wait(descriptor: int) -> None:
        from airlock_shared.cli.progress import working  # nobody waits as a rule

        what = f"Another airlock-offline signs with {account}; this one continues when that is on record"
        with working(what, first_s=0.2):
            fcntl.flock(descriptor, fcntl.LOCK_EX)

    return wait
