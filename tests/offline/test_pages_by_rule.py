"""Pages of models and values that no figure was fitted to: the app's own published screenshots, and the device's own rules.

The pages of ``test_blind_sign`` were read by eye from the screenshots that app 1.22.0 publishes of itself for each model
(LedgerHQ/app-ethereum, tag ``*_1.22.0_sdk_v25.12.3``, ``tests/ragger/snapshots``).
"""

from typing import Any

import pytest

from airlock_offline.ledger.message_screens import MESSAGE_REVIEW, message_fields
from airlock_offline.ledger.models import (
    INTER_MEDIUM_36,
    MODELS,
    OPEN_SANS_EXTRABOLD_11,
    OPEN_SANS_REGULAR_11,
    Buttons,
    counted_lines,
    cut_lines,
    screen_of,
    shown_models,
    text_lines,
    text_pages,
    title_line,
    width_px,
)
from airlock_offline.ledger.screens import (
    TYPED_DATA,
    ScreenField,
    ShownTransaction,
    button_field_pages,
    not_shown_in_full,
    review_pages,
    transaction_pages,
)
from airlock_offline.signing.review import screen_lines
from airlock_shared.ethereum.typed_document import read_typed_data
from offline.recordings import RECORDINGS, Recording, recorded

HASH = bytes.fromhex("6814a1ccab5871d8d799d59215fdcf5cb9422e309f6461273fbca50604aa4640")
SHOWN = ShownTransaction(
    "0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D",
    1,
    bytes.fromhex("6b175474e89094c44da98b954eedeac495271d0f"),
    0,
    4_400_100_000_000_000,
    bytes.fromhex("70a08231"),
    HASH,
)
WIDE = [
    ["From", "0xDad77910DbDFdE76", "4fC21FCD4E74D71bBA", "CA6D8D"],
    ["To", "0x6B175474E89094C4", "4Da98b954EedeAC495", "271d0F"],
    ["Max fees", "0.0044001 ETH"],
    ["Transaction hash", "0x6814a1ccab5871d8d", "799d59215fdcf5cb942", "2e309f6461273fbca50", "604aa4640"],
]
STAX = [
    ["From", "0xDad77910DbDFdE7", "64fC21FCD4E74D71b", "BACA6D8D"],
    ["To", "0x6B175474E89094C", "44Da98b954EedeAC4", "95271d0F"],
    ["Max fees", "0.0044001 ETH"],
    ["Transaction hash", "0x6814a1ccab5871d8", "d799d59215fdcf5cb9", "422e309f6461273fbc", "a50604aa4640"],
]
APEX = [WIDE[0], ["To", "0x6B175474E89094C", "44Da98b954EedeAC4", "95271d0F"], *WIDE[2:]]
NANO = [
    ["From", "0xDad77910DbDFdE7", "64fC21FCD4E74D71b", "BACA6D8D"],
    ["To", "0x6B175474E89094C", "44Da98b954EedeAC", "495271d0F"],
    ["Max fees", "0.0044001 ETH"],
    ["Tx hash (1/2)", "0x6814a1ccab5871d8", "d799d59215fdcf5cb9", "422e309f6461273fbc"],
    ["Tx hash (2/2)", "a50604aa4640"],
]


@pytest.mark.parametrize(("model", "fields"), [("flex", WIDE), ("stax", STAX), ("apexp", APEX)])
def test_a_call_on_a_touch_screen_is_as_the_app_publishes_it(model: str, fields: list[list[str]]) -> None:
    pages = transaction_pages(SHOWN, model)[1:]
    assert pages == [
        ["Review transaction", "Reject", "1 of 4", "Blind signing required."],
        [*fields[0], *fields[1], *fields[2], "Reject", "2 of 4"],
        [*fields[3], "Reject", "3 of 4"],
        ["Accept risk and sign ", "transaction?", "Reject", "4 of 4", "Hold to sign"],
    ]
    for nano in ("nanosp", "nanox"):
        assert transaction_pages(SHOWN, nano)[2:-1] == NANO  # without an amount: it is nothing, and there is calldata
    for shown in (SHOWN._replace(data=b""), SHOWN._replace(value_wei=1)):
        assert "Amount" in [line for page in transaction_pages(shown, "nanosp") for line in page]


