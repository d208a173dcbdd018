"""A venue that takes a fee with a call: by its profile and within the plan's limit, the whole way."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import Ledger, ledger_fixture
from e2e.test_second_venue import BY_HAND, PLAN, TRADER, TRANSACTIONS, Desk
from second_venue.other_types import OTHER, PROFILE
from second_venue.venue import second_venue

FEE_WEI = 300_000_000_000_000
CHANGE = "changeLimit(uint256,uint16,uint32,uint256,uint256,uint256)"
WITH_FEE: dict[str, Any] = copy.deepcopy(PROFILE)
WITH_FEE["calls"]["updateOpenLimitOrder"]["value"] = "fee"
FIELDS = TRANSACTIONS["limit-update"]
LIMITED = PLAN.replace("max_fee_gwei_at_most", 'native_fee_at_most = "0.0003"\nmax_fee_gwei_at_most', 1)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with second_venue(TRADER, types=OTHER._replace(fees={CHANGE: FEE_WEI})) as running:
        made = Desk(tmp_path, running)
        made.profile = WITH_FEE
        yield made


ledger = ledger_fixture("--blind-signing", scope="function")


def test_people_read_the_fee_before_they_pin_and_before_they_sign_and_the_venue_gets_it(
    desk: Desk, ledger: Ledger
) -> None:
    assert desk.fetch().code == 0
    pinned = desk.offline("trust", desk.path("deployment.json"), typed="Yes\n")
    said = " ".join((pinned.out + pinned.err).split())
    assert (pinned.code, "native currency may be sent with it as a fee" in said) == (0, True), said
    desk.path("deployment.json").unlink()
    desk.pin()
    prepared = desk.prepare("limit-update", FIELDS, *BY_HAND, plan=LIMITED)
    assert prepared.code == 0, prepared.err
    shown = desk.offline("plan", "show", desk.path("plan.toml"))
    assert "native fee at most  0.0003 of the native currency" in shown.out
    signed = desk.sign(ledger)
    assert signed.code == 0, signed.err
    review = " ".join((signed.out + signed.err).split())
    assert "0.0003 of the native currency is sent with it as a fee, · at most 0.0003" in review
    assert "calls changeLimit on chain" in review, "the function that is called, not what it is known as"
    assert "0.0003 ???" in review, "the Ledger has its own line for it"
    ended = desk.submit("--json")
    assert ended.code == 0, ended.out + ended.err
    assert desk.venue.paths("POST").count("/v2/relay") == 1
