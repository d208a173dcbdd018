"""The second opinion from another process: started while the person reads, asked before the device is, and then ended.

The libraries that give it, and what they bring along, are never loaded where the Ledger is talked to. It is believed in
nothing but agreement: no answer in time, another length, an end in failure is the refusal ``DIGEST-OPINION``.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from collections.abc import Callable
from typing import Any, Protocol

from airlock_offline import child_process
from airlock_shared.checks.second_opinion import OPINION_BYTES, no_opinion

CHILD = "airlock_offline.signing.opinion_child"
TIMEOUT_S = 20  # after the person's Yes; it began to compute when the item was shown, and needs about one


class Opinion(Protocol):
    """Another program's view of what is to be signed."""

    def result(self) -> bytes:
        """Return its answer. Raises ``Refusal("DIGEST-OPINION")``."""

    def end(self) -> None:
        """Let go of it, answered or not."""


class OpinionProcess:
    """A process that was given a document, and what it answers."""

    def __init__(
        self,
        document: dict[str, Any],
        start: Callable[[], subprocess.Popen[bytes]] = lambda: child_process.start_child(CHILD),
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        """Start it, and give it what fits into the pipe at once."""
        data = json.dumps(document).encode()
        self._unsent = len(data).to_bytes(4, "big") + data
        self._timeout_s = timeout_s
        self._process = start()
        assert self._process.stdin is not None  # noqa: S101 (both are pipes)
        assert self._process.stdout is not None  # noqa: S101
        self._to, self._from = self._process.stdin, self._process.stdout
        os.set_blocking(self._to.fileno(), False)
        self._send()

    def result(self) -> bytes:
        """Return its answer, as long as it should be. Raises ``Refusal("DIGEST-OPINION")``."""
        deadline_s = time.monotonic() + self._timeout_s
        received = b""
        while piece := self._read(deadline_s):
            received += piece
            if len(received) > OPINION_BYTES:
                raise no_opinion(f"more than {OPINION_BYTES} bytes")
        try:
            code = self._process.wait(max(0.0, deadline_s - time.monotonic()))
        except subprocess.TimeoutExpired as error:
            raise self._late() from error
        if code:
            raise no_opinion(f"it ended with {code}")
        if len(received) != OPINION_BYTES:
            raise no_opinion(f"{len(received)} bytes")
        return received

    def end(self) -> None:
        """End the process."""
        child_process.end_child(self._process)

    def _read(self, deadline_s: float) -> bytes:
        """Return what comes next, nothing at its end; meanwhile send the rest of the document."""
        while (left_s := deadline_s - time.monotonic()) > 0:
            readable, writable, _ = select.select([self._from], [self._to] if self._unsent else [], [], left_s)
            if writable:
                self._send()
            if readable:
                return os.read(self._from.fileno(), OPINION_BYTES + 1)
        raise self._late()

    def _send(self) -> None:
        try:
            self._unsent = self._unsent[os.write(self._to.fileno(), self._unsent) :]
        except BlockingIOError:
            return
        except BrokenPipeError:  # it has ended; its output and its exit code say how
            self._unsent = b""
        if not self._unsent:
            self._to.close()

    def _late(self) -> Exception:
        return no_opinion(f"nothing within {self._timeout_s:g} s")
