"""The review cannot be flooded or imitated, untrusted text stays in its row, and nothing false is said of a refused item."""

import sys
from collections import Counter
from pathlib import Path
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
from airlock_offline.signing.rows import goes_to, noted, replacement_rows, route_of, row, value_rows
from airlock_shared.checks.judge import Known
from airlock_shared.checks.nonces import UsedNonces, use_of
from airlock_shared.cli.terminal import explain_error, rows
from airlock_shared.errors import Refusal
from airlock_shared.plan.decisions import Decision
from airlock_shared.text.safe import WIDTH, columns, is_visible, labelled_rows, safe
from airlock_shared.units import ADDRESS
from airlock_shared.venue.structs import LEAF_KINDS, field
from e2e.terminal import Terminal
from offline.signing_world import FOLDERS, document
from shared.make_payloads import NOW_MS
from shared.world import deployment, examined, good, good_challenges, good_with, plan, request_of, situation

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


def _approval(**members: Any) -> list[str]:
    return _review(_saying("approve", "transactions", **members), "transactions")


FLOODS: dict[str, Any] = {
    "20,000 members": {str(n): 1 for n in range(20_000)},
    "thousands of our own lines": {f"{name} {n}": name for n in range(600) for name in OURS[:5]},
    "one long text": {"note": "y" * 60_000},
    "letters of four bytes": {str(n): "\U00020000" * 30 for n in range(100)},
    "escapes": {str(n): "\U0010ffff" * 400 for n in range(100)},
    "a long word and breaks": {"note": "z " * 500 + "\n".join(OURS)},
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
        assert text in "".join(line.strip("· ") for line in _review(good_with("desk-key", tnc=text)))


def test_a_strangers_contract_is_not_called_pinned_and_its_amounts_have_no_unit() -> None:
    honest, lines = _approval(), _approval(to=STRANGER)
    assert any("pinned as usdc" in line for line in honest)
    text = " ".join(" ".join(line[1:] for line in lines).split())
    assert "pinned as" not in text
    assert f"contract {STRANGER}, NOT the pinned usdc" in text
    assert "DECIDED BY THE PLAN" not in text
    assert not [line for line in lines if line.endswith("USDC")]
    assert "RECEIVED, not compared with anything" in lines
    assert any("0 (no native currency is sent)" in line for line in honest)
    lines = _approval(value="0x1")
    assert not any("no native currency" in line for line in lines)
    assert "✗ value               0x1, NOT what the plan allows" in lines
    made = good("approve-unlimited", "transactions")
    made["requests"][0]["step"] = "approve"
    text = "\n".join(_review(made, "transactions"))
    assert "The plan asks for it" not in text
    assert "NOT WHAT THE PLAN SAYS" in text


def test_the_first_lines_of_a_refused_item_say_in_words_what_is_wrong() -> None:
    lines = _review(good_with("close", _amount="900000000"))
    assert lines[2].startswith("REFUSED: it is not signed.")
    assert lines[4] == "✗ amount: the payload says 900 USDC, the plan 250.000001"
    lines = _review(good_with("close", _wantedPrice="900000000000000", _deadline="1790000900001"))
    assert lines[4] == "✗ wantedPrice: the payload says 90000 USD, the plan at least 60000, at most"
    assert lines[6].startswith("  came ")
    lines = _approval(to=STRANGER)  # a refusal that is about no value
    assert (lines[4], lines[5].split()[0]) == ("✗ not the pinned contract of this function", "came")


def test_no_more_than_five_reasons_stand_at_the_beginning_and_none_is_flooded() -> None:
    wrong = {"_amount": "1", "_pairIndex": "7", "_index": "9", "_wantedPrice": "9" * 30, "_trader": STRANGER}
    lines = _review(good_with("close", **wrong, _openTimestamp="1789000001"))
    reasons = lines[4 : [line.startswith("  came ") for line in lines].index(True)]
    assert sum(" the payload says " in line for line in reasons) == 5
    assert len(reasons) <= 10
    assert len(_review(good_with("desk-key", tnc="\n".join(OURS) * 100, addUntilTimestamp="1"))) < 120


def test_a_value_is_equal_to_a_value_and_within_bounds() -> None:
    lines = [line.strip("✓· ") for line in _review(good("open"))]
    assert "plan at least 60000, at most 64000: within" in lines
    for line in lines:
        if line.startswith("plan ") and line.endswith((": equal", ": within")):
            assert line.endswith(": within") == line.startswith(("plan at least ", "plan at most ")), line


@pytest.mark.parametrize(("step", "member"), [("open", "_deadline"), ("desk-key", "deadline")])
def test_a_time_out_of_its_limit_is_not_said_to_keep_it(step: str, member: str) -> None:
    lines = _review(good_with(step, **{member: "1"}))
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
    lines = _sections(good_with("close", _amount="900000000"))["RECEIVED, beside what the plan decides"]
    assert {line[2:10].strip() or "below" for line in lines if line.startswith("✗")} == {"_amount", "below"}
    assert [line[22:] for line in lines if line.startswith("✗")] == [
        "900 USDC", "raw 900000000", "plan collateralToCloseUsdc 250.000001: NOT WHAT THE PLAN", "SAYS",
    ]  # fmt: skip
    assert _marks([line for line in lines if not line.startswith("✗")]) == {"✓"}


@pytest.mark.parametrize(
    ("changed", "wrong"), [({"to": STRANGER}, "contract"), ({"value": "0x1"}, "value"), ({"chainId": 1}, "calls")]
)
def test_a_refused_transaction_marks_as_kept_what_was_compared(changed: dict[str, Any], wrong: str) -> None:
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


# ---- rows: what is not ours is escaped, never begins one, and a terminal that would break them is refused ------------


HOSTILE_TEXTS = [
    "\n✓ trader            0x1111111111111111111111111111111111111111",
    "x\r✓ all fingerprints are equal.",
    "x\x1b[2J\x1b[Hdecided by the plan",
    "x" * 70 + " ✓ signer",
    "\u202egnihton \u2066x\u2069",
    "a\u200bb\u0000c\u0301",
    "漢字" * 50,
    "b'\\x00'",
    "\u2028 next",
]
VALUES = [*HOSTILE_TEXTS, b"\x11" * 20, b"\x22" * 32, b"\nall is well", b"", True, 2**256 - 1, -(2**255)]


def require_rows(lines: list[str]) -> None:
    for line in lines:
        assert all(map(is_visible, line.replace(" ", ""))), line
        assert columns(line) <= WIDTH, line


@pytest.mark.parametrize("kind", LEAF_KINDS)
@pytest.mark.parametrize("raw", VALUES, ids=repr)
def test_a_leaf_of_any_kind_stays_in_its_column(kind: str, raw: object) -> None:
    if LEAF_KINDS[kind].unit is ADDRESS and type(raw) is bytes and len(raw) != 20:
        return  # no message holds one
    decision = Decision(field("_t.leaf", kind), raw, "plan", "as planned", ok=True)
    lines = list(value_rows(decision, 1_790_000_000_000, None))
    require_rows(lines)
    assert lines[0].startswith("  leaf ")
    for line in lines[1:]:
        assert line.startswith(" " * 22) or line == "", line
    assert not any("b'" in line for line in lines) or raw == "b'\\x00'"


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_a_text_that_nobody_made_safe_does_not_begin_a_row(text: str) -> None:
    laid_out = [row("label", text), row(text, "value"), labelled_rows("  1  ", text), rows("  got: ", text)]
    for lines in (list(noted("NOTE", text))[1:], *map(list, laid_out)):
        require_rows(lines)
        for line in lines[1:]:
            assert line.startswith("  ") or line == "", lines
    require_rows(explain_error(Refusal("X", "what", got=text, expected=text, do="do")).split("\n"))


@pytest.mark.parametrize(("width", "words"), [(79, ("plan", "show")), (40, ("verify", "x.json", "--plan"))])
def test_a_terminal_that_would_break_our_rows_is_refused(width: int, words: tuple[str, ...], tmp_path: Path) -> None:
    plan, home = tmp_path / "plan.toml", tmp_path / "home"
    plan.write_text("# nothing\n")
    program = (sys.executable, "-c", "from airlock_offline.start import main; main()", "--home", home, *words, plan)
    terminal = Terminal("sh", "-c", f'stty cols {width} && exec "$@"', "sh", *program)
    assert terminal.end() == 2
    assert f"it has {width} columns" in terminal.shown.replace("\r\n", " ")
    assert "80" in terminal.shown
    assert not home.exists()


def test_the_trigger_that_is_replaced_stands_where_the_signature_goes() -> None:
    for entity in ("trigger-17", "x\x1b[2J", "~" * 200):
        said = route_of(request_of(good("take-profit"))._replace(replaces=entity))
        assert said == f"core-api, in place of the stored trigger {safe(entity)}"
    assert "in place" not in route_of(request_of(good("take-profit")))


@pytest.mark.parametrize(("pnl", "mark"), [(False, "✓"), (None, "·")])
def test_an_order_type_that_the_plan_leaves_open_is_the_online_machine_s(pnl: bool | None, mark: str) -> None:
    pairs = {number: pair._replace(pnl=pnl) for number, pair in deployment().pairs.items()}
    case = examined(request_of(good("close")), situation()._replace(deployment=deployment()._replace(pairs=pairs))).case
    assert case is not None
    assert {line[0] for line in goes_to(case)} == {mark}


@pytest.mark.parametrize(
    ("deadlines", "said"),
    [
        ([NOW_MS + 1], "Either of the two may execute"),
        ([NOW_MS - 10**7], "The old one can no longer execute"),
        ([NOW_MS - 10**7, None], "Either of the two may execute"),
        ([NOW_MS + 1, None], "Any one of these 3 may execute"),
    ],
)
def test_what_may_execute_beside_a_replacement_is_counted(deadlines: list[int | None], said: str) -> None:
    case = examined(request_of(good("open"))).case
    assert case is not None
    case = case._replace(step=case.step._replace(replaced_digest="0x" + "ee" * 32))
    old = [use_of(case)._replace(digest=f"0x{at:064x}", deadline_ms=ms) for at, ms in enumerate(deadlines)]
    assert list(replacement_rows(case, UsedNonces(old)))[-1].startswith(said)
    assert list(replacement_rows(case, UsedNonces())) == []  # nothing has its nonce: nothing is replaced by it
