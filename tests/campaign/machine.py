"""An operator's machine in the campaign: one order, the installed program, and what must be true whatever happened to it."""

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from airlock_online.journal.journal import open_journal
from airlock_online.journal.order_states import FINAL, OrderState
from airlock_shared.host.files import read_transcript
from campaign.orders import Order, lay_out
from campaign.venue import ScriptedVenue
from commands import begin
from loaded import LoadedCommand

PROGRAM = Path(sys.executable).parent / "airlock-online"
Command = subprocess.Popen[bytes] | LoadedCommand
CODES = {0, 2, 3, 4, 7, 8, 9, 10, 11, 12, 13, 130}
ENDS = {("batched-market", "success"): OrderState.FILLED, ("batched-market", "declined"): OrderState.MARKET_DECLINED}
"""The final state of each way and end, where it is not CONFIRMED and FAILED."""
_UNTIL_S = 170
_OURS = re.compile(r"airlock_\w+/(?!start\.py)")
"""A file of Airlock in a traceback, but for those in which loading it begins."""


class Broken(AssertionError):
    """Something that must always hold does not; the case's folder is kept."""


class Blow(NamedTuple):
    """What happens to a command: a signal at a moment (a mark, or after so many seconds), or a disk of so many bytes."""

    signal: str = ""
    moment: str = ""
    after_s: float = 0.0
    disk_bytes: int = 0


class Ran(NamedTuple):
    """A command that ended: its exit code (negative: the signal), whether the signal was sent while it ran, its words."""

    code: int
    hit: bool
    out: str
    err: str


class Machine:
    """A machine with one order, and the venue of its services; ``journal`` is a database's address or empty.

    Its commands are ``started`` as from a shell, or forked from the program as it is loaded.
    """

    def __init__(self, folder: Path, order: Order, venue: ScriptedVenue, journal: str = "", *, started: bool) -> None:
        folder.mkdir()
        self.folder, self.order, self._venue, self._started = folder, order, venue, started
        self.home = folder / "home"
        self.file = lay_out(order, self.home, venue.url)
        self.journal = journal or str(self.home / "journal.sqlite3")
        self.commands = 0

    @property
    def seen(self) -> dict[str, Any]:
        """What the venue saw of this order."""
        return self._venue.seen

    def run(self, *words: object, blow: Blow = Blow(), script: Mapping[str, Any] = {}, journal: str = "") -> Ran:  # noqa: B008
        """Run a command as an operator would, with what happens to it. Raises ``Broken`` for a trace or a leak."""
        self.commands += 1
        out, err = (self.folder / f"{self.commands}.{end}" for end in ("out", "err"))
        command = [str(PROGRAM), "--home", str(self.home), *map(str, words)]
        if self.order.way == "rpc" and words[0] == "submit":
            command.append("--by-rpc")
        env = os.environ | {"AIRLOCK_JOURNAL": journal or self.journal}
        marks = self._marks()
        at_venue = bool(blow.moment) and blow.moment != "claimed"
        self._venue.play(script, *((blow.moment, blow.signal) if at_venue else ()))
        with Path(os.devnull).open() as nobody, out.open("wb") as screen, err.open("wb") as talk:
            streams = (nobody.fileno(), screen.fileno(), talk.fileno())
            process = begin(command, streams, env, started=self._started)
        self._venue.pid = process.pid
        if blow.disk_bytes:
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (blow.disk_bytes, blow.disk_bytes))
        hit = bool(blow.signal) and not at_venue and self._strike(process, blow, marks)
        until = time.monotonic() + _UNTIL_S
        while (code := process.poll()) is None:
            if time.monotonic() > until:
                process.send_signal(signal.SIGKILL)
                raise self._broken(f"{command} did not end")
            time.sleep(0.01)
        self._venue.pid = 0
        ran = Ran(code, hit or self.seen["signalled"], out.read_text(), err.read_text())
        self._check_words(ran, blow)
        return ran

    def _strike(self, process: Command, blow: Blow, marks: int) -> bool:
        until = time.monotonic() + (blow.after_s if not blow.moment else 20)
        while time.monotonic() < until and process.poll() is None:
            if blow.moment and self._marks() > marks:
                break
            time.sleep(0.002)
        if process.poll() is not None or (blow.moment and self._marks() <= marks):
            return False
        process.send_signal(signal.Signals[blow.signal])
        return True

    def _marks(self) -> int:
        """Return how many sendings the transcript has begun: the moment between claim and request."""
        transcript = self.home / "transcript.jsonl"
        return transcript.read_bytes().count(b'"event":"sending"') if transcript.exists() else 0

    @property
    def began(self) -> bool:
        """Whether anything of the order is written down: a command has got so far once."""
        return (self.home / "transcript.jsonl").exists()

    def _broken(self, what: str) -> Broken:
        return Broken(f"{what} ({self.folder}, {self.order.way})")

    def _check_words(self, ran: Ran, blow: Blow) -> None:
        told = ran.out + ran.err
        if ran.hit and blow.signal == "SIGINT" and ran.code == -signal.SIGINT and not _OURS.search(told):
            return  # Python itself was still starting: no line of Airlock had run
        if "Traceback" in told or (ran.code >= 0 and ran.code not in CODES):
            raise self._broken(f"exit code {ran.code}: {told[-2000:]}")
        if ran.code < 0 and not (ran.hit and -ran.code == signal.Signals[blow.signal]):
            raise self._broken(f"ended by signal {-ran.code}, which nobody sent: {told[-2000:]}")
        secret = self.order.signature[2:]
        if any(secret[at : at + 16] in told.lower() for at in range(len(secret) - 16)):
            raise self._broken("the signature is on the screen")

    def state(self) -> OrderState | None:
        """Return the journal's state of the order; None when it knows nothing of it."""
        with open_journal(self.journal, lambda: int(time.time() * 1000)) as journal:
            known = journal.find(self.order.digest)
        return known.state if known else None

    def check(self, end: str) -> OrderState:
        """Have ``resolve`` explain the state; require one POST at most, and evidence for a final state. Return the state."""
        explained = self.run("resolve", self.order.digest, "--json", script={"end": end})
        state, seen = self.state(), self.seen
        if state is None:
            raise self._broken("the journal knows nothing of it")
        if seen["posts"] > 1 + seen["refused"]:
            raise self._broken(f"{seen['posts']} POSTs, {seen['refused']} refused, state {state}")
        if seen["posts"] > seen["refused"] and state in (OrderState.PREPARED, OrderState.REJECTED):
            raise self._broken(f"it was posted, and the journal says {state}")
        success = OrderState.CONFIRMED if self.order.way != "batched-market" else OrderState.FILLED
        expected = ENDS.get((self.order.way, end), success if end == "success" else OrderState.FAILED)
        if state in FINAL and (state is not expected or not seen["told_end"]):
            raise self._broken(f"{state} without its evidence: {seen}, expected {expected}")
        [report] = json.loads(explained.out)
        if report["state"] != state or (state not in FINAL and not (report["waits_for"] and report["do"])):
            raise self._broken(f"resolve does not explain {state}: {report}")
        if (explained.code == 0) is not (state in (OrderState.FILLED, OrderState.CONFIRMED)):
            raise self._broken(f"resolve ended with {explained.code} for {state}")
        read_transcript(self.home / "transcript.jsonl")
        kept = b"".join(file.read_bytes() for file in self.home.glob("*") if file.is_file() and file != self.file)
        if any(self.order.signature[at : at + 16].encode() in kept for at in range(2, 100)):
            raise self._broken("the signature is in a file of the machine")
        return state
