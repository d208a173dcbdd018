"""A small slice of the campaign, from a seed of its own; `make campaign` plays it at full size."""

from contextlib import nullcontext
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
UNSENT = {"posts": 0}
KILLED, INTERRUPTED = Blow("SIGKILL", after_s=1.0), Blow("SIGINT", after_s=1.0)
LOADING = 'File "/x/bin/airlock-online", line 5\n  File "/x/airlock_online/start.py", line 9\nKeyboardInterrupt'


def test_a_slice_of_the_campaign_posts_once_and_tells_nothing_without_evidence(tmp_path: Path) -> None:
    done, broken, commands = play(SLICE, 15, tmp_path, started=2)
    assert broken == []
    told = figures(done, broken, commands, 0, 15)["rows"]
    assert all(told[category]["hits"] >= SLICE[category] or not told[category]["cases"] for category in CATEGORIES)
    assert len({one.way for one in done}) >= 3


class _Told(Machine):
    """A machine whose journal, venue and `resolve` say what a test says."""

    def __init__(self, folder: Path, state: OrderState | None, explained: Ran, **seen: object) -> None:
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

    def run(self, *_words: object, **_named: object) -> Ran:
        return self._explained


@pytest.mark.parametrize(
    ("state", "explained", "code", "seen", "right"),
    [
        (OrderState.CONFIRMED, "CONFIRMED", 0, {}, True),
        (OrderState.UNKNOWN, "UNKNOWN", 9, {"told_end": False}, True),
        (OrderState.REJECTED, "REJECTED", 9, {"posts": 2, "refused": 2, "taken": False}, True),
        (OrderState.UNKNOWN, "UNKNOWN", 9, {"posts": 2}, False),
        (OrderState.CONFIRMED, "CONFIRMED", 0, {"told_end": False}, False),
        (OrderState.CONFIRMED, "CONFIRMED", 0, {"posts": 3, "refused": 1}, False),
        (OrderState.FAILED, "FAILED", 9, {}, False),
        (OrderState.PREPARED, "PREPARED", 9, {}, False),
        (OrderState.REJECTED, "REJECTED", 9, {}, False),
        (OrderState.UNKNOWN, "PRESUMED_UNKNOWN", 9, UNSENT, False),
        (OrderState.UNKNOWN, 'UNKNOWN","waits_for":"', 9, UNSENT, False),
        (OrderState.CONFIRMED, "CONFIRMED", 9, UNSENT, False),
        (None, "UNKNOWN", 9, UNSENT, False),
    ],
)
def test_the_judge_of_the_campaign_notices_what_is_wrong(
    tmp_path: Path, state: OrderState | None, explained: str, code: int, seen: dict[str, Any], right: bool
) -> None:
    told = f'[{{"waits_for":"x","do":"y","state":"{explained}"}}]'
    with nullcontext() if right else pytest.raises(Broken):
        assert _Told(tmp_path, state, Ran(code, False, told, ""), **seen).check("success") is state


def test_a_signature_in_a_file_and_a_broken_transcript_are_noticed(tmp_path: Path) -> None:
    told = _Told(tmp_path, OrderState.CONFIRMED, Ran(0, False, '[{"state":"CONFIRMED"}]', ""))
    assert told.check("success") is OrderState.CONFIRMED
    (tmp_path / "log").write_text(f"sent {told.order.signature[40:60]}")
    with pytest.raises(Broken):
        told.check("success")
    (tmp_path / "log").unlink()
    with (tmp_path / "transcript.jsonl").open("a") as transcript:
        transcript.write("{}\n")
    with pytest.raises(DocumentError):
        told.check("success")


@pytest.mark.parametrize(
    ("ran", "blow", "may"),
    [
        (Ran(9, True, "", ""), KILLED, True),
        (Ran(-9, True, "", ""), KILLED, True),
        (Ran(-2, True, "", f"Traceback\n{LOADING}"), INTERRUPTED, True),
        (Ran(9, False, "", "Traceback"), KILLED, False),
        (Ran(1, False, "", ""), KILLED, False),
        (Ran(-9, False, "", ""), KILLED, False),
        (Ran(-11, True, "", ""), KILLED, False),
        (Ran(-2, True, "", 'Traceback\n  File "/x/airlock_online/cli/main.py"\nKeyboardInterrupt'), INTERRUPTED, False),
        (Ran(0, False, f"sent {_Told.order.signature[20:40]}", ""), KILLED, False),
        (Ran(0, False, "", _Told.order.signature.upper()), KILLED, False),
    ],
)
def test_how_a_command_may_end(tmp_path: Path, ran: Ran, blow: Blow, may: bool) -> None:
    with nullcontext() if may else pytest.raises(Broken):
        _Told(tmp_path, OrderState.UNKNOWN, ran)._check_words(ran, blow)
