"""Bad input through the installed commands: a clear message, what to do, the exit code, and nothing half-written."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from airlock_rehearsal.services.faults import Faults
from e2e.conftest import ROOT, BothMachines, Ledger, refused

EXAMPLES = ROOT / "docs/guides/examples"


# ---- files --------------------------------------------------------------------------------------------------------


def _truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-200])


def _flipped(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b'"count": 1', b'"count": 2'))


def _foreign(path: Path) -> None:
    path.write_text('{"hello": "world"}')


def _oversized(path: Path) -> None:
    os.truncate(path, 65 << 20)


def _not_utf8(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"delegate", b"delegat\xff", 1))


def _linked(path: Path) -> None:
    path.rename(path.with_suffix(".real"))
    path.symlink_to(path.with_suffix(".real"))


def _folder(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize(
    ("damage", "check"),
    [
        (_truncated, "DOC-TRUNCATED"),
        (_flipped, "DOC-"),
        (_foreign, "DOC-FORMAT"),
        (_oversized, "DOC-SIZE"),
        (_not_utf8, "DOC-UTF8"),
        (_linked, "DOC-LINK"),
        (_folder, "DOC-FILE"),
    ],
)
def test_a_damaged_document_is_refused_with_exit_code_4(
    desk: BothMachines, damage: Callable[[Path], None], check: str
) -> None:
    plan, requests = desk.prepare("delegate-key")
    damage(requests)
    output = desk.path("out.json")
    ended = desk.offline("sign", requests, "--plan", plan, "-o", output, typed="Yes\n")
    if check == "DOC-":
        assert (ended.code, "DOC-" in ended.err) == (4, True)
    else:
        refused(ended, 4, check)
    assert not output.exists()


@pytest.mark.parametrize(
    ("old", "new", "check"),
    [
        ('action = "delegate"', 'action = "steal"', "PLAN-ACTION"),
        ("[limits]", "[limitz]", "PLAN-FIELD"),
        ("0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D", "0xdad77910DbDFdE764fC21FCD4E74D71bBACA6D8D", "PLAN-ADDRESS"),
        ("[ceremony]", "[ceremony", "PLAN-FORM"),
    ],
)
@pytest.mark.parametrize("half", ["online", "offline"])
def test_a_wrong_plan_is_a_mistake_with_its_place(
    desk: BothMachines, old: str, new: str, check: str, half: str
) -> None:
    plan = desk.write_plan("delegate-key")
    plan.write_text(plan.read_text().replace(old, new))
    run = desk.online if half == "online" else desk.offline
    refused(run("plan", "show", plan), 2, check)


def test_an_existing_file_is_never_overwritten(desk: BothMachines) -> None:
    plan, requests = desk.prepare("delegate-key")
    before = requests.read_bytes()
    refused(desk.online("prepare", plan, "-o", requests), 2, "exists already")
    assert requests.read_bytes() == before


def test_what_crosses_is_readable_by_its_owner_alone(desk: BothMachines) -> None:
    _, requests = desk.prepare("delegate-key")
    assert requests.stat().st_mode & 0o777 == 0o600


# ---- services -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "said"),
    [("http-500", "500"), ("http-429", "429"), ("http-503", "not ready"), ("not-json", "JSON"), ("huge-body", "")],
)
def test_a_failing_builder_ends_with_exit_code_8_and_writes_nothing(desk: BothMachines, fault: str, said: str) -> None:
    plan, output = desk.write_plan("delegate-key"), desk.path("out.json")
    desk.services.faults = Faults.of(f"{fault}@builder")
    ended = desk.online("prepare", plan, "-o", output)
    assert ended.code == 8, ended.err
    assert said in ended.err
    assert not output.exists()


@pytest.mark.parametrize(
    ("fault", "check"),
    [
        ("digest-flipped", "DIGEST-MATCH"),
        ("types-reordered", "TYPES-PINNED"),
        ("domain-crossed", "DOMAIN-CONTRACT"),
        ("message-altered", "PLAN-FIELD"),
        ("encoded-altered", "ENC-MATCH"),
        ("delegate-order", "ENC-MATCH"),
    ],
)
def test_a_lying_builder_is_refused_with_the_checks_id(desk: BothMachines, fault: str, check: str) -> None:
    plan, output = desk.write_plan("delegate-key"), desk.path("out.json")
    desk.services.faults = Faults.of(fault)
    refused(desk.online("prepare", plan, "-o", output), 3, check)
    assert not output.exists()


# ---- the device and the people ------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", ["yes\n", " Yes\n", ""])
def test_only_the_whole_word_yes_signs(desk: BothMachines, ledger: Ledger, answer: str) -> None:
    plan, requests = desk.prepare("delegate-key")
    output = desk.path("out.json")
    words = ("sign", requests, "--plan", plan, "-o", output, "--emulator", ledger.port)
    assert desk.offline(*words, typed=answer).code == 6
    assert not output.exists()
    assert desk.offline(*words, typed="Yes\n" + answer).code == 6


def test_a_deployment_that_nobody_confirmed_is_not_pinned(desk: BothMachines) -> None:
    other = json.loads(desk.path("deployment.json").read_text())
    other["pairs"][0]["name"] = "DOGE/USD"
    desk.path("other.json").write_text(json.dumps(other))
    ended = desk.offline("trust", desk.path("other.json"), typed="no\n")
    assert (ended.code, "+ pair 0: DOGE/USD" in ended.err, "- pair 0: BTC/USD" in ended.err) == (6, True, True)
    plan, requests = desk.prepare("delegate-key")
    assert desk.offline("verify", requests, "--plan", plan).code == 0


# ---- what always fails ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("half", ["offline", "online"])
@pytest.mark.parametrize("deployment", ["rehearsal", "elsewhere"])
def test_a_plan_that_no_payload_can_keep_has_mistakes(desk: BothMachines, half: str, deployment: str) -> None:
    text = (EXAMPLES / "delegate-registration.plan.toml").read_text()
    text = text.replace("m/44'/60'/0'/0/0", "m/44'/0'/0'/0/0").replace('"rehearsal"', f'"{deployment}"')
    plan = desk.path("no-payload.toml")
    plan.write_text(re.sub(r"(?m)^expiry = .+$", "expiry = 2024-03-31T00:00:00Z", text))
    ended = getattr(desk, half)("plan", "check", plan, "--json")
    assert [each["check"] for each in json.loads(ended.out)["mistakes"]] == ["PLAN-PATH", "TIME-EXPIRY"]
    assert (ended.code, "what it decides is not compared" in ended.err) == (2, deployment == "elsewhere")
