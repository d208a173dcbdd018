"""Requests documents: every good one passes every check, every bad one gets exactly the refusals it names."""

from __future__ import annotations

import pytest

from airlock_shared.checks.judge import Known
from airlock_shared.checks.nonces import UsedNonces
from airlock_shared.venue.structs import CATALOGUE
from shared.world import (
    STEPS,
    Vector,
    bad_request,
    case_of,
    confirm,
    examined,
    good,
    good_challenges,
    judge,
    names,
    plan,
    request_of,
    vectors,
    whole,
)

BAD = list(vectors("requests/bad"))


@pytest.mark.parametrize("step", STEPS)
def test_a_good_payload_passes_every_check(step: str) -> None:
    known = Known(used=UsedNonces(), proofs={each.sha256() for each in good_challenges()})
    verdicts = examined(request_of(good(step)), known=known).verdicts
    assert not verdicts.blocking()
    assert verdicts.blocking() == verdicts.not_judged() == []
    assert {verdict.result for verdict in verdicts.all()} <= {"pass", "not-applicable"}
    assert judge(good(step)) == set()


@pytest.mark.parametrize("step", STEPS)
def test_a_good_payload_passes_the_second_opinion(step: str) -> None:
    confirm(case_of(good(step)))


def test_every_struct_of_the_catalogue_has_a_good_payload() -> None:
    assert {good(step)["requests"][0]["payload"]["primaryType"] for step in STEPS} == set(CATALOGUE)
    assert set(STEPS) == set(plan().steps)


def test_a_good_document_of_the_whole_plan_passes() -> None:
    assert judge(whole(), steps=tuple(plan().steps)) == set()


@pytest.mark.parametrize("vector", BAD, ids=names(BAD))
def test_a_bad_request_gets_its_refusal_and_no_other(vector: Vector) -> None:
    document, situation, steps = bad_request(vector)
    assert judge(document, situation, steps=steps) == vector.all_refusals
