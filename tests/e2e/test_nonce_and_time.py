"""Nonces and the time through the installed commands: nothing is signed twice, and nothing by a clock that nobody knows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from airlock_rehearsal.scenarios import DELEGATE
from commands import FinishedCommand
from e2e.conftest import BothMachines, Ledger, key_at
from shared.make_payloads import seal

_ANSWERS = "Yes\n" * 4


def _change(path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """Write a copy of a requests document with changed items, sealed again as a builder would."""
    document = json.loads(path.read_text())
    for item in document["requests"]:
        change(item["payload"]["message"])
        seal(item["payload"])
    changed = path.with_name(f"changed-{path.name}")
    changed.write_text(json.dumps(document))
    return changed


def _sign(desk: BothMachines, ledger: Ledger, requests: Path, plan: Path, name: str) -> FinishedCommand:
    output = desk.path(f"{name}.json")
    words = ("--plan", plan, "-o", output, "--emulator", ledger.port, "--json")
    return desk.offline("sign", requests, *words, typed=_ANSWERS)


def _result(ended: FinishedCommand) -> tuple[str, str]:
    """Return what became of the only step. A file is written when it was signed, and only then."""
    told = ended.json()
    [step] = told["steps"]
    assert (told["file"] is not None and Path(told["file"]).exists()) is (step["result"] == "signed")
    return step["result"], step["why"]


def _rows(ended: FinishedCommand) -> dict[str, str]:
    return {row["check"]: row["result"] for row in ended.json()["items"][0]["checks"]}


# ---- nonces ---------------------------------------------------------------------------------------------------------


def test_a_replacement_is_refused_by_sign_and_verify_while_the_first_may_execute(
    desk: BothMachines, ledger: Ledger
) -> None:
    plan, requests = desk.prepare("delegate-key")
    assert _sign(desk, ledger, requests, plan, "first").code == 0
    changed = _change(requests, lambda message: message.update(nonce="12345"))
    ended = _sign(desk, ledger, changed, plan, "second")
    assert ended.code == 3, ended.err
    assert "NONCE-PENDING" in ended.err
    assert _result(ended) == ("refused", "NONCE-PENDING")
    told = desk.offline("verify", changed, "--plan", plan, "--json")
    assert told.code == 3
    rows = _rows(told)
    assert (rows["NONCE-PENDING"], rows["NONCE-USED"], rows["NONCE-BATCH"]) == ("refused", "pass", "pass")
    assert "may execute until 20" in told.out


def test_a_second_digest_with_a_signed_nonce_is_refused(desk: BothMachines, ledger: Ledger) -> None:
    plan, requests = desk.prepare("delegate-key")
    assert _sign(desk, ledger, requests, plan, "first").code == 0
    earlier = (-1000, "deadline")
    changed = _change(requests, lambda m: m.update({earlier[1]: str(int(m[earlier[1]]) + earlier[0])}))
    told = desk.offline("verify", changed, "--plan", plan, "--json")
    assert (told.code, _rows(told)["NONCE-USED"]) == (3, "refused")
    ended = _sign(desk, ledger, changed, plan, "second")
    assert (ended.code, "NONCE-USED" in ended.err) == (3, True)


def _two_steps(desk: BothMachines) -> tuple[Path, Path]:
    """Prepare a plan with two steps, which the builder gives different nonces."""
    plan = desk.write_plan("delegate-key")
    text = plan.read_text()
    step = text[text.index("[[steps]]") :]
    second = step.replace('id = "delegate-key"', 'id = "second-key"')
    other = "m/44'/60'/2'/0/0"
    plan.write_text(f"{text}\n{second.replace(DELEGATE, key_at(other).address)}")
    desk.prove(plan, "delegate-key")
    desk.prove(plan, "second-key", other)
    requests = desk.path("two.json")
    ended = desk.online("prepare", plan, "-o", requests)
    assert ended.code == 0, ended.err
    return plan, requests


def test_two_items_with_one_nonce_are_refused(desk: BothMachines, ledger: Ledger) -> None:
    plan, requests = _two_steps(desk)
    assert desk.offline("verify", requests, "--plan", plan).code == 0
    changed = _change(requests, lambda message: message.update(nonce="777"))
    told = desk.offline("verify", changed, "--plan", plan, "--json")
    refused = [{r["check"] for r in item["checks"] if r["result"] == "refused"} for item in told.json()["items"]]
    assert (told.code, refused) == (3, [set(), {"NONCE-BATCH"}])


# ---- the time -------------------------------------------------------------------------------------------------------


def test_without_a_statement_of_the_time_nothing_is_signed_and_the_command_is_named(
    desk: BothMachines, ledger: Ledger
) -> None:
    plan, requests = desk.prepare("delegate-key")
    (desk.path("offline-home") / "transcript.jsonl").rename(desk.path("old-transcript"))
    assert _sign(desk, ledger, requests, plan, "out").code == 3  # the pin has no record any more: people agree again
    assert desk.offline("trust", desk.path("deployment.json"), typed="Yes\n").code == 0
    ended = _sign(desk, ledger, requests, plan, "out")
    assert ended.code == 7, ended.err
    assert "TIME-CLOCK" in ended.err
    assert "airlock-offline preflight --time" in ended.err
    assert not desk.path("out.json").exists()
    ended = desk.state_time()  # of a real Ledger, which is not there, on a machine that may be on a network
    assert ended.code in (3, 5), ended.err  # it says so; the time is recorded all the same
    desk.prove(plan)  # the proof was in the transcript too
    assert _sign(desk, ledger, requests, plan, "out").code == 0


@pytest.mark.parametrize("off_s", [-120, 3600])
def test_a_watch_that_contradicts_the_clock_ends_with_7_and_undoes_an_earlier_statement(
    desk: BothMachines, ledger: Ledger, off_s: int
) -> None:
    plan, requests = desk.prepare("delegate-key")
    ended = desk.state_time(off_s)
    assert ended.code == 7, ended.err
    assert "TIME-CLOCK" in ended.err
    assert _sign(desk, ledger, requests, plan, "out").code == 7
    assert not desk.path("out.json").exists()
    assert desk.offline("transcript", "verify").code == 0


@pytest.mark.parametrize(
    "words",
    [
        ("--time", "2026-11-21T02:43:00Z"),
        ("--time", "2026-11-21T02:43:00", "--uncertainty", "60"),
        ("--time", "2026-11-21T02:43:00Z", "--uncertainty", "301"),
    ],
)
def test_a_statement_that_says_nothing_is_a_mistake(desk: BothMachines, words: tuple[str, ...]) -> None:
    before = desk.offline("transcript", "show").out
    assert desk.offline("preflight", *words).code == 2
    assert desk.offline("transcript", "show").out == before


def test_the_stated_uncertainty_decides_how_much_time_is_left(desk: BothMachines) -> None:
    plan, requests = desk.prepare("delegate-key")
    changed = _change(
        requests, lambda m: m.update(deadline=str(int(m["deadline"]) - 25 * 60_000))
    )  # 5 of 30 minutes left
    assert desk.offline("verify", changed, "--plan", plan).code == 0
    desk.state_time(uncertainty_s=300)
    told = desk.offline("verify", changed, "--plan", plan, "--json")
    assert (told.code, _rows(told)["TIME-REMAINING"]) == (3, "refused")


# ---- texts ----------------------------------------------------------------------------------------------------------


def test_the_review_shows_a_code_as_text_hex_and_code_points_and_warns_of_claims(
    desk: BothMachines, ledger: Ledger
) -> None:
    plan, requests = desk.prepare("referral-code")
    document = json.loads(requests.read_text())
    document["requests"][0]["payload"]["meta"] = {"c\u043ede": "ТREASURY", "note": "pay\u200bpal \x1b[2J"}
    requests.write_text(json.dumps(document))
    ended = _sign(desk, ledger, requests, plan, "out")
    assert ended.code == 0, ended.err
    assert '"TAKEN"' in ended.err
    assert "U+0054 U+0041 U+004B" in ended.err
    assert "hex 5441 4b45 4e00 0000 0000 0000 0000 0000\n" in ended.err
    review = ended.err[ended.err.index("STEP 1 of 1") : ended.err.index("CHECKS:")]
    assert [line for line in review.splitlines() if len(line) > 80] == []
    assert ended.err.count("WARNING: ") >= 3
    assert "\x1b" not in ended.err
    assert "\u200b" not in ended.err


def test_a_code_in_look_alike_letters_is_refused_by_sign_and_verify(desk: BothMachines, ledger: Ledger) -> None:
    plan, requests = desk.prepare("referral-code")
    letters = "0x" + "ТREASURY".encode().ljust(32, b"\0").hex()
    changed = _change(requests, lambda message: message.update(_code=letters))
    told = desk.offline("verify", changed, "--plan", plan, "--json")
    assert (told.code, _rows(told)["TEXT-SCRIPT"], _rows(told)["PLAN-FIELD"]) == (3, "refused", "refused")
    ended = _sign(desk, ledger, changed, plan, "out")
    assert (ended.code, "TEXT-SCRIPT" in ended.err, _result(ended)[0]) == (3, True, "refused")
