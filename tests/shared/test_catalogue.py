"""The catalogue, the actions, and what is decided by whom: data that must agree with itself and with what is published."""

import json

import pytest

from airlock_shared.cli.comparison_lines import deployment_lines
from airlock_shared.errors import PlanError
from airlock_shared.ethereum.struct_types import types_of
from airlock_shared.plan.decisions import decide, request_fields, shown_value
from airlock_shared.plan.reader import parse_plan
from airlock_shared.venue.structs import CATALOGUE, leaf
from shared.make_payloads import ABI_ORDER, ENCODE_TYPES, TYPES
from shared.world import DEPLOYMENT_TEXT, PLAN_TEXT, STEPS, deployment, good, intent_case, plan, replaced


def test_the_structs_are_the_published_ones() -> None:
    assert {intent.encode_type for intent in CATALOGUE.values()} == set(ENCODE_TYPES)
    assert {name: types_of(CATALOGUE[name].encode_type) for name in CATALOGUE} == TYPES


def test_only_the_delegate_registration_is_encoded_in_another_order() -> None:
    assert {name: intent.abi_order for name, intent in CATALOGUE.items() if intent.abi_order} == ABI_ORDER


def test_the_order_types_are_those_of_the_specification() -> None:
    known = {name: intent.order_types for name, intent in CATALOGUE.items() if intent.order_types}
    assert known == {
        "OpenTradeReq": (0, 6), "OpenTradeCoinExposureReq": (12, 13),
        "CloseTradeReq": (1, 7), "CloseTradeCoinExposureReq": (15, 16),
        "IncreasePositionSizeReq": (9, -1), "IncreasePositionSizeWithCoinExposureReq": (14, -1),
    }  # fmt: skip


def test_only_a_delegate_registration_is_for_the_trader_alone_and_only_referrals_have_the_other_domain() -> None:
    assert [name for name, intent in CATALOGUE.items() if intent.signer_rule == "trader-only"] == ["DelegateReq"]
    assert {name for name, intent in CATALOGUE.items() if intent.domain == "referral"} == {
        "SetTraderReferralCodeByUserReq",
        "RegisterCodeReq",
    }


@pytest.mark.parametrize("step", STEPS)
def test_every_leaf_is_decided_by_somebody_and_shown(step: str) -> None:
    case = intent_case(step)
    decisions = decide(case.fields, case.message, case.step, plan(), deployment())
    assert [decision.field for decision in decisions] == list(case.intent.fields)
    assert all("(number " in each.expected for each in decisions if each.field.kind == "pairIndex"), "by its name too"
    for decision in decisions:
        assert decision.ok
        assert decision.decided_by in {"plan", "fixed", "builder"}
        assert decision.raw == leaf(case.message, decision.field.path)
        assert isinstance(shown_value(decision.field, decision.raw), str)


@pytest.mark.parametrize("step", STEPS)
def test_what_is_asked_of_the_builder_is_what_the_vectors_asked(step: str) -> None:
    asked = good(step)["requests"][0]["fields"]
    expected = request_fields(plan().steps[step], deployment())
    assert {name: value for name, value in asked.items() if name in expected or name != "deadlineMs"} == expected


def test_a_pair_that_the_deployment_does_not_have_cannot_be_asked() -> None:
    text = replaced(PLAN_TEXT, [('pair = "btc-usd"', 'pair = "DOGE/USD"')])
    with pytest.raises(PlanError, match=r"^PLAN-FIELD[: ]"):
        request_fields(parse_plan(text.encode()).steps["open"], deployment())


def test_a_deployment_is_listed_with_everything_that_decides() -> None:
    lines = "\n".join(deployment_lines(deployment()))
    document = json.loads(DEPLOYMENT_TEXT)
    for domain in document["domains"].values():
        assert f"{domain['name']}, version {domain['version']}" in lines
        assert domain["verifyingContract"] in lines
    for name, address in document["contracts"].items():
        assert f"contract {name}: {address}" in lines
    for pair in document["pairs"]:
        assert f"pair {pair['index']}: {pair['name']}" in lines
    for enum in document["enums"].values():
        for name, number in enum.items():
            assert f"{name} = {number}" in lines
