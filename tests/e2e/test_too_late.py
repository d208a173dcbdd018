"""Requests that grow too old at the table: both machines say so, and go on with requests that are prepared again."""

from __future__ import annotations

import json
import re
import time

from airlock_shared.plan.reader import parse_plan
from airlock_shared.text.words import spoken
from e2e.conftest import BothMachines, Ledger
from e2e.led import Asked, Screen, careful, lead
from e2e.test_one_command import Day, unpinned

__all__ = ["unpinned"]

LIMITS = {"deadline_at_most": "135s", "remaining_at_least": "50s"}
"""With the minute by which the watch may be wrong, 25 seconds are left to sign."""


class ShortDay(Day):
    """A day whose plan leaves little time to sign."""

    def __init__(self, desk: BothMachines, ledger: Ledger) -> None:
        super().__init__(desk, ledger, "market-close")
        text = self.plans["online"].read_text()
        for name, span in LIMITS.items():
            text, count = re.subn(rf'(?m)^{name} = ".*"$', f'{name} = "{span}"', text)
            assert count == 1
        for plan in self.plans.values():
            plan.write_text(text)
        self.papers["plan"] = spoken(parse_plan(text.encode()).fingerprint)


def test_requests_that_grew_too_old_are_prepared_again_and_signed_and_neither_run_ends(
    unpinned: BothMachines, ledger: Ledger
) -> None:
    day = ShortDay(unpinned, ledger)
    offered: list[str] = []

    def slowly(machine: str, question: str, screens: dict[str, Screen]) -> str | None:
        if "signer), requests" in question and not offered:
            offered.append("slow")
            time.sleep(30)
        return careful(machine, question, screens)

    def press_enter(screens: dict[str, Screen], _asked: list[Asked]) -> bool:
        """Press Enter on the online machine when both machines say that it is too late."""
        says = {
            "offline": "waiting: press Enter on the online machine: it prepares them again",
            "online": "waiting: too late to sign; signed ones still count; Enter prepares them again",
        }
        if offered == ["slow"] and all(line in screens[half].shown for half, line in says.items()):
            offered.append("enter")
            time.sleep(0.5)
            screens["online"].press("\n")
        return False

    screens = {half: day.start(half) for half in ("online", "offline")}
    lead(screens, slowly, until=press_enter)
    shown = {half: screen.plain()[-3000:] for half, screen in screens.items()}
    assert {half: screen.code for half, screen in screens.items()} == {"online": 0, "offline": 0}, shown
    assert offered == ["slow", "enter"]
    assert "The ceremony stops here" not in shown["offline"] + shown["online"]
    assert (day.folder("offline") / "requests-2.json").exists()
    report = json.loads((day.folder("online") / "evidence" / "report.json").read_text())
    assert report["complete"], report["missing"]
