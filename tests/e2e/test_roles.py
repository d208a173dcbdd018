"""The people of a ceremony through the installed commands of both halves, from the beginning to a complete end."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from commands import FinishedCommand
from e2e.conftest import OFFLINE, ONLINE, BothMachines, Ledger

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
    assert (signed.code, signatures.exists()) == (0, True), signed.err


def _ceremony(run: Run, *words: object, plan: Path, typed: str = "Yes\n") -> FinishedCommand:
    return run("ceremony", *words, "--plan", plan, typed=typed)


def _begin(desk: BothMachines, plan: Path) -> None:
    for run in (desk.online, desk.offline):
        assert _ceremony(run, "begin", *PEOPLE, plan=plan).code == 0


def _work(desk: BothMachines, ledger: Ledger) -> tuple[Path, Path]:
    """Do a whole ceremony, begun on both machines, and return its plan and its signatures; nothing is confirmed."""
    plan, requests, signatures = (
        _write_plan(desk),
        desk.path("requests.json"),
        desk.path("signatures.json"),
    )
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
    assert "\nNo line is refused.\n" in above
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


def test_signed_again_after_it_was_confirmed_the_signatures_are_confirmed_again(
    desk: BothMachines, ledger: Ledger
) -> None:
    plan, _ = _work(desk, ledger)
    assert _ceremony(desk.offline, "confirm", "signatures", *EVERYBODY, plan=plan).code == 0
    requests = desk.path("requests.json")
    words = ("--plan", plan, "-o", desk.path("again.json"), "--emulator", ledger.port)
    assert desk.offline("sign", requests, *words, typed=_YES).code == 0
    assert "the record changed since: confirm again" in _ceremony(desk.offline, "show", plan=plan).out


BEFORE: list[tuple[tuple[str, ...], str]] = [
    (("begin", *PEOPLE[:4], "--role", "witness=ada  LOVELACE"), "ROLE-SAME"),
    (("begin", *PEOPLE, "--role", "auditor=Eve"), "ROLE-KNOWN"),
    (("begin", *PEOPLE[:4], "--role", "witness=Eve\x1b]0;x\x07"), "ROLE-TEXT"),
    (("begin", *PEOPLE[:4], "--role", "witness=\u202eevE"), "ROLE-TEXT"),
    (("confirm", "plan", *EVERYBODY), "ROLE-OPEN"),
    (("exception", "--by", "signer", "--reason", "x"), "ROLE-OPEN"),
    (("end",), "ROLE-OPEN"),
]


@pytest.mark.parametrize("half", ["online", "offline"])
def test_what_is_refused_before_a_ceremony_began_records_nothing(desk: BothMachines, half: str) -> None:
    plan, transcript = _write_plan(desk), desk.path(f"{half}-home/transcript.jsonl")
    for words, check in BEFORE:
        ended = _ceremony(getattr(desk, half), *words, "--json", plan=plan)
        assert (ended.code, ended.json()["error"]["check"]) == (3, check), words
        assert check in ended.err
        assert "\x1b" not in ended.err
        assert "\u202e" not in ended.err
        assert not transcript.exists() or b"ceremony" not in transcript.read_bytes()


WHILE: list[tuple[tuple[str, ...], int, str]] = [
    (("confirm", "preflight", "--by", "signer"), 3, "ROLE-EARLY"),
    (("confirm", "plan", "--by", "auditor"), 3, "ROLE-KNOWN"),
    (("confirm", "outcome", "--by", "witness"), 2, "confirmed on the other machine"),
    (("confirm", "lunch", "--by", "witness"), 2, "'lunch' is not one of"),
    (("confirm", "plan"), 2, "Missing option '--by'"),
    (("exception", "--by", "witness"), 2, "Missing option '--reason'"),
    (("exception", "--by", "witness", "--reason", ""), 3, "ROLE-TEXT"),
    (("exception", "--by", "witness", "--reason", "a\nb"), 3, "ROLE-TEXT"),
    (("begin", *PEOPLE[:4], "--role", "witness=Eve"), 3, "ROLE-OPEN"),
]


def test_what_is_refused_while_a_ceremony_is_open_records_nothing(desk: BothMachines) -> None:
    plan, transcript = _write_plan(desk), desk.path("offline-home/transcript.jsonl")
    _begin(desk, plan)
    before = transcript.read_bytes()
    for words, code, said in WHILE:
        ended = _ceremony(desk.offline, *words, plan=plan)
        assert (ended.code, said in ended.err) == (code, True), ended.err
        assert transcript.read_bytes() == before


def test_a_ceremony_belongs_to_its_plan(desk: BothMachines) -> None:
    plan, other = _write_plan(desk), desk.path("other.toml")
    _begin(desk, plan)
    other.write_text(plan.read_text().replace('title = "', 'title = "Changed: ', 1))
    ended = _ceremony(desk.offline, "confirm", "plan", *EVERYBODY, plan=other)
    assert (ended.code, "ROLE-OPEN" in ended.err) == (3, True)
    assert _ceremony(desk.offline, "begin", *PEOPLE, plan=other).code == 0
    ended = _ceremony(desk.offline, "confirm", "plan", *EVERYBODY, plan=plan)
    assert (ended.code, "another plan" in ended.err) == (3, True)


def test_after_the_end_nothing_is_confirmed_and_the_end_is_repeated(desk: BothMachines) -> None:
    plan = _write_plan(desk)
    _begin(desk, plan)
    assert _ceremony(desk.offline, "end", plan=plan).code == 3
    ended = _ceremony(desk.offline, "confirm", "plan", *EVERYBODY, plan=plan)
    assert (ended.code, "ROLE-OPEN" in ended.err) == (3, True)
    again = _ceremony(desk.offline, "end", plan=plan, typed="")
    assert (again.code, "nothing to do" in again.err) == (3, True)
    assert _ceremony(desk.offline, "begin", *PEOPLE, plan=plan).code == 0


def test_sign_notes_that_nobody_began(desk: BothMachines, ledger: Ledger) -> None:
    plan, requests = _write_plan(desk), desk.path("requests.json")
    assert desk.online("prepare", plan, "-o", requests).code == 0
    words = ("--plan", plan, "-o", desk.path("signatures.json"), "--emulator", ledger.port)
    assert "NOTE: the plan names roles" in desk.offline("sign", requests, *words, typed=_YES).err
    _begin(desk, plan)
    words = ("--plan", plan, "-o", desk.path("again.json"), "--emulator", ledger.port)
    assert "NOTE: the plan names roles" not in desk.offline("sign", requests, *words, typed=_YES).err


# ---- at a terminal --------------------------------------------------------------------------------------------------


@contextmanager
def _at_a_terminal(program: Path, home: Path, plan: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Start ``ceremony begin`` with a terminal to type at; give the process and the terminal's other end."""
    ours, theirs = pty.openpty()
    asked = ("ceremony", "begin", "--plan", plan, "--role", "signer=Ada Lovelace")
    words = [str(word) for word in (program, "--home", home, *asked)]
    interruptible = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # a job in the background ignores it
    with subprocess.Popen(
        words, stdin=theirs, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=interruptible
    ) as process:
        try:
            yield process, ours
        finally:
            process.kill()
            os.close(theirs)
            os.close(ours)


