"""A word about a wait: said when it is long, not when it is short, and never after its end."""

from __future__ import annotations

import sys
import threading

import pytest

from airlock_shared.cli import progress as module
from airlock_shared.cli.progress import working


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


def test_in_a_pipe_nothing_is_told_and_no_thread_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    said = Said(1)
    monkeypatch.setattr(module, "say", said)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    before = threading.active_count()
    with working("Drawing", first_s=0.0, again_s=0.0):
        assert threading.active_count() == before
        assert not said.enough.wait(0.2)
    assert said.lines == []


def test_a_short_one_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    said = Said(1)
    monkeypatch.setattr(module, "say", said)
    with working("Drawing", first_s=3600.0):
        pass
    assert said.lines == []


def test_a_failure_goes_through_and_ends_the_telling(monkeypatch: pytest.MonkeyPatch) -> None:
    said = Said(1)
    monkeypatch.setattr(module, "say", said)
    before = threading.active_count()
    with pytest.raises(ZeroDivisionError), working("Drawing", first_s=3600.0):
        _ = 1 // 0
    assert threading.active_count() == before
    assert said.lines == []
