"""The installed commands beside each other on one home: two `sign` of one step, a seal and what is recorded meanwhile.

A seal is over the transcript as it is: what was recorded meanwhile makes it void, and never the transcript. In many orders
all of them play in ``tests/offline/test_interleavings.py``.
"""

import json
import re

from airlock_shared.ceremony.seals import SEALED, VOID
from e2e.conftest import OFFLINE, BothMachines, Ledger, start_ledger, stop_ledger
from e2e.terminal import Terminal
from shared.world import renonce

ASKED = "Type Yes to go on, no to stop"


def test_two_terminals_sign_a_step_once(desk: BothMachines, ledger: Ledger) -> None:
    """While a person thinks in one terminal, another one signs, each with a Ledger of its own: only Airlock is between."""
    plan, one = desk.prepare("delegate-key")
    document, two = json.loads(one.read_text()), desk.path("two.json")
    renonce(document["requests"][0], "12345")
    two.write_text(json.dumps(document))
    other = start_ledger()
    words = ("sign", two, "--plan", plan, "-o", desk.path("two.signed.json"), "--emulator", other.port)
    thinking = Terminal(OFFLINE, "--home", desk.path("offline-home"), *words)
    assert thinking.until_question() == ASKED
    thinking.press("Yes\n")
    assert thinking.until_question() == ASKED
    assert "\nSign step " in thinking.shown
    desk.sign(ledger, plan, one, desk.path("one.signed.json")).done()
    thinking.press("Yes\n")
    assert (thinking.end(), "NONCE-PENDING" in thinking.shown) == (3, True), thinking.shown
    stop_ledger(other)
    assert [desk.path(f"{name}.signed.json").exists() for name in ("one", "two")] == [True, False]
    assert [desk.events().count(event) for event in ("signing", "signed", "refused")] == [1, 1, 1]
    desk.offline("transcript", "verify").done()


# ---- a seal, and what is recorded while it is made -----------------------------------------------------------------


def test_a_command_that_records_while_the_seal_is_made_makes_it_void_and_it_is_asked_again(
    desk: BothMachines, ledger: Ledger
) -> None:
    plan, home = desk.write_plan("referral-code"), desk.path("offline-home")
    sealing = Terminal(OFFLINE, "--home", home, "transcript", "seal", "--plan", plan, "--emulator", ledger.port)
    assert sealing.until_question() == ASKED
    desk.state_time()  # recorded beside it, without waiting for the seal
    sealing.press("Yes\n")
    assert sealing.until_question() == ASKED
    assert "This seal is void" in sealing.shown
    sealing.press("Yes\n")
    assert sealing.end() == 0, sealing.shown
    assert "Sealed." in sealing.shown
    assert desk.events()[-2:] == [VOID, SEALED]
    verified = desk.offline("transcript", "verify", "--plan", plan, "--json").done()
    assert [seal["entries"] for seal in verified.json()["seals"]] == [len(desk.entries()) - 1]
    lines = (home / "transcript.jsonl").read_text().splitlines()
    desk.path("cut.jsonl").write_text("\n".join(lines[:-1]) + "\n")
    cut = desk.offline("transcript", "verify", desk.path("cut.jsonl"), "--plan", plan)
    assert (cut.code, "DOC-SEAL" in cut.err) == (4, True), cut.err


def test_a_seal_for_another_plan_on_the_same_machine_is_not_this_ones(desk: BothMachines, ledger: Ledger) -> None:
    plan, other = desk.write_plan("referral-code"), desk.path("other.toml")
    other.write_text(re.sub('(?m)^id = ".*"', 'id = "another-day"', plan.read_text(), count=1))
    sealed = [
        desk.offline("transcript", "seal", "--plan", each, "--emulator", ledger.port, typed="Yes\n")
        for each in (other, plan, plan)
    ]
    assert [(ended.code, "sealed already" in ended.err) for ended in sealed] == [(0, False), (0, False), (0, True)]
