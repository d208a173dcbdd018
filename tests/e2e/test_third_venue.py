"""A venue in the shapes of the public services, by its files alone, and what it may not achieve.

Its relayer takes transactions: the contract's own call with signature and intent. It tells no block, so that the operator's
node proves what it says.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import Ledger, start_ledger, stop_ledger
from e2e.test_second_venue import Desk, outcome
from third_venue.venue import BUSY_WORD, PROFILE, SERVICES, ThirdVenue, third_venue

TRADER = "0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D"  # the software Ledger's first account
DELEGATE = "0x463e4e114AA57F54f2Fd2C3ec03572C6f75d84C2"
EXPIRY = (datetime.now(UTC) + timedelta(days=30)).strftime("%Y-%m-%dT00:00:00Z")
DELEGATION = f'trader = "{TRADER}"\ndelegate = "{DELEGATE}"\nexpiry = {EXPIRY}\npossession = "waived"\n'
CODE = f'referee = "{TRADER}"\ncode = "THIRD"\n'


class ThirdDesk(Desk):
    """Both machines at a table, the third venue somewhere else, and its chain by the operator's own node."""

    venue: Any

    def __init__(self, folder: Path, venue: Any, *, node: bool = True) -> None:
        super().__init__(folder, venue, SERVICES)
        self.profile = PROFILE
        if node:
            with (folder / "online/config.toml").open("a") as written:
                written.write(f'[rpc]\nurl = "{venue.address("node")}"\n')

    def signed(self, ledger: Ledger, action: str = "delegate", fields: str = DELEGATION) -> None:
        """Prepare and sign one step."""
        assert (ended := self.prepare(action, fields)).code == 0, ended.err
        assert (ended := self.sign(ledger)).code == 0, ended.err


@pytest.fixture
def venue() -> Iterator[ThirdVenue]:
    with third_venue(TRADER) as running:
        yield running


@pytest.fixture
def desk(tmp_path: Path, venue: ThirdVenue) -> ThirdDesk:
    made = ThirdDesk(tmp_path, venue)
    made.pin()
    return made


@pytest.fixture(scope="module")
def ledger() -> Iterator[Ledger]:
    started = start_ledger("--blind-signing")
    yield started
    stop_ledger(started)


def test_a_busy_word_that_is_a_lie_cannot_have_it_executed_twice(desk: ThirdDesk, ledger: Ledger) -> None:
    """It was taken, and executed; before it is sent again the nonce is read, and it is not."""
    desk.signed(ledger)

    def lie(fields: dict[str, Any]) -> Any:
        desk.venue.relay(fields)
        return 503, {"code": BUSY_WORD}

    desk.venue.on_relay = lie
    assert outcome(desk.submit("--json"))["state"] in ("REJECTED", "CONFIRMED")
    ended = desk.submit("--json")
    assert outcome(ended)["state"] == "CONFIRMED", ended.out + ended.err
    assert len(desk.venue.posted("/relays")) == 1
