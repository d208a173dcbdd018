"""Orders that the installed command follows at a venue in another process: what it told when, and what that cost."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from sqlalchemy import insert

from airlock_online.delivery.routes.context import Delivery
from airlock_online.journal.engine import open_engine
from airlock_online.journal.order_states import OrderState
from airlock_online.journal.schema import EVENTS, SUBMISSIONS, Record
from commands import LineProcess
from online.crash.venue import EVENTS as LIFE
from online.crash.venue import tracking_id
from online.delivering_machine import NOW, unsent

TICK, SAMPLE_S = os.sysconf("SC_CLK_TCK"), 0.25


class Counted(NamedTuple):
    """What the venue has seen: questions that it answered, connections in all, and most at once."""

    answered: int
    connections: int
    most_open: int


class VenueProcess(LineProcess):
    """The venue of :mod:`planned_venue`, running; a context manager."""

    def __init__(self, folder: Path, moments: Mapping[str, list[float]], hanging: Sequence[str]) -> None:
        plan = folder / "plan.json"
        plan.write_text(json.dumps({"at": moments, "hanging": list(hanging)}))
        super().__init__(sys.executable, "-m", "online.concurrency.planned_venue", plan, cwd=Path(__file__).parents[2])
        self.url = f"http://127.0.0.1:{int(self.line())}"

    def count(self) -> Counted:
        return Counted(*json.loads(self.ask("count")))


class Line(NamedTuple):
    """A line that the command told, and when, in seconds of the system's monotonic clock."""

    told_s: float
    document: dict[str, object]


class Sample(NamedTuple):
    """The command at a moment (monotonic clock): its CPU time in seconds, its threads, its memory, the venue's count."""

    at_s: float
    cpu_s: float
    threads: int
    mib: float
    counted: Counted


class Followed(NamedTuple):
    code: int
    lines: list[Line]
    samples: list[Sample]
    cpu_s: float
    counted: Counted


def delays_s(found: Followed, moments: Mapping[str, list[float]]) -> tuple[list[float], list[float]]:
    """Return how long after its moment each event was told, and how long after its last event each outcome.

    ``moments`` are when the events of each order happened after its first.
    """
    events, outcomes = [], []
    for line in found.lines:
        own = moments.get(order_name(int(str(line.document["digest"]), 16)))
        seq = line.document.get("seq")
        if own and isinstance(seq, int) and seq > 0:
            events.append(line.told_s - own[seq - 1])
        elif own and "state" in line.document:
            outcomes.append(line.told_s - own[-1])
    return events, outcomes


def orders(base_url: str, count: int) -> list[Delivery]:
    """Return orders of the batched market, each with a digest of its own."""
    return [
        unsent(base_url, digest=f"0x{n:064x}", step=f"step-{n}", encoded_intent=f"0x{n:064x}", nonce=str(n))
        for n in range(1, count + 1)
    ]


def accept(journal: Path | str, deliveries: list[Delivery]) -> None:
    """Write orders down as accepted, with their first event, as a submission would have left them."""
    submissions, events = [], []
    for delivery in deliveries:
        own = {name: value for name, value in delivery._asdict().items() if name in Record._fields}
        record = Record(**own | {"trader": delivery.signer}, url=delivery.base_url, body_sha256="00" * 32)
        known = {"state": OrderState.ACCEPTED.value, "created_ms": NOW, "updated_ms": NOW}
        order = tracking_id(delivery.encoded_intent)
        submissions.append({**record._asdict(), **known, "tracking_id": order})
        payload = json.dumps({"trackingId": order}, separators=(",", ":"))
        event = {"digest": delivery.digest, "ordinal": 0, "kind": "event", "seq": 0, "type": LIFE[0][0]}
        events.append({**event, "payload": payload, "at_ms": None, "received_ms": NOW})
    engine, _ = open_engine(str(journal), make=True)
    with engine.begin() as connection:
        connection.execute(insert(SUBMISSIONS), submissions)
        connection.execute(insert(EVENTS), events)
    engine.dispose()


def order_name(number: int) -> str:
    """Return the tracking id of an order of :func:`orders`, numbered from 1."""
    return tracking_id(f"0x{number:064x}")


def follow_planned(
    folder: Path,
    count: int,
    plan: Callable[[float], Mapping[str, list[float]]],
    *,
    hanging: Sequence[str] = (),
    patience_s: int = 120,
    journal: str = "",
) -> Followed:
    """Follow so many accepted orders by the installed command, and return what came of it.

    ``plan`` gets the moment at which it is made, and returns when the events of each order happen. ``journal`` is a database
    URL; a file of SQLite in the folder without one.
    """
    home = folder / "home"
    home.mkdir(mode=0o700)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AIRLOCK_")}
    environment |= {"AIRLOCK_JOURNAL": journal} if journal else {}
    with VenueProcess(folder, plan(time.monotonic()), hanging) as venue:
        accept(journal or home / "journal.sqlite3", orders(venue.url, count))
        program = Path(sys.executable).with_name("airlock-online")
        command = [str(program), "--home", str(home), "follow", "--json", "--patience", str(patience_s)]
        with (folder / "talk").open("w") as talk:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=talk, text=True, env=environment)
            assert process.stdout
            lines: list[Line] = []
            reader = threading.Thread(target=_read, args=(process.stdout, lines))
            reader.start()
            samples = []
            while (sample := _sample(process.pid, venue)) is not None:
                samples.append(sample)
                time.sleep(SAMPLE_S)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            reader.join()
            process.stdout.close()
        return Followed(process.returncode, lines, samples, used.ru_utime + used.ru_stime, venue.count())


def _read(out: IO[str], lines: list[Line]) -> None:
    for text in out:
        if not text.startswith('{"'):  # the command's own error, in several lines
            raise AssertionError(text + out.read())
        lines.append(Line(time.monotonic(), json.loads(text)))


def _sample(number: int, venue: VenueProcess) -> Sample | None:
    """Return the command's account by the kernel; None when it has ended."""
    fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
    if fields[0] == "Z":
        return None
    return Sample(
        time.monotonic(),
        (int(fields[11]) + int(fields[12])) / TICK,
        int(fields[17]),
        int(fields[21]) / 256,
        venue.count(),
    )
