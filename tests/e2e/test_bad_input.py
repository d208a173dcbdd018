"""Bad and hostile input through the installed commands: a clear message, what to do, an exit code, nothing half-written."""

import json
import re
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from airlock_rehearsal.services.faults import Faults
from airlock_shared.cli.mistyped import OF_ONE
from commands import FinishedCommand
from e2e.conftest import ROOT, BothMachines, refused
from online.loopback import Wire, http

EXAMPLES = ROOT / "docs/guides/examples"


def test_what_crosses_is_readable_by_its_owner_alone_and_never_overwritten(desk: BothMachines) -> None:
    plan, requests = desk.prepare("delegate-key")
    assert requests.stat().st_mode & 0o777 == 0o600
    before = requests.read_bytes()
    refused(desk.online("prepare", plan, "-o", requests), 2, "exists already")
    assert requests.read_bytes() == before
    nowhere = desk.offline("sign", requests, "--plan", plan, "-o", desk.path("no/out.json"), typed="Yes\n")
    refused(nowhere, 2, "make its folder")
    assert "fingerprint" not in nowhere.err  # nothing was read aloud or reviewed for it
    for words in (
        ("deployment", "fetch", "--name", "x", "--builder", "http://127.0.0.1:1"),
        ("delegate", "proof", "--signature", "0x", "--plan", plan),
        ("call", "POST", "/v2/intents/delegate", "--plan", plan, "--step", "x"),
    ):
        refused(desk.online(*words, "-o", desk.path("no/out.json")), 2, "could not be written")


def test_a_gif_of_millions_of_frames_is_given_up_in_seconds(desk: BothMachines) -> None:
    head = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff"
    frame = b"\x2c\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02\x44\x01\x00"
    endless = desk.path("endless.gif")
    endless.write_bytes(head + frame * 2_000_000 + b"\x3b")
    begun = time.monotonic()
    refused(desk.offline("scan", endless, "-o", desk.path("scanned.json")), 4, "QR-LIMIT")
    assert time.monotonic() - begun < 60


def test_a_plan_that_no_payload_can_keep_has_mistakes(desk: BothMachines) -> None:
    written = (EXAMPLES / "delegate-registration.plan.toml").read_text().replace("m/44'/60'/0'/0/0", "m/44'/0'/0'/0/0")
    for deployment in ("rehearsal", "elsewhere"):
        text = written.replace('"rehearsal"', f'"{deployment}"')
        plan = desk.path(f"{deployment}.toml")
        plan.write_text(re.sub(r"(?m)^expiry = .+$", "expiry = 2024-03-31T00:00:00Z", text))
        for run in (desk.online, desk.offline):
            ended = run("plan", "check", plan, "--json")
            assert [each["check"] for each in ended.json()["mistakes"]] == ["PLAN-PATH", "TIME-EXPIRY"]
            assert (ended.code, "what it decides is not compared" in ended.err) == (2, deployment == "elsewhere")


ENDLESS = (
    "a" + ".a" * 20_000 + " = 1\n",
    'a = {b = """\n"", c""", ' + "b." * 20_000 + "b = 1}\n",
    "a = " + "[" * 20_000 + "]" * 20_000 + "\n",
    '"' * 40_000,
)


def test_a_plan_or_configuration_that_never_ends_is_refused_at_once(desk: BothMachines) -> None:
    plan, config = desk.path("endless.toml"), desk.path("offline-home/config.toml")
    begun = time.monotonic()
    assert desk.offline("completion", "--help").code == 0
    start_s = time.monotonic() - begun
    for text in ENDLESS:
        plan.write_text(text)
        config.write_text("")
        begun = time.monotonic()
        refused(desk.offline("plan", "show", plan), 2, "PLAN-FORM")
        config.write_text(text)
        refused(desk.offline("plan", "show", plan), 2, "is not TOML")
        assert time.monotonic() - begun < 2 * start_s + 2


def test_a_mistyped_address_is_never_answered_with_a_checksum_that_fits_it(desk: BothMachines) -> None:
    right = "0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D"
    wrong = "0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8C"
    plan = desk.write_plan("delegate-key")
    plan.write_text(plan.read_text().replace(right, wrong))
    refused(desk.online("plan", "show", plan), 2, "PLAN-ADDRESS")
    for run, words in (
        (desk.online, ("plan", "show", plan)),
        (desk.offline, ("plan", "show", plan)),
        (desk.offline, ("plan", "check", plan)),
        (desk.offline, ("ceremony", "run", plan)),
        (desk.online, ("nonce", wrong, "--deployment", "rehearsal")),
        (desk.online, ("delegation", wrong, "--deployment", "rehearsal")),
    ):
        for more in ((), ("--json",)):
            ended = run(*words, *more)
            assert ended.code, words
            assert not more or ended.json()["ok"] is False, words
            said = ended.out + ended.err
            same = {found for found in re.findall(r"0x[0-9a-fA-F]{40}", said) if found.lower() == wrong.lower()}
            assert same <= {wrong}, words


