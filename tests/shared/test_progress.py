"""A word about a wait: said when it is long, not when it is short, and never after its end."""

from __future__ import annotations

import sys
import threading

import pytest

from airlock_shared.cli import progress as module
from airlock_shared.cli.progress import count_down, working


class Said:
    """What was said, and a signal after so many lines."""

    def __init__(self, lines: int) -> None:
        self.lines: list[str] = []
        self.wanted = lines
        self.enough = threading.Event()

    def __call__(self, text: str) -> None:
        self.lines.append(text)
        if len(self.lines) >= self.wanted:
            self.enough.set()


@pytest.fixture(autouse=True)
def at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)


def test_a_long_wait_is_told_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    said = Said(3)
    monkeypatch.setattr(module, "say", said)
    with working("Drawing", first_s=0.0, again_s=0.0):
        assert said.enough.wait(60)
    assert said.lines[0].startswith("Drawing ... (")


def test_at_a_terminal_it_says_why_and_how_long(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "sleep", lambda _seconds: None)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    count_down(2, "The builder is busy.")
    told = capsys.readouterr().err
    assert told.startswith("The builder is busy.")
    assert told.count("It goes on in ") == 2
