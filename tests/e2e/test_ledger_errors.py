"""The Ledger through the command line: its own messages and exit codes, hashes, the hardware record."""

import json
import re
import stat
from pathlib import Path
from typing import Any

from e2e.conftest import OFFLINE, BothMachines, Ledger
from e2e.terminal import Terminal
from shared.world import VECTORS


def test_a_step_that_is_shown_as_hashes_is_signed_so_and_its_signature_says_it(
    desk: BothMachines, blind: Ledger
) -> None:
    plan, requests = desk.write_plan("delegate-key"), desk.path("requests.json")
    plan.write_text(plan.read_text().replace("[[steps]]", 'show = "hashes"\n\n[[steps]]'))
    desk.prove(plan)
    assert desk.online("prepare", plan, "-o", requests).code == 0
    desk.sign(blind, plan, requests, desk.path("signatures.json")).done()
    assert json.loads(desk.path("signatures.json").read_text())["signatures"][0]["shown"] == "hashes"


def _mail() -> tuple[dict[str, Any], str]:
    vector = json.loads((VECTORS / "typed-data/good/mail.json").read_text())
    return vector["document"], vector["expected"]["digest"]


def test_what_stands_beside_is_left_out_and_named_and_begins_no_line(desk: BothMachines) -> None:
    document, digest = _mail()
    document["account"] = "0x\x1b[2Jdigest 00"
    document["types"]["Mail"][0]["internalType"] = "struct Person"
    file = desk.path("typed.json")
    file.write_text(json.dumps(document))
    told = desk.offline("digest", "--json", file).json()
    assert (told["digest"], told["ignored"]) == (digest, ["account", "types.Mail[0].internalType"])
    ended = desk.offline("digest", file)
    assert "ignored           account, types.Mail[0].internalType: no signature covers it" in ended.out
    assert ended.code == 0
    file.write_text(json.dumps(document | {"x\ndigest            0000 0000": 1}))
    begun = [line.split()[0] for line in desk.offline("digest", file).out.splitlines() if line[:1].strip()]
    assert begun == ["primary", "domain", "struct", "digest", "ignored"]


def test_a_refusal_speaks_of_a_document_and_of_no_attack(desk: BothMachines) -> None:
    document, _ = _mail()
    file = desk.path("typed.json")
    changes: list[dict[str, Any]] = [{"types": 1}, {"primaryType": "No"}, {"message": []}, {"domain": {}}]
    for change in changes:
        file.write_text(json.dumps(document | change))
        ended = desk.offline("digest", file)
        assert (ended.code, ended.out) == (3, "")
        assert "altered" not in ended.err
        assert "nothing was hashed" in ended.err


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
