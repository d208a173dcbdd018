"""The venue that counts (``online.crash.venue``), which misbehaves by script: how it answers, and when a signal is sent.

Each case has its own, so that a POST is counted for its digest from the first line of its head on, however little of it
comes. No code is the rehearsal's.
"""

import os
import signal
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from random import Random
from typing import Any

from campaign.wire_faults import FAULTS, Sending, whole
from online.crash.venue import EVENTS, RESET, STREAM_HEAD, STREAMED, Event, Request, Venue

MOMENTS = ("head", "body", "half", "answered")
"""When the process that sends can get its signal: at its first line, at its last byte, within the answer, after it."""
LASTS: dict[str, Event] = {
    "success": EVENTS[-1],
    "declined": ("MarketOrderCanceled", {"orderId": 9}),
    "failed": ("Error", {"status": "failed", "code": "TX_NOT_EXECUTED", "message": "no"}),
}
_HELD_S = 90


class ScriptedVenue(Venue):
    """A venue of one case, and what it saw of it."""

    chain_id = 31337

    def __init__(self) -> None:
        self.refused, self.signalled, self.pid = 0, False, 0
        self._moment, self._signal = "", signal.SIGKILL
        self.play({})
        super().__init__()

    def play(self, script: Mapping[str, Any], moment: str = "", name: str = "") -> None:
        """Go on as this script says, and send a signal at a moment to the process that ``pid`` names by then."""
        self._script, self.good = script, script.get("end", "success") == "success"
        self.last, self.pending = LASTS[script.get("end", "success")], script.get("pending", 0)
        self._moment, self._signal = moment, signal.Signals[name or "SIGKILL"]
        self.pid, self.signalled = 0, False

    @property
    def seen(self) -> dict[str, Any]:
        """What it was sent, and what it told."""
        told = {name: getattr(self, name) for name in ("refused", "told_end", "signalled")}
        return {"posts": self.started, "taken": self.taken > 0, **told}

    def _at(self, moment: str) -> None:
        if self._moment == moment and self.pid and not self.signalled:
            self.signalled = True
            with suppress(ProcessLookupError):
                os.kill(self.pid, self._signal)

    def _count_start(self) -> None:
        super()._count_start()
        self._at("head")

    def _take(self, request: Request) -> None:
        if self._script.get("takes", True):
            super()._take(request)
        self._at("body")

    def _answer(self, connection: socket.socket, request: Request, *, submitting: bool) -> None:
        self.now_ms = int(time.time() * 1000)
        if not submitting:
            super()._answer(connection, request, submitting=False)
            return
        answer, streamed = whole(500, {"error": "nothing was taken"}), request.path == STREAMED
        if self.taken:
            answer = Sending([STREAM_HEAD, *self._frames(request)]) if streamed else whole(*self._document(request))
        if fault := self._script.get("fault"):
            answer = FAULTS[fault](answer, Random(self._script["seed"]))
            self.refused += answer.refuses and not self.taken
        by_itself = streamed or request.path.startswith(("/twaps", "/price-triggers"))  # the answer tells the end
        self._send(connection, answer, tells_end=self.taken > 0 and by_itself and (answer.has_all or streamed))

    def _send(self, connection: socket.socket, answer: Sending, *, tells_end: bool) -> None:
        pieces = answer.pieces
        if not answer.slow_s and len(pieces) == 1:
            pieces = [pieces[0][: len(pieces[0]) // 2], pieces[0][len(pieces[0]) // 2 :]]
        for number, piece in enumerate(pieces):
            self.told_end |= tells_end and number == len(pieces) - 1
            connection.sendall(piece)
            if number == (len(pieces) - 1) // 2:
                self._at("half")
            time.sleep(answer.slow_s)
        self._at("answered")
        if answer.ends == "hold":
            connection.settimeout(_HELD_S)
            connection.recv(1)
        if answer.ends == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
