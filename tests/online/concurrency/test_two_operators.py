"""Two processes that submit the same signatures at the same moment: every one reaches the venue once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from airlock_online.journal.journal import open_journal
from airlock_online.journal.order_states import OrderState
from draws import draws
from online.crash.venue import EVENTS, Venue
from online.delivering_machine import NOW

SIGNATURES = draws(30, 200)


def start(where: str, base_url: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "online.concurrency.operator_process", where, base_url, str(SIGNATURES)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        text=True,
    )


def at_the_same_moment(where: str, base_url: str) -> list[dict[str, Any]]:
    """Let two processes begin together, and return what each says."""
    operators = [start(where, base_url) for _ in range(2)]
    for operator in operators:
        assert operator.stdout
        assert operator.stdout.readline() == "ready\n"
    for operator in operators:
        assert operator.stdin
        operator.stdin.write("go\n")
        operator.stdin.flush()
    said = [operator.communicate()[0] for operator in operators]
    assert [operator.returncode for operator in operators] == [0, 0]
    return [json.loads(text) for text in said]


def test_the_same_signatures_twice_at_once_are_sent_once(where: str) -> None:
    with Venue() as venue:
        said = at_the_same_moment(where, venue.url)
        assert (venue.started, venue.taken, len(set(venue.bodies))) == (SIGNATURES, SIGNATURES, SIGNATURES)
    with open_journal(where, lambda: NOW) as journal:
        rows = journal.submissions()
        assert Counter(row.state for row in rows) == {OrderState.FILLED: SIGNATURES}
        assert all([event.seq for event in journal.events(row.record.digest)] == [0, 1, 2, 3] for row in rows)
    told = Counter((order, seq) for one in said for order, seq in one["told"])
    assert len(told) == SIGNATURES * len(EVENTS)
    assert set(told.values()) == {1}
