"""A thousand accepted orders, followed at once by the real command: every outcome right, the memory bounded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import insert

from airlock_online.delivery.routes.context import Delivery
from airlock_online.journal.engine import open_engine
from airlock_online.journal.journal import open_journal
from airlock_online.journal.order_states import OrderState
from airlock_online.journal.schema import EVENTS, SUBMISSIONS, Record
from online.concurrency.many import orders
from online.crash.venue import EVENTS as LIFE
from online.crash.venue import Venue, tracking_id
from online.delivering_machine import NOW

ORDERS = 1_000
GROWTH_AT_MOST_MIB = 150

FOLLOW = """
import atexit, shutil, sys
memory = sys.argv.pop(1)
atexit.register(lambda: shutil.copy("/proc/self/status", memory))
from airlock_online.cli.main import main
main()
"""
"""The command as it is installed, which leaves the kernel's account of its memory behind when it ends."""


class Followed(NamedTuple):
    """What the command came to: its exit code, what it said as JSON lines, and its peak memory."""

    code: int
    lines: list[dict[str, Any]]
    peak_mib: float


def accept(journal: Path | str, deliveries: list[Delivery]) -> None:
    """Write orders down as accepted, with their first event, as a submission would have left them."""
    submissions, events = [], []
    for delivery in deliveries:
        own = {name: value for name, value in delivery._asdict().items() if name in Record._fields}
        record = Record(**own | {"trader": delivery.signer}, url=delivery.base_url, body_sha256="00" * 32)
        known = {"state": OrderState.ACCEPTED.value, "created_ms": NOW, "updated_ms": NOW, "last_seq": 0}
        order = tracking_id(delivery.encoded_intent)
        submissions.append({**record._asdict(), **known, "tracking_id": order})
        payload = json.dumps({"trackingId": order}, separators=(",", ":"))
        event = {"digest": delivery.digest, "ordinal": 0, "kind": "event", "seq": 0, "type": LIFE[0][1]}
        events.append({**event, "payload": payload, "at_ms": None, "received_ms": NOW})
    engine, _ = open_engine(str(journal), make=True)
    with engine.begin() as connection:
        connection.execute(insert(SUBMISSIONS), submissions)
        connection.execute(insert(EVENTS), events)
    engine.dispose()


def follow_all(home: Path, count: int) -> Followed:
    """Run ``airlock-online follow`` on so many accepted orders, none of which ends before all are asked for."""
    home.mkdir(mode=0o700)
    with Venue(together=count) as venue:
        accept(home / "journal.sqlite3", orders(venue.url, count))
        command = [sys.executable, "-c", FOLLOW, str(home / "memory"), "--home", str(home), "follow", "--json"]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("AIRLOCK_")}
        with (home / "said").open("w") as said:
            code = subprocess.run(
                command, stdout=said, stderr=subprocess.DEVNULL, env=environment, check=False
            ).returncode
        assert venue.started == 0, "following sent something"
        assert len(venue.asked) == count
    lines = [json.loads(line) for line in (home / "said").read_text().splitlines()]
    [peak] = [line for line in (home / "memory").read_text().splitlines() if line.startswith("VmHWM")]
    return Followed(code, lines, int(peak.split()[1]) / 1024)


def test_a_thousand_orders_are_followed_at_once_with_bounded_memory(tmp_path: Path) -> None:
    one, many = (follow_all(tmp_path / str(count), count) for count in (1, ORDERS))
    assert (one.code, many.code) == (0, 0)
    outcomes = [line for line in many.lines if "state" in line]
    assert Counter(line["state"] for line in outcomes) == {"FILLED": ORDERS}
    told = Counter((line["digest"], line["seq"]) for line in many.lines if "event" in line)
    assert len(told) == ORDERS * (len(LIFE) - 1)  # the first event was told before
    assert set(told.values()) == {1}
    with open_journal(str(tmp_path / str(ORDERS) / "journal.sqlite3"), lambda: NOW) as journal:
        rows = journal.submissions()
        assert Counter(row.state for row in rows) == {OrderState.FILLED: ORDERS}
        assert all([event.seq for event in journal.events(row.record.digest)] == [0, 1, 2, 3] for row in rows)
    growth_mib = many.peak_mib - one.peak_mib
    print(f"peak {one.peak_mib:.0f} MiB for one order, {many.peak_mib:.0f} MiB for {ORDERS}")
    assert growth_mib < GROWTH_AT_MOST_MIB, f"{growth_mib:.0f} MiB more for {ORDERS} orders than for one"
