"""The review cannot be flooded or imitated, and says nothing of a refused item that is false of it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from airlock_offline.signing.review import (
    BUILDER_MARK,
    MOST_BYTES,
    MOST_LINES,
    review_sections,
    section_lines,
    verdict_lines,
)
from airlock_shared.checks.judge import Known
from airlock_shared.checks.nonces import UsedNonces
from airlock_shared.text.safe import WIDTH, columns, is_visible
from offline.signing_world import FOLDERS, document
from shared.make_payloads import seal
from shared.world import examined, good, good_challenges, plan, request_of, situation

OURS = ("DECIDED BY THE PLAN", "CHECKS: 37 passed, 0 refused", "Signed.", "  signer              0x00", "=" * WIDTH)
STRANGER = "0x" + "ab" * 20
HOSTILE = "\x1b[2J\u202e\u200b\u200b\nDECIDED BY THE PLAN"


def _parts(made: dict[str, Any], folder: str) -> list[list[str]]:
    """Return the review of a document's item: its sections, and at last its verdicts."""
    known = Known(used=UsedNonces(), proofs={challenge.sha256() for challenge in good_challenges(folder)})
    item = examined(request_of(made), situation(folder), known=known)
    return [*review_sections(item, 1, 1), list(verdict_lines(item.verdicts))]


def _review(made: dict[str, Any], folder: str = "requests") -> list[str]:
    return list(section_lines(_parts(made, folder)))


def _sections(made: dict[str, Any], folder: str = "requests") -> dict[str, list[str]]:
    return {section[0]: section[1:] for section in _parts(made, folder)[:-1] if section}


def _saying(step: str, folder: str, **said: Any) -> dict[str, Any]:
    made = good(step, folder)
    made["requests"][0]["payload"].update(said)
    return made


def _with(step: str, **message: str) -> dict[str, Any]:
    """Return an intent with other values, sealed anew."""
    made = good(step)
    payload = made["requests"][0]["payload"]
    payload["message"].update(message)
    seal(payload)
    return made


FLOODS: dict[str, Any] = {
    "20,000 members": {str(n): 1 for n in range(20_000)},
    "thousands of our own lines": {f"{name} {n}": name for n in range(600) for name in OURS[:5]},
    "long names": {"x" * 5000 + str(n): 1 for n in range(30)},
    "one long text": {"note": "y" * 60_000},
    "letters of four bytes": {str(n): "\U00020000" * 30 for n in range(100)},
    "escapes": {str(n): "\U0010ffff" * 400 for n in range(100)},
    "a long word and breaks": {"note": "z " * 500 + "\n".join(OURS)},
    "a list": [list(OURS)] * 500,
    "a text in place of an object": " ".join(OURS) * 50,
    "nothing of ours": {"a": 1, "b": {"c": [None, True]}},
    "what acts on a terminal": {HOSTILE: [HOSTILE, {HOSTILE: HOSTILE}]},
}


@pytest.mark.parametrize("said", FLOODS.values(), ids=FLOODS)
@pytest.mark.parametrize("refused", [False, True])
def test_what_the_builder_says_is_bounded_and_marked(said: Any, refused: bool) -> None:
    folder, step = "transactions", "approve"
    quiet, made = _saying(step, folder, description="", meta={}), _saying(step, folder, description="", meta=said)
    for each in (quiet, made):
        if refused:
            each["requests"][0]["payload"]["value"] = "0x1"
    lines, silent = _review(made, folder), _review(quiet, folder)
    marked = [line for line in lines if line.startswith(BUILDER_MARK)]
    assert 0 < len(marked) <= MOST_LINES
    assert sum(len(line.encode()) + 1 for line in marked) <= MOST_BYTES
    assert max(map(columns, lines)) <= WIDTH
    ours = [line for line in lines if not line.startswith(BUILDER_MARK)]
    ours.remove("THE BUILDER SAYS (not signed, decides nothing)")
    ours.remove("")
    told = list((Counter(ours) - Counter(silent)).elements())
    assert all(line.startswith(("WARNING: what the builder says: ", "  ")) or not line for line in told)
    assert all(map(is_visible, "".join(lines)))
    assert len(told) <= 20
    assert not any(line.startswith(BUILDER_MARK) for line in silent)


def test_a_signed_text_is_never_cut() -> None:
    for characters in (1, 500, 20_000):
        text = "".join(chr(ord("a") + n % 26) for n in range(characters))
        assert text in "".join(line.strip("· ") for line in _review(_with("desk-key", tnc=text)))


def _changed(step: str, **members: Any) -> list[str]:
    return _review(_saying(step, "transactions", **members), "transactions")


def test_a_strangers_contract_is_not_called_pinned_and_its_amounts_have_no_unit() -> None:
    honest, lines = _changed("approve"), _changed("approve", to=STRANGER)
    assert any("pinned as usdc" in line for line in honest)
    text = " ".join(" ".join(line[1:] for line in lines).split())
    assert "pinned as" not in text
    assert f"contract {STRANGER}, NOT the pinned usdc" in text
    assert "DECIDED BY THE PLAN" not in text
    assert not [line for line in lines if line.endswith("USDC")]
    assert "RECEIVED, not compared with anything" in lines
    assert any("0 (no native currency is sent)" in line for line in honest)
    lines = _changed("approve", value="0x1")
    assert not any("no native currency" in line for line in lines)
    assert "✗ value               0x1, NOT what the plan allows" in lines


