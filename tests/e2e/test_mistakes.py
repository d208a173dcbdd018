"""Mistakes of people, through the installed commands: the first line says which mistake it is, the last what to type now."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from airlock_shared.cli.explain import OF_ONE
from commands import FinishedCommand
from e2e.conftest import ROOT, BothMachines, Ledger
from e2e.test_nonce_and_time import _change

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
