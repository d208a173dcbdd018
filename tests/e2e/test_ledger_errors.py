"""The Ledger through the command line: its own messages and exit codes, hashes, the hardware record."""

import json
import re
import stat
from pathlib import Path

from e2e.conftest import OFFLINE, BothMachines, Ledger
from e2e.terminal import Terminal


def test_a_step_that_is_shown_as_hashes_is_signed_so_and_its_signature_says_it(
    desk: BothMachines, blind: Ledger
) -> None:
    plan, requests = desk.write_plan("delegate-key"), desk.path("requests.json")
    plan.write_text(plan.read_text().replace("[[steps]]", 'show = "hashes"\n\n[[steps]]'))
    desk.prove(plan)
    assert desk.online("prepare", plan, "-o", requests).code == 0
    desk.sign(blind, plan, requests, desk.path("signatures.json")).done()
    assert json.loads(desk.path("signatures.json").read_text())["signatures"][0]["shown"] == "hashes"


def test_a_person_makes_a_record_at_a_terminal(ledger: Ledger, tmp_path: Path) -> None:
    file = tmp_path / "hardware.json"
    words = ("--home", tmp_path / "home", "preflight", "--emulator", ledger.port, "--hardware-record", file)
    terminal = Terminal(OFFLINE, *words)
    asked = 0
    while (question := terminal.until_question()) is not None:
        assert question == "Did the Ledger show this page exactly so? Type Yes or No"
        assert not file.exists()
        asked += 1
        terminal.press("No\n" if asked == 2 else "Yes\n")
    terminal.end()  # with 3 where this machine has a network: the page says so after the record is written
    made = json.loads(file.read_bytes())
    assert [page["shown"] for page in made["pages"]] == [True, False, *[True] * (asked - 2)]
    assert (made["simulator"], made["usb"], asked > 5) == (True, None, True)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert max(len(line) for line in re.split("[\r\n]", terminal.shown) if str(tmp_path) not in line) <= 80
    before = file.read_bytes()
    again = Terminal(OFFLINE, *words)
    assert again.end() == 2
    assert "exists already" in again.shown
    assert file.read_bytes() == before
