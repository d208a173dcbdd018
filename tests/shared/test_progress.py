"""A word about a wait: one row when it is long, none when it is short, and never after its end."""

from __future__ import annotations

import sys
import threading

import pytest

from airlock_shared.cli import progress as module
from airlock_shared.cli.progress import working
from airlock_shared.cli.terminal import renew, say


def told_by(monkeypatch: pytest.MonkeyPatch, every_s: float, *, terminal: bool = True) -> list[str]:
    told: list[str] = []
    monkeypatch.setattr(module, "renew", lambda text="": told.append(text))
    monkeypatch.setattr(module, "EVERY_S", every_s)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    return told


def test_a_long_wait_is_told_again_and_again_in_a_row_of_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    told = told_by(monkeypatch, 0.0)
    with working("Drawing" * 20):
        assert any(len(told) > 2 or threading.Event().wait(0.01) for _ in range(6000))
    assert told[0].startswith("DrawingDrawing")
    assert told[0].endswith(" ... (0 s)")
    assert (len(told[0]) <= 78, told[-1]) == (True, "")


def test_in_a_pipe_nothing_is_told_and_no_thread_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    told = told_by(monkeypatch, 0.0, terminal=False)
    before = threading.active_count()
    with working("Drawing"):
        assert threading.active_count() == before
    assert told == []


def test_a_short_one_is_not_and_a_failure_goes_through_and_ends_the_telling(monkeypatch: pytest.MonkeyPatch) -> None:
    told, before = told_by(monkeypatch, 3600.0), threading.active_count()
    with pytest.raises(ZeroDivisionError), working("Drawing"):
        _ = 1 // 0
    assert (threading.active_count(), told) == (before, [""])


def test_what_is_said_next_takes_its_place(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    renew("Drawing\x1b[2J ... (1 s)")
    say("done")
    say("more")
    assert capsys.readouterr().err == "\r\x1b[KDrawing\\u{1b}[2J ... (1 s)\r\x1b[Kdone\nmore\n"
