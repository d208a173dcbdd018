"""A part of a plan: the steps that one signer signs, in a document of their own that says so."""

from __future__ import annotations

from typing import Any

import pytest

from airlock_shared.checks.document import Steps, part_of, steps_are_planned
from airlock_shared.documents.requests import parse_requests, write_requests
from airlock_shared.plan.model import part_lines
from shared.world import judge, plan, to_bytes, whole

SIGNERS = ("treasury", "desk")


def part(signer: str) -> dict[str, Any]:
    """Return the good document of the whole plan, with the steps of one signer alone."""
    document = whole()
    mine = part_of(plan(), signer)
    document["requests"] = [item for item in document["requests"] if item["step"] in mine]
    document["header"] |= {"signer": signer, "count": len(mine)}
    return document


@pytest.mark.parametrize("signer", SIGNERS)
def test_every_step_that_is_left_out_of_a_part_is_missed(signer: str) -> None:
    assert judge(part(signer), steps=tuple(plan().steps)) == set()
    for position in range(len(part(signer)["requests"])):
        document = part(signer)
        del document["requests"][position]
        document["header"]["count"] -= 1
        assert judge(document, steps=tuple(plan().steps)) == {"PLAN-STEPS"}


@pytest.mark.parametrize("signer", [*SIGNERS, ""])
def test_a_part_under_another_name_is_refused(signer: str) -> None:
    for other in {*SIGNERS, "stranger", ""} - {signer}:
        document = part(signer) if signer else whole()
        document["header"].pop("signer", None)
        if other:
            document["header"]["signer"] = other
        assert judge(document, steps=tuple(plan().steps)) == {"PLAN-STEPS"}
    found = steps_are_planned.run(Steps([], []))  # even when nothing is in it
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
