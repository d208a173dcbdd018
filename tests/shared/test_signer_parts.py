"""A part of a plan: the steps that one signer signs, in a document of their own that says so."""

from typing import Any

import pytest

from airlock_shared.checks.document import Steps, part_of, steps_are_planned
from airlock_shared.documents.requests import parse_requests, write_requests
from airlock_shared.plan.model import part_lines
from shared.world import judge, plan, to_bytes, whole


def part(signer: str) -> dict[str, Any]:
    """Return the good document of the whole plan, with the steps of one signer alone."""
    document = whole()
    mine = part_of(plan(), signer)
    document["requests"] = [item for item in document["requests"] if item["step"] in mine]
    document["header"] |= {"signer": signer, "count": len(mine)}
    return document


@pytest.mark.parametrize("signer", ["treasury", "desk"])
def test_the_part_of_one_signer_has_its_steps_alone_and_passes(signer: str) -> None:
    assert {plan().steps[item["step"]].signer.name for item in part(signer)["requests"]} == {signer}
    assert judge(part(signer), steps=tuple(plan().steps)) == set()


def test_a_part_without_steps_is_refused_even_when_nothing_is_in_it() -> None:
    found = steps_are_planned.run(Steps([], []))
    assert (found.result, found.where) == ("refused", "the plan has no step for this part")


def test_the_signer_of_a_part_is_in_the_fingerprint() -> None:
    header, items, fingerprint = parse_requests(to_bytes(part("desk")))
    assert parse_requests(write_requests(header, items))[2] == fingerprint
    assert parse_requests(write_requests(header._replace(signer=""), items))[2] != fingerprint


def test_a_screen_names_every_step_that_is_not_in_the_document() -> None:
    lines = list(part_lines(plan(), "desk"))
    inside, outside = lines.index("  in this document:"), lines.index("  NOT in this document:")
    assert lines[0] == f"PART OF THE PLAN: 1 of {len(plan().steps)} steps, those that desk signs"
    assert lines[inside + 1 : outside] == ["    step 6: increase (increase), signed by desk"]
    assert len(lines) - outside - 1 == len(plan().steps) - 1
    assert all(line.endswith("signed by treasury") for line in lines[outside + 1 :])
    assert list(part_lines(plan(), "")) == []
