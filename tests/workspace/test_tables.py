"""Tables that code also holds are the code's; everything that can be signed has its captured screen, readable anywhere."""

import shutil
import subprocess
from pathlib import Path

import click
import pytest

from airlock_online.cli.machine import everything
from airlock_shared.text.safe import columns, is_visible
from airlock_shared.venue.actions import ACTIONS
from airlock_shared.venue.structs import CATALOGUE
from e2e.test_help import COMMANDS
from workspace.man_pages import ROOT, files
from workspace.review_pages import Screen, screens
from workspace.tables import GENERATED, PAGES, PARTS, parts_of

FILES = files()
WIDTH = 80
SCREENS = list(screens())


@pytest.mark.parametrize("name", PAGES)
def test_the_documentation_says_what_the_code_says(name: str) -> None:
    assert (GENERATED / name).read_text() == PAGES[name](), "run `make docs`"


@pytest.mark.parametrize(("page", "part"), PARTS)
def test_the_generated_part_of_a_page_says_what_the_code_says(page: str, part: str) -> None:
    assert parts_of(page).get(part) == PARTS[page, part](), "run `make docs`"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_manual_pages_and_completions_say_what_the_commands_say(path: Path) -> None:
    assert path.read_text() == FILES[path], "run `make docs`"


@pytest.mark.parametrize("path", [path for path in FILES if path.suffix == ".1"], ids=lambda path: path.stem)
def test_a_manual_page_has_every_command_and_option_and_no_reader_finds_fault(path: Path) -> None:
    reader = shutil.which("groff")
    if reader is None:
        pytest.skip("groff is not here")
    typed = [reader, "-man", "-k", "-Tutf8", "-ww", "-rLL=120n", "-P-cbu", str(path)]
    ended = subprocess.run(typed, capture_output=True, text=True, check=True)
    assert ended.stderr == ""
    shown = " ".join(ended.stdout.split())
    for words, command in COMMANDS.items():
        if words.startswith(f"{path.stem} "):
            assert f"{words} " in shown
            for parameter in command.params:
                hidden = isinstance(parameter, click.Option) and parameter.hidden
                assert hidden or [one for one in parameter.opts if one.startswith("-") and one not in shown] == []


def test_everything_that_can_be_explained_is_told_on_one_page_and_once() -> None:
    told = {name: (GENERATED / name).read_text() for name in ("checks.md", "errors.md", "exit-codes.md")}
    wrong = (GENERATED / "when-it-goes-wrong.md").read_text()
    for item in everything():
        places = {
            "check": told["checks.md"].count(f"\n### {item.name}\n"),
            "exit code": told["exit-codes.md"].count(f"\n| {item.name} | "),
            "outcome": wrong.count(f"\n| {item.name} | "),
            "anomaly": wrong.count(f"\n| {item.name} | "),
        }
        code = told["errors.md"].count(f"\n| `{item.name}` | {item.http} | {item.meaning} |")
        assert places.get(item.kind, code) == 1


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