def _talk(process: subprocess.Popen[str], until: str) -> str:
    """Return what the command says, up to a text."""
    assert process.stderr is not None
    said = ""
    while not said.endswith(until):
        character = process.stderr.read(1)
        assert character, said
        said += character
    return said


@pytest.mark.parametrize(("program", "half"), [(ONLINE, "online"), (OFFLINE, "offline")])
def test_at_a_terminal_it_asks_for_each_role_that_was_not_given(desk: BothMachines, program: Path, half: str) -> None:
    plan, home = _write_plan(desk), desk.path(f"{half}-home")
    with _at_a_terminal(program, home, plan) as (process, terminal):
        for question, answer in (
            ("Who is the facilitator?", "?" if half == "online" else ""),
            ("Who is the witness?", "Mary Somerville"),
        ):
            assert question in _talk(process, "(empty: nobody) ")
            os.write(terminal, f"{answer}\n".encode())
        assert "Mary Somerville" in _talk(process, "to stop: ")
        os.write(terminal, b"Yes\n")
        process.communicate(timeout=60)
    assert process.returncode == 0
    roles = _ceremony(getattr(desk, half), "show", "--json", plan=plan).json()["roles"]
    assert roles == {"signer": "Ada Lovelace", "facilitator": "", "witness": "Mary Somerville"}


def test_interrupted_while_it_asks_it_records_nothing(desk: BothMachines) -> None:
    plan, home = _write_plan(desk), desk.path("offline-home")
    before = (home / "transcript.jsonl").read_bytes()
    with _at_a_terminal(OFFLINE, home, plan) as (process, _):
        _talk(process, "(empty: nobody) ")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 130
    assert (home / "transcript.jsonl").read_bytes() == before


def test_without_a_terminal_it_says_how_to_name_each_role(desk: BothMachines) -> None:
    ended = _ceremony(desk.offline, "begin", "--role", "signer=Ada", plan=_write_plan(desk))
    assert ended.code == 2
    assert "nobody is named as facilitator, witness" in ended.err
    assert "--role ROLE=NAME" in ended.err