def test_a_line_breaks_after_each_delimiter_and_in_a_word_without_one() -> None:
    for text in ("a b-c_d " * 60, "0x" + "ab" * 180, "-" + "9" * 60, "one\ntwo\n\nthree", "-", " ", ""):
        lines = text_lines(text, INTER_MEDIUM_36.within(416))
        assert "".join(lines) == text.replace("\n", "")  # nothing is lost
        assert all(width_px(line.rstrip(" -_"), INTER_MEDIUM_36) <= 416 for line in lines)
    assert text_lines("a" * 15 + " b", INTER_MEDIUM_36.within(320)) == ["a" * 15 + " ", "b"]
    assert text_lines("a" * 10 + "-" + "b" * 10, INTER_MEDIUM_36.within(320)) == ["a" * 10 + "-", "b" * 10]
    assert text_lines("a" * 10 + "_" + "b" * 10, INTER_MEDIUM_36.within(320)) == ["a" * 10 + "_", "b" * 10]
    assert text_lines("a" * 20, INTER_MEDIUM_36.within(320)) == ["a" * 15, "a" * 5]
    number = ("-" + "9" * 40, INTER_MEDIUM_36.within(416))  # begins with a delimiter: counted otherwise than drawn
    assert (len(text_lines(*number)), counted_lines(*number)) == (3, 4)


def test_a_long_title_on_a_nano_is_cut_in_its_middle() -> None:
    assert title_line("initialPosToken", OPEN_SANS_EXTRABOLD_11.within(114)) == "initialPosToken"
    cut = title_line("collateralToCloseInUsdc (1/2)", OPEN_SANS_EXTRABOLD_11.within(114))
    assert (cut[:7], "..." in cut, cut[-6:]) == ("collate", True, " (1/2)")
    assert width_px(cut, OPEN_SANS_EXTRABOLD_11) <= 114


def test_the_review_says_so_of_a_model_that_nobody_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    note = "No real Stax was compared with this list."
    assert not any(note in line for line in screen_lines([["Review"]], "stax"))
    monkeypatch.setitem(MODELS, "stax", MODELS["stax"]._replace(proved=False))
    assert any(note in line for line in screen_lines([["Review"]], "stax"))
    monkeypatch.undo()
    assert {MODELS[name].proved for name in shown_models()} == {True}  # all that are offered were compared


def test_only_the_height_limits_how_many_fields_a_page_has() -> None:
    """``getNbTagValuesInPage`` knows no number of fields; five short ones fit on a Stax, and four on the others."""
    fields = [ScreenField(f"field{number}", "1") for number in range(6)]
    bodies = {name: review_pages(TYPED_DATA, fields, name)[2:-1] for name in ("stax", "flex", "apexp")}
    titles = {name: [sum(line.startswith("field") for line in body) for body in bodies[name]] for name in bodies}
    assert titles == {"stax": [5, 1], "flex": [4, 2], "apexp": [4, 2]}


def test_three_dots_take_the_place_of_three_characters_where_they_do_not_fit() -> None:
    assert cut_lines("a" * 10 + " " + "b" * 90, INTER_MEDIUM_36.within(416), 1) == ["a" * 10 + " ..."]
    assert cut_lines("a" * 90, INTER_MEDIUM_36.within(416), 2) == ["a" * 19, "a" * 16 + "..."]
    # as the real app showed it: the space takes room on the line, and the dots come after it all the same
    value = "wU,LVrRy_MxnFivIcE1 " + "more" * 20
    assert cut_lines(value, INTER_MEDIUM_36.within(416), 1) == ["wU,LVrRy_MxnFivIcE1 ..."]
    # as the real app showed it too (tests/speculos/test_held_out.py): no dots follow a line that ends at a line feed
    assert cut_lines("a" * 10 + "\n" + "b" * 90, INTER_MEDIUM_36.within(416), 1) == ["a" * 10]
    assert cut_lines("a\n\nb\n\nc", INTER_MEDIUM_36.within(416), 3) == ["a", "", "b"]


