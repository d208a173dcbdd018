"""A document of a newer version tells an older half which machine to update; one of another kind, what it is."""

import json
from collections.abc import Callable
from typing import Any, cast

import pytest

from airlock_shared.ceremony.roles import parse_people
from airlock_shared.ceremony.seals import parse_proofs
from airlock_shared.documents.deployment import parse_deployment
from airlock_shared.documents.hand_over import parse_hand_over
from airlock_shared.documents.requests import parse_requests, parse_signatures
from airlock_shared.errors import DocumentError, PlanError, Refusal
from airlock_shared.plan.mistakes import find_mistakes
from airlock_shared.plan.model import Plan
from airlock_shared.plan.reader import parse_plan
from airlock_shared.report.evidence.redaction import parse_withheld
from airlock_shared.report.evidence.timeline import parse_screens
from refusals import error_of

UPDATE = "update Airlock on this machine to the other machine's version"
READERS: dict[str, Callable[[bytes], Any]] = {
    "requests": parse_requests,
    "signatures": parse_signatures,
    "deployment": parse_deployment,
    "hand-over": parse_hand_over,
    "proofs": parse_proofs,
    "screens": parse_screens,
    "withheld-signatures": parse_withheld,
    "people": lambda data: parse_people(data, cast("Plan", None)),  # its format is read before anything of the plan
    "plan": lambda data: parse_plan(b"format = " + json.dumps(str(json.loads(data)["format"])).encode()),
}


@pytest.mark.parametrize("kind", READERS)
def test_a_newer_version_says_what_to_update(kind: str) -> None:
    for version in (2, 9999):
        error = error_of(Refusal, READERS[kind], json.dumps({"format": f"airlock/{kind}@{version}"}).encode())
        assert isinstance(error, DocumentError | PlanError)
        assert (error.what, error.do) == ("a document of a newer version", UPDATE)
        assert error.got == f"'airlock/{kind}@{version}'"


def test_a_plan_of_a_newer_version_says_it_before_what_else_is_unknown_in_it() -> None:
    text = b'format = "airlock/plan@9"\n[policies]\nquorum = 2\n[limits]\nloss_at_most = "1"\n'
    for error in (find_mistakes(text)[0].error, error_of(PlanError, parse_plan, text)):
        assert (error.what, error.do) == ("a document of a newer version", UPDATE)
