"""The people of a ceremony, snapshots, nonces and clocks, through the installed commands of both halves."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from airlock_offline.home import OfflineHome, now_ms, uptime
from airlock_shared.checks.times import STATED
from commands import FinishedCommand
from e2e.conftest import BY_NAME, BothMachines, Ledger, start_ledger, stop_ledger
from e2e.test_report import Day

# ---- the people of a ceremony ---------------------------------------------------------------------------------------


@pytest.fixture
def day(desk: BothMachines, ledger: Ledger) -> Day:
    """Return a day that has not begun, whose plan names three roles."""
    return Day(desk, ledger, "referral-code")


def test_a_plan_that_requires_a_witness_is_signed_in_its_open_ceremony_alone(desk: BothMachines, day: Day) -> None:
    day.plan.write_text(day.plan.read_text().replace("roles = [", 'witness = "required"\nroles = ['))
    assert desk.online("prepare", day.plan, "-o", day.requests).code == 0
    refused = day.sign()
    assert (refused.code, "PLAN-PEOPLE" in refused.err, day.signatures.exists()) == (3, True, False), refused.err
    alone = day.ceremony(desk.offline, "begin", *BY_NAME[:4], "--role", "witness=")
    assert (alone.code, "ROLE-TEXT" in alone.err) == (3, True), alone.err
    assert day.ceremony(desk.offline, "begin", *BY_NAME).code == 0
    signed = day.sign()
    assert (signed.code, day.signatures.exists(), "compared this plan with" in signed.err) == (0, True, True), (
        signed.err
    )


def test_a_no_to_the_pin_the_address_the_requests_and_the_seal_is_kept(
    desk: BothMachines, ledger: Ledger, day: Day
) -> None:
    again, urls = desk.path("again.json"), desk.services
    refusing = start_ledger("--fault", "refuse")
    day.begin()
    assert desk.online("prepare", day.plan, "-o", day.requests).code == 0
    words = ("--builder", urls.builder_url, "--batched-market", urls.batched_url)  # fewer services: another deployment
    assert desk.online("deployment", "fetch", "--name", "rehearsal", *words, "-o", again).code == 0
    for typed in ("", "n\n"):  # where nobody answers, nobody has said no
        assert desk.offline("trust", again, "--plan", day.plan, typed=typed).code == 6
    assert desk.offline("address", "--plan", day.plan, "--confirm", "--emulator", refusing.port).code == 6
    stop_ledger(refusing)
    refused = desk.sign(ledger, day.plan, day.requests, day.signatures, typed="n\n")
    assert (refused.code, "sign-begun" in desk.events()) == (6, False), refused.err
    assert desk.offline("transcript", "seal", "--plan", day.plan, "--emulator", ledger.port, typed="n\n").code == 6
    shown = day.ceremony(desk.offline, "show").out
    assert re.findall(r"checkpoint (\w+), by signer", shown) == ["deployment", "address", "requests", "seal"]


def test_what_is_agreed_to_on_another_day_is_shown_from_the_record(desk: BothMachines, day: Day) -> None:
    day.work()
    outcome = day.ceremony(desk.online, "compare", "outcome").done()
    above, question, _ = outcome.err.partition("I compared it myself")
    assert question
    for line in ("step referral-code: CONFIRMED", "      promised ", "      found ", "      kept      yes"):
        assert f"\n{line}" in above
    page = day.ceremony(desk.offline, "compare", "preflight").done()
    above = page.err.partition("I compared it myself")[0]
    for line in ("preflight of airlock-offline ", "No check is refused.\n", "LOOK: "):
        assert f"\n{line}" in above
    head = day.ceremony(desk.offline, "compare", "seal")
    assert head.err.index("on record") < head.err.index("I compared it myself")


# ---- snapshots and clocks through the installed commands: a machine set back, and a clock that was set, are noticed -


FIRST, SECOND = "delegate-key", "referral-code"


def snapshot(desk: BothMachines, home: str) -> Callable[[], None]:
    """Copy a machine's folder, and return what sets the machine back to it."""
    kept = Path(shutil.copytree(desk.path(home), desk.path(f"{home}-kept")))

    def restore() -> None:
        shutil.rmtree(desk.path(home))
        shutil.copytree(kept, desk.path(home))

    return restore


def submitted(desk: BothMachines, ledger: Ledger) -> Path:
    """Prepare, sign and submit the first ceremony; return its signatures."""
    plan, requests = desk.prepare(FIRST)
    desk.sign(ledger, plan, requests, desk.path(f"{FIRST}.json")).done()
    assert desk.online("submit", desk.path(f"{FIRST}.json")).code == 0
    return desk.path(f"{FIRST}.json")