def test_an_empty_line_takes_its_room() -> None:
    assert text_lines("a\n\nb\n", INTER_MEDIUM_36.within(416)) == ["a", "", "b"]
    assert text_lines("a" * 19 + "\nb", INTER_MEDIUM_36.within(416)) == ["a" * 19, "b"]
    assert text_pages("a\n\nb\nc\nd", OPEN_SANS_REGULAR_11.within(114), 3) == [["a", "", "b"], ["c", "d"]]
    full = next("i" * number for number in range(1, 99) if width_px("i" * (number + 1), OPEN_SANS_REGULAR_11) > 114)
    assert text_pages(f"a\nb\n{full}i\nc", OPEN_SANS_REGULAR_11.within(114), 3) == [["a", "b", full], ["i", "c"]]
    assert text_pages(f"a\nb\n{full[1:]} \nc\nd", OPEN_SANS_REGULAR_11.within(114), 3)[1][:2] == ["c", "d"]


def test_a_long_title_is_cut_at_35_letters_where_its_value_has_several_pages() -> None:
    title, layout = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG", screen_of("nanosp").layout
    assert isinstance(layout, Buttons)
    [alone] = button_field_pages(ScreenField(title, "1"), layout)
    first, *_ = button_field_pages(ScreenField(title, "word " * 40), layout)
    assert (alone[0][:4], alone[0][-3:], first[0][:4], first[0][-3:]) == ("abcd", "EFG", "abcd", "678")


@pytest.mark.parametrize("model", ["nanosp", "nanox"])
def test_a_long_message_is_listed_to_its_end(model: str) -> None:
    """The app keeps a personal message whole, and no 379 characters of it (tests/speculos/test_every_kind.py)."""
    message = b"".join(b"word%03d " % number for number in range(100)) + b"the end."
    pages = review_pages(MESSAGE_REVIEW, message_fields(message, model), model)
    shown = "".join(line for page in pages[1:-1] for line in page[1:])
    assert shown.replace(" ", "") == message.decode().replace(" ", "")


# ---- what the device does not show in full is said beforehand: beside what the real app showed ------------------------

FULL = [
    r
    for r in recorded("eip712-full", "signed", users=("approve",))
    if not r.id.endswith("-blind-setting-tpsl") and "-full-array-" not in r.id
]


def notes(type_name: str, value: Any, model: str) -> str:
    types = {"Order": [{"name": "note", "type": type_name}]}
    document = {"types": types, "primaryType": "Order", "domain": {"name": "Desk"}, "message": {"note": value}}
    return " ".join(not_shown_in_full(read_typed_data(document)[0], model))


def leaf_values(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for part in value.values() for leaf in leaf_values(part)]
    return [value]


@pytest.mark.parametrize("recording", FULL, ids=lambda r: r.id)
def test_where_nothing_is_noted_every_value_was_on_the_recorded_screens(recording: Recording) -> None:
    if not_shown_in_full(recording.typed_data()[0], recording.model):
        assert any(word in recording.id for word in ("delegate", "string", "bytes", "negative", "empty"))
        return
    pages = [page[1:] if recording.model == "nanosp" else page for page in recording.screens]  # without the titles
    shown = "".join(line.strip() for page in pages for line in page).lower().replace(" ", "")
    shown = shown.replace("continuemessageorpressbothtoskip", "")
    for value in leaf_values(recording.input["message"]):
        assert str(value).lower().replace(" ", "") in shown


def test_the_terms_of_a_delegation_go_on_behind_more_on_a_flex_and_lack_their_last_line_there() -> None:
    delegation = next(r for r in RECORDINGS if r.id == "a-flex-full-delegate").typed_data()[0]
    said = " ".join(not_shown_in_full(delegation, "flex"))
    assert "tnc continues behind More" in said
    assert "The end of tnc is not drawn behind More" in said
    assert 'ends in "losses it may cause me."' in said
    assert list(not_shown_in_full(delegation, "nanosp")) == []


@pytest.mark.parametrize("model", ["flex", "nanosp"])
def test_a_value_of_more_than_379_characters_is_cut(model: str) -> None:
    for length, said in ((379, False), (380, True)):
        assert ("379 characters of note" in notes("string", "x" * length, model)) is said
    for length, said in ((188, False), (189, True)):
        assert ("379 characters of note" in notes("bytes", "0x" + "ab" * length, model)) is said


def test_a_long_negative_number_repeats_digits_on_a_nano_only() -> None:
    assert "repeats digits of note" in notes("int256", str(-(2**200)), "nanosp")
    assert notes("int256", str(-(2**200)), "flex") == ""
    assert notes("int256", str(2**200), "nanosp") == ""
