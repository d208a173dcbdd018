"""A draft of whatever a builder sends: a plan that reads back, or one of our own refusals; never a stack trace."""

from __future__ import annotations

import json
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from airlock_offline.cli.plan import draft_plan
from airlock_shared.documents.requests import parse_requests
from airlock_shared.errors import AirlockError
from airlock_shared.plan.reader import parse_plan
from draws import draws, repeatable
from shared.strategies import changed_inside
from shared.world import STEPS, deployment, good


def test_no_request_that_lies_inside_its_form_makes_the_draft_of_a_plan_fall() -> None:
    seen: Counter[str] = Counter()

    @repeatable
    @given(st.sampled_from(STEPS), st.data())
    def drafted(step: str, data: st.DataObject) -> None:
        document = good(step)
        changed_inside(document, data)
        seen["tried"] += 1
        try:
            header, items, _ = parse_requests(json.dumps(document).encode())
        except AirlockError:
            return
        seen["read"] += 1
        try:
            text = draft_plan(header, items, deployment())
        except AirlockError:
            return
        seen["drafted"] += 1
        try:
            parse_plan(text.encode())
        except AirlockError:
            return
        seen["plans"] += 1

    drafted()
    assert seen["tried"] >= draws(90, 450)
    assert seen["read"] >= 0.97 * seen["tried"], seen
    assert seen["drafted"] >= 0.3 * seen["tried"], seen
    assert seen["plans"] >= 0.7 * seen["drafted"], seen  # others hold values that mean nothing, such as a zero
