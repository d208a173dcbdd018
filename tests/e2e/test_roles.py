"""The people of a ceremony through the installed commands of both halves, from the beginning to a complete end."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from commands import FinishedCommand
from e2e.conftest import BothMachines, Ledger, start_ledger, stop_ledger

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


def _ceremony(run: Run, *words: object, plan: Path, typed: str = "Yes\n") -> FinishedCommand:
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
    assert re.findall(r"station (\w+), by signer", shown) == ["deployment", "address", "seal"]


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


def _stations(run: Run, plan: Path) -> list[str]:
    return [row["station"] for row in _ceremony(run, "show", "--json", plan=plan).json()["stations"]]


def test_a_day_in_which_everything_was_confirmed_is_complete_on_both_machines(
    desk: BothMachines, ledger: Ledger
) -> None:
    plan, signatures = _work(desk, ledger)
    for run in (desk.online, desk.offline):
        for station in _stations(run, plan):
            ended = _ceremony(run, "confirm", station, *EVERYBODY, plan=plan)
            assert ended.code == 0, ended.err
        ended = _ceremony(run, "end", "--json", plan=plan)
        assert ended.code == 0, ended.err
        told = ended.json()
        assert (told["ok"], told["complete"], told["missing"]) == (True, True, [])
        for row in told["stations"]:  # of the signatures online, facilitator and witness did when they submitted
            assert {role for each in row["confirmed"] for role in each["by"]} == {"signer", "facilitator", "witness"}
    compared = {
        run: {
            row["station"]: row["confirmed"][0]["compared"]
            for row in _ceremony(run, "show", "--json", plan=plan).json()["stations"]
        }
        for run in (desk.online, desk.offline)
    }
    for station in ("plan", "deployment", "requests", "signatures"):  # what both confirmed is one and the same
        assert compared[desk.online][station] == compared[desk.offline][station]
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
        for station in _stations(run, plan):
            assert _ceremony(run, "confirm", station, *WITHOUT_WITNESS, plan=plan).code == 0
        words = ("exception", "--by", "facilitator", "--reason", "The witness missed the train.")
        assert _ceremony(run, *words, plan=plan).code == 0
        ended = _ceremony(run, "end", plan=plan)
        assert ended.code == 3
        assert "\nINCOMPLETE\n" in ended.out
        assert "ROLE-INCOMPLETE" in ended.err
        assert "The witness missed the train." in ended.out
        assert all("witness" in line for line in _ceremony(run, "show", "--json", plan=plan).json()["missing"])
