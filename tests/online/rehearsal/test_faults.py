"""Every fault of execution and of the network, over real HTTP."""

from __future__ import annotations

import pytest

from airlock_rehearsal.services.faults import EVERYWHERE, FAULTS, IN_EXECUTION, IN_PAYLOADS, PLACES, Faults
from airlock_shared.errors import UsageError
from online.rehearsal.services_client import ServicesClient

# ---- the table -------------------------------------------------------------------------------------------------------


def test_every_fault_has_one_sentence_and_its_places() -> None:
    assert len(FAULTS) == len(IN_PAYLOADS) + len(IN_EXECUTION) + len(EVERYWHERE) == 40
    assert all(fault.does.endswith(".") and fault.where for fault in FAULTS.values())
    assert all(set(fault.where) <= set(PLACES) for fault in FAULTS.values())


@pytest.mark.parametrize(
    "name",
    ["nope", "", "attempts-fail", "attempts-fail=x", "attempts-fail=1000", "attempts-fail=2@core",
     "error=a b", "error=NO_PRICE@builder", "slow=1@core", "HTTP-500",
     "http-500@builder@core"],
)  # fmt: skip
def test_a_fault_that_is_not_in_the_table_is_refused(shared_desk: ServicesClient, name: str) -> None:
    with pytest.raises(UsageError):
        Faults.of(name)
    reply = shared_desk.http.put(shared_desk.services.url + "/rehearsal/faults", json={"faults": [name]})
    assert reply.status_code == 400
    assert shared_desk.services.faults == Faults()


def test_a_fault_holds_at_its_place_alone() -> None:
    faults = Faults.of(
        "http-500@relay", "slow", "attempts-fail=3@batched", "attempts-fail=12", "error=NO_PRICE@batched"
    )
    assert (faults.has("http-500", "relay"), faults.has("http-500", "builder")) == (True, False)
    assert all(faults.has("slow", place) for place in PLACES)
    assert faults.failing_attempts == 12
    assert (faults.value("error", "batched"), faults.value("error", "core")) == ("NO_PRICE", None)


def test_faults_are_switched_over_http_too(desk: ServicesClient) -> None:
    url = desk.services.url + "/rehearsal/faults"
    assert desk.http.put(url, json={"faults": ["http-500@builder"]}).json()["in_force"] == ["http-500@builder"]
    assert desk.http.get(desk.services.builder_url + "/v2/meta").status_code == 500
    assert desk.http.get(desk.services.batched_url + "/tracking-id/x/status").status_code == 404
    assert desk.http.put(url, json={"faults": []}).json()["in_force"] == []
    assert desk.http.get(desk.services.builder_url + "/v2/meta").status_code == 200