@pytest.mark.parametrize(
    ("fault", "check", "member", "value"),
    [
        ("digest-flipped", "DIGEST-MATCH", "digest", "0x" + "00" * 32),
        ("domain-crossed", "DOMAIN-CONTRACT", "domain", {"verifyingContract": "0x" + "ab" * 20}),
        ("message-altered", "PLAN-FIELD", "message", {"delegate": "0x" + "ab" * 20}),
    ],
)
def test_a_lying_builder_is_refused_with_the_checks_id(
    desk: BothMachines, fault: str, check: str, member: str, value: Any
) -> None:
    """Online as the builder answers, and offline when it was altered on its way."""
    plan, requests = desk.prepare("delegate-key")
    document = json.loads(requests.read_text())
    payload = document["requests"][0]["payload"]
    payload[member] = payload[member] | value if isinstance(value, dict) else value
    requests.write_text(json.dumps(document))
    verified = desk.offline("verify", requests, "--plan", plan)
    assert (verified.code, check in verified.out) == (3, True), verified.out
    desk.services.faults = Faults.of(fault)
    refused(desk.online("prepare", plan, "-o", desk.path("out.json")), 3, check)
    assert not desk.path("out.json").exists()


def test_half_a_character_in_what_the_venue_says_of_itself_is_refused(desk: BothMachines) -> None:
    output = desk.path("half.json")
    script = {}
    for path in ("/ready", "/v2/meta", "/v2/pairs"):
        said = httpx.get(desk.services.builder_url + path).content
        script[f"GET {path}"] = [http(200, re.sub(rb'("name": ?)"', rb'\1"\\ud800', said))]
    with Wire(script) as builder:
        ended = desk.online("deployment", "fetch", "--name", "half", "--builder", builder.url, "-o", output)
    refused(ended, 4, "DOC-UTF8", "lone surrogate")
    assert not output.exists()


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> BothMachines:
    """A table where nothing was done yet, with files that somebody may take for others."""
    made = BothMachines(tmp_path_factory.mktemp("table"), None)  # type: ignore[arg-type]
    files = {
        "plan.toml": b"# of the desk\n" + (ROOT / "tests/vectors/report/market-close/plan.toml").read_bytes(),
        "photo.png": b"\x89PNG\r\n\x1a\n" + bytes(100),
        "photo.jpg": b"\xff\xd8\xff\xe0" + bytes(100),
        "sheet.pdf": b"%PDF-1.7\n" + bytes(100),
        "requests.json": b'{"format": "airlock/requests@1", "header": {"count": 0}, "requests": []}',
        "signatures.json": b'{"format": "airlock/signatures@1", "header": {"count": 0}, "signatures": []}',
    }
    for name, data in files.items():
        made.path(name).write_bytes(data)
    return made


@pytest.mark.parametrize(("half", "command"), [(half, min(commands)) for half, commands in OF_ONE.items()])
def test_a_command_of_the_other_machine_is_told_as_that(table: BothMachines, half: str, command: str) -> None:
    here = table.offline if half == "online" else table.online
    ended = here(*command.split(), "requests.json", "--plan", "plan.toml")
    machine = {"online": "the online machine", "offline": "the air-gapped machine"}[half]
    assert (ended.code, ended.err.splitlines()) == (
        2,
        [f"`{command}` is a command of {machine}", f"  do:       type it there: airlock-{half} {command} ..."],
    )


MISTAKES: list[tuple[str, str, str, str]] = [
    ("offline", "sign {plan.toml} --plan {plan.toml} -o {out.json}", "perhaps a plan", ".json"),
    ("online", "submit {photo.jpg}", "perhaps a picture", ".json"),
    ("offline", "trust {sheet.pdf}", "or a printed sheet", ".json"),
    ("online", "plan check {photo.png}", "perhaps a picture", "plan"),
    ("online", "prepare {requests.json} -o {x}", "this is a requests document", "file"),
    ("offline", "trust {signatures.json}", "this is a signatures document; a deployment", "which file this is"),
    ("offline", "preflight --kit . --fingerprint 0123 abcd 4567", "words are left over: abcd 4567",
     '--fingerprint "abcd 1234 ..."'),
    ("offline", "sing {requests.json}", "there is no command 'sing'", "did you mean sign?"),
    ("online", "deployment fetsh", "there is no command 'deployment fetsh'", "did you mean fetch?"),
    ("offline", "preflight --time 12:30 --uncertainty 60", "not a time with a zone", "UTC"),
]  # fmt: skip


@pytest.mark.parametrize(("half", "line", "said", "do"), MISTAKES, ids=[row[1] for row in MISTAKES])
def test_a_mistake_is_told_as_that_first_line_first(
    table: BothMachines, half: str, line: str, said: str, do: str
) -> None:
    run: Callable[..., FinishedCommand] = table.online if half == "online" else table.offline
    ended = run(*(re.sub(r"^\{(.*)\}$", rf"{table.folder}/\1", word) for word in line.split()))
    told = re.sub(r"\n +", " ", ended.out + ended.err)
    assert ended.code in (2, 4)
    assert said in (told if line.startswith("plan check") else told.partition(" do: ")[0])
    assert do in told
