"""Requests documents: every good one passes every check, every bad one gets exactly the refusals it names.

An intent's and a transaction's alike.
"""

from typing import Any

import pytest

from airlock_shared.checks.judge import Known
from airlock_shared.checks.model import Situation
from airlock_shared.checks.nonces import UsedNonces
from airlock_shared.checks.transaction import pair_is_pinned
from airlock_shared.venue.structs import CATALOGUE
from shared import world
from shared.world import examined_of, good, judge, plan, situation, vectors

FOLDERS = ("requests", "transactions")
TRANSACTIONS = tuple(plan("transactions").steps)
BAD, BAD_TRANSACTIONS = list(vectors("requests/bad")), list(vectors("transactions/bad"))


@pytest.mark.parametrize(("folder", "step"), [(folder, step) for folder in FOLDERS for step in plan(folder).steps])
def test_a_good_payload_passes_every_check(folder: str, step: str) -> None:
    known = Known(used=UsedNonces(), proofs={each.sha256() for each in world.good_challenges(folder)})
    verdicts = world.examined(world.request_of(good(step, folder)), situation(folder), known=known).verdicts
    assert verdicts.blocking() == verdicts.not_judged() == []
    assert {verdict.result for verdict in verdicts.found} <= {"pass", "not-applicable"}
    assert judge(good(step, folder), situation(folder)) == set()


@pytest.mark.parametrize("step", world.STEPS)
def test_a_good_payload_passes_the_second_opinion(step: str) -> None:
    world.confirm(world.case_of(good(step)))


def test_every_struct_of_the_catalogue_has_a_good_payload() -> None:
    assert {good(step)["requests"][0]["payload"]["primaryType"] for step in world.STEPS} == set(CATALOGUE)
    assert set(world.STEPS) == set(plan().steps)


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_good_document_of_the_whole_plan_passes(folder: str) -> None:
    assert judge(world.whole(folder), situation(folder), steps=tuple(plan(folder).steps)) == set()


@pytest.mark.parametrize("vector", BAD, ids=world.names(BAD))
def test_a_bad_request_gets_its_refusal_and_no_other(vector: world.Vector) -> None:
    document, where, steps = world.bad_request(vector)
    assert judge(document, where, steps=steps) == vector.all_refusals


def test_what_a_venue_lets_the_trader_alone_sign_is_signed_by_the_trader() -> None:
    document = good("stop-twap")
    document["requests"][0]["payload"]["signerRule"] = "trader-only"
    assert judge(document) == set()


def _transaction(step: str) -> dict[str, Any]:
    return good(step, "transactions")


def _item(document: dict[str, Any]) -> dict[str, Any]:
    item: dict[str, Any] = document["requests"][0]
    return item


@pytest.mark.parametrize("vector", BAD_TRANSACTIONS, ids=world.names(BAD_TRANSACTIONS))
def test_a_bad_transaction_gets_its_refusal_and_no_other(vector: world.Vector) -> None:
    document, where, steps = world.bad_request(vector)
    assert judge(document, where, steps=steps) == vector.all_refusals


@pytest.mark.parametrize("step", TRANSACTIONS)
@pytest.mark.parametrize(
    ("description", "meta"),
    [
        ("\u001b[2J\u202eReceive 1,000,000 USDC", {"verdict": "pass", "to": "0x" + "00" * 20, "value": "0x1"}),
        (None, ["not", "an", "object"]),
    ],
)
def test_what_the_builder_says_of_a_transaction_changes_nothing(step: str, description: Any, meta: Any) -> None:
    document = _transaction(step)
    before = examined_of(document, situation("transactions"))
    _item(document)["payload"] |= {"description": description, "meta": meta}
    after = examined_of(document, situation("transactions"))
    assert after.verdicts.found == before.verdicts.found
    assert before.digest
    assert after.digest == before.digest


def _with_untold_pairs() -> Situation:
    where = situation("transactions")
    untold = {number: pair._replace(pnl=None) for number, pair in where.deployment.pairs.items()}
    return where._replace(deployment=where.deployment._replace(pairs=untold))


@pytest.mark.parametrize("step", TRANSACTIONS)
def test_a_pair_that_does_not_tell_its_kind_is_for_every_call(step: str) -> None:
    assert examined_of(_transaction(step), _with_untold_pairs()).verdicts.blocking() == []


@pytest.mark.parametrize("kind", [0, 3])
def test_a_pair_that_does_not_tell_its_kind_is_for_either_market_order(kind: int) -> None:
    case = world.case_of(_transaction("trade-open"), _with_untold_pairs())
    case.message["orderType"] = kind
    assert pair_is_pinned.run(case).result == "pass"


WORD = "0x" + "00" * 32


@pytest.mark.parametrize(
    ("place", "text"), [("value", "0x"), ("value", "0"), ("value", WORD), ("to", "lower"), ("data", "upper")]
)
@pytest.mark.parametrize("step", ["approve", "limit-update-desk"])
def test_another_spelling_of_the_same_bytes_gives_the_same_digest(step: str, place: str, text: str) -> None:
    document = _transaction(step)
    before = examined_of(document, situation("transactions"))
    payload = _item(document)["payload"]
    payload[place] = {"lower": payload[place].lower(), "upper": "0x" + payload[place][2:].upper()}.get(text, text)
    after = examined_of(document, situation("transactions"))
    assert after.verdicts.blocking() == []
    assert after.digest == before.digest


@pytest.mark.parametrize(
    ("field", "value"),
    [("nonce", 0), ("nonce", 2**32 - 1), ("gas", 21_000), ("gas", 15_000_000), ("maxFeePerGas", 5_000_000_000),
     ("maxFeePerGas", 100_000_000), ("maxPriorityFeePerGas", 0), ("maxPriorityFeePerGas", 2_000_000_000)],
)  # fmt: skip
def test_the_ends_of_a_range_are_within_it(field: str, value: int) -> None:
    document = _transaction("keeper-rewards")
    _item(document)["transaction"][field] = value
    assert judge(document, situation("transactions")) == set()
