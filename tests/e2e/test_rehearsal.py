"""The one command: six ceremonies through both halves, by QR codes; by files it is what an installed kit plays."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from e2e.conftest import OFFLINE, ONLINE

CEREMONIES = {
    "delegate-key": "CONFIRMED",
    "referral-code": "CONFIRMED",
    "usdc-approval": "CONFIRMED",
    "price-trigger": "CONFIRMED",
    "twap-cancel": "CONFIRMED",
    "market-close": "FILLED",
}
CROSSINGS = 1 + 3 * len(CEREMONIES)  # the deployment, and of each ceremony the plan, the requests and the signatures


SHOWN_OF_EACH = (
    "DECIDED BY THE PLAN", "THE LEDGER WILL SHOW", "recovered           0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D",
    "outcome: ",
)  # fmt: skip
SHOWN_OF_INTENTS = ("domain hash", "struct hash", "digest", "CHOSEN BY THE BUILDER, within the plan's limits")
SHOWN_OF_THE_TRANSACTION = ("transaction hash", "approve", "2500 USDC", "Blind signing")
SHOWN_SOMEWHERE = ("100 USDC", "raw 100000000", '"TAKEN"', "2027-", "MarketOrderExecuted")


def test_six_ceremonies_by_codes_end_as_they_should_and_people_saw_what_was_signed(tmp_path: Path) -> None:
    words: list[str | Path] = [
        ONLINE,
        "rehearse",
        "--yes",
        "--channel",
        "qr",
        "--folder",
        tmp_path / "r",
        "--offline-command",
        OFFLINE,
    ]
    ended = subprocess.run(words, capture_output=True, text=True, check=False, timeout=600, stdin=subprocess.DEVNULL)
    screen = f"{ended.stdout}\n{ended.stderr}"
    assert ended.returncode == 0, screen
    assert screen.count("the requests fingerprint is EQUAL on both screens") == len(CEREMONIES)
    assert "NOT EQUAL" not in screen
    summary = screen[screen.rindex("# Summary") :]
    ends = {name: re.search(rf"{name}[\s\S]*?outcome\s+(\w+)", summary) for name in CEREMONIES}
    assert {name: found and found[1] for name, found in ends.items()} == CEREMONIES
    # every document crosses by pictures of codes, of which some are lost
    assert screen.count("crosses the gap by QR codes") == CROSSINGS
    assert screen.count("the document's fingerprint is EQUAL on both screens") == CROSSINGS
    counts = re.findall(r"(\d+) frames played, (\d+) seen", screen.replace("\n", " "))
    assert sum(int(seen) for _, seen in counts) < 0.8 * sum(int(played) for played, _ in counts)
    # what people saw
    assert [shown for shown in SHOWN_OF_EACH if screen.count(shown) < len(CEREMONIES)] == []
    assert [shown for shown in SHOWN_OF_INTENTS if screen.count(shown) < len(CEREMONIES) - 1] == []
    assert [shown for shown in SHOWN_SOMEWHERE if shown not in screen] == []
    transaction = screen[screen.index("# Let the trading storage take USDC") :]
    assert [shown for shown in SHOWN_OF_THE_TRANSACTION if shown not in transaction] == []
    review = screen[screen.index("STEP 1 of 1") : screen.index("Wrote ")]
    assert [line for line in review.splitlines() if len(line) > 80] == []


def test_an_interrupted_rehearsal_leaves_no_process_behind(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [str(ONLINE), "rehearse", "--yes", "--folder", str(tmp_path / "r"), "--offline-command", str(OFFLINE)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        stdin=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    with process.stdout as out:
        for line in out:
            if "airlock-offline sign" in line:
                break
        os.killpg(process.pid, signal.SIGINT)
        rest = out.read()
    assert process.wait(60) == 130, rest
    with pytest.raises(ProcessLookupError):  # the whole group is gone: services, Ledger, commands
        os.killpg(process.pid, 0)
