"""A price trigger takes the place of a stored one only when the plan says which."""

import pytest

from airlock_shared.checks.judge import Verdicts
from airlock_shared.checks.model import Situation
from airlock_shared.errors import PlanError
from airlock_shared.plan.decisions import request_fields
from airlock_shared.plan.model import Plan
from airlock_shared.plan.reader import parse_plan
from refusals import error_of
from shared.make_payloads import NOW_MS
from shared.world import PLAN_TEXTS, deployment, examined, good, request_of

STEP = next(step for step in ("tpsl-partial", "take-profit", "stop-loss") if f'id = "{step}"' in PLAN_TEXTS["requests"])
ENTITY = "3f0c9a52-7b1e-4c38-9e1f-0d8a6f2b7c11"


def plan(replaces: str) -> Plan:
    """Return the vectors' plan in which the trigger's step replaces this one."""
    before, name, after = PLAN_TEXTS["requests"].partition(f'id = "{STEP}"')
    fields = "[steps.fields]\n"
    assert fields in after
    return parse_plan((before + name + after.replace(fields, f"{fields}replaces = {replaces}\n", 1)).encode())


def verdicts(meant: str, came: str) -> Verdicts:
    agreed = plan(f'"{meant}"') if meant else parse_plan(PLAN_TEXTS["requests"].encode())
    return examined(request_of(good(STEP))._replace(replaces=came), Situation(agreed, deployment(), NOW_MS)).verdicts


@pytest.mark.parametrize("entity", ["", ENTITY, "7", "a/b?c", "~" * 200])
def test_the_trigger_that_the_plan_names_is_the_one_replaced(entity: str) -> None:
    assert verdicts(entity, entity).blocking() == []


@pytest.mark.parametrize(
    ("meant", "came"), [(ENTITY, ""), ("", ENTITY), (ENTITY, ENTITY.upper()), (ENTITY, ENTITY + " "), ("7", "07")]
)
def test_another_trigger_than_the_plans_is_refused(meant: str, came: str) -> None:
    [verdict] = verdicts(meant, came).blocking()
    assert (verdict.check, verdict.where) == ("PLAN-REQUEST", "route.replaces")


def test_what_is_no_trigger_replaces_nothing() -> None:
    for folder in PLAN_TEXTS:
        where = Situation(parse_plan(PLAN_TEXTS[folder].encode()), deployment(), NOW_MS)
        for step in where.plan.steps:
            request = request_of(good(step, folder))._replace(replaces=ENTITY)
            found = {(each.check, each.where) for each in examined(request, where).verdicts.blocking()}
            assert ("PLAN-REQUEST", "route.replaces") in found, step


def test_the_builder_is_not_told_of_the_trigger_that_is_replaced() -> None:
    fields = request_fields(plan(f'"{ENTITY}"').steps[STEP], deployment())
    assert "replaces" not in fields
    assert ENTITY not in fields.values()


@pytest.mark.parametrize(
    "written", ['""', '"a b"', '"a\\nb"', '"é"', f'"{"x" * 201}"', "7", "true", "{ at_least = '1' }"]
)
def test_what_cannot_be_a_triggers_id_is_refused_in_the_plan(written: str) -> None:
    error = error_of(PlanError, plan, written)
    assert (error.check, "replaces" in error.where) == ("PLAN-FIELD", True)