def require_refused(desk: BothMachines, ended: FinishedCommand, name: str) -> None:
    assert (ended.code, "PIN-HEAD" in ended.err) == (3, True), ended.err
    assert not desk.path(f"{name}.json").exists()
    assert "Traceback" not in ended.err


def test_a_head_that_was_seen_goes_into_the_next_requests_and_is_known(desk: BothMachines, ledger: Ledger) -> None:
    signatures = submitted(desk, ledger)
    header = json.loads(signatures.read_text())["header"]
    assert header["machine"] == desk.entries()[0]["hash"]
    plan, requests = desk.prepare(SECOND)
    assert json.loads(requests.read_text())["header"]["signing_heads"] == {header["machine"]: header["transcript_head"]}
    assert desk.offline("verify", requests, "--plan", plan).code == 0
    assert desk.sign(ledger, plan, requests, desk.path(f"{SECOND}.json")).code == 0


def test_a_signing_machine_that_was_set_back_is_refused_until_it_is_as_it_was(
    desk: BothMachines, ledger: Ledger
) -> None:
    set_back = snapshot(desk, "offline-home")
    submitted(desk, ledger)
    as_it_was = Path(shutil.copytree(desk.path("offline-home"), desk.path("as-it-was")))
    plan, requests = desk.prepare(SECOND)
    set_back()
    told = desk.offline("verify", requests, "--plan", plan)
    assert (told.code, "PIN-HEAD" in told.out) == (3, True), told.out
    before = len(desk.entries())
    require_refused(desk, desk.sign(ledger, plan, requests, desk.path(f"{SECOND}.json")), SECOND)
    assert "signing" not in desk.events()[before:]
    shutil.rmtree(desk.path("offline-home"))
    shutil.copytree(as_it_was, desk.path("offline-home"))
    assert desk.sign(ledger, plan, requests, desk.path(f"{SECOND}.json")).code == 0


def test_an_online_machine_that_was_set_back_is_refused_until_it_has_the_signatures_again(
    desk: BothMachines, ledger: Ledger
) -> None:
    set_back = snapshot(desk, "online-home")
    signatures = submitted(desk, ledger)
    answered = desk.path(f"{FIRST}.requests.json")
    set_back()
    plan, requests = desk.prepare(SECOND)
    require_refused(desk, desk.sign(ledger, plan, requests, desk.path(f"{SECOND}.json")), SECOND)
    made = desk.online("report", "make", "--plan", desk.path(f"{FIRST}.plan.toml"), "--requests", answered,
                       "--signatures", signatures, "-o", desk.path("evidence"))  # fmt: skip
    assert made.code in (0, 3), made.err  # nothing is sent, and the head is known
    requests.unlink()
    plan, requests = desk.prepare(SECOND)
    assert desk.sign(ledger, plan, requests, desk.path(f"{SECOND}.json")).code == 0


def test_a_clock_that_went_another_way_than_the_machine_ran_is_asked_for_again(
    desk: BothMachines, ledger: Ledger
) -> None:
    plan, requests = desk.prepare(SECOND)
    state, ran = OfflineHome(desk.path("offline-home")), uptime()
    assert ran is not None
    at_ms = now_ms()
    stated = {"stated_ms": at_ms, "machine_ms": at_ms, "uncertainty_s": 60, "boot_id": ran.boot_id}
    state.transcript.record(STATED, stated | {"boot_ms": ran.boot_ms + 5_000}, at_ms)
    require_no_time(desk, desk.sign(ledger, plan, requests, desk.path(f"{SECOND}.json")))
    desk.state_time()
    assert desk.sign(ledger, plan, requests, desk.path(f"{SECOND}.json")).code == 0


def require_no_time(desk: BothMachines, ended: FinishedCommand) -> None:
    assert ended.code == 7, ended.err
    assert "TIME-CLOCK" in ended.err
    assert "airlock-offline preflight --time" in ended.err
    assert not any(desk.path(f"{name}.json").exists() for name in (FIRST, SECOND))


def test_a_watch_that_contradicts_the_clock_ends_with_7_and_undoes_an_earlier_statement(
    desk: BothMachines, ledger: Ledger
) -> None:
    plan, requests = desk.prepare(FIRST)
    ended = desk.state_time(-120)
    assert (ended.code, "TIME-CLOCK" in ended.err) == (7, True), ended.err
    require_no_time(desk, desk.sign(ledger, plan, requests, desk.path(f"{FIRST}.json")))


@pytest.mark.parametrize("words", [(), ("--uncertainty", "301")])
def test_a_statement_that_says_nothing_is_a_mistake(desk: BothMachines, words: tuple[str, ...]) -> None:
    before = desk.offline("transcript", "show").out
    assert desk.offline("transcript", "show", "--json").json() == desk.entries()
    assert desk.offline("preflight", "--time", "2026-11-21T02:43:00Z", *words).code == 2
    assert desk.offline("transcript", "show").out == before
