"""The Ledger's pages as screens: each beside the fields that it shows, without a button, and without a line lost."""

from __future__ import annotations

from airlock_shared.report.page.html import screens_of_fields, without_buttons
from airlock_shared.report.reexamined import judge
from airlock_shared.report.rows import Row
from airlock_shared.report.verify import report_of_artefacts
from shared.report.day import PLAYED

PAUSE = ["Press right button to ", "continue message or ", "press both to skip"]
DELEGATE = {path.name: path.read_bytes() for path in (PLAYED.parent / "delegate-key").iterdir()}


def step_of(files: dict[str, bytes]) -> Row:
    step: Row = report_of_artefacts(files, judge).value["steps"][0]
    return step


def fields(*names: str) -> list[Row]:
    return [{"field": name} for name in names]


def beside(pages: list[list[str]], *names: str) -> list[tuple[list[list[str]], list[str]]]:
    return [(screens, [row["field"] for row in rows]) for screens, rows in screens_of_fields(pages, fields(*names))]


def test_every_screen_of_a_nano_stands_beside_its_field() -> None:
    step = step_of(DELEGATE)
    assert step["device"]["model"] == "nanosp"
    first, *rest = screens_of_fields(step["device"]["pages"], step["request"]["decided"])
    assert (len(first[0]), first[1]) == (8, [])  # warning, review, two structs, four members of the domain
    told = [([screen[0] for screen in screens], [row["field"] for row in rows]) for screens, rows in rest]
    assert told == [
        (["trader"], ["trader"]),
        (["delegate"], ["delegate"]),
        (["expiry"], ["expiry"]),
        (["deadline"], ["deadline"]),
        ([f"tnc ({number}/6)" for number in range(1, 7)], ["tnc"]),
        (["nonce (1/2)", "nonce (2/2)", "Sign message"], ["nonce"]),
    ]


def test_a_value_cannot_take_the_place_of_a_button() -> None:
    value = ["tnc (1/1)", "Reject", "2 of 7"]
    assert without_buttons([value, ["tnc", *PAUSE], ["Sign message"]]) == [value, ["tnc", *PAUSE], ["Sign message"]]
    touch = [
        ["Review typed message", "Swipe to review", "Reject", "1 of 3"],
        ["tnc", "Skip", "Swipe to review", "Reject", "2 of 3", "Hold to sign", "Reject", "2 of 3"],
        ["Sign typed message?", "Reject", "3 of 3", "Hold to sign"],
    ]
    assert without_buttons(touch) == [
        ["Review typed message"],
        ["tnc", "Skip", "Swipe to review", "Reject", "2 of 3", "Hold to sign"],
        ["Sign typed message?"],
    ]


def test_no_field_is_lost_whatever_the_pages_say() -> None:
    assert beside([], "a", "b") == [([], []), ([], ["a"]), ([], ["b"])]
    assert beside([["x"]], "a", "b") == [([["x"]], []), ([], ["a"]), ([], ["b"])]
    assert beside([["x"], ["b"], ["a"]], "a", "b") == [([["x"]], []), ([["b"], ["a"]], ["a", "b"])]
    assert beside([["pairIndex"]], "_t.trader", "_t.pairIndex", "_t.open") == [
        ([], []),
        ([["pairIndex"]], ["_t.trader", "_t.pairIndex"]),
        ([], ["_t.open"]),
    ]
