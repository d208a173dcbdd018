"""Bad input through the installed commands: a clear message, what to do, the exit code, and nothing half-written."""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from airlock_rehearsal.services.faults import Faults
from commands import FinishedCommand
from e2e.conftest import OFFLINE, ROOT, BothMachines, Ledger
from e2e.terminal import Terminal

EXAMPLES = ROOT / "docs/guides/examples"


def _refused(ended: FinishedCommand, code: int, *said: str) -> None:
    assert ended.code == code, ended.out + ended.err
    for text in said:
        assert text in ended.err.replace("\n  ", "")  # a long name is broken where the row ends
    assert "do:" in ended.err


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
@pytest.mark.parametrize("command", ["verify", "sign"])
def test_a_damaged_document_is_refused_with_exit_code_4(
    desk: BothMachines, damage: Callable[[Path], None], check: str, command: str
) -> None:
    plan, requests = desk.prepare("delegate-key")
    damage(requests)
    output = desk.path("out.json")
    more = ("-o", output) if command == "sign" else ()
    ended = desk.offline(command, requests, "--plan", plan, *more, typed="Yes\n")
    if check == "DOC-":
        assert (ended.code, "DOC-" in ended.err) == (4, True)
    else:
        _refused(ended, 4, check)
    assert not output.exists()


def test_a_file_that_is_not_there_is_named(desk: BothMachines) -> None:
    _refused(desk.offline("verify", desk.path("nothing.json"), "--plan", desk.path("none.toml")), 2, "none.toml")


