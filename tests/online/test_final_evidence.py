"""Every final state has its evidence in the table: who says so, who could lie, and what then happens."""

from __future__ import annotations

import pytest

from airlock_online.delivery.outcome import FINAL_EVIDENCE, FinalEvidence
from airlock_online.delivery.routes.registry import ROUTE_MODULES
from airlock_online.journal.order_states import FINAL
from airlock_online.route_table import OF_TRANSACTIONS
from airlock_shared.venue.structs import CATALOGUE


def test_every_final_state_has_a_row_and_no_other_state_has_one() -> None:
    assert {row.state for row in FINAL_EVIDENCE} == FINAL


@pytest.mark.parametrize("route", ROUTE_MODULES)
def test_every_route_can_succeed_and_end_by_some_row(route: str) -> None:
    ends = {row.state.value for row in FINAL_EVIDENCE if route in row.routes}
    assert ends & {"FILLED", "CONFIRMED"}
    assert "VOIDED" in ends
    assert ("FILLED" in ends) == ("MARKET_DECLINED" in ends) == (route == "batched-market")
    has_deadline = any(intent.deadline for intent in CATALOGUE.values() if intent.route == route)
    assert ("EXPIRED_UNUSED" in ends) == (has_deadline and route not in OF_TRANSACTIONS)


@pytest.mark.parametrize("row", FINAL_EVIDENCE, ids=lambda row: f"{row.state}-{'-'.join(row.routes)}")
def test_a_row_says_who_could_lie_and_what_then_happens(row: FinalEvidence) -> None:
    assert set(row.routes) <= set(ROUTE_MODULES)
    assert min(map(len, (row.proof, row.liar, row.then))) > 5
    assert row.proof.endswith(".")
    assert row.then.endswith(".")
    assert "|" not in row.proof + row.then