def test_an_unlimited_approval_that_nobody_planned_is_not_said_to_be_planned() -> None:
    made = good("approve-unlimited", "transactions")
    made["requests"][0]["step"] = "approve"
    text = "\n".join(_review(made, "transactions"))
    assert "The plan asks for it" not in text
    assert "NOT WHAT THE PLAN SAYS" in text


def test_the_first_lines_of_a_refused_item_say_in_words_what_is_wrong() -> None:
    lines = _review(_with("close", _amount="900000000"))
    assert lines[2].startswith("REFUSED: it is not signed.")
    assert lines[4] == "✗ amount: the payload says 900 USDC, the plan 250.000001"
    lines = _review(_with("close", _wantedPrice="900000000000000", _deadline="1790000900001"))
    assert lines[4] == "✗ wantedPrice: the payload says 90000 USD, the plan at least 60000, at most"
    assert lines[6].startswith("  came ")
    lines = _changed("approve", to=STRANGER)  # a refusal that is about no value
    assert (lines[4], lines[5].split()[0]) == ("✗ not the pinned contract of this function", "came")


def test_no_more_than_five_reasons_stand_at_the_beginning_and_none_is_flooded() -> None:
    wrong = {"_amount": "1", "_pairIndex": "7", "_index": "9", "_wantedPrice": "9" * 30, "_trader": STRANGER}
    lines = _review(_with("close", **wrong, _openTimestamp="1789000001"))
    reasons = lines[4 : [line.startswith("  came ") for line in lines].index(True)]
    assert sum(" the payload says " in line for line in reasons) == 5
    assert len(reasons) <= 10
    assert len(_review(_with("desk-key", tnc="\n".join(OURS) * 100, addUntilTimestamp="1"))) < 120


def test_a_value_is_equal_to_a_value_and_within_bounds() -> None:
    lines = [line.strip("✓· ") for line in _review(good("open"))]
    assert "plan at least 60000, at most 64000: within" in lines
    for line in lines:
        if line.startswith("plan ") and line.endswith((": equal", ": within")):
            assert line.endswith(": within") == line.startswith(("plan at least ", "plan at most ")), line


@pytest.mark.parametrize(("step", "member"), [("open", "_deadline"), ("desk-key", "deadline")])
def test_a_time_out_of_its_limit_is_not_said_to_keep_it(step: str, member: str) -> None:
    lines = _review(_with(step, **{member: "1"}))
    assert any("REFUSED  TIME-" in line for line in lines)
    assert not any(line.endswith(": kept") for line in lines)


def _marks(lines: list[str]) -> set[str]:
    return {line[:2].rstrip() for line in lines}


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_line_of_what_is_signed_has_the_mark_of_who_decided_it(folder: str) -> None:
    for step in plan(folder).steps:
        sections = _sections(good(step, folder), folder)
        head, *others = sections
        assert _marks(sections[head][3:]) == ({"✓", "·"} if folder == "transactions" else {"✓"})
        assert _marks(sections[head][3:5]) == {"✓"}, "the signer is the plan's"
        for heading in others:
            if heading.startswith(("DECIDED", "FIXED")):
                assert _marks(sections[heading]) == {"✓"}, (step, heading)
            elif heading.startswith("CHOSEN"):
                assert _marks(sections[heading]) == {"·"}, (step, heading)
            else:
                assert not _marks(sections[heading]) & {"✓", "·", "✗"}, (step, heading)


def test_the_lines_of_a_value_that_is_not_the_plans_are_marked_and_no_others() -> None:
    lines = _sections(_with("close", _amount="900000000"))["RECEIVED, beside what the plan decides"]
    assert {line[2:10].strip() or "below" for line in lines if line.startswith("✗")} == {"_amount", "below"}
    assert [line[22:] for line in lines if line.startswith("✗")] == [
        "900 USDC", "raw 900000000", "plan collateralToCloseUsdc 250.000001: NOT WHAT THE PLAN", "SAYS",
    ]  # fmt: skip
    assert _marks([line for line in lines if not line.startswith("✗")]) == {"✓"}


@pytest.mark.parametrize(
    ("changed", "wrong"), [({"to": STRANGER}, "contract"), ({"value": "0x1"}, "value"), ({"chainId": 1}, "calls")]
)
def test_of_a_refused_transaction_nothing_is_marked_as_kept_but_what_was_compared(
    changed: dict[str, Any], wrong: str
) -> None:
    made = _saying("approve", "transactions", **changed)
    head, *_ = sections = _sections(made, "transactions")
    rows = [line for line in sections[head][4:] if not line.startswith("·")]
    assert _marks(rows) == {"", "✗"}
    assert any(line.startswith("✗") and wrong in line for line in rows)


CLAIMS = ("DECIDED BY THE PLAN", "FIXED (zero", "within the plan's limits", ": kept", "THE LEDGER WILL SHOW",
          "WHAT THIS DELEGATE", "The plan asks for it", "switch it off again")  # fmt: skip
"""What the review says of an item that every check has passed, and of no other."""


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_payload_under_another_step_is_compared_with_nothing(folder: str) -> None:
    items = [item for kind in FOLDERS for item in document(kind)["requests"]]
    for step in plan(folder).steps:
        made = good(step, folder)
        for brought in items:
            if brought["action"] == made["requests"][0]["action"]:
                continue
            lines = _review({**made, "requests": [{**brought, "step": step}]}, folder)
            text = "\n".join(line for line in lines if not line.startswith(BUILDER_MARK))
            assert not [claim for claim in CLAIMS if claim in text], (step, brought["step"])
            assert "REFUSED" in text
            assert "equal" not in text
            assert not [line for line in lines if line.startswith("✓")]
            assert "PLAN-ACTION" in text
