"""`plan draft`: under the drafted plan the very payloads pass; a draft of lies reads back, or is refused."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from airlock_offline.cli.main import program
from airlock_offline.cli.plan import draft_plan
from airlock_offline.home import OfflineHome
from airlock_shared.documents.requests import parse_requests
from airlock_shared.errors import AirlockError
from airlock_shared.plan.model import Bounds
from airlock_shared.plan.reader import parse_plan
from airlock_shared.venue.calls import CALLS, decode_call
from draws import draws, repeatable
from refusals import check_of
from shared import world
from shared.make_payloads import DESK, NOW_MS, OTHER, plan_fingerprint
from shared.make_transactions import call
from shared.strategies import changed_inside

TRANSACTIONS = tuple(world.plan("transactions").steps)
CASES = [*(("requests", step) for step in world.STEPS), *(("transactions", step) for step in TRANSACTIONS)]


def drafted(document: dict[str, Any]) -> str:
    header, items, _ = parse_requests(world.to_bytes(document))
    return draft_plan(header, items, world.deployment())


def judged(document: dict[str, Any], text: str) -> set[str]:
    """Return what `verify` refuses of a document whose header names the plan with this text."""
    planned = parse_plan(text.encode())
    document = world.patched(document, [{"at": "header.plan", "set": plan_fingerprint(text)}])
    return world.judge(document, world.situation()._replace(plan=planned), steps=tuple(planned.steps))


def test_a_price_of_zero_that_a_plan_must_give_stands_in_the_draft() -> None:
    """Of a trigger the same leaf may be left out; of a limit order no plan without it is one."""
    document = world.good("limit-update", "transactions")
    item = document["requests"][0]
    arguments = decode_call(bytes.fromhex(item["payload"]["data"][2:]), CALLS).message
    item["payload"]["data"] = call("updateOpenLimitOrder", arguments | {"price": 0})
    del item["fields"]["price"]
    assert '\nprice = "0"\n' in drafted(document)


BY_THE_BUILDER = ("deadline", "nonce", "timestamp", "signTimestamp", "openTimestamp", "tnc")
"""Leaves that the builder chooses within the plan's limits."""


@pytest.mark.parametrize(("folder", "step"), CASES, ids=[step for _, step in CASES])
def test_a_draft_decides_every_value_but_what_the_builder_chooses_within_limits(folder: str, step: str) -> None:
    document = world.good(step, folder)
    text = drafted(document)
    planned = parse_plan(text.encode())
    case = world.case_of(document, world.situation()._replace(plan=planned))
    chosen = BY_THE_BUILDER if "slippagePercent" in text else (*BY_THE_BUILDER, "slippage", "slippageP")
    for decision in case.decisions:
        assert decision.ok
        wanted = case.step.values.get(decision.field.rule.parameter)
        assert not isinstance(wanted, Bounds) or wanted.low == wanted.high == decision.raw
        if decision.decided_by == "builder":
            assert decision.field.path.rpartition(".")[2].strip("_") in chosen


def test_a_draft_of_everything_is_one_plan_under_which_everything_passes() -> None:
    for folder in ("requests", "transactions"):
        document = world.whole(folder)
        text = drafted(document)
        assert judged(document, text) == set()
        assert list(parse_plan(text.encode()).steps) == list(world.plan(folder).steps)
    part = world.patched(
        world.good("close"), [{"at": "header.signer", "set": "treasury"}]
    )  # for one signer, under its name
    assert list(parse_plan(drafted(part).encode()).signers) == ["treasury"]
    assert judged(part, drafted(part)) == set()


def test_a_draft_repeats_a_lie_so_that_a_person_sees_it() -> None:
    lie = [{"at": "requests.0.payload.message.delegate", "set": OTHER}]
    text = drafted(world.patched(world.good("desk-key"), lie))
    assert (DESK in text, OTHER in text) == (False, True)
    sent = world.good("delegate-set", "transactions")
    data = sent["requests"][0]["payload"]["data"]
    at = data.index(DESK[2:].lower())
    swapped = data[:at] + OTHER[2:].lower() + data[at + 40 :]
    text = drafted(world.patched(sent, [{"at": "requests.0.payload.data", "set": swapped}]))
    assert (DESK in text, OTHER in text) == (False, True)


@pytest.mark.parametrize(
    ("change", "check"),
    [
        ({"set": "0x12345678"}, "TX-SELECTOR"), ({"set": "0x"}, "TX-SELECTOR"), ({"set": "0xzz"}, "TX-HEX"),
        ({"splice": [4, 5, ""]}, "ENC-CANONICAL"),
    ],
)  # fmt: skip
def test_calldata_that_is_not_known_has_no_draft(change: dict[str, Any], check: str) -> None:
    document = world.patched(world.good("approve", "transactions"), [{"at": "requests.0.payload.data", **change}])
    assert check_of(drafted, document) == check


def test_the_command_writes_a_plan_that_can_be_shown(tmp_path: Path) -> None:
    home, out = OfflineHome(tmp_path / "home"), tmp_path / "plan.toml"
    home.pin(world.deployment(), world.DEPLOYMENT_TEXT.encode(), NOW_MS)
    document = str(world.VECTORS / "transactions/good/approve-unlimited.json")
    words = ["--home", str(home.home), "plan", "draft", document, "-o", str(out), "--json"]
    ended = CliRunner().invoke(program, words)
    assert ended.exit_code == 0, ended.output
    assert json.loads(ended.stdout)["plan"] == parse_plan(out.read_bytes()).fingerprint
    assert CliRunner().invoke(program, words).exception is not None


# ---- A draft of whatever a builder sends: a plan that reads back, or one of our own refusals; never a stack trace ---


def test_no_request_that_lies_inside_its_form_makes_the_draft_of_a_plan_fall() -> None:
    seen: Counter[str] = Counter()

    @repeatable
    @given(st.sampled_from(world.STEPS), st.data())
    def drafted(step: str, data: st.DataObject) -> None:
        document = world.good(step)
        changed_inside(document, data)
        seen["tried"] += 1
        try:
            header, items, _ = parse_requests(json.dumps(document).encode())
            parse_plan(draft_plan(header, items, world.deployment()).encode())
        except AirlockError:
            return
        seen["plans"] += 1

    drafted()
    assert seen["tried"] >= draws(90, 450)
    assert seen["plans"] >= 0.2 * seen["tried"], seen  # others hold values that mean nothing, such as a zero
