"""The Ledger through the command line: its own messages and codes, hashes, the hardware record."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import OFFLINE, BothMachines, Ledger, start_ledger, stop_ledger
from e2e.terminal import Terminal
from shared.world import VECTORS

# ---- what goes wrong with a Ledger, through the command line: its own message, exit code 5 or 6, and resumed with
# ---- no harm


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


# ---- ``digest`` hashes what EIP-712 allows, names what it leaves out, and blames nobody for a document of one's own -


def _document(name: str) -> tuple[dict[str, Any], str]:
    vector = json.loads((VECTORS / f"typed-data/good/{name}.json").read_text())
    return vector["document"], vector["expected"]["digest"]


def test_what_stands_beside_is_left_out_and_named(desk: BothMachines) -> None:
    document, digest = _document("mail")
    document["account"] = "0x\x1b[2Jdigest 00"
    document["types"]["Mail"][0]["internalType"] = "struct Person"
    file = desk.path("typed.json")
    file.write_text(json.dumps(document))
    told = json.loads(desk.offline("digest", "--json", file).out)
    assert (told["digest"], told["ignored"]) == (digest, ["account", "types.Mail[0].internalType"])
    ended = desk.offline("digest", file)
    assert "ignored           account, types.Mail[0].internalType: no signature covers it" in ended.out
    assert ended.code == 0


def test_a_name_that_is_left_out_begins_no_line(desk: BothMachines) -> None:
    document, _ = _document("mail")
    document["x\ndigest            0000 0000"] = 1
    file = desk.path("typed.json")
    file.write_text(json.dumps(document))
    out = desk.offline("digest", file).out
    assert [line.split()[0] for line in out.splitlines() if line[:1].strip()] == [
        "primary",
        "domain",
        "struct",
        "digest",
        "ignored",
    ]


def test_a_struct_whose_name_has_a_colon_is_hashed(desk: BothMachines) -> None:
    document, digest = _document("struct-name-colon")
    file = desk.path("typed.json")
    file.write_text(json.dumps(document))
    told = json.loads(desk.offline("digest", "--json", file).out)
    assert (told["digest"], told["ignored"]) == (digest, [])


@pytest.mark.parametrize("change", [{"types": 1}, {"primaryType": "No"}, {"message": []}, {"domain": {}}])
def test_a_refusal_speaks_of_a_document_and_of_no_attack(desk: BothMachines, change: dict[str, Any]) -> None:
    document, _ = _document("mail")
    file = desk.path("typed.json")
    file.write_text(json.dumps(document | change))
    ended = desk.offline("digest", file)
    assert (ended.code, ended.out) == (3, "")
    assert "altered" not in ended.err
    assert "nothing was hashed" in ended.err


# ---- ``preflight --hardware-record`` as a person types it, with the software Ledger ---------------------------------


def test_a_person_makes_a_record_at_a_terminal(ledger: Ledger, tmp_path: Path) -> None:
    file = tmp_path / "hardware.json"
    words = ("--home", tmp_path / "home", "preflight", "--emulator", ledger.port, "--hardware-record", file)
    terminal = Terminal(OFFLINE, *words)
    asked = 0
    while (question := terminal.until_question()) is not None:
        assert question == "Did the Ledger show this page exactly so? Type Yes or No"
        assert not file.exists()
        asked += 1
        terminal.press("No\n" if asked == 2 else "Yes\n")
    terminal.end()  # with 3 where this machine has a network: the page says so after the record is written
    made = json.loads(file.read_bytes())
    assert [page["shown"] for page in made["pages"]] == [True, False, *[True] * (asked - 2)]
    assert (made["simulator"], made["usb"], asked > 5) == (True, None, True)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert max(len(line) for line in re.split("[\r\n]", terminal.shown) if str(tmp_path) not in line) <= 80
    before = file.read_bytes()
    again = Terminal(OFFLINE, *words)
    assert again.end() == 2
    assert "exists already" in again.shown
    assert file.read_bytes() == before
