"""What the device does not show in full is said beforehand; checked against what the real app showed."""

from __future__ import annotations

from typing import Any

import pytest

from airlock_offline.ledger.typed_data_screens import not_shown_in_full
from airlock_shared.ethereum.eip712 import TypedData
from airlock_shared.ethereum.typed_document import read_typed_data
from offline.recordings import RECORDINGS, Recording, recorded

FULL = [
    r
    for r in recorded("eip712-full", "signed", users=("approve",))
    if not r.id.endswith("-blind-setting-tpsl") and "-full-array-" not in r.id
]


def typed(type_name: str, value: Any) -> TypedData:
    types = {"Order": [{"name": "note", "type": type_name}]}
    document = {"types": types, "primaryType": "Order", "domain": {"name": "Desk"}, "message": {"note": value}}
    return read_typed_data(document)[0]


def notes(type_name: str, value: Any, model: str) -> str:
    return " ".join(not_shown_in_full(typed(type_name, value), model))


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
    by_model = {
        model: " ".join(
            not_shown_in_full(next(r for r in RECORDINGS if r.id == f"a-{model}-full-delegate").typed_data()[0], model)
        )
        for model in ("flex", "nanosp")
    }
    assert "tnc continues behind More" in by_model["flex"]
    assert "The end of tnc is not drawn behind More" in by_model["flex"]
    assert 'ends in "losses it may cause me."' in by_model["flex"]
    assert by_model["nanosp"] == ""


@pytest.mark.parametrize("model", ["flex", "nanosp"])
@pytest.mark.parametrize(
    ("type_name", "value", "said"),
    [
        ("string", "x" * 379, False),
        ("string", "x" * 380, True),
        ("string", "x" * 600, True),
        ("bytes", "0x" + "ab" * 188, False),
        ("bytes", "0x" + "ab" * 189, True),
    ],
)
def test_a_value_of_more_than_379_characters_is_cut(type_name: str, value: str, said: bool, model: str) -> None:
    assert ("379 characters of note" in notes(type_name, value, model)) is said


def test_a_long_negative_number_repeats_digits_on_a_nano_only() -> None:
    assert "repeats digits of note" in notes("int256", str(-(2**200)), "nanosp")
    assert notes("int256", str(-(2**200)), "flex") == ""
    assert notes("int256", str(2**200), "nanosp") == ""
