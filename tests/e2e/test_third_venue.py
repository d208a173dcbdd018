"""A venue in the shapes of the public services: what its relayer says, and its chain, decide together how it ends.

Its relayer takes transactions: the contract's own call with signature and intent. It tells no block, so that the operator's
node proves what it says. ``tests/online/test_third_venue.py`` has each answer of the relayer, case by case.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import Ledger, ledger_fixture
from e2e.test_second_venue import Desk, outcome
from third_venue.venue import PROFILE, SERVICES, ThirdVenue, third_venue

TRADER = "0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D"  # the software Ledger's first account
DELEGATE = "0x463e4e114AA57F54f2Fd2C3ec03572C6f75d84C2"
EXPIRY = (datetime.now(UTC) + timedelta(days=30)).strftime("%Y-%m-%dT00:00:00Z")
DELEGATION = f'trader = "{TRADER}"\ndelegate = "{DELEGATE}"\nexpiry = {EXPIRY}\npossession = "waived"\n'
CODE = f'referee = "{TRADER}"\ncode = "THIRD"\n'


class ThirdDesk(Desk):
    """Both machines at a table, the third venue somewhere else, and its chain by the operator's own node."""

    venue: Any

    def __init__(self, folder: Path, venue: Any) -> None:
        super().__init__(folder, venue, SERVICES)
        self.profile = PROFILE
        with (folder / "online/config.toml").open("a") as written:
            written.write(f'[rpc]\nurl = "{venue.address("node")}"\n')


@pytest.fixture
def venue() -> Iterator[ThirdVenue]:
    with third_venue() as running:
        yield running


@pytest.fixture
def desk(tmp_path: Path, venue: ThirdVenue, ledger: Ledger) -> ThirdDesk:
    """Both machines; a delegate's registration is signed."""
    made = ThirdDesk(tmp_path, venue)
    made.pin()
    assert (ended := made.prepare("delegate", DELEGATION)).code == 0, ended.err
    assert (ended := made.sign(ledger)).code == 0, ended.err
    return made


ledger = ledger_fixture("--blind-signing")


def sent(desk: ThirdDesk) -> list[Any]:
    """Return what was posted to the relayer."""
    return [each.fields for each in desk.venue.asked if (each.method, each.path) == ("POST", "/relays")]


def until(so: Callable[[], bool]) -> None:
    """Wait until something is so, which takes the venue a few seconds."""
    for _ in range(60):
        if so():
            return
        time.sleep(0.5)
    pytest.fail("it is not so after half a minute")


def test_busy_in_its_own_words_has_taken_nothing_and_it_is_sent_again_once(desk: ThirdDesk) -> None:
    desk.venue.tell(busy=True)
    ended = desk.submit("--json")
    assert outcome(ended)["state"] == "REJECTED", ended.out + ended.err
    desk.venue.tell(busy=False)
    ended = desk.submit("--json")
    assert outcome(ended)["state"] == "CONFIRMED", ended.out + ended.err
    first, second = sent(desk)
    assert first == second
    assert desk.venue.delegates == {DELEGATE}


def test_a_busy_word_that_is_a_lie_cannot_have_it_executed_twice(desk: ThirdDesk) -> None:
    """It was taken, and executed; before it is sent again the nonce is read, and it is not."""
    desk.venue.tell(busy=True, lies=True)
    assert outcome(desk.submit("--json"))["state"] in ("REJECTED", "CONFIRMED")
    until(lambda: desk.venue.delegates == {DELEGATE})
    assert outcome(desk.submit("--json"))["state"] in ("UNKNOWN", "CONFIRMED")

    def is_confirmed() -> bool:
        desk.online("follow")
        [order] = desk.online("status", "--json").json()
        return bool(order["state"] == "CONFIRMED")

    until(is_confirmed)  # once its block is final
    assert len(sent(desk)) == 1


def test_an_own_struct_without_a_body_is_refused_before_anybody_signs(tmp_path: Path, venue: ThirdVenue) -> None:
    desk = ThirdDesk(tmp_path, venue)
    before, _, after = SERVICES.partition("[bodies.twap-TwapOpenOrder]")
    desk.path("online/services.toml").write_text(before + after[after.index("[bodies.") :])
    ended = desk.fetch()
    told = " ".join(ended.err.split())
    assert (ended.code, "TwapOpenOrder could not be delivered" in told) == (2, True), told
    assert not desk.path("deployment.json").exists()
