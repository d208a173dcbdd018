"""Five hundred delegates in one plan, led on both machines and interrupted twice: a form, pages of rows, one file of proofs.

With every run of the tests a smaller plan; ``make test-signing`` plays the whole number.
"""

import hashlib
import re
import signal

import pytest
from eth_account import Account
from eth_account.signers.local import LocalAccount

from airlock_shared.host.files import read_transcript
from draws import draws
from e2e import led
from e2e.conftest import BothMachines, Ledger
from e2e.led import Asked, Screen, interrupt, lead
from e2e.test_one_command import Day

STEPS = draws(12, 500)
ANSWERS_AT_MOST = 80


def key_of(number: int) -> LocalAccount:
    account: LocalAccount = Account.from_key(hashlib.sha256(b"desk %d" % number).digest())
    return account


class LongDay(Day):
    """A day on which a plan with many delegates is led."""

    def __init__(self, desk: BothMachines, ledger: Ledger) -> None:
        super().__init__(desk, ledger, "delegate-key")
        head, step = self.plans["online"].read_text().split("[[steps]]\n")
        many = []
        for number in range(STEPS):
            text = re.sub(r'(?m)^id = ".*"$', f'id = "desk-{number + 1:03}"', step)
            many.append(re.sub(r'(?m)^delegate = ".*"$', f'delegate = "{key_of(number).address}"', text))
        text = re.sub(r'(?m)^deadline_at_most = ".*"$', 'deadline_at_most = "12h"', head) + "".join(
            "[[steps]]\n" + each for each in many
        )
        self.agree_on(text)


def test_many_delegates_are_led_to_a_complete_report_through_two_interruptions(
    unpinned: BothMachines, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(led, "_PATIENCE_S", 60 + 12 * STEPS)
    day = LongDay(unpinned, ledger)
    day.prove(*map(key_of, range(STEPS)))
    screens = {half: day.start(half) for half in ("online", "offline")}
    asked: list[Asked] = []
    for signed, kind in ((STEPS // 4, signal.SIGINT), (STEPS // 2, signal.SIGKILL)):

        def so_many_are_signed(screens: dict[str, Screen], _asked: list[Asked], signed: int = signed) -> bool:
            return f"Signed: desk-{signed:03}" in screens["offline"].shown

        asked += lead(screens, until=so_many_are_signed)
        assert screens["offline"].code is None, screens["offline"].shown[-2000:]
        interrupt(screens["offline"], kind)
        screens["offline"] = day.start("offline")
    asked += lead(screens)
    assert {half: screen.code for half, screen in screens.items()} == {"online": 0, "offline": 0}, screens[
        "offline"
    ].plain()
    report = day.complete_report()
    assert sum("was interrupted" in each for each in report["notes"]) == 2, report["notes"]
    answers = [each for each in asked if each.typed]
    assert len(answers) <= ANSWERS_AT_MOST, answers
    entries = read_transcript(unpinned.path("offline-home") / "transcript.jsonl")
    digests = [entry.data["digest"] for entry in entries if entry.event == "signed"]
    assert (len(digests), len(set(digests))) == (STEPS, STEPS)
    confirmed = [digest for entry in entries if entry.event == "page-confirmed" for digest in entry.data["digests"]]
    assert sorted(confirmed) == sorted(digests)  # each on one page, and asked about once
