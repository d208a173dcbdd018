"""Each TX check alone: one thing wrong with a good transaction, and the id that refuses it. Removing the check lets it pass."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from airlock_shared.checks.case import Case
from airlock_shared.checks.run import examine
from airlock_shared.errors import Refusal
from airlock_shared.second_opinion import confirm
from airlock_shared.transactions import signing_hash
from shared.make_payloads import DESK, OTHER, TREASURY
from shared.make_transactions import call, called_otherwise
from shared.world import case_of, good, refusals, situation

FOLDER = "transactions"
STRANGER = "0x" + "11" * 20


def _judge(step: str, change: dict[str, Any]) -> set[str]:
    document = good(step, FOLDER)
    item = document["requests"][0]
    for path, value in change.items():
        *parents, last = path.split(".")
        node = item
        for part in parents:
            node = node[part]
        if value is None:
            del node[last]
        else:
            node[last] = copy.deepcopy(value)
    return refusals(examine(case_of(document, situation(FOLDER))))


def _live(**change: Any) -> dict[str, Any]:
    return good("trade-close-desk", FOLDER)["requests"][0]["delegation"] | change


def test_the_good_transaction_passes() -> None:
    for step in ("approve", "trade-close", "trade-close-desk", "delegate-set", "referral-adopt-desk"):
        assert _judge(step, {}) == set()


@pytest.mark.parametrize(
    ("check", "step", "change"),
    [
        ("TX-KEYS", "approve", {"payload.accessList": []}),
        ("TX-KEYS", "approve", {"payload.authorizationList": []}),
        ("TX-KEYS", "approve", {"payload.blobVersionedHashes": []}),
        ("TX-CHAIN", "approve", {"payload.chainId": 1}),
        ("TX-TO", "approve", {"payload.to": STRANGER}),
        ("TX-TO", "trade-close-desk", {"payload.to": STRANGER}),
        ("TX-FROM", "approve", {"payload.from": OTHER}),
        ("TX-VALUE", "approve", {"payload.value": "0x1"}),
        ("TX-DELEGATE", "trade-close-desk", {"delegation": _live(isEnabled=False)}),
        ("TX-DELEGATE", "trade-close-desk", {"delegation": None}),
        ("TX-FEES", "approve", {"transaction.maxFeePerGas": 5 * 10**9 + 1}),
        ("TX-FEES", "approve", {"transaction.maxPriorityFeePerGas": 5 * 10**9}),
        ("TX-GAS", "approve", {"transaction.gas": 20_999}),
        ("TX-GAS", "approve", {"transaction.gas": 15_000_001}),
        ("TX-NONCE", "approve", {"transaction.nonce": 2**32}),
        ("ORDER-ROUTE", "approve", {"route": {"to": "relayer"}}),
    ],
)
def test_one_wrong_thing_is_refused_by_its_check_and_no_other(check: str, step: str, change: dict[str, Any]) -> None:
    assert _judge(step, change) == {check}


@pytest.mark.parametrize(
    ("check", "data"),
    [
        ("TX-HEX", "0x0"),
        ("TX-HEX", "0xzz"),
        ("TX-SELECTOR", "0xdeadbeef"),
        ("ENC-CANONICAL", None),
    ],
)
def test_calldata_that_cannot_be_read_is_refused_by_its_check(check: str, data: str | None) -> None:
    data = data or good("approve", FOLDER)["requests"][0]["payload"]["data"] + "00" * 32
    assert check in _judge("approve", {"payload.data": data})


def test_a_delegated_call_within_a_delegated_call_is_refused() -> None:
    inner = call("closeTradeMarket", {"pairIndex": 0, "index": 1, "amount": 10**7, "wantedPrice": 64 * 10**13}, TREASURY)
    from shared.make_transactions import calldata

    nested = calldata("delegatedAction(address,bytes)", [TREASURY, inner])
    assert "TX-NESTED" in _judge("trade-close-desk", {"payload.data": "0x" + nested.hex()})


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("approve", {"spender": STRANGER, "amount": 1}), ("setDelegate", {"delegate": DESK, "expiry": 1806451200})],
)
def test_a_delegate_neither_approves_nor_names_delegates(name: str, arguments: dict[str, Any]) -> None:
    assert "TX-DELEGABLE" in _judge("trade-close-desk", {"payload.data": call(name, arguments, TREASURY)})


def test_a_delegated_call_for_somebody_else_is_refused() -> None:
    assert _judge("trade-close-desk", {"payload.data": called_otherwise("trade-close-desk", {"for": OTHER})}) == {
        "TX-TRADER"
    }


def test_an_approval_for_a_stranger_is_refused_even_when_the_plan_names_him() -> None:
    plan = situation(FOLDER).plan
    step = plan.steps["approve"]
    from airlock_shared.plan import Exact

    planned = step._replace(values=step.values | {"spender": Exact(bytes.fromhex(STRANGER[2:]), STRANGER)})
    where = situation(FOLDER)._replace(plan=plan._replace(steps=plan.steps | {"approve": planned}))
    document = good("approve", FOLDER)
    item = document["requests"][0]
    item["payload"]["data"] = called_otherwise("approve", {"arguments": {"spender": STRANGER}})
    if "spender" in item["fields"]:
        item["fields"]["spender"] = STRANGER
    assert refusals(examine(case_of(document, where))) == {"TX-SPENDER"}


def test_an_unlimited_approval_needs_the_word_in_the_plan() -> None:
    plan = situation(FOLDER).plan
    step = plan.steps["approve"]
    from airlock_shared.plan import Exact

    huge = Exact((1 << 256) - 1, "115792089237316195423570985008687907853269984665640564039457584007913129.639935")
    planned = step._replace(values=step.values | {"amountUsdc": huge})
    where = situation(FOLDER)._replace(plan=plan._replace(steps=plan.steps | {"approve": planned}))
    document = good("approve", FOLDER)
    item = document["requests"][0]
    item["payload"]["data"] = called_otherwise("approve", {"arguments": {"amount": (1 << 256) - 1}})
    assert "TX-UNLIMITED" in refusals(examine(case_of(document, where)))
    assert "TX-UNLIMITED" not in refusals(examine(case_of(good("approve-unlimited", FOLDER), situation(FOLDER))))


def _examined(step: str) -> Case:
    case = case_of(good(step, FOLDER), situation(FOLDER))
    examine(case)
    return case


def test_another_hash_of_a_transaction_is_a_disagreement() -> None:
    case = _examined("approve")
    confirm(case)
    case.digest = bytes([case.digest[0] ^ 1]) + case.digest[1:]
    with pytest.raises(Refusal) as caught:
        confirm(case)
    assert caught.value.check == "TX-DISAGREE"


def test_the_hash_is_of_a_transaction_that_sends_nothing() -> None:
    case = _examined("approve")
    filled = case.request.transaction
    assert filled is not None
    assert signing_hash(case.request.payload | {"value": "0xde0b6b3a7640000"}, filled) == case.digest
