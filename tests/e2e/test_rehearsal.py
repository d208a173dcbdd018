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


@pytest.fixture(scope="module")
def screen(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("rehearsal") / "artefacts"
    ended = subprocess.run(
        [
            str(ONLINE),
            "rehearse",
            "--yes",
            "--channel",
            "qr",
            "--folder",
            str(folder),
            "--offline-command",
            str(OFFLINE),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        stdin=subprocess.DEVNULL,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout + "\n" + ended.stderr


def test_each_ceremony_shows_an_equal_fingerprint_on_both_sides(screen: str) -> None:
    assert screen.count("the requests fingerprint is EQUAL on both screens") == len(CEREMONIES)
    assert "NOT EQUAL" not in screen


def test_every_document_crosses_by_pictures_of_codes_of_which_some_are_lost(screen: str) -> None:
    assert screen.count("crosses the gap by QR codes") == CROSSINGS
    assert screen.count("the document's fingerprint is EQUAL on both screens") == CROSSINGS
    counts = re.findall(r"(\d+) frames played, (\d+) seen", screen.replace("\n", " "))
    assert sum(int(seen) for _, seen in counts) < 0.8 * sum(int(played) for played, _ in counts)


@pytest.mark.parametrize(("ceremony", "outcome"), CEREMONIES.items())
def test_each_ceremony_ends_with_its_outcome(screen: str, ceremony: str, outcome: str) -> None:
    summary = screen[screen.rindex("# Summary") :]
    part = summary[summary.index(ceremony) :]
    assert re.search(r"outcome\s+(\w+)", part)[1] == outcome  # type: ignore[index]


@pytest.mark.parametrize(
    "shown",
    [
        "DECIDED BY THE PLAN",
        "THE LEDGER WILL SHOW",
        "recovered           0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D",
        "outcome: ",
    ],
)
def test_each_ceremony_shows_every_part_of_the_review(screen: str, shown: str) -> None:
    assert screen.count(shown) >= len(CEREMONIES)


@pytest.mark.parametrize(
    "shown", ["domain hash", "struct hash", "digest", "CHOSEN BY THE BUILDER, within the plan's limits"]
)
def test_each_intent_shows_its_hashes_and_what_was_left_open(screen: str, shown: str) -> None:
    assert screen.count(shown) >= len(CEREMONIES) - 1  # one ceremony is a transaction's


@pytest.mark.parametrize("shown", ["transaction hash", "approve", "2500 USDC", "Blind signing"])
def test_the_transactions_review_shows_what_the_device_does_not(screen: str, shown: str) -> None:
    part = screen[screen.index("# Let the trading storage take USDC") :]
    assert shown in part


@pytest.mark.parametrize("shown", ["100 USDC", "raw 100000000", '"TAKEN"', "2027-", "MarketOrderExecuted"])
def test_fields_are_shown_in_human_units_beside_raw_texts(screen: str, shown: str) -> None:
    assert shown in screen


def test_the_review_fits_eighty_columns(screen: str) -> None:
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
