"""The Ledger's pages as screens: each beside the fields that it shows, without a button, and without a line lost."""

from __future__ import annotations

import re
from html import unescape

from airlock_shared.report.page.html import drawn, screens_of_fields, without_buttons
from airlock_shared.report.page.page import report_page
from airlock_shared.report.reexamined import judge
from airlock_shared.report.rows import Row
from airlock_shared.report.verify import report_of_artefacts
from shared.report.day import HIDDEN, HOSTILE, PLAYED, digests, offline_files, played

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


def test_a_touch_screen_stands_beside_all_fields_that_begin_on_it() -> None:
    step = step_of(played())
    assert step["device"]["model"] == "flex"
    told = [
        [row["field"] for row in rows]
        for _, rows in screens_of_fields(step["device"]["pages"], step["request"]["decided"])
    ]
    assert told == [
        [],
        ["_trader", "_pairIndex", "_index"],
        ["_openTimestamp", "_amount", "_wantedPrice", "_deadline"],
        ["_nonce"],
    ]


def test_the_buttons_are_left_out_and_every_other_line_stays() -> None:
    for files, pauses in ((DELEGATE, 11), (played(), 0)):
        pages = step_of(files)["device"]["pages"]
        shown = without_buttons(pages)
        assert len(pages) - len(shown) == pauses
        buttons = re.compile(r"Skip|Reject|Hold to sign|Back to safety|Accept risk and continue|\d of \d")
        left_out = [line for page in pages if page != PAUSE for line in page if buttons.fullmatch(line)]
        assert sum(map(len, pages)) - 3 * pauses - len(left_out) == sum(map(len, shown))
        assert not any(buttons.fullmatch(line) for page in shown for line in page)
    assert ["Review typed message", "Blind signing required."] in without_buttons(played_pages())


def played_pages() -> list[list[str]]:
    pages: list[list[str]] = step_of(played())["device"]["pages"]
    return pages


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


def test_what_a_screen_says_is_text() -> None:
    html = drawn([[HOSTILE, HIDDEN]])
    assert "<script" not in html
    assert HIDDEN not in html
    shown = unescape(re.sub(r"</?div[^>]*>", "", html)).split("<br>")
    assert shown == [HOSTILE, "a\\u{202e}b\\u{200b}c\\u{1b}[31m"]
    whole = report_page(report_of_artefacts(offline_files(), judge).value).decode()
    assert whole.count('<div class="screen">&lt;script&gt;') == len(digests())


def test_without_pages_it_says_where_they_are() -> None:
    files = {name: data for name, data in DELEGATE.items() if name != "screens.json"}
    html = report_of_artefacts(files, judge).html.decode()
    assert "the Ledger&#x27;s pages are in the report of the offline machine" in html
    assert 'class="screen"' not in html
    value = report_of_artefacts(DELEGATE, judge).value
    value["steps"][0]["device"] = None
    assert "nothing of a Ledger is on record" in report_page(value).decode()
    value["steps"][0]["device"] = {"shown": "by another wallet", "app": "", "model": "", "pages": []}
    html = report_page(value).decode()
    assert ("signed by another wallet<" in html, "report of the offline machine</caption>" in html) == (True, False)
