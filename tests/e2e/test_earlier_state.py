"""What both machines had before today's commands were installed opens with them, and its days go on.

``tests/vectors/before/desk`` was made by the commands of that time (``make_earlier_state.py``; README.md beside it). What
was signed there has one of two deadlines: one that is over on every later day, and 2099 where a test goes on with it.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from airlock_rehearsal.services.server import RehearsalServices
from e2e.conftest import BothMachines, Ledger
from e2e.make_earlier_state import DELIVERIES, EVERYBODY

MADE = Path(__file__).parents[1] / "vectors/before/desk"
STATES = {"whole": "CONFIRMED", "exported": "EXPORTED"} | {name: row[4] for name, row in DELIVERIES.items()}


def _written_until_ms() -> int:
    """Return when the last thing in the folder was written."""
    lines = [
        line
        for half in ("online", "offline")
        for line in (MADE / f"{half}-home/transcript.jsonl").read_text().splitlines()
    ]
    return max(int(json.loads(line)["at_ms"]) for line in lines)


@pytest.fixture
def desk(tmp_path: Path, services: RehearsalServices) -> BothMachines:
    """A copy of the folder, private as homes are, and the services of today at another address than the one in it."""
    if time.time() * 1000 < _written_until_ms() + 600_000:  # the last of the short deadlines, and its margin
        pytest.skip("this machine's clock is before the days that were kept")
    folder = tmp_path / "desk"
    shutil.copytree(MADE, folder)
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)
    return BothMachines(folder, services)


def _states(desk: BothMachines) -> dict[str, str]:
    return {row["ceremony"]: row["state"] for row in desk.online("status", "--json").json()}


def _find_services(desk: BothMachines) -> None:
    """Fetch the deployment again: its services are at another address now, which the online machine is told so."""
    urls = desk.services
    words = ("--builder", urls.builder_url, "--batched-market", urls.batched_url, "--relayer", urls.relayer_url)
    ended = desk.online("deployment", "fetch", "--name", "rehearsal", *words, "-o", desk.path("moved.json"))
    assert ended.code == 0, ended.err


def _plan(desk: BothMachines, name: str) -> tuple[str, Path]:
    return "--plan", desk.path(f"{name}.plan.toml")


# ---- the online machine: what was submitted -------------------------------------------------------------------------


def _find_node(desk: BothMachines) -> None:
    """Give the online machine a node of its own."""
    desk.path("online-home/config.toml").write_text(f'[rpc]\nurl = "{desk.services.rpc_url}"\n')


def test_the_journal_opens_with_every_state_in_it(desk: BothMachines) -> None:
    assert set(STATES.values()) >= {
        "UNKNOWN",
        "ACCEPTED",
        "REJECTED",
        "EXPORTED",
        "FILLED",
        "MARKET_DECLINED",
        "FAILED",
    }
    assert _states(desk) == STATES
    told = desk.online("status")
    assert told.out.count("UNKNOWN") == 2, told.out


def test_resolve_says_what_each_waits_for_and_settles_nothing_while_nobody_answers(desk: BothMachines) -> None:
    ended = desk.online("resolve", "--json")
    reports = {report["ceremony"]: report for report in ended.json()}
    assert ended.code == 9, ended.err
    assert set(reports) == {"exported", "rejected-late", "lost", "lost-late", "accepted-late"}
    assert all(report["was"] == report["state"] == STATES[name] for name, report in reports.items())
    assert reports["rejected-late"]["rejections"][0]["status"] == 429
    assert reports["lost-late"]["until_ms"] > 4_000_000_000_000
    assert _states(desk) == STATES


def test_without_a_node_of_its_own_an_expiry_is_the_services_word(desk: BothMachines) -> None:
    _find_services(desk)
    reports = {report["ceremony"]: report for report in desk.online("resolve", "--json").json()}
    assert "by the service's word its nonce is unused" in reports["lost"]["known"]
    assert _states(desk) == STATES


def test_resolve_settles_what_expired_unused_and_nothing_else(desk: BothMachines) -> None:
    _find_services(desk)
    _find_node(desk)
    ended = desk.online("resolve", "--json")
    reports = {report["ceremony"]: report for report in ended.json()}
    assert (reports["lost"]["was"], reports["lost"]["state"]) == ("UNKNOWN", "EXPIRED_UNUSED"), ended.err
    assert "2099" in reports["lost-late"]["known"]
    assert _states(desk) == STATES | {"lost": "EXPIRED_UNUSED"}


def test_follow_goes_on_and_sends_nothing(desk: BothMachines) -> None:
    _find_services(desk)
    _find_node(desk)
    ended = desk.online("follow", "--patience", 0)
    assert ended.code == 9, ended.err
    assert ended.out.count("outcome: UNKNOWN") == 1
    assert ended.out.count("outcome: EXPIRED_UNUSED") == 1
    assert _states(desk) == STATES | {"lost": "EXPIRED_UNUSED"}
    assert [name for name, posts in desk.services.posts.items() if posts] == []


def test_what_was_rejected_is_tried_again_and_stays_whole_when_nobody_answers(desk: BothMachines) -> None:
    signatures = desk.path("rejected-late.signatures.json")
    assert desk.online("submit", signatures, "--patience", 0).code == 8
    assert _states(desk) == STATES | {"rejected-late": "PREPARED"}  # not a byte was sent: the connection was refused


def test_what_another_sender_has_is_never_submitted_from_here(desk: BothMachines) -> None:
    ended = desk.online("submit", desk.path("exported.signatures.json"), "--patience", 0)
    assert (ended.code, "ROUTE-EXPORTED" in ended.err) == (3, True), ended.err
    assert _states(desk) == STATES


def test_what_was_lost_is_never_sent_again(desk: BothMachines) -> None:
    kept = json.loads(next(_signed(desk, "lost-late")).read_text())
    document = json.loads(desk.path("whole.signatures.json").read_text())
    lost = next(row for row in desk.online("status", "--json").json() if row["ceremony"] == "lost-late")
    document["header"] |= {"ceremony": "lost-late", "requests": lost["requests"]}
    document["signatures"] = [kept]
    path = desk.path("lost-again.json")
    path.write_text(json.dumps(document))
    assert desk.online("submit", path, "--patience", 0).code == 9
    assert _states(desk) == STATES


def _signed(desk: BothMachines, ceremony: str) -> Iterator[Path]:
    digest = next(row["digest"] for row in desk.online("status", "--json").json() if row["ceremony"] == ceremony)
    yield desk.path(f"offline-home/signed/{digest[2:]}.json")


# ---- the ceremony that is open on both machines ---------------------------------------------------------------------


@pytest.mark.parametrize("half", ["online", "offline"])
def test_the_open_ceremony_goes_on_from_what_was_confirmed_to_its_end(desk: BothMachines, half: str) -> None:
    run = getattr(desk, half)
    before = _stations(run("ceremony", "show", *_plan(desk, "half"), "--json").json())
    confirmed = {"plan", "deployment"} | ({"requests"} if half == "online" else set())
    assert {name for name, row in before.items() if row["confirmed"]} == confirmed
    assert all(
        row["confirmed"][0]["by"] == ["signer", "facilitator", "witness"] for row in before.values() if row["confirmed"]
    )
    again = run("ceremony", "confirm", "plan", *_plan(desk, "half"), *EVERYBODY, typed="Yes\n")
    assert again.code == 0, again.err
    assert "changed since" not in run("ceremony", "show", *_plan(desk, "half")).out
    ended = run("ceremony", "end", *_plan(desk, "half"), typed="Yes\n")
    assert (ended.code, "\nINCOMPLETE\n" in ended.out) == (3, True), ended.err
    assert run("ceremony", "confirm", "plan", *_plan(desk, "half"), *EVERYBODY, typed="Yes\n").code == 3  # it is ended


@pytest.mark.parametrize("half", ["online", "offline"])
def test_the_ceremony_that_was_ended_is_complete_still(desk: BothMachines, half: str) -> None:
    shown = getattr(desk, half)("ceremony", "show", *_plan(desk, "whole"), "--json").json()
    assert (shown["complete"], shown["missing"]) == (True, [])
    assert all(row["confirmed"] for row in shown["stations"])


def _stations(shown: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["station"]: row for row in shown["stations"]}


# ---- the signing machine --------------------------------------------------------------------------------------------


def test_the_transcript_holds_with_its_seal_and_a_changed_one_does_not(desk: BothMachines) -> None:
    told = desk.offline("transcript", "verify", *_plan(desk, "whole"), "--json")
    assert told.code == 0, told.err
    assert [seal["ceremony"] for seal in told.json()["seals"]] == ["whole"]
    path = desk.path("offline-home/transcript.jsonl")
    text = path.read_text()
    path.write_text(text.replace("Grace Hopper", "Grace Hooper", 1))
    assert path.read_text() != text
    assert desk.offline("transcript", "verify", *_plan(desk, "whole")).code == 4


def test_sign_takes_the_kept_signature_and_asks_for_the_other_step_alone(desk: BothMachines, ledger: Ledger) -> None:
    requests, output = desk.path("half.requests.json"), desk.path("half.signatures.json")
    kept = {path.name: path.read_bytes() for path in desk.path("offline-home/signed").iterdir()}
    desk.state_time()
    ended = desk.offline(
        "sign", requests, *_plan(desk, "half"), "-o", output, "--emulator", ledger.port, typed="Yes\n" * 2
    )
    assert ended.code == 0, ended.err
    assert ("Sign step code as" in ended.err, "Sign step open as" in ended.err) == (False, True)
    assert ended.err.count("the kept signature is used again") == 1
    first, second = json.loads(output.read_text())["signatures"]
    assert json.loads(kept[f"{first['digest'][2:]}.json"]) == first
    assert (second["result"], f"{second['digest'][2:]}.json" in kept) == ("signed", False)
    assert desk.offline("transcript", "verify", *_plan(desk, "half")).code == 0


def test_a_kept_signature_whose_deadline_is_over_is_not_given_out_again(desk: BothMachines, ledger: Ledger) -> None:
    desk.state_time()
    words = ("sign", desk.path("whole.requests.json"), *_plan(desk, "whole"), "-o", desk.path("late.json"))
    ended = desk.offline(*words, "--emulator", ledger.port, typed="Yes\n" * 2)
    assert (ended.code, "TIME-REMAINING" in ended.err) == (7, True), ended.err
    assert "the kept signature is used again" not in ended.err
    assert "refused (TIME-REMAINING)" in ended.err
    assert not desk.path("late.json").exists()


def test_a_scan_goes_on_from_the_codes_that_were_read(desk: BothMachines) -> None:
    codes, output = desk.path("codes"), desk.path("scanned.json")
    requests = desk.path("half.requests.json")
    assert desk.online("show", requests, "--as", "png", "-o", codes, "--density", 10).code == 0
    for picture in sorted(codes.glob("*.png"))[:3]:
        picture.unlink()  # those that were read then
    for picture in sorted(codes.glob("*.png"))[4:]:
        picture.unlink()  # and with these it would not need the others
    ended = desk.offline("scan", codes, "-o", output, typed="Yes\n")
    assert ended.code == 0, ended.err
    assert "Continuing an interrupted scan" in ended.err
    assert json.loads(output.read_text()) == json.loads(requests.read_text())


# ---- the report -----------------------------------------------------------------------------------------------------


def test_the_report_of_that_day_is_made_and_verified_on_both_machines(desk: BothMachines) -> None:
    signatures = ("--signatures", desk.path("whole.signatures.json"))
    for run, more in (
        (desk.offline, ("--requests", desk.path("whole.requests.json"))),
        (desk.online, ("--transcript", desk.path("offline-home/transcript.jsonl"))),
    ):
        folder = desk.path(f"evidence{more[0]}")
        made = run("report", "make", *_plan(desk, "whole"), *signatures, *more, "-o", folder)
        assert made.code == 0, made.err
        checked = run("report", "verify", folder, *signatures, "--json")
        assert (checked.code, checked.json()["ok"]) == (0, True), checked.err
        page = (folder / "report.html").read_text()
        assert "Ada Lovelace" in page
