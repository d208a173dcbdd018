"""What goes wrong with a Ledger, through the command line: its own message, exit code 5 or 6, and resumed with no harm."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import BothMachines, Ledger, start_ledger, stop_ledger

CEREMONY = "delegate-key"
CASES: dict[str, tuple[tuple[str, ...], int, str]] = {
    "locked": (("--fault", "lock"), 5, "the Ledger is locked"),
    "refused": (("--fault", "refuse"), 6, "refused on the Ledger; nothing was signed"),
    "unplugged": (("--fault", "disconnect"), 5, "closed the connection before it answered"),
    "settings off": (("--no-raw-messages",), 5, "turn on Raw messages"),
    "wrong account": (("--fault", "wrong-account"), 5, "the Ledger has another account at this path"),
    "empty answer": (("--fault", "empty-success"), 5, "reported success and answered 0 bytes"),
    "left in definitions": (("--fault", "left-in-definitions"), 5, "an earlier request was not finished"),
}


WHILE_SIGNING = {
    CASES[name][2] for name in ("refused", "unplugged", "settings off", "empty answer", "left in definitions")
}
"""What can be told when it happens alone; everything else is told before anybody compares or reads."""


@pytest.fixture
def faulty(request: pytest.FixtureRequest) -> Iterator[Ledger]:
    started = start_ledger(*request.param)
    yield started
    stop_ledger(started)


def sign(desk: BothMachines, ledger: Ledger, output: Path, *words: object) -> Any:
    plan, requests = desk.path(f"{CEREMONY}.plan.toml"), desk.path(f"{CEREMONY}.requests.json")
    words = ("sign", requests, "--plan", plan, "-o", output, "--emulator", ledger.port, *words)
    return desk.offline(*words, typed="Yes\n" * 3)


def events(desk: BothMachines) -> list[str]:
    shown = desk.offline("transcript", "show", "--json")
    return [json.loads(line)["event"] for line in shown.out.splitlines()]


def one_line(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize(("faulty", "code", "said"), CASES.values(), indirect=["faulty"], ids=CASES)
def test_a_device_error_has_its_message_and_code_and_the_ceremony_goes_on(
    desk: BothMachines, ledger: Ledger, faulty: Ledger, code: int, said: str
) -> None:
    desk.prepare(CEREMONY)
    ended = sign(desk, faulty, desk.path("first.json"))
    assert ended.code == code, ended.err
    assert said in one_line(ended.err)
    assert ("sign-begun" in events(desk)) is (said in WHILE_SIGNING)
    assert "signed" not in events(desk)
    assert not list(desk.folder.glob("offline-home/signed/*"))
    resumed = sign(desk, ledger, desk.path("second.json"))
    assert resumed.code == 0, resumed.err
    assert events(desk).count("signed") == 1
    assert desk.offline("transcript", "verify").code == 0


@pytest.mark.parametrize("faulty", [("--no-blind-signing",)], indirect=True)
def test_hashes_without_blind_signing_name_that_setting_and_never_fall_back(desk: BothMachines, faulty: Ledger) -> None:
    plan = desk.write_plan(CEREMONY)
    plan.write_text(plan.read_text().replace("[[steps]]", 'show = "hashes"\n\n[[steps]]'))
    desk.prove(plan)
    requests = desk.path(f"{CEREMONY}.requests.json")
    assert desk.online("prepare", plan, "-o", requests).code == 0
    ended = sign(desk, faulty, desk.path("first.json"))
    assert ended.code == 5, ended.err
    assert "turn on Blind signing" in one_line(ended.err)
    assert not desk.path("first.json").exists()
    on = start_ledger("--blind-signing")
    try:
        resumed = sign(desk, on, desk.path("second.json"))
    finally:
        stop_ledger(on)
    assert resumed.code == 0, resumed.err
    assert json.loads(desk.path("second.json").read_text())["signatures"][0]["shown"] == "hashes"


@pytest.mark.parametrize(
    ("faulty", "check"),
    [(("--fault", "wrong-hash"), "SIG-SIGNER"), (("--fault", "high-s"), "SIG-LOW-S")],
    indirect=["faulty"],
)
def test_a_signature_over_something_else_is_quarantined(desk: BothMachines, faulty: Ledger, check: str) -> None:
    desk.prepare(CEREMONY)
    ended = sign(desk, faulty, desk.path("first.json"))
    assert ended.code == 3, ended.err
    assert check in ended.err
    assert "the signature is quarantined" in one_line(ended.err)
    assert not desk.path("first.json").exists()
    assert not list(desk.folder.glob("offline-home/signed/*"))
    shown = [json.loads(line) for line in desk.offline("transcript", "show", "--json").out.splitlines()]
    entry = next(entry for entry in shown if entry["event"] == "signature-quarantined")
    assert set(entry["data"]) == {"step", "check", "digest", "recovered", "expected"}
    assert entry["data"]["check"] == check
    assert entry["data"]["recovered"] != entry["data"]["expected"]


def test_a_transcript_is_sealed_verified_and_a_changed_one_refused(desk: BothMachines, ledger: Ledger) -> None:
    plan, _ = desk.prepare(CEREMONY)
    assert sign(desk, ledger, desk.path("first.json")).code == 0
    words = ("transcript", "seal", "--plan", plan, "--emulator", ledger.port)
    assert desk.offline(*words, typed="no\n").code == 6
    ended = desk.offline(*words, typed="Yes\n")
    assert ended.code == 0, ended.err
    assert "nothing to do" in desk.offline(*words, typed="Yes\n").err
    verified = desk.offline("transcript", "verify", "--plan", plan, "--json")
    assert verified.code == 0, verified.err
    assert verified.json()["seals"][0]["by"] == "0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D"
    transcript = desk.folder / "offline-home" / "transcript.jsonl"
    lines = transcript.read_text().splitlines()
    desk.path("cut.jsonl").write_text("\n".join(lines[:-1]) + "\n")
    cut = desk.offline("transcript", "verify", desk.path("cut.jsonl"), "--plan", plan)
    assert (cut.code, "DOC-SEAL" in cut.err) == (4, True)


def test_a_ledger_of_another_model_than_the_one_named_is_refused_before_anything_is_asked(
    desk: BothMachines, ledger: Ledger
) -> None:
    desk.prepare(CEREMONY)
    ended = sign(desk, ledger, desk.path("first.json"), "--model", "flex")
    assert ended.code == 5, ended.err
    assert "the Ledger is a Nano S Plus, and --model, or [ledger] model of config.toml, says Flex" in one_line(
        ended.err
    )
    assert "Is the requests fingerprint the same?" not in one_line(ended.err)
    assert "sign-begun" not in events(desk)
    desk.path("offline-home/config.toml").write_text('[ledger]\nmodel = "flex"\n')
    assert sign(desk, ledger, desk.path("first.json")).code == 5
    ended = sign(desk, ledger, desk.path("first.json"), "--model", "nanosp")
    assert ended.code == 0, ended.err
