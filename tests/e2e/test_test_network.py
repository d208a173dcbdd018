"""A public test network, which has the main one's chain id and contracts, rehearsed with the software Ledger by its name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from commands import FinishedCommand
from e2e.conftest import Ledger, ledger_fixture
from e2e.test_second_venue import outcome
from e2e.test_third_venue import DELEGATE, DELEGATION, ThirdDesk
from third_venue.venue import ThirdVenue, third_venue


class NamedDesk(ThirdDesk):
    """A desk whose operator says at `deployment fetch` which test network it is."""

    def online(self, *words: object, typed: str | None = None) -> FinishedCommand:
        named = ("--test-network", "sepolia-fork") if words[:2] == ("deployment", "fetch") else ()
        return super().online(*words, *named, typed=typed)


@pytest.fixture
def venue() -> Iterator[ThirdVenue]:
    with third_venue("--chain", "8453") as running:
        yield running


ledger = ledger_fixture()


def test_a_test_network_is_rehearsed_to_its_end_under_its_own_name(
    tmp_path: Path, venue: ThirdVenue, ledger: Ledger
) -> None:
    desk = NamedDesk(tmp_path, venue)
    desk.pin()
    document = json.loads(desk.path("deployment.json").read_text())
    assert (document["chain_id"], document["rehearsal"], document["test_network"]) == (8453, False, "sepolia-fork")
    assert (ended := desk.prepare("delegate", DELEGATION)).code == 0, ended.err
    ended = desk.sign(ledger)
    assert ended.code == 0, ended.err
    assert "TEST NETWORK sepolia-fork: signed by the software Ledger alone" in " ".join(ended.err.split())
    assert "worth nothing" not in ended.err
    ended = desk.submit("--json")
    assert outcome(ended)["state"] == "CONFIRMED", ended.out + ended.err
    assert venue.delegates == {DELEGATE}
