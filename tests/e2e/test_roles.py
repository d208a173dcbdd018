"""The people of a ceremony, snapshots, nonces and clocks, through the installed commands of both halves."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from airlock_offline.clock import now_ms, uptime
from airlock_offline.home import OfflineHome
from airlock_rehearsal.scenarios import DELEGATE
from airlock_shared.checks.times import STATED
from commands import FinishedCommand
from e2e.conftest import BothMachines, Ledger, key_at, start_ledger, stop_ledger
from shared.make_payloads import seal

# ---- the people of a ceremony through the installed commands of both halves, from the beginning to a complete end ---


PEOPLE = (
    "--role", "signer=Ada Lovelace", "--role", "facilitator=Grace Hopper", "--role", "witness=Mary Somerville",
)  # fmt: skip
EVERYBODY = ("--by", "signer", "--by", "facilitator", "--by", "witness")
WITHOUT_WITNESS = EVERYBODY[:4]
Run = Callable[..., FinishedCommand]
_YES = "Yes\n" * 4


def _write_plan(desk: BothMachines) -> Path:
    """Write a rehearsal's plan that names three roles."""
    path = desk.write_plan("referral-code")
    text, count = re.subn(r"(?m)^roles = .*$", 'roles = ["signer", "facilitator", "witness"]', path.read_text())
    assert count == 1
    path.write_text(text)
    return path


def test_a_plan_that_requires_a_witness_is_signed_in_its_open_ceremony_alone(
    desk: BothMachines, ledger: Ledger
) -> None:
    plan, requests, signatures = _write_plan(desk), desk.path("requests.json"), desk.path("signatures.json")
    plan.write_text(plan.read_text().replace("roles = [", 'witness = "required"\nroles = ['))
    assert desk.online("prepare", plan, "-o", requests).code == 0
    words = ("sign", requests, "--plan", plan, "-o", signatures, "--emulator", ledger.port)
    refused = desk.offline(*words, typed=_YES)
    assert (refused.code, "PLAN-PEOPLE" in refused.err, signatures.exists()) == (3, True, False), refused.err
    alone = _ceremony(desk.offline, "begin", *PEOPLE[:4], "--role", "witness=", plan=plan)
    assert (alone.code, "ROLE-TEXT" in alone.err) == (3, True), alone.err
    assert _ceremony(desk.offline, "begin", *PEOPLE, plan=plan).code == 0
    signed = desk.offline(*words, typed=_YES)
    assert (signed.code, signatures.exists(), "compared this plan with" in signed.err) == (0, True, True), signed.err


def _ceremony(run: Run, *words: object, plan: Path, typed: str = "Yes\n" * 3) -> FinishedCommand:
    return run("ceremony", *words, "--plan", plan, typed=typed)


def _begin(desk: BothMachines, plan: Path) -> None:
    for run in (desk.online, desk.offline):
        assert _ceremony(run, "begin", *PEOPLE, plan=plan).code == 0


def test_a_no_at_the_pin_the_address_and_the_seal_is_on_record(desk: BothMachines, ledger: Ledger) -> None:
    plan, again, urls = _write_plan(desk), desk.path("again.json"), desk.services
    refusing = start_ledger("--fault", "refuse")
    _begin(desk, plan)
    words = ("--builder", urls.builder_url, "--batched-market", urls.batched_url)  # fewer services: another deployment
    assert desk.online("deployment", "fetch", "--name", "rehearsal", *words, "-o", again).code == 0
    assert desk.offline("trust", again, "--plan", plan, typed="n\n").code == 6
    assert desk.offline("address", "--plan", plan, "--confirm", "--emulator", refusing.port).code == 6
    stop_ledger(refusing)
    assert desk.offline("transcript", "seal", "--plan", plan, "--emulator", ledger.port, typed="n\n").code == 6
    shown = _ceremony(desk.offline, "show", plan=plan).out
    assert re.findall(r"checkpoint (\w+), by signer", shown) == ["deployment", "address", "seal"]


def _work(desk: BothMachines, ledger: Ledger) -> tuple[Path, Path]:
    """Do a whole ceremony, begun on both machines, and return its plan and its signatures; nothing is confirmed."""
    plan, requests, signatures = (_write_plan(desk), desk.path("requests.json"), desk.path("signatures.json"))
    _begin(desk, plan)
    assert desk.online("prepare", plan, "-o", requests).code == 0
    emulator = ("--emulator", ledger.port)
    desk.state_time()
    assert desk.offline("address", "--plan", plan, "--confirm", *emulator).code == 0
    assert desk.offline("sign", requests, "--plan", plan, "-o", signatures, *emulator, typed=_YES).code == 0
    assert desk.online("submit", signatures).code == 0
    assert desk.offline("transcript", "seal", "--plan", plan, *emulator, typed=_YES).code == 0
    return plan, signatures


