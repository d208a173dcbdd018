"""A referral code handed over: one plan, two custodians, each with a machine and a Ledger, at two moments."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from airlock_rehearsal.scenarios import PATH, TRADER
from commands import FinishedCommand
from e2e.conftest import OFFLINE, ONLINE, BothMachines, Ledger, start_ledger, stop_ledger
from e2e.led import Screen
from plans import plan_head

HEIR, HEIR_PATH = "0x463e4e114AA57F54f2Fd2C3ec03572C6f75d84C2", "m/44'/60'/1'/0/0"  # of the software Ledger's seed
SIGNERS = {"owner": (TRADER, PATH), "heir": (HEIR, HEIR_PATH)}
PLAN = f"""{plan_head("handover", SIGNERS, max_fee_gwei_at_most="50")}
[[steps]]
id = "offer"
action = "referral-transfer"
signer = "owner"
fields = {{ caller = "{TRADER}", code = "HOUSE", newOwner = "{HEIR}" }}
[[steps]]
id = "accept"
action = "referral-accept"
signer = "heir"
fields = {{ caller = "{HEIR}", code = "HOUSE" }}
"""


class Table(NamedTuple):
    """One online machine, and an offline machine with a Ledger for each custodian."""

    online: BothMachines
    desks: dict[str, BothMachines]
    ledgers: dict[str, Ledger]

    @property
    def plan(self) -> Path:
        return self.online.path("handover.toml")

    def requests(self, signer: str) -> Path:
        return self.online.path(f"{signer}.requests.json")

    def prepare(self, signer: str, *words: object) -> FinishedCommand:
        return self.online.online("prepare", self.plan, "--signer", signer, "-o", self.requests(signer), *words)

    def sign(self, signer: str) -> FinishedCommand:
        output = self.online.path(f"{signer}.signatures.json")
        return self.desks[signer].sign(self.ledgers[signer], self.plan, self.requests(signer), output)

    def submit(self, signer: str, *words: object) -> FinishedCommand:
        return self.online.online("submit", self.online.path(f"{signer}.signatures.json"), *words)

    def code(self) -> dict[str, Any]:
        """Return what both sources say of the code, which must be the same."""
        told = self.online.online("referral", "HOUSE", "--json").done().json()
        builder, chain = ({n: one[n] for n in ("owner", "pending", "private")} for one in told["seen"])
        assert builder == chain
        return dict(chain)


@pytest.fixture
def table(desk: BothMachines) -> Iterator[Table]:
    desk.path("online-home/config.toml").write_text(f'[rpc]\nurl = "{desk.services.rpc_url}"\n')
    second = BothMachines(desk.path("second"), desk.services)
    second.folder.mkdir()
    assert second.offline("trust", desk.path("deployment.json"), typed="Yes\n").code == 0
    second.state_time()
    ledgers = {name: start_ledger("--blind-signing") for name in ("owner", "heir")}
    desk.path("handover.toml").write_text(PLAN)
    yield Table(desk, {"owner": desk, "heir": second}, ledgers)
    for ledger in ledgers.values():
        stop_ledger(ledger)


def test_a_code_is_handed_over_by_one_plan_on_two_machines(table: Table, desk: BothMachines) -> None:
    assert table.code() == {"owner": TRADER, "pending": "", "private": False}

    early = table.prepare("heir")
    assert early.code == 8
    assert "WARNING: the caller" in early.err
    assert "step 1 (offer," in early.err
    assert "NotPendingOwner" in early.err
    assert not table.requests("heir").exists()
    words = ("prepare", table.plan, "--signer", "heir", "-o", table.requests("heir"))
    home = shutil.copytree(desk.path("online-home"), desk.path("led-home"))
    led = Screen(ONLINE, "--home", home, *words, AIRLOCK_LED="1", TERM="xterm")
    while "Prepare all the same?" not in led.shown:
        assert led.more(), led.shown
    led.press("no\n")
    assert led.end() == 6

    offered = table.prepare("owner").done()
    assert "WARNING" not in offered.err
    verified = table.online.offline("verify", table.requests("owner"), "--plan", table.plan, "--json")
    assert (verified.code, verified.json()["signer"]) == (0, "owner")
    signing = ("sign", table.requests("owner"), "--plan", table.plan, "-o", desk.path("unsigned.json"))
    by_hand = Screen(OFFLINE, "--home", desk.path("offline-home"), *signing, "--emulator", table.ledgers["owner"].port)
    while "-- 1 of 1 -- Enter: on --" not in by_hand.shown:  # a long part is turned page by page
        assert by_hand.more(), by_hand.shown
    assert ("PART OF THE PLAN" in by_hand.shown, "requests fingerprint" in by_hand.shown) == (True, False)
    by_hand.press("\x03")
    assert by_hand.end() == 130
    signed = table.sign("owner").done()
    part, _, below = signed.err.partition("requests fingerprint")  # what is compared stands above its question
    assert "PART OF THE PLAN: 1 of 2 steps, those that owner signs" in part
    assert "PART OF THE PLAN" not in below
    assert "NOT in this document:\n    step 2: accept (referral-accept), signed by heir" in signed.err
    assert "STEP 1 of 2 of the plan: offer" in signed.err
    submitted = table.submit("owner", "--json").done()
    assert kept(submitted) == [True] * 4  # owner and pending owner, by the builder and by the chain
    assert table.code() == {"owner": TRADER, "pending": HEIR, "private": False}

    given = ("--plan", table.plan, "--signatures", desk.path("owner.signatures.json"), "-o", desk.path("evidence"))
    told = desk.online(
        "report", "make", *given, "--transcript", desk.path("offline-home/transcript.jsonl"), "--json"
    ).done()
    assert told.json()["part"]["not_in_it"] == ["accept"]
    assert any(sentence.startswith("step accept, read before") for sentence in told.json()["notes"])
    [offer, _] = json.loads((desk.path("evidence") / "report.json").read_text())["steps"]
    assert [read["seen"][1]["owner"] for read in offer["reads"]] == [TRADER]

    ready = table.prepare("heir").done()
    assert "WARNING" not in ready.err
    accepted = table.sign("heir").done()
    assert "STEP 2 of 2 of the plan: accept" in accepted.err
    assert "code points U+0048 U+004F U+0055 U+0053 U+0045" in accepted.err
    submitted = table.submit("heir", "--by-rpc", "--json").done()
    assert kept(submitted) == [True] * 4  # owner and pending owner, by the builder and by the chain
    assert table.code() == {"owner": HEIR, "pending": "", "private": False}

    reads = [entry["data"] for entry in desk.entries("online") if entry["event"] == "referral-read"]
    assert [(read["step"], len(read["seen"]), bool(read["warnings"])) for read in reads] == [
        ("accept", 2, True),
        ("offer", 2, False),
        ("accept", 2, False),
    ]


def kept(ended: FinishedCommand) -> list[bool | None]:
    """Return whether each promise of a submission was kept, as it was read back."""
    lines = [json.loads(line) for line in ended.out.splitlines()]
    return [promise["kept"] for line in lines for promise in line.get("read_back", [])]
