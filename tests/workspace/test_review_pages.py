"""The captured review screens: one of everything that can be signed, readable anywhere, and complete."""

from __future__ import annotations

import pytest

from airlock_shared.text.safe import columns, is_visible
from airlock_shared.venue.actions import ACTIONS
from airlock_shared.venue.structs import CATALOGUE
from workspace.review_pages import Screen, screens

WIDTH = 80
SCREENS = list(screens())


def test_every_struct_and_every_transaction_has_its_screen() -> None:
    shown = {screen.title.partition(":")[0].partition(",")[0] for screen in SCREENS}
    transactions = {action.name for action in ACTIONS.values() if action.call}
    structs = {action.primary_type for action in ACTIONS.values() if not action.call}
    assert structs - {"EIP-7702"} == set(CATALOGUE)
    assert shown == structs | transactions


@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: screen.step)
def test_every_line_is_readable_without_colour_at_eighty_columns(screen: Screen) -> None:
    assert [line for line in screen.lines if columns(line) > WIDTH] == []
    assert [line for line in screen.lines if not all(is_visible(character) for character in line)] == []


@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: screen.step)
def test_every_screen_says_who_signs_what_is_decided_by_whom_and_what_the_device_shows(screen: Screen) -> None:
    text = "\n".join(screen.lines)
    assert "signer              0x" in text
    assert "goes to             " in text
    assert "THE LEDGER WILL SHOW" in text
    assert " passed, 0 refused" in text
    assert "NOT DECIDED BY ANY RULE" not in text
    if screen.folder == "requests":
        assert "DECIDED BY THE PLAN" in text
        for label in ("domain hash", "struct hash", "digest"):
            assert f"  {label} " in text
