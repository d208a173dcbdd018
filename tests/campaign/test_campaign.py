"""A small slice of the campaign, from a seed of its own; `make campaign` plays it at full size."""

from pathlib import Path
from typing import Any

import pytest

from airlock_online.home import OnlineHome
from airlock_online.journal.order_states import OrderState
from airlock_shared.errors import DocumentError
from campaign.machine import Blow, Broken, Machine, Ran
from campaign.orders import Order
from campaign.run import CATEGORIES, figures, play

SLICE = {"kills": 3, "interrupts": 1, "wire": 2, "commits": 1, "disks": 1}


def test_a_slice_of_the_campaign_posts_once_and_tells_nothing_without_evidence(tmp_path: Path) -> None:
    done, broken, commands = play(SLICE, 15, tmp_path, started=2)
    assert broken == []
    told = figures(done, broken, commands, 0, 15)["rows"]
    assert all(told[category]["hits"] >= SLICE[category] or not told[category]["cases"] for category in CATEGORIES)
    assert len({one.way for one in done}) >= 3


class _Told(Machine):
    """A machine whose journal, venue and `resolve` say what a test says."""

    def __init__(self, folder: Path, state: OrderState | None, explained: Ran | None = None, **seen: object) -> None:
        self.folder, self.home, self.commands = folder, folder, 0
        self._state, self._explained = state, explained
        OnlineHome(folder).transcript.record("submit-begun", {}, 1)
        self._seen = {"posts": 1, "refused": 0, "taken": True, "told_end": True, "signalled": False} | seen

    order = Order("relayer", "0x" + "ab" * 32, "0x" + "5a" * 65, b"", b"", b"")
    file = Path("nowhere")

    def state(self) -> OrderState | None:
        return self._state

    @property
    def seen(self) -> dict[str, object]:
        return self._seen

    def run(self, *words: object, **named: object) -> Ran:
        del words, named
        if self._explained:
            return self._explained
        good = self._state in (OrderState.FILLED, OrderState.CONFIRMED)
        told = f'[{{"state":"{self._state}","waits_for":"x","do":"y"}}]'
        return Ran(0 if good else 9, False, told, "")


def test_the_judge_of_the_campaign_passes_what_is_right(tmp_path: Path) -> None:
    assert _Told(tmp_path, OrderState.CONFIRMED).check("success") is OrderState.CONFIRMED
    assert _Told(tmp_path, OrderState.UNKNOWN, told_end=False).check("success") is OrderState.UNKNOWN
    assert _Told(tmp_path, OrderState.REJECTED, posts=2, refused=2, taken=False).check("success") is OrderState.REJECTED


def _explained(state: str, code: int, waits_for: str = "x") -> Ran:
    return Ran(code, False, f'[{{"state":"{state}","waits_for":"{waits_for}","do":"y"}}]', "")


@pytest.mark.parametrize(
    ("state", "explained", "seen"),
    [
        (OrderState.UNKNOWN, None, {"posts": 2}),
        (OrderState.CONFIRMED, None, {"told_end": False}),
        (OrderState.CONFIRMED, None, {"posts": 3, "refused": 1}),
        (OrderState.FAILED, None, {}),
        (OrderState.PREPARED, None, {}),
        (OrderState.REJECTED, None, {}),
        (OrderState.UNKNOWN, _explained("PRESUMED_UNKNOWN", 9), {"posts": 0}),
        (OrderState.UNKNOWN, _explained("UNKNOWN", 9, waits_for=""), {"posts": 0}),
        (OrderState.CONFIRMED, _explained("CONFIRMED", 9), {"posts": 0}),
        (None, _explained("UNKNOWN", 9), {"posts": 0}),
    ],
)
def test_the_judge_of_the_campaign_notices_what_is_wrong(
    tmp_path: Path, state: OrderState | None, explained: Ran | None, seen: dict[str, Any]
) -> None:
    with pytest.raises(Broken):
        _Told(tmp_path, state, explained, **seen).check("success")


def test_a_signature_in_a_file_and_a_broken_transcript_are_noticed(tmp_path: Path) -> None:
    told = _Told(tmp_path, OrderState.CONFIRMED)
    assert told.check("success") is OrderState.CONFIRMED
    (tmp_path / "log").write_text(f"sent {told.order.signature[40:60]}")
    with pytest.raises(Broken):
        told.check("success")
    (tmp_path / "log").unlink()
    with (tmp_path / "transcript.jsonl").open("a") as transcript:
        transcript.write("{}\n")
    with pytest.raises(DocumentError):
        told.check("success")


KILLED, INTERRUPTED = Blow("SIGKILL", after_s=1.0), Blow("SIGINT", after_s=1.0)
LOADING = 'File "/x/bin/airlock-online", line 5\n  File "/x/airlock_online/start.py", line 9\nKeyboardInterrupt'


def test_how_a_command_may_end(tmp_path: Path) -> None:
    machine = _Told(tmp_path, OrderState.UNKNOWN)
    machine._check_words(Ran(9, True, "", ""), KILLED)
    machine._check_words(Ran(-9, True, "", ""), KILLED)
    machine._check_words(Ran(-2, True, "", f"Traceback\n{LOADING}"), INTERRUPTED)


@pytest.mark.parametrize(
    ("ran", "blow"),
    [
        (Ran(9, False, "", "Traceback"), KILLED),
        (Ran(1, False, "", ""), KILLED),
        (Ran(-9, False, "", ""), KILLED),
        (Ran(-11, True, "", ""), KILLED),
        (Ran(-2, True, "", 'Traceback\n  File "/x/airlock_online/cli/main.py"\nKeyboardInterrupt'), INTERRUPTED),
        (Ran(0, False, f"sent {_Told.order.signature[20:40]}", ""), KILLED),
        (Ran(0, False, "", _Told.order.signature.upper()), KILLED),
    ],
)
def test_how_no_command_may_end(tmp_path: Path, ran: Ran, blow: Blow) -> None:
    with pytest.raises(Broken):
        _Told(tmp_path, OrderState.UNKNOWN)._check_words(ran, blow)
