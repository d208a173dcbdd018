"""Every byte of every good transaction, changed: something refuses, or nothing that is signed has changed. Nothing falls."""

import json
import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airlock_shared.checks.model import Case
from airlock_shared.documents.requests import Request, parse_requests
from airlock_shared.errors import AirlockError
from airlock_shared.plan.model import Bounds
from airlock_shared.venue.calls import CALLS, decode_call
from draws import draws, repeatable
from shared import world
from shared.make_transactions import SELECTORS, calldata
from shared.strategies import ODD, READABLE_TEXT, digits_of, mutated, of_its_kind

FOLDER = "transactions"
SEED = 1559
STEPS = tuple(world.plan(FOLDER).steps)


def _request(step: str) -> Request:
    return world.request_of(world.good(step, FOLDER))


@pytest.mark.parametrize("step", STEPS)
def test_a_changed_byte_of_calldata_is_refused_unless_the_plan_leaves_it_open(step: str) -> None:
    pick = random.Random(f"{SEED} {step}")
    request = _request(step)
    good_bytes = bytes.fromhex(request.payload["data"][2:])
    good_message = decode_call(good_bytes, CALLS).message
    for place in range(len(good_bytes)):
        for change in {1, 0x80, pick.randrange(1, 256)}:
            changed = good_bytes[:place] + bytes([good_bytes[place] ^ change]) + good_bytes[place + 1 :]
            payload = request.payload | {"data": "0x" + changed.hex()}
            item = world.examined(request._replace(payload=payload), world.situation(FOLDER))
            if not world.refusals(item.verdicts.found):
                assert item.case is not None
                _assert_left_open(item.case, good_message, f"byte {place}")


def _assert_left_open(case: Case, good_message: dict[str, Any], what: str) -> None:
    """Only what the plan bounds, and the slippage within its limit, may be otherwise; and then it is another digest."""
    for field in case.fields:
        old, new = good_message, case.message
        for part in field.path.split("."):
            old, new = old[part], new[part]
        if old != new:
            wanted = case.step.values.get(field.rule.parameter)
            by_builder = field.rule.decider == "builder" and wanted is None
            assert by_builder or isinstance(wanted, Bounds), f"{what}: {field.path} became {new}"
            assert case.digest != world.case_of(world.good(case.request.step, FOLDER), world.situation(FOLDER)).digest


_HEX_TEXT = st.binary(max_size=200).map(lambda data: "0x" + data.hex())
_CALLDATA = st.tuples(st.sampled_from(list(SELECTORS.values())), st.binary(max_size=420)).map(
    lambda parts: "0x" + parts[0] + parts[1].hex()
)
_WRAPPED = st.tuples(st.binary(min_size=20, max_size=20), _CALLDATA).map(
    lambda parts: "0x" + calldata("delegatedAction(address,bytes)", ["0x" + parts[0].hex(), parts[1]]).hex()
)
NUMBERS = st.integers(0, 2**64 - 1) | st.integers(-(2**64), -1)


def _changed_inside(document: dict[str, Any], data: st.DataObject) -> None:
    """Change a transaction so that its reader takes it still: a lie in its form, for the checks.

    Most of them leave calldata of a known call: another word of its arguments, or another step's calldata.
    """
    item = document["requests"][0]
    payload = item["payload"]
    for _ in range(data.draw(st.integers(1, 3))):
        change = data.draw(st.sampled_from(["word", "word", "word", "other", "data", "member", "number", "field"]))
        if change == "word":
            payload["data"] = _other_word(payload["data"], data)
        elif change == "other":
            payload["data"] = _request(data.draw(st.sampled_from(STEPS))).payload["data"]
        elif change == "data":
            payload["data"] = data.draw(digits_of(payload["data"]) | _CALLDATA | _WRAPPED | _HEX_TEXT | READABLE_TEXT)
        elif change == "member":
            name = data.draw(st.sampled_from(["to", "from", "value", "description"]))
            payload[name] = data.draw(of_its_kind(payload[name], READABLE_TEXT | _HEX_TEXT))
        elif change == "number":
            name = data.draw(st.sampled_from([*item["transaction"], "chainId"]))
            (payload if name == "chainId" else item["transaction"])[name] = data.draw(NUMBERS)
        else:
            name = data.draw(st.sampled_from(sorted(item["fields"])))
            item["fields"][name] = data.draw(of_its_kind(item["fields"][name], READABLE_TEXT))


def _other_word(text: str, data: st.DataObject) -> str:
    """Calldata with one of its 32-byte words another number: small, large, or one digit away."""
    starts = range(10, len(text) - 63, 64)
    if not starts:
        return text
    start = data.draw(st.sampled_from(starts))
    word = text[start : start + 64]
    number = st.integers(0, 300) | st.integers(0, 2**256 - 1)
    return text[:start] + data.draw(digits_of(word) | number.map(lambda n: f"{n:064x}")) + text[start + 64 :]


def _examine_and_confirm(document: Any) -> dict[str, str]:
    """Return the results of the checks, none when the document's form is refused."""
    try:
        items = parse_requests(json.dumps(document).encode())[1]
    except AirlockError:
        return {}
    results: dict[str, str] = {}
    for item in items:
        found = world.examined(item, world.situation(FOLDER))
        verdicts = found.verdicts.found
        results |= {verdict.check: verdict.result for verdict in verdicts}
        assert set(results.values()) <= world.RESULTS
        assert all(str(verdict) for verdict in verdicts)
        if not found.verdicts.blocking():
            assert found.case is not None
            world.confirm(found.case)
            results["second opinion"] = "pass"
    return results


def test_no_transaction_that_lies_inside_its_form_makes_the_checks_or_the_second_opinion_fall() -> None:
    """Nearly every input is read, and its checks run; a part passes them all and is confirmed."""
    seen: Counter[str] = Counter()

    @repeatable
    @given(st.sampled_from(STEPS), st.data())
    def judged(step: str, data: st.DataObject) -> None:
        document = world.good(step, FOLDER)
        _changed_inside(document, data)
        results = _examine_and_confirm(document)
        seen["tried"] += 1
        seen["examined"] += bool(results)
        seen["decoded"] += results.get("TX-SELECTOR") == "pass"
        seen["confirmed"] += "second opinion" in results

    judged()
    assert seen["tried"] >= draws(90, 450)
    assert seen["examined"] >= 0.97 * seen["tried"], seen
    assert seen["decoded"] >= 0.6 * seen["tried"], seen
    assert seen["confirmed"] >= 0.01 * seen["tried"], seen


@repeatable
@given(st.sampled_from(STEPS), st.data())
def test_no_changed_document_of_a_transaction_makes_its_reader_fall(step: str, data: st.DataObject) -> None:
    _examine_and_confirm(mutated(world.good(step, FOLDER), data, ODD | _HEX_TEXT | _CALLDATA | _WRAPPED))


def test_a_transaction_under_another_plan_s_steps_falls_nowhere() -> None:
    """An approval where an intent is planned, and an intent where an approval is."""
    for step in world.plan().steps:
        for mine in STEPS:
            document = world.good(mine, FOLDER)
            document["requests"][0]["step"] = step
            assert world.judge(document, world.situation())
            intent = world.good(step)
            intent["requests"][0]["step"] = mine
            assert world.judge(json.loads(world.to_bytes(intent)), world.situation(FOLDER))
