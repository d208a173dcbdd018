"""A small slice of the campaign, from a seed of its own; `make campaign` plays it at full size."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from airlock_online.home import OnlineHome
from airlock_online.journal.order_states import OrderState
from campaign.machine import Broken, Machine, Ran
from campaign.orders import Order
from campaign.run import CATEGORIES, figures, play
from campaign.wire_faults import FAULTS, whole

SLICE = {"kills": 7, "interrupts": 2, "wire": 5, "commits": 2, "disks": 1}


def test_a_slice_of_the_campaign_posts_once_and_tells_nothing_without_evidence(tmp_path: Path) -> None:
    done, broken, commands = play(SLICE, 15, tmp_path, started=2)
    assert broken == []
    told = figures(done, broken, commands, 0, 15)["rows"]
    assert all(told[category]["hits"] >= SLICE[category] or not told[category]["cases"] for category in CATEGORIES)
    assert len({one.way for one in done}) >= 4


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_on_the_wire_is_drawn_from_its_seed_alone(name: str) -> None:
    good = whole(200, {"ok": True})
    for seed in range(4):
        assert FAULTS[name](good, Random(seed)) == FAULTS[name](good, Random(seed))


class _Told(Machine):
    """A machine whose journal, venue and `resolve` say what a test says."""

    def __init__(self, folder: Path, state: OrderState, **seen: object) -> None:
        self.folder, self.home, self.commands = folder, folder, 0
        self._state = state
        OnlineHome(folder).transcript.record("submit-begun", {}, 1)
        self._seen = {"posts": 1, "refused": 0, "taken": True, "told_end": True, "signalled": False} | seen

    order = Order("relayer", "0x" + "ab" * 32, "0x" + "5a" * 65, b"", b"", b"")
    file = Path("nowhere")

    def state(self) -> OrderState:
        return self._state

    @property
    def seen(self) -> dict[str, object]:
        return self._seen

    def run(self, *words: object, **named: object) -> Ran:
        del words, named
        good = self._state in (OrderState.FILLED, OrderState.CONFIRMED)
        told = f'[{{"state":"{self._state}","waits_for":"x","do":"y"}}]'
        return Ran(0 if good else 9, False, told, "")


def test_the_judge_of_the_campaign_passes_what_is_right(tmp_path: Path) -> None:
    assert _Told(tmp_path, OrderState.CONFIRMED).check("success") is OrderState.CONFIRMED
    assert _Told(tmp_path, OrderState.UNKNOWN, told_end=False).check("success") is OrderState.UNKNOWN
    assert _Told(tmp_path, OrderState.REJECTED, posts=2, refused=2, taken=False).check("success") is OrderState.REJECTED


@pytest.mark.parametrize(
    ("state", "seen"),
    [
        (OrderState.UNKNOWN, {"posts": 2}),
        (OrderState.CONFIRMED, {"told_end": False}),
        (OrderState.CONFIRMED, {"posts": 3, "refused": 1}),
        (OrderState.FAILED, {}),
        (OrderState.EXPIRED_UNUSED, {}),
        (OrderState.VOIDED, {}),
        (OrderState.PREPARED, {}),
        (OrderState.REJECTED, {}),
    ],
)
def test_the_judge_of_the_campaign_notices_what_is_wrong(
    tmp_path: Path, state: OrderState, seen: dict[str, object]
) -> None:
    with pytest.raises(Broken):
        _Told(tmp_path, state, **seen).check("success")
