"""The process that gives the second opinion: one document in, 64 bytes out. An error ends it, with a failure.

Input: four bytes, the length, and that many bytes of JSON, as ``opinion_question`` writes it. Before a library of
others is loaded, files and sockets are taken from it: it reads Python and packages, and writes nothing but its answer.
What the kernel cannot take is on ``sign``'s record; in production ``sign`` refuses a kernel that leaves it sockets.
"""

from __future__ import annotations

import json
import sys

from airlock_offline import airgap
from airlock_offline.confinement.command import ALONE, confine

_MAX_BYTES = 1 << 20  # a request of a batch has at most a quarter of it


def main() -> None:
    """Answer on stdout what stdin asks. Raises ``ValueError`` for input that is not in its one form."""
    airgap.install_airgap()
    confine(ALONE)
    given = sys.stdin.buffer.read(_MAX_BYTES + 5)
    length = int.from_bytes(given[:4], "big")
    if len(given) != 4 + length or length > _MAX_BYTES:
        raise ValueError("the input is not one document with its length before it")
    from airlock_shared.ethereum.library_opinion import opinion_on  # other people's libraries: after the filter

    sys.stdout.buffer.write(opinion_on(json.loads(given[4:])))
    sys.stdout.buffer.flush()
