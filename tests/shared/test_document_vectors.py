"""Files and fields around the typed data: batches, plans, deployments and signatures that must be refused."""

import json
from typing import Any

import pytest

from airlock_shared.checks.document import Steps, steps_are_planned
from airlock_shared.documents.deployment import parse_deployment, read_deployment
from airlock_shared.documents.requests import parse_signatures, read_request
from airlock_shared.errors import DocumentError, PlanError, Refusal
from airlock_shared.plan.reader import parse_plan
from airlock_shared.wire.strict_json import read_batch
from refusals import check_of, error_of
from shared import world
from shared.make_payloads import fingerprint, plan_fingerprint

BATCHES = list(world.vectors("documents/bad"))
PLANS = list(world.vectors("plans/bad"))
DEPLOYMENTS = list(world.vectors("deployments/bad"))
SIGNATURES = list(world.vectors("signatures/bad"))
SIGNED_TEXT = (world.VECTORS / "signatures/good/every-struct.json").read_text()


@pytest.mark.parametrize("vector", BATCHES, ids=world.names(BATCHES))
def test_a_bad_batch_gets_its_refusal(vector: world.Vector) -> None:
    content = vector.content
    data = bytes.fromhex(content["hex"]) if "hex" in content else content["text"].encode()
    assert check_of(read_batch, data, format_name="airlock/requests@1", list_name="requests") == vector.refusal


@pytest.mark.parametrize("vector", PLANS, ids=world.names(PLANS))
def test_a_bad_plan_gets_its_refusal(vector: world.Vector) -> None:
    assert world.bad_plan(vector) != world.PLAN_TEXT
    assert error_of(PlanError, parse_plan, world.bad_plan(vector).encode()).check == vector.refusal


@pytest.mark.parametrize("vector", DEPLOYMENTS, ids=world.names(DEPLOYMENTS))
def test_a_bad_deployment_gets_its_refusal(vector: world.Vector) -> None:
    document = world.patched(json.loads(world.DEPLOYMENT_TEXT), vector.content["patch"])
    assert check_of(parse_deployment, world.to_bytes(document)) == vector.refusal


def _verdicts_on(document: Any) -> set[str]:
    """Return the ids that refuse a signatures document, as a command that reads and examines it sees them."""
    try:
        _, items, _ = parse_signatures(world.to_bytes(document))
    except Refusal as refusal:
        return {refusal.check}
    found = set()
    for position, signed in enumerate(items):
        found |= world.refusals(world.examined(world.request_of(world.whole(), position), None, signed).verdicts.found)
    return found


@pytest.mark.parametrize("vector", SIGNATURES, ids=world.names(SIGNATURES))
def test_a_bad_signature_gets_its_refusal_and_no_other(vector: world.Vector) -> None:
    assert _verdicts_on(world.patched(json.loads(SIGNED_TEXT), vector.content["patch"])) == vector.all_refusals


def test_good_signatures_pass_every_check() -> None:
    assert _verdicts_on(json.loads(SIGNED_TEXT)) == set()


def test_a_signature_over_an_item_that_is_refused_is_not_reached() -> None:
    document = world.patched(world.whole(), [{"at": "requests.0.payload.message._t.buy", "set": "false"}])
    signed = parse_signatures(SIGNED_TEXT.encode())[1][0]
    verdicts = world.examined(world.request_of(document), None, signed).verdicts
    assert {v.result for v in verdicts.found if v.check.startswith("SIG-")} == {"not-reached"}
    assert "SIG-SIGNER" in {v.check for v in verdicts.blocking()}


@pytest.mark.parametrize("changed", ["digest", "signer"])
def test_of_a_signature_that_is_refused_nothing_else_is_said_to_pass(changed: str) -> None:
    signed = parse_signatures(SIGNED_TEXT.encode())[1][0]
    wrong = signed._replace(**{changed: "0x" + "12" * (32 if changed == "digest" else 20)})
    found = world.examined(world.request_of(world.whole(), 0), None, wrong).verdicts.found
    results = {v.check: v.result for v in found if v.check.startswith("SIG-")}
    assert results.pop(f"SIG-{changed.upper()}") == "refused"
    assert set(results.values()) == {"not-reached"}


def test_another_value_gives_a_plan_another_fingerprint() -> None:
    assert world.plan().fingerprint == plan_fingerprint(world.PLAN_TEXT)
    assert world.deployment().fingerprint == fingerprint(json.loads(world.DEPLOYMENT_TEXT))
    assert parse_plan(world.PLAN_TEXT.replace("\n", " # said\n\n").encode()).fingerprint == world.plan().fingerprint
    for other in (
        ('"64000"', '"64001"'),
        ('"TREASURY"', '"treasury"'),
        ("twapId = 41", "twapId = 42"),
        ('"3m"', '"4m"'),
    ):
        assert parse_plan(world.replaced(world.PLAN_TEXT, [other]).encode()).fingerprint != world.plan().fingerprint


@pytest.mark.parametrize(
    "data", [b"#" * (5 << 20), world.PLAN_TEXT.encode().replace(b"Every", b"\xff")], ids=["large", "bytes"]
)
def test_a_plan_that_is_too_large_or_not_utf_8_is_refused(data: bytes) -> None:
    assert error_of(PlanError, parse_plan, data).check == "PLAN-FORM"


def test_a_request_field_of_the_wrong_type_is_the_one_that_is_named() -> None:
    item = world.whole()["requests"][0]
    item["fields"]["leverage"] = 10
    assert error_of(DocumentError, read_request, item, "item").where == "item.fields.leverage"


def test_a_pair_is_found_whatever_its_case_and_separator_unless_it_could_be_two() -> None:
    found = [world.deployment().pair_named(name) for name in ("btc/usd", "BTC-USD", "Btc_Usd", "BTC_UPSIDE-usd")]
    assert [pair and pair.number for pair in found] == [0, 0, 0, 7]
    twin = {"index": 9, "name": "btc_usd", "pnl": True}
    document = world.patched(json.loads(world.DEPLOYMENT_TEXT), [{"at": "pairs.3", "insert": twin}])
    assert parse_deployment(world.to_bytes(document)).pair_named("BTC/USD") is None


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        (["a", "b", "c"], ""),
        (["a", "c"], "missing: b"),
        (["a", "b", "c", "d"], "not in the plan: d"),
        (["a", "b", "b", "c"], "a step appears twice"),
        (["a", "c", "b"], "in another order than the plan's"),
    ],
)
def test_steps_missing_extra_repeated_and_moved_are_told_apart(steps: list[str], said: str) -> None:
    found = steps_are_planned.run(Steps(steps, ["a", "b", "c"]))
    assert (found.result, found.where) == ("refused" if said else "pass", said)


def test_one_contract_for_both_domains_is_refused_even_when_the_contracts_agree() -> None:
    document = json.loads(world.DEPLOYMENT_TEXT)
    contract = document["domains"]["trading"]["verifyingContract"]
    document["domains"]["referral"]["verifyingContract"] = document["contracts"]["referral"] = contract
    assert check_of(read_deployment, document) == "DOC-DEPLOYMENT"