def _checkpoints(run: Run, plan: Path) -> list[str]:
    return [row["checkpoint"] for row in _ceremony(run, "show", "--json", plan=plan).json()["checkpoints"]]


def test_a_day_in_which_everything_was_confirmed_is_complete_on_both_machines(
    desk: BothMachines, ledger: Ledger
) -> None:
    plan, signatures = _work(desk, ledger)
    for run in (desk.online, desk.offline):
        for checkpoint in _checkpoints(run, plan):
            ended = _ceremony(run, "compare", checkpoint, *EVERYBODY, plan=plan)
            assert ended.code == 0, ended.err
        ended = _ceremony(run, "end", "--json", plan=plan)
        assert ended.code == 0, ended.err
        told = ended.json()
        assert (told["ok"], told["complete"], told["missing"]) == (True, True, [])
        for row in told["checkpoints"]:  # of the signatures online, facilitator and witness did when they submitted
            assert {role for each in row["confirmed"] for role in each["by"]} == {"signer", "facilitator", "witness"}
    compared = {
        run: {
            row["checkpoint"]: row["confirmed"][0]["compared"]
            for row in _ceremony(run, "show", "--json", plan=plan).json()["checkpoints"]
        }
        for run in (desk.online, desk.offline)
    }
    for checkpoint in ("plan", "deployment", "requests", "signatures"):  # what both confirmed is one and the same
        assert compared[desk.online][checkpoint] == compared[desk.offline][checkpoint]
    assert desk.offline("transcript", "verify").code == 0
    assert json.loads(signatures.read_text())["signatures"][0]["result"] == "signed"


def test_what_is_agreed_to_on_another_day_is_shown_from_the_record(desk: BothMachines, ledger: Ledger) -> None:
    plan, _ = _work(desk, ledger)
    assert desk.offline("preflight", "--emulator", ledger.port).code == 0
    outcome = _ceremony(desk.online, "compare", "outcome", plan=plan, typed=_YES)
    assert outcome.code == 0, outcome.err
    above, question, _ = outcome.err.partition("I compared it myself")
    assert question
    for line in ("step referral-code: CONFIRMED", "      promised ", "      found ", "      kept      yes"):
        assert f"\n{line}" in above
    page = _ceremony(desk.offline, "compare", "preflight", plan=plan, typed=_YES)
    assert page.code == 0, page.err
    above = page.err.partition("I compared it myself")[0]
    assert "\npreflight of airlock-offline " in above
    assert "\nNo check is refused.\n" in above
    assert "\nLOOK: " in above
    head = _ceremony(desk.offline, "compare", "seal", plan=plan, typed=_YES)
    assert head.err.index("on record") < head.err.index("I compared it myself")


def test_a_day_without_its_witness_is_incomplete_whatever_the_exception_says(
    desk: BothMachines, ledger: Ledger
) -> None:
    plan, _ = _work(desk, ledger)
    for run in (desk.online, desk.offline):
        for checkpoint in _checkpoints(run, plan):
            assert _ceremony(run, "compare", checkpoint, *WITHOUT_WITNESS, plan=plan).code == 0
        words = ("exception", "--by", "facilitator", "--reason", "The witness missed the train.")
        assert _ceremony(run, *words, plan=plan).code == 0
        ended = _ceremony(run, "end", plan=plan)
        assert ended.code == 3
        assert "\nINCOMPLETE\n" in ended.out
        assert "ROLE-INCOMPLETE" in ended.err
        assert "The witness missed the train." in ended.out
        assert all("witness" in line for line in _ceremony(run, "show", "--json", plan=plan).json()["missing"])


# ---- snapshots and clocks through the installed commands: a machine set back, and a clock that was set, are noticed -


FIRST, SECOND = "delegate-key", "referral-code"


def snapshot(desk: BothMachines, home: str) -> Callable[[], None]:
    """Copy a machine's folder, and return what sets the machine back to it."""
    kept = Path(shutil.copytree(desk.path(home), desk.path(f"{home}-kept")))

    def restore() -> None:
        shutil.rmtree(desk.path(home))
        shutil.copytree(kept, desk.path(home))

    return restore


def sign(desk: BothMachines, ledger: Ledger, plan: Path, requests: Path, name: str) -> FinishedCommand:
    words = ("sign", requests, "--plan", plan, "-o", desk.path(f"{name}.json"), "--emulator", ledger.port)
    return desk.offline(*words, typed="Yes\n" * 4)


def signed(desk: BothMachines, ledger: Ledger, ceremony: str) -> Path:
    """Prepare and sign a ceremony; return its signatures."""
    plan, requests = desk.prepare(ceremony)
    ended = sign(desk, ledger, plan, requests, ceremony)
    assert ended.code == 0, ended.err
    return desk.path(f"{ceremony}.json")


