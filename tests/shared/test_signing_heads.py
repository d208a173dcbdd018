"""Both machines have one past: what the online machine has seen of the signing machine's transcript, judged there."""

from typing import Any

import pytest

from airlock_shared.checks.document import Heading, OwnRecord, head_is_known, own_record
from airlock_shared.checks.judge import Known, judge_header
from airlock_shared.documents.requests import Header, parse_requests
from airlock_shared.documents.transcript import machine_of
from refusals import check_of
from shared.make_payloads import NOW_MS
from shared.world import chain, good, plan, situation, to_bytes

DIGEST, HEAD = "0x" + "ab" * 32, "12" * 32
SIGNED_MS = NOW_MS - 3_600_000
DAY: list[tuple[str, dict[str, Any]]] = [
    ("deployment-pinned", {"name": "venue"}),
    ("sign-begun", {"requests": "aa" * 32}),
    ("signed", {"digest": DIGEST}),
    ("signatures-written", {"requests": "aa" * 32}),
    ("sign-begun", {"requests": "bb" * 32}),
]


ENTRIES = chain(*DAY, at_ms=SIGNED_MS)
MACHINE = machine_of(ENTRIES)


def header(heads: dict[str, str], *, created_ms: int = NOW_MS, own_head: str = HEAD) -> Header:
    document = good("open")
    document["header"] |= {"transcript_head": own_head, "created_ms": created_ms}
    document["header"] |= {"signing_heads": heads} if heads else {}
    return parse_requests(to_bytes(document))[0]


def passes(told: Header, own: OwnRecord | None) -> bool | None:
    result = head_is_known.run(Heading(told, situation(), own)).result
    return {"pass": True, "refused": False, "not-judged": None}[result]


@pytest.mark.parametrize("kept", range(1, len(DAY)))
def test_a_machine_that_was_set_back_is_noticed_by_the_head_that_it_no_longer_has(kept: int) -> None:
    later = header({MACHINE: ENTRIES[kept].hash})
    assert not passes(later, own_record(ENTRIES[:kept]))
    assert passes(later, own_record(ENTRIES[: kept + 1]))


def test_two_machines_made_from_one_image_are_told_apart_when_both_went_on() -> None:
    other = chain(*DAY[:2], ("refused", {"step": "open"}), at_ms=SIGNED_MS)
    assert machine_of(other) == MACHINE
    assert not passes(header({MACHINE: ENTRIES[-1].hash}), own_record(other))


@pytest.mark.parametrize("heads", [{}, {"56" * 32: "78" * 32}])
def test_once_signatures_were_handed_out_a_head_is_missed(heads: dict[str, str]) -> None:
    assert not passes(header(heads), own_record(ENTRIES))
    for before in range(1, 4):  # a pinned deployment, a begun signing, a signature that was not written yet
        assert passes(header(heads), own_record(ENTRIES[:before]))


def test_what_was_made_before_or_begun_here_or_by_a_program_without_a_record_needs_none() -> None:
    own = own_record(ENTRIES)
    assert passes(header({}, created_ms=SIGNED_MS), own)
    assert not passes(header({}, created_ms=SIGNED_MS + 1), own)
    assert passes(header({}, own_head="0" * 64), own)
    assert passes(header({}), own_record(ENTRIES, "bb" * 32))
    assert not passes(header({}), own_record(ENTRIES, "cc" * 32))
    again = ENTRIES[3]._replace(at_ms=NOW_MS)  # what is handed out later moves nothing
    assert not passes(header({}, created_ms=SIGNED_MS + 1), own_record([*ENTRIES, again]))


@pytest.mark.parametrize("replaced", [DIGEST, "0x" + "cd" * 32])
def test_a_plan_that_replaces_what_was_signed_here_knows_this_machine(replaced: str) -> None:
    agreed = plan()
    first = next(iter(agreed.steps))
    steps = {**agreed.steps, first: agreed.steps[first]._replace(replaced_digest=replaced)}
    judged = situation()._replace(plan=agreed._replace(steps=steps))
    found = head_is_known.run(Heading(header({}), judged, own_record(ENTRIES)))
    assert found.result == ("pass" if replaced == DIGEST else "refused")


def test_a_machine_that_signs_nothing_judges_it_not() -> None:
    assert passes(header({MACHINE: HEAD}), None) is None
    verdicts = judge_header(header({}), situation(), Known(own=own_record(ENTRIES)))
    assert "PIN-HEAD" in {verdict.check for verdict in verdicts.refused()}


@pytest.mark.parametrize(
    "heads",
    [
        {MACHINE: "x"}, {MACHINE.upper(): HEAD}, {MACHINE: 1}, {MACHINE[:-1]: HEAD}, [HEAD],
        {f"{n:064x}": HEAD for n in range(65)},
    ],
)  # fmt: skip
def test_heads_of_another_form_are_refused(heads: Any) -> None:
    document = good("open")
    document["header"]["signing_heads"] = heads
    assert check_of(parse_requests, to_bytes(document)) == "DOC-FIELD"
