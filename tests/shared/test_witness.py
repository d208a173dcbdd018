"""What a plan says of a witness binds: who has to be there, and that nobody is two people."""

from __future__ import annotations

import pytest

from airlock_shared.ceremony.roles import check_people, differences
from airlock_shared.ceremony.sections import people_of
from airlock_shared.checks.document import Attended, people_are_present
from airlock_shared.checks.judge import Known, judge_header
from airlock_shared.documents.requests import parse_requests
from airlock_shared.errors import PlanError, Refusal
from airlock_shared.plan.mistakes import find_mistakes
from airlock_shared.plan.model import Plan
from airlock_shared.plan.toml_positions import parse_written_plan
from shared.test_roles import FIRST, NAMES, begun, chain, ended
from shared.world import plan as agreed
from shared.world import situation, to_bytes, whole

ALL = '"signer", "facilitator", "witness"'


def text(roles: str, witness: str) -> bytes:
    return f"""
format = "airlock/plan@1"
[ceremony]
id = "demo"
title = "Demo"
deployment = "rehearsal"
roles = [{roles}]
{witness}
[signers.first]
address = "{FIRST}"
path = "m/44'/60'/0'/0/0"
[[steps]]
id = "referral"
action = "referral-set-code"
signer = "first"
fields = {{ referee = "{FIRST}", code = "TREASURY" }}
""".encode()


def plan(roles: str = ALL, witness: str = 'witness = "required"') -> Plan:
    return parse_written_plan(text(roles, witness))


# ---- what a plan says -----------------------------------------------------------------------------------------------


def test_what_a_plan_says_of_a_witness_is_part_of_its_fingerprint() -> None:
    silent, none, required = (plan('"signer"', ""), plan('"signer"', 'witness = "none"'), plan('"signer", "witness"'))
    assert [each.witness for each in (silent, none, required)] == ["", "none", "required"]
    assert [each.requires_witness for each in (silent, none, required)] == [False, False, True]
    assert len({each.fingerprint for each in (silent, none, required)}) == 3
    assert plan(ALL, "").fingerprint != plan(ALL).fingerprint


@pytest.mark.parametrize(
    ("roles", "witness"),
    [
        (ALL, 'witness = "Required"'),
        (ALL, 'witness = ""'),
        (ALL, "witness = true"),
        (ALL, 'witness = ["required"]'),
        (ALL, 'witness = "none"'),
        ("", 'witness = "required"'),
        ('"signer"', 'witness = "required"'),
        ('"witness"', 'witness = "required"'),
        ('"signer", "facilitator"', 'witness = "required"'),
    ],
)
def test_a_plan_that_contradicts_itself_is_refused_at_its_line(roles: str, witness: str) -> None:
    with pytest.raises(PlanError) as caught:
        plan(roles, witness)
    assert caught.value.check == "PLAN-FORM"
    assert caught.value.where == "ceremony.witness, line 8"
    assert [mistake.error.where for mistake in find_mistakes(text(roles, witness))] == ["ceremony.witness"]


# ---- signed in an open ceremony alone -------------------------------------------------------------------------------


def verdict(people: dict[str, str] | None, of: Plan | None = None) -> tuple[bool | None, str]:
    found = people_are_present.run(Attended(of or plan(), people))
    return {"pass": True, "refused": False}.get(found.result), found.what


@pytest.mark.parametrize(
    ("people", "what"),
    [
        ({}, "no ceremony with this plan is open"),
        (NAMES | {"witness": ""}, "a role is held by nobody"),
        (NAMES | {"signer": ""}, "a role is held by nobody"),
        ({"signer": "Ada Lovelace"}, "a role is held by nobody"),
        ({"facilitator": "Grace Hopper"}, "a role is held by nobody"),
    ],
)
def test_without_its_people_a_plan_that_requires_them_is_refused(people: dict[str, str], what: str) -> None:
    assert verdict(people) == (False, what)


def test_the_judge_of_a_document_asks_for_it() -> None:
    header = parse_requests(to_bytes(whole()))[0]
    where = situation()._replace(plan=agreed()._replace(witness="required"))
    for people, result in ((None, "not-judged"), ({}, "refused"), (NAMES, "pass")):
        verdicts = {each.check: each.result for each in judge_header(header, where, Known(people=people)).all()}
        assert verdicts["PLAN-PEOPLE"] == result


def test_the_people_are_those_of_the_open_ceremony_of_this_very_plan() -> None:
    of = plan()
    assert people_of(chain(begun(of)), of) == NAMES
    assert people_of(chain(begun(of), ended()), of) == {}
    assert people_of(chain(begun(plan(ALL, ""))), of) == {}
    assert people_of(chain(begun(of), begun(plan(ALL, ""))), of) == {}
    assert people_of([], of) == {}


@pytest.mark.parametrize("role", ["signer", "witness"])
def test_it_is_not_begun_without_a_name_for_the_signer_and_the_witness(role: str) -> None:
    with pytest.raises(Refusal) as caught:
        check_people(NAMES | {role: ""}, plan())
    assert caught.value.check == "ROLE-TEXT"
    check_people(NAMES | {role: ""}, plan(ALL, ""))
    check_people(NAMES | {"facilitator": ""}, plan())


# ---- the people of two machines -------------------------------------------------------------------------------------


@pytest.mark.parametrize("alike", ["Ada Lovelace", "ADA LOVELACE", "AdaLovelace", "Аda Lovelace", "A da Love lace"])
def test_one_person_who_signs_here_and_witnesses_there_is_told(alike: str) -> None:
    told = differences(NAMES, NAMES | {"signer": "Mary Somerville", "witness": alike})
    assert f"the signer is Ada Lovelace on the air-gapped machine, and {NAMES['witness']} on the online machine" in told
    assert any(line.startswith("Ada Lovelace is signer on the air-gapped machine, and witness on") for line in told)
    assert any(line.startswith("Mary Somerville is witness on the air-gapped machine, and signer on") for line in told)
