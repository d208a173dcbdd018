"""What the kernel enforces on this process, as it is recorded and shown."""

from __future__ import annotations

import os
from typing import NamedTuple


class Confinement(NamedTuple):
    """What the kernel enforces on this process and its children, and why not where it does not.

    ``seccomp`` is True when sockets were asked for and refused; ``landlock`` is the ABI that is enforced, 0 for none.
    """

    seccomp: bool
    seccomp_why: str
    landlock: int
    landlock_why: str

    def as_json(self) -> dict[str, object]:
        """Return it as the transcript and ``--json`` have it, with the kernel's release."""
        return {"kernel": f"{os.uname().sysname} {os.uname().release}", **self._asdict()}


NOT_ASKED = "the kernel has it; this command reads no document"
UNCONFINED = Confinement(False, "no filter was requested", 0, "no filter was requested")