def submitted(desk: BothMachines, ledger: Ledger, ceremony: str) -> Path:
    signatures = signed(desk, ledger, ceremony)
    assert desk.online("submit", signatures).code == 0
    return signatures


def entries(desk: BothMachines) -> list[dict[str, Any]]:
    lines = (desk.path("offline-home") / "transcript.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def require_refused(desk: BothMachines, ended: FinishedCommand, name: str) -> None:
    assert (ended.code, "PIN-HEAD" in ended.err) == (3, True), ended.err
    assert not desk.path(f"{name}.json").exists()
    assert "Traceback" not in ended.err


def test_a_head_that_was_seen_goes_into_the_next_requests_and_is_known(desk: BothMachines, ledger: Ledger) -> None:
    signatures = submitted(desk, ledger, FIRST)
    header = json.loads(signatures.read_text())["header"]
    assert header["machine"] == entries(desk)[0]["hash"]
    plan, requests = desk.prepare(SECOND)
    assert json.loads(requests.read_text())["header"]["signing_heads"] == {header["machine"]: header["transcript_head"]}
    assert desk.offline("verify", requests, "--plan", plan).code == 0
    assert sign(desk, ledger, plan, requests, SECOND).code == 0


def test_a_signing_machine_that_was_set_back_is_refused_until_it_is_as_it_was(
    desk: BothMachines, ledger: Ledger
) -> None:
    set_back = snapshot(desk, "offline-home")
    submitted(desk, ledger, FIRST)
    as_it_was = Path(shutil.copytree(desk.path("offline-home"), desk.path("as-it-was")))
    plan, requests = desk.prepare(SECOND)
    set_back()
    told = desk.offline("verify", requests, "--plan", plan)
    assert (told.code, "PIN-HEAD" in told.out) == (3, True), told.out
    before = len(entries(desk))
    require_refused(desk, sign(desk, ledger, plan, requests, SECOND), SECOND)
    assert "signing" not in [entry["event"] for entry in entries(desk)[before:]]
    shutil.rmtree(desk.path("offline-home"))
    shutil.copytree(as_it_was, desk.path("offline-home"))
    assert sign(desk, ledger, plan, requests, SECOND).code == 0


def test_an_online_machine_that_was_set_back_is_refused_until_it_has_the_signatures_again(
    desk: BothMachines, ledger: Ledger
) -> None:
    set_back = snapshot(desk, "online-home")
    signatures = submitted(desk, ledger, FIRST)
    answered = desk.path(f"{FIRST}.requests.json")
    set_back()
    plan, requests = desk.prepare(SECOND)
    require_refused(desk, sign(desk, ledger, plan, requests, SECOND), SECOND)
    made = desk.online("report", "make", "--plan", desk.path(f"{FIRST}.plan.toml"), "--requests", answered,
                       "--signatures", signatures, "-o", desk.path("evidence"))  # fmt: skip
    assert made.code in (0, 3), made.err  # nothing is sent, and the head is known
    requests.unlink()
    plan, requests = desk.prepare(SECOND)
    assert sign(desk, ledger, plan, requests, SECOND).code == 0


def test_heads_that_were_taken_out_on_the_way_are_missed(desk: BothMachines, ledger: Ledger) -> None:
    submitted(desk, ledger, FIRST)
    plan, requests = desk.prepare(SECOND)
    document = json.loads(requests.read_text())
    del document["header"]["signing_heads"]
    requests.write_text(json.dumps(document))
    require_refused(desk, sign(desk, ledger, plan, requests, SECOND), SECOND)


@pytest.mark.parametrize(("gap_ms", "code"), [(0, 0), (1_000, 0), (5_000, 7), (-5_000, 7)])
def test_a_clock_that_went_another_way_than_the_machine_ran_is_asked_for_again(
    desk: BothMachines, ledger: Ledger, gap_ms: int, code: int
) -> None:
    plan, requests = desk.prepare(SECOND)
    state, ran = OfflineHome(desk.path("offline-home")), uptime()
    assert ran is not None
    at_ms = now_ms()
    stated = {"stated_ms": at_ms, "machine_ms": at_ms, "uncertainty_s": 60, "boot_id": ran.boot_id}
    state.transcript.record(STATED, stated | {"boot_ms": ran.boot_ms + gap_ms}, at_ms)
    ended = sign(desk, ledger, plan, requests, SECOND)
    assert ended.code == code, ended.err
    if code:
        assert "TIME-CLOCK" in ended.err
        assert "airlock-offline preflight --time" in ended.err
        desk.state_time()
        assert sign(desk, ledger, plan, requests, "after").code == 0


# ---- nonces and the time through the installed commands: nothing is signed twice, and nothing by a clock that
# ---- nobody knows


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