@pytest.mark.parametrize(
    ("old", "new", "check"),
    [
        ('action = "delegate"', 'action = "steal"', "PLAN-ACTION"),
        ("delegate = ", "delegat = ", "PLAN-FIELD"),
        ('deadline_at_most = "30m"', 'deadline_at_most = "soon"', "PLAN-FORM"),
        ('signer = "treasury"', 'signer = "nobody"', "PLAN-SIGNER"),
        ("[limits]", "[limitz]", "PLAN-FIELD"),
        ('format = "airlock/plan@1"', 'format = "airlock/plan@2"', "PLAN-FORM"),
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
    _refused(run("plan", "show", plan), 2, check)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be"])
@pytest.mark.parametrize("half", ["online", "offline"])
@pytest.mark.parametrize("command", ["show", "check"])
def test_a_plan_that_an_editor_saved_otherwise_is_told_as_that(
    desk: BothMachines, encoding: str, half: str, command: str
) -> None:
    plan = desk.write_plan("delegate-key")
    plan.write_bytes(plan.read_text().encode(encoding))
    run = desk.online if half == "online" else desk.offline
    ended = run("plan", command, plan)
    told = " ".join((ended.out + ended.err).split())
    assert (ended.code, "save it as UTF-8 without a byte order mark (BOM)" in told) == (2, True), told
    assert "\\u" not in told


def test_an_existing_file_is_never_overwritten(desk: BothMachines) -> None:
    plan, requests = desk.prepare("delegate-key")
    before = requests.read_bytes()
    _refused(desk.online("prepare", plan, "-o", requests), 2, "exists already")
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


def test_an_unreachable_builder_ends_with_exit_code_8(desk: BothMachines) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    output = desk.path("d2.json")
    ended = desk.online(
        "deployment", "fetch", "--name", "gone", "--builder", f"http://127.0.0.1:{port}/x", "-o", output
    )
    assert ended.code == 8, ended.err
    assert not output.exists()


@pytest.mark.parametrize(
    ("fault", "check"),
    [
        ("digest-flipped", "DIGEST-MATCH"),
        ("types-renamed", "TYPES-PINNED"),
        ("types-reordered", "TYPES-PINNED"),
        ("domain-crossed", "DOMAIN-CONTRACT"),
        ("wrong-chain", "DOMAIN-CHAIN"),
        ("message-altered", "PLAN-FIELD"),
        ("encoded-altered", "ENC-MATCH"),
        ("delegate-order", "ENC-MATCH"),
    ],
)
def test_a_lying_builder_is_refused_with_the_checks_id(desk: BothMachines, fault: str, check: str) -> None:
    plan, output = desk.write_plan("delegate-key"), desk.path("out.json")
    desk.services.faults = Faults.of(fault)
    _refused(desk.online("prepare", plan, "-o", output), 3, check)
    assert not output.exists()


def test_a_service_that_rejects_the_post_may_be_tried_again(desk: BothMachines, ledger: Ledger) -> None:
    signatures = _sign(desk, ledger, "market-close")
    desk.services.faults = Faults.of("http-429@batched")
    assert desk.online("submit", signatures).code == 8
    desk.services.faults = Faults()
    ended = desk.online("submit", signatures)
    assert (ended.code, "FILLED" in ended.out) == (0, True), ended.err


@pytest.mark.parametrize("fault", ["drop-before-accepted", "http-500@batched"])
def test_an_unknown_outcome_is_exit_code_9_and_is_never_sent_again(
    desk: BothMachines, ledger: Ledger, fault: str
) -> None:
    signatures = _sign(desk, ledger, "market-close")
    desk.services.faults = Faults.of(fault)
    assert desk.online("submit", signatures, "--patience", 0).code == 9
    desk.services.faults = Faults()
    assert desk.online("submit", signatures, "--patience", 0).code == 9
    assert list(desk.services.posts["batched"].values()) == [1]


def test_a_declined_fill_is_exit_code_10(desk: BothMachines, ledger: Ledger) -> None:
    signatures = _sign(desk, ledger, "market-close")
    desk.services.faults = Faults.of("cancel-fill")
    assert desk.online("submit", signatures).code == 10


def test_a_failed_execution_is_exit_code_11(desk: BothMachines, ledger: Ledger) -> None:
    signatures = _sign(desk, ledger, "market-close")
    desk.services.faults = Faults.of("fail-terminal")
    assert desk.online("submit", signatures).code == 11


def test_what_was_submitted_is_followed_and_not_sent_again(desk: BothMachines, ledger: Ledger) -> None:
    signatures = _sign(desk, ledger, "market-close")
    assert [desk.online("submit", signatures).code for _ in range(3)] == [0, 0, 0]
    assert list(desk.services.posts["batched"].values()) == [1]
    assert desk.online("follow").code == 0


# ---- the device and the people ------------------------------------------------------------------------------------


def _sign(desk: BothMachines, ledger: Ledger, ceremony: str) -> Path:
    plan, requests = desk.prepare(ceremony)
    output = desk.path(f"{ceremony}.signatures.json")
    words = ("sign", requests, "--plan", plan, "-o", output, "--emulator", ledger.port)
    ended = desk.offline(*words, typed="Yes\n" * 3)
    assert ended.code == 0, ended.err
    return output


@pytest.mark.parametrize("answer", ["yes\n", "y\n", "YES\n", " Yes\n", "\n", "", "No\n"])
def test_only_the_whole_word_yes_signs(desk: BothMachines, ledger: Ledger, answer: str) -> None:
    plan, requests = desk.prepare("delegate-key")
    output = desk.path("out.json")
    words = ("sign", requests, "--plan", plan, "-o", output, "--emulator", ledger.port)
    assert desk.offline(*words, typed=answer).code == 6
    assert not output.exists()
    assert desk.offline(*words, typed="Yes\n" + answer).code == 6


def test_a_signature_that_was_made_is_not_asked_for_again(desk: BothMachines, ledger: Ledger) -> None:
    first = _sign(desk, ledger, "delegate-key")
    words = ("sign", desk.path("delegate-key.requests.json"), "--plan", desk.path("delegate-key.plan.toml"))
    again = desk.offline(*words, "-o", desk.path("again.json"), typed="Yes\n")
    assert again.code == 0, again.err
    signatures = [json.loads(path.read_text())["signatures"] for path in (first, desk.path("again.json"))]
    assert signatures[0] == signatures[1]


def test_without_a_ledger_the_error_says_so(desk: BothMachines) -> None:
    plan, requests = desk.prepare("delegate-key")
    words = ("--home", desk.path("offline-home"), "sign", requests, "--plan", plan, "-o", desk.path("out.json"))
    terminal = Terminal(OFFLINE, *words)
    while terminal.until_question() is not None:
        terminal.press("Yes\n")
    assert terminal.end() == 5
    assert "Ledger" in terminal.shown
    assert not desk.path("out.json").exists()


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
