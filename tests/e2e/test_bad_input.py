"""Bad and hostile input through the installed commands: a clear message, an exit code, no flood, nothing half-written."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from airlock_rehearsal.scenarios import TRADER
from airlock_rehearsal.services.faults import Faults
from airlock_shared.cli.explain import OF_ONE
from commands import FinishedCommand
from e2e.altering_proxy import altering
from e2e.conftest import OFFLINE, ROOT, BothMachines, Ledger, refused
from e2e.terminal import Terminal
from e2e.test_roles import _change, _two_steps
from e2e.transaction_requests import write_transaction
from online.loopback import Wire, http, reply

# ---- bad input through the installed commands: a clear message, what to do, the exit code, and nothing half-written -


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


# ---- hostile texts through the installed commands: half a character, a key without end, an item without end, a
# ---- break inside


HALF = rb'"\ud800'


# ---- half a character, from a builder ---------------------------------------------------------------------------------


def test_half_a_character_in_what_the_venue_says_of_itself_is_refused(desk: BothMachines) -> None:
    output = desk.path("half.json")
    with altering(desk.services.builder_url) as builder:
        builder.alter = lambda body: re.sub(rb'("name": ?)"', lambda found: found[1] + HALF, body)
        ended = desk.online("deployment", "fetch", "--name", "half", "--builder", builder.url, "-o", output)
    refused(ended, 4, "DOC-UTF8", "lone surrogate")
    assert not output.exists()


# ---- TOML ---------------------------------------------------------------------------------------------------------------

DOTTED = "a" + ".a" * 20_000 + " = 1\n"
QUOTED = '"a" . ' * 7_000 + "a = 1\n"
HEADER = "[" + "a." * 20_000 + "a]\n"
INLINE = "a = {" + "b." * 20_000 + "b = 1}\n"
AFTER_TEXT = 'a = {b = """\n"", c""", ' + "b." * 20_000 + "b = 1}\n"
AFTER_LITERAL = "a = {b = '''\n\"''', " + "b." * 20_000 + "b = 1}\n"
NESTED = "a = " + "[" * 20_000 + "]" * 20_000 + "\n"
ENDLESS = {
    "dotted": DOTTED, "quoted": QUOTED, "header": HEADER, "inline": INLINE, "after a text": AFTER_TEXT,
    "after a literal": AFTER_LITERAL, "nested": NESTED, "backslashes": 'a = "' + '\\"' * 20_000 + "\n",
    "quotes": '"' * 40_000, "apostrophes": "'\"" * 20_000,
}  # fmt: skip


@pytest.mark.parametrize("text", ENDLESS.values(), ids=ENDLESS)
def test_a_plan_or_configuration_that_never_ends_is_refused_at_once(desk: BothMachines, text: str) -> None:
    plan = desk.path("endless.toml")
    plan.write_text(text)
    (desk.folder / "offline-home/config.toml").write_text("")
    begun = time.monotonic()
    assert desk.offline("completion", "--help").code == 0
    start_s = time.monotonic() - begun
    begun = time.monotonic()
    refused(desk.offline("plan", "show", plan), 2, "PLAN-FORM")
    (desk.folder / "offline-home/config.toml").write_text(text)
    refused(desk.offline("plan", "show", plan), 2, "is not TOML")
    assert time.monotonic() - begun < 2 * start_s + 2


# ---- a requests document that breaks inside ---------------------------------------------------------------------------


def _requests(desk: BothMachines) -> tuple[Path, Path]:
    plan, requests = desk.prepare("market-close")
    return plan, requests


@pytest.mark.parametrize(
    ("old", "new", "check"),
    [("\n]}\n", "", "DOC-TRUNCATED"), ('"step"', '"stop"', "DOC-FIELD"), ('"payload"', "payload", "DOC-JSON"),
     ("\n]}\n", ',\n{"step": "b"}]}', "DOC-COUNT"), ("\n]}\n", "\n]}\n1", "DOC-JSON")],
)  # fmt: skip
def test_verify_prints_one_json_document_also_when_the_requests_break_inside(
    desk: BothMachines, old: str, new: str, check: str
) -> None:
    plan, requests = _requests(desk)
    text = requests.read_text()
    assert text.count(old) == 1
    requests.write_text(text.replace(old, new))
    ended = desk.offline("verify", requests, "--plan", plan, "--json")
    told = json.loads(ended.out)
    assert (ended.code, told["ok"], told["error"]["check"], told["error"]["exit_code"]) == (4, False, check, 4)
    assert check in ended.err


# ---- a mistyped address -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("json_too", [(), ("--json",)])
def test_a_mistyped_address_is_never_answered_with_a_checksum_that_fits_it(
    desk: BothMachines, json_too: tuple[str]
) -> None:
    right = "0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8D"
    wrong = "0xDad77910DbDFdE764fC21FCD4E74D71bBACA6D8C"
    plan = desk.write_plan("delegate-key")
    plan.write_text(plan.read_text().replace(right, wrong))
    for run, words in ((desk.online, ("plan", "show", plan)), (desk.offline, ("plan", "show", plan)),
                       (desk.offline, ("plan", "check", plan)), (desk.online, ("nonce", wrong, "--deployment", "rehearsal")),
                       (desk.online, ("delegation", wrong, "--deployment", "rehearsal"))):  # fmt: skip
        ended = run(*words, *json_too)
        assert ended.code, words
        said = ended.out + ended.err
        same = {found for found in re.findall(r"0x[0-9a-fA-F]{40}", said) if found.lower() == wrong.lower()}
        assert same <= {wrong}, words


# ---- what a builder, a plan or pictures hold, through the installed commands: no flood, no imitation, no fall, no
# ---- waiting


MARK = "builder | "
OURS = ("DECIDED BY THE PLAN", "CHECKS: 37 passed, 0 refused", "Signed.")
FLOODS: dict[str, Any] = {
    "20,000 members": {str(n): 1 for n in range(20_000)},
    "thousands of our own lines": {f"{OURS[0]} {n}": OURS[1] for n in range(3_500)},
    "our own lines": {name: name for name in OURS},
    "one long text": {"note": "\n".join(OURS) * 2_000},
}


def screen(desk: BothMachines, ledger: Ledger, requests: Path, plan: Path) -> list[str]:
    """Sign a document at a terminal, answering no to its step; return the rows of the screen."""
    words = ("sign", requests, "--plan", plan, "-o", desk.path("out.json"), "--emulator", ledger.port)
    terminal = Terminal(OFFLINE, "--home", desk.path("offline-home"), *words)
    answers = ["Yes\n", "no\n"]
    while terminal.until_question() is not None:
        terminal.press(answers.pop(0))
    terminal.end()
    return terminal.shown.replace("\r", "").split("\n")


@pytest.mark.parametrize("said", FLOODS.values(), ids=FLOODS)
def test_what_the_builder_says_takes_forty_marked_lines_of_the_screen(
    desk: BothMachines, ledger: Ledger, said: Any
) -> None:
    plan, requests = desk.prepare("referral-code")
    document = json.loads(requests.read_text())
    document["requests"][0]["payload"]["meta"] = said
    requests.write_text(json.dumps(document))
    rows = screen(desk, ledger, requests, plan)
    marked = [row for row in rows if row.startswith(MARK)]
    assert 0 < len(marked) <= 40
    assert sum(len(row.encode()) + 1 for row in marked) <= 4096
    assert rows.count("DECIDED BY THE PLAN") == 1
    assert sum(row.startswith("CHECKS: ") for row in rows) == 1
    assert len(rows) < 140


def test_of_a_refused_transaction_nothing_is_said_that_is_not_so(desk: BothMachines, ledger: Ledger) -> None:
    plan, requests, _ = write_transaction(desk.folder, desk.path("deployment.json"))
    document = json.loads(requests.read_text())
    document["requests"][0]["payload"] |= {"to": "0x" + "ab" * 20, "value": "0x1"}
    requests.write_text(json.dumps(document))
    shown = " ".join(" ".join(line.lstrip("✓✗·") for line in screen(desk, ledger, requests, plan)).split())
    assert "pinned as usdc" not in shown
    assert "no native currency" not in shown
    assert "NOT the pinned usdc" in shown
    assert "TX-TO" in shown
    assert "TX-VALUE" in shown


def test_an_approval_under_another_step_is_refused_and_what_was_signed_before_is_handed_over(
    desk: BothMachines, ledger: Ledger
) -> None:
    plan, requests = _two_steps(desk)
    _, other, _ = write_transaction(desk.folder, desk.path("deployment.json"))
    document = json.loads(requests.read_text())
    own = {name: document["requests"][1][name] for name in ("step", "action", "signer")}
    document["requests"][1] = json.loads(other.read_text())["requests"][0] | own
    requests.write_text(json.dumps(document))
    output = desk.path("out.json")
    words = ("sign", requests, "--plan", plan, "-o", output, "--emulator", ledger.port)
    ended = desk.offline(*words, typed="Yes\n" * 4)
    assert ended.code == 3, ended.err
    assert "Traceback" not in ended.err
    assert [each["result"] for each in json.loads(output.read_text())["signatures"]] == ["signed", "refused"]
    lines = desk.path("offline-home/transcript.jsonl").read_text().splitlines()
    assert [json.loads(line)["event"] for line in lines][-2:] == ["refused", "signatures-written"]


def test_a_gif_of_millions_of_frames_is_given_up_in_seconds(desk: BothMachines) -> None:
    head = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff"
    frame = b"\x2c\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02\x44\x01\x00"
    endless = desk.path("endless.gif")
    endless.write_bytes(head + frame * 2_000_000 + b"\x3b")
    begun = time.monotonic()
    ended = desk.offline("scan", endless, "-o", desk.path("scanned.json"))
    assert (ended.code, "QR-LIMIT" in ended.err) == (4, True), ended.err
    assert time.monotonic() - begun < 60
    assert "Traceback" not in ended.err


# ---- mistakes of people, through the installed commands: the first line says which mistake it is, the last what to
# ---- type now


PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(100)
DAY_MS, HOUR_MS = 24 * 3600 * 1000, 3600 * 1000


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("table")


@pytest.fixture
def table(home: Path) -> BothMachines:
    """A table where nothing was done yet, with files that somebody may take for others."""
    made = BothMachines(home, None)  # type: ignore[arg-type]
    files = {
        "plan.toml": b"# of the desk\n" + (ROOT / "tests/vectors/report/market-close/plan.toml").read_bytes(),
        "photo.png": PICTURE,
        "photo.jpg": b"\xff\xd8\xff\xe0" + bytes(100),
        "sheet.pdf": b"%PDF-1.7\n" + bytes(100),
        "requests.json": b'{"format": "airlock/requests@1", "header": {"count": 0}, "requests": []}',
        "signatures.json": b'{"format": "airlock/signatures@1", "header": {"count": 0}, "signatures": []}',
    }
    for name, data in files.items():
        made.path(name).write_bytes(data)
    return made


ONLY_THERE = [(half, command) for half, commands in OF_ONE.items() for command in sorted(commands)]


@pytest.mark.parametrize(("half", "command"), [ONLY_THERE[0], ONLY_THERE[-1]])
def test_a_command_of_the_other_machine_is_told_as_that(table: BothMachines, half: str, command: str) -> None:
    here = table.offline if half == "online" else table.online
    ended = here(*command.split(), "requests.json", "--plan", "plan.toml")
    machine = {"online": "the online machine", "offline": "the air-gapped machine"}[half]
    assert (ended.code, ended.err.splitlines()) == (
        2,
        [f"`{command}` is a command of {machine}", f"  do:       type it there: airlock-{half} {command} ..."],
    )


OUTPUT = ("--plan", "{plan.toml}", "-o", "{out.json}")
MISTAKES: list[tuple[str, str, tuple[str, ...], str, str]] = [
    ("a plan in the place of requests", "offline", ("sign", "{plan.toml}", *OUTPUT), "perhaps a plan", ".json"),
    ("a plan in the place of signatures", "online", ("submit", "{plan.toml}"), "perhaps a plan", ".json"),
    ("a plan in the place of a deployment", "offline", ("trust", "{plan.toml}"), "perhaps a plan", ".json"),
    ("a photograph of the codes", "online", ("submit", "{photo.png}"), "perhaps a picture", ".json"),
    ("one of a telephone", "online", ("submit", "{photo.jpg}"), "perhaps a picture", ".json"),
    ("a printed sheet", "offline", ("trust", "{sheet.pdf}"), "or a printed sheet", ".json"),
    ("a picture in the place of a plan", "online", ("plan", "check", "{photo.png}"),
     "perhaps a picture", "plan"),
    ("requests in the place of a plan", "online", ("prepare", "{requests.json}", "-o", "{x}"),
     "this is a requests document", "file"),
    ("requests in the place of signatures", "online", ("submit", "{requests.json}"),
     "this is a requests document; a signatures document is needed", "right file"),
    ("signatures in the place of a deployment", "offline", ("trust", "{signatures.json}"),
     "this is a signatures document; a deployment document is needed", "which file this is"),
    ("a fingerprint without quotes", "offline", ("preflight", "--kit", ".", "--fingerprint", "0123", "abcd", "4567"),
     "words are left over: abcd 4567", '--fingerprint "abcd 1234 ..."'),
    ("a name without quotes", "online", ("ceremony", "begin", "--plan", "{plan.toml}", "--role", "signer=Ada", "Lovelace"),
     "words are left over: Lovelace", "quotes"),
    ("a slip in a command", "offline", ("sing", "{requests.json}"), "there is no command 'sing'", "did you mean sign?"),
    ("a slip below a command", "online", ("deployment", "fetsh"),
     "there is no command 'deployment fetsh'", "did you mean fetch?"),
    ("a time without its date", "offline", ("preflight", "--time", "12:30", "--uncertainty", "60"),
     "not a time with a zone", "UTC"),
]  # fmt: skip


@pytest.mark.parametrize(("mistake", "half", "words", "said", "do"), MISTAKES, ids=[row[0] for row in MISTAKES])
def test_a_mistake_is_told_as_that_first_line_first(
    table: BothMachines, mistake: str, half: str, words: tuple[str, ...], said: str, do: str
) -> None:
    run: Callable[..., FinishedCommand] = table.online if half == "online" else table.offline
    ended = run(*(re.sub(r"^\{(.*)\}$", rf"{table.folder}/\1", word) for word in words))
    told = re.sub(r"\n +", " ", ended.out + ended.err)
    assert ended.code in (2, 4)
    assert said in (told if words[:2] == ("plan", "check") else told.partition(" do: ")[0])
    assert do in told


def test_yesterdays_file_is_told_as_that(desk: BothMachines, ledger: Ledger) -> None:
    plan, requests = desk.prepare("delegate-key")

    def of_yesterday(message: dict[str, object]) -> None:
        message["_deadline" if "_deadline" in message else "deadline"] = of_yesterday.deadline_ms  # type: ignore[attr-defined]

    created = json.loads(requests.read_text())["header"]["created_ms"]
    of_yesterday.deadline_ms = created - DAY_MS - 11 * HOUR_MS  # type: ignore[attr-defined]
    changed = _change(requests, of_yesterday)
    ended = desk.offline(
        "sign", changed, "--plan", plan, "-o", desk.path("o.json"), "--emulator", ledger.port, typed="Yes\n"
    )
    told = re.sub(r"\s+", " ", ended.err)
    assert ended.code == 7, ended.err
    assert "REFUSED TIME-REMAINING: too late: it was over 1 d 11 h ago" in told
    assert "Prepare again on the online machine." in told
    assert "who altered it" not in told


def test_keys_that_have_changed_places_are_told_as_that(desk: BothMachines, ledger: Ledger) -> None:
    plan, requests = desk.prepare("delegate-key")
    words = ("sign", requests, "--plan", plan, "-o", desk.path("o.json"), "--emulator", ledger.port)
    ended = desk.offline(*words, typed="Zes\nНуы\nYes\nYes\n")
    assert ended.code == 0, ended.err
    assert "the keys Y and Z have changed places" in re.sub(r"\s+", " ", ended.err)
    assert ended.err.count("These are not Latin letters: change the layout") == 1


# ---- A payload that must be refused is refused with the same id by ``prepare`` online and by ``verify`` offline -----


Payload = dict[str, Any]
TRIGGER = """
[[steps]]
id = "trigger"
action = "tpsl-partial"
signer = "treasury"
fields = { trader = "TRADER", pairIndex = 0, tradeIndex = 0, kind = "take_profit", coinExposure = "0.001", side = "long", price = "70000" }
"""  # noqa: E501


def _set(*path: str | int, value: object) -> Callable[[Payload], str]:
    def change(payload: Payload) -> str:
        place: Any = payload
        for name in path[:-1]:
            place = place[name]
        place[path[-1]] = value
        return json.dumps(payload)

    return change


def _reordered_domain(payload: Payload) -> str:
    payload["types"]["EIP712Domain"].reverse()
    return json.dumps(payload)


def _type_hash_order(payload: Payload) -> str:
    words = payload["encodedIntent"][2:]
    head = [words[at : at + 64] for at in range(0, len(words), 64)]
    head[4], head[5] = head[5], head[4]  # tnc's offset and deadline change places
    payload["encodedIntent"] = "0x" + "".join(head)
    return json.dumps(payload)


def _crossed(payload: Payload) -> str:
    payload["domain"]["verifyingContract"] = "0xF4D093284958760AB87CcF20E6039B717878b580"
    return json.dumps(payload)


CASES: dict[str, tuple[str, str, Callable[[Payload], str]]] = {
    "a text for a flag": ("trigger", "MSG-BOOL", _set("message", "buy", value="false")),
    "an extra field": ("delegate", "MSG-FIELDS", _set("message", "extra", value="1")),
    "a reordered domain": ("delegate", "TYPES-PINNED", _reordered_domain),
    "a fractional number": ("trigger", "DOC-FLOAT", _set("message", "coinSize", value=5.5)),
    "the same member twice": (
        "delegate",
        "DOC-DUPLICATE",
        lambda payload: json.dumps(payload).replace('"intent":', '"intent": "DelegateReq", "intent":', 1),
    ),
    "the order of the type hash": ("delegate", "ENC-MATCH", _type_hash_order),
    "the referral domain": ("delegate", "DOMAIN-CONTRACT", _crossed),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_both_halves_refuse_it_with_the_same_id(desk: BothMachines, name: str) -> None:
    kind, check, change = CASES[name]
    plan, step, endpoint = desk.write_plan("delegate-key"), "delegate-key", "/v2/intents/delegate"
    if kind == "trigger":
        text = plan.read_text()
        plan.write_text(text[: text.index("[[steps]]")] + TRIGGER.replace("TRADER", TRADER))
        step, endpoint = "trigger", "/v2/intents/tpsl-partial"
    good = desk.path("good.json")
    assert desk.online("prepare", plan, "-o", good).code == 0
    document = good.read_text()
    item = json.loads(document)["requests"][0]
    altered = change(json.loads(json.dumps(item["payload"])))

    bad = desk.path("bad.json")
    bad.write_text(document.replace(json.dumps(item["payload"], ensure_ascii=False), altered))
    assert bad.read_text() != document
    verified = desk.offline("verify", bad, "--plan", plan)
    assert verified.code in (3, 4), verified.err
    assert check in verified.out + verified.err

    ready, meta = (httpx.get(f"{desk.services.builder_url}{path}").json() for path in ("/ready", "/v2/meta"))
    answer = http(200, f'{{"ok": true, "data": {altered}}}'.encode())
    pinned = desk.folder / "online-home" / "deployments" / "rehearsal.json"
    told = {"GET /ready": [reply(200, ready)], "GET /v2/meta": [reply(200, meta)]}
    with Wire(told | {f"POST {endpoint}": [answer]}) as wire:
        pinned.write_text(pinned.read_text().replace(desk.services.builder_url, wire.url))
        prepared = desk.online("prepare", plan, "-o", desk.path("out.json"))
    assert prepared.code in (3, 8), prepared.err
    assert check in prepared.err
    assert not desk.path("out.json").exists()
    assert step in document
