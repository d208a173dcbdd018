"""Two processes that submit the same signatures at the same moment: every one reaches the venue once."""

import json
import sys
from collections import Counter
from pathlib import Path

from airlock_online.journal.journal import open_journal
from airlock_online.journal.order_states import OrderState
from commands import at_the_same_moment
from draws import draws
from online.crash.venue import EVENTS, Venue
from online.delivering_machine import NOW

SIGNATURES = draws(30, 200)


def test_the_same_signatures_twice_at_once_are_sent_once(where: str) -> None:
    with Venue() as venue:
        operator = [sys.executable, "-m", "online.concurrency.operator_process", where, venue.url, str(SIGNATURES)]
        said = [json.loads(text) for text in at_the_same_moment(operator, operator, cwd=Path(__file__).parents[2])]
        assert (venue.started, venue.taken, len(set(venue.bodies))) == (SIGNATURES, SIGNATURES, SIGNATURES)
    with open_journal(where, lambda: NOW) as journal:
        rows = journal.submissions()
        assert Counter(row.state for row in rows) == {OrderState.FILLED: SIGNATURES}
        assert all([event.seq for event in journal.events(row.record.digest)] == [0, 1, 2, 3] for row in rows)
    told = Counter((order, seq) for one in said for order, seq in one["told"])
    assert len(told) == SIGNATURES * len(EVENTS)
    assert set(told.values()) == {1}
