"""A question that only the whole word answers: a slip is asked again, anything else stops."""

from __future__ import annotations

import pytest

from airlock_shared.cli import terminal as console
from airlock_shared.errors import Declined


def answered(monkeypatch: pytest.MonkeyPatch, *answers: str) -> list[str]:
    """Ask with these answers in turn, and return the questions that were asked."""
    asked: list[str] = []

    def ask(question: str, *, piped: bool) -> str:
        asked.append(question)
        if len(asked) > len(answers):
            raise Declined("not answered: the input has ended")
        return answers[len(asked) - 1]

    monkeypatch.setattr(console, "ask", ask)
    console.ask_yes("Is it the same?", piped=True)
    return asked


@pytest.mark.parametrize(
    "slip", ["", " ", "yes", "YES", " Yes", "yes.", '"Yes"', "Yes!", "yEs", "Zes", "Нуы", "Ｙｅｓ"]
)
def test_a_slip_is_asked_again_and_then_counts_for_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], slip: str
) -> None:
    assert len(answered(monkeypatch, slip, "Yes")) == 2
    said = {"zes": "keys Y and Z", "нуы": "not Latin", "ｙｅｓ": "not Latin"}.get(
        slip.casefold(), "Only the whole word Yes"
    )
    assert said in capsys.readouterr().err
    with pytest.raises(Declined):
        answered(monkeypatch, slip, "no")


@pytest.mark.parametrize("answer", ["no", "No", "y", "Y", "ok", "yes please", "Yess", "Ye", "true", "1"])
def test_anything_else_stops_at_once(monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    with pytest.raises(Declined, match="the answer was not Yes"):
        answered(monkeypatch, answer, "Yes")


def test_the_word_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(answered(monkeypatch, "Yes")) == 1


def test_slips_without_end_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Declined, match="the answer was not Yes"):
        answered(monkeypatch, *["yes"] * 5, "Yes")
