"""A file to lock, in a folder that others may write to as well: private, not through a link, and nobody else's.

Sources: flock(2), open(2).
"""

from __future__ import annotations

import errno
import os
from pathlib import Path


def open_lock(file: Path) -> int:
    """Return the descriptor of a lock file (mode 0600), made when it is not there. Raises ``OSError``."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    if os.fstat(descriptor).st_uid != os.geteuid():
        os.close(descriptor)
        raise OSError(errno.EPERM, "it is somebody else's")
    return descriptor
