"""Transactions to sign: every good one passes every check, every bad one gets exactly the refusals that it names."""

from __future__ import annotations

from typing import Any

import pytest

from airlock_shared.checks.judge import Known
from airlock_shared.checks.nonces import UsedNonces
from airlock_shared.venue.calls import CALLS
from shared.make_payloads import DESK, TREASURY
from shared.make_transactions import ENTRIES, call
from shared.world import (
    Vector,
    bad_request,
    examined,
    examined_of,
    good,
    good_challenges,
    judge,
    names,
    plan,
    request_of,
    situation,
    vectors,
    whole,
)

FOLDER = "transactions"
STEPS = tuple(plan(FOLDER).steps)
BAD = list(vectors("transactions/bad"))


def _good(step: str) -> dict[str, Any]:
    return good(step, FOLDER)


def _judge(document: dict[str, Any]) -> set[str]:
    return judge(document, situation(FOLDER))


def _item(document: dict[str, Any]) -> dict[str, Any]:
    item: dict[str, Any] = document["requests"][0]
    return item


@pytest.mark.parametrize("step", STEPS)
def test_a_good_transaction_passes_every_check(step: str) -> None:
    known = Known(used=UsedNonces(), proofs={each.sha256() for each in good_challenges(FOLDER)})
    verdicts = examined(request_of(_good(step)), situation(FOLDER), known=known).verdicts
    assert not verdicts.blocking()
    assert verdicts.blocking() == verdicts.not_judged() == []
    assert {verdict.result for verdict in verdicts.all()} <= {"pass", "not-applicable"}
    assert _judge(_good(step)) == set()


def test_a_good_document_of_the_whole_plan_passes() -> None:
    assert judge(whole(FOLDER), situation(FOLDER), steps=STEPS) == set()


@pytest.mark.parametrize("vector", BAD, ids=names(BAD))
def test_a_bad_transaction_gets_its_refusal_and_no_other(vector: Vector) -> None:
    document, where, steps = bad_request(vector)
    assert judge(document, where, steps=steps) == vector.all_refusals


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(
    ("description", "meta"),
    [
        ("\u001b[2J\u202eReceive 1,000,000 USDC", {"verdict": "pass", "to": "0x" + "00" * 20, "value": "0x1"}),
        (None, ["not", "an", "object"]),
    ],
)
def test_what_the_builder_says_of_a_transaction_changes_nothing(step: str, description: Any, meta: Any) -> None:
    document = _good(step)
    before = examined_of(document, situation(FOLDER))
    _item(document)["payload"] |= {"description": description, "meta": meta}
    after = examined_of(document, situation(FOLDER))
    assert after.verdicts.all() == before.verdicts.all()
    assert before.digest
    assert after.digest == before.digest


WORD = "0x" + "00" * 32


@pytest.mark.parametrize(
    ("place", "text"), [("value", "0x"), ("value", "0"), ("value", WORD), ("to", "lower"), ("data", "upper")]
)
@pytest.mark.parametrize("step", ["approve", "limit-update-desk"])
def test_another_spelling_of_the_same_bytes_gives_the_same_digest(step: str, place: str, text: str) -> None:
    document = _good(step)
    before = examined_of(document, situation(FOLDER))
    payload = _item(document)["payload"]
    payload[place] = {"lower": payload[place].lower(), "upper": "0x" + payload[place][2:].upper()}.get(text, text)
    after = examined_of(document, situation(FOLDER))
    assert after.verdicts.blocking() == []
    assert after.digest == before.digest


@pytest.mark.parametrize(
    ("field", "value"),
    [("nonce", 0), ("nonce", 2**32 - 1), ("gas", 21_000), ("gas", 15_000_000), ("maxFeePerGas", 5_000_000_000),
     ("maxFeePerGas", 100_000_000), ("maxPriorityFeePerGas", 0), ("maxPriorityFeePerGas", 2_000_000_000)],
)  # fmt: skip
def test_the_ends_of_a_range_are_within_it(field: str, value: int) -> None:
    document = _good("keeper-rewards")
    _item(document)["transaction"][field] = value
    assert _judge(document) == set()


_ALONE = [step for step, entry in ENTRIES.items() if not CALLS[entry["call"]].delegable and step != "keeper-rewards"]


@pytest.mark.parametrize("step", _ALONE)
@pytest.mark.parametrize("wrapped", [False, True])
def test_a_delegate_may_not_make_a_call_that_is_the_trader_s_alone(step: str, wrapped: bool) -> None:
    """Whatever the plan says, and whichever way the builder puts it."""
    entry = ENTRIES[step]
    document = _good(step)
    item = _item(document)
    planned = plan(FOLDER)
    desk = planned.signers["desk"]
    where = situation(FOLDER)._replace(
        plan=planned._replace(steps={**planned.steps, step: planned.steps[step]._replace(signer=desk)})
    )
    item["signer"] = {"address": DESK, "path": desk.path}
    item["payload"] |= {"from": DESK, "to": _good("trade-close-desk")["requests"][0]["payload"]["to"]}
    item["delegation"] = {"isEnabled": True, "expiry": 1806451200, "canSignIntents": True}
    item["payload"]["data"] = call(entry["call"], entry["arguments"], TREASURY if wrapped else None)
    assert ("TX-DELEGABLE" if wrapped else "TX-TRADER") in judge(document, where)
