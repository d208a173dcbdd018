"""The help of a command: examples keep their lines, in a command and in a group's own commands."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from airlock_offline.cli.main import program as offline
from airlock_online.cli.main import program as online


@pytest.mark.parametrize(
    ("program", "words", "line"),
    [
        (offline, ["trust"], "    airlock-offline trust deployment.json\n"),
        (offline, ["accounts", "show"], "    airlock-offline accounts show --as page\n"),
        (online, ["build"], "    airlock-online build twap-cancel"),
        (online, ["show"], "    airlock-online show requests.json --for keystone"),
    ],
)
def test_an_example_stands_on_a_line_of_its_own(program: object, words: list[str], line: str) -> None:
    shown = CliRunner().invoke(program, [*words, "--help"]).output  # type: ignore[arg-type]
    assert line in shown
    assert "\\b" not in shown
