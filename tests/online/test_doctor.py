"""``airlock-online doctor``: every fault is named with what to do and its exit code, and nothing is changed by looking."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from email.utils import formatdate
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from airlock_online.cli.doctor import journal_line, node_line, service_lines
from airlock_online.clients.http import Http
from airlock_online.journal.journal import open_journal
from airlock_online.journal.schema import SCHEMA_VERSION
from airlock_rehearsal.scenarios import TRADER
from airlock_rehearsal.services.server import RehearsalServices
from airlock_shared.documents.deployment import Deployment, parse_deployment
from airlock_shared.errors import ExitCode
from airlock_shared.host.files import FAULT, LOOK, OK, Observed, TranscriptFile
from commands import contents
from online.loopback import Answer, Wire, closed_port, http, reply

ONLINE = Path(sys.executable).parent / "airlock-online"
VENUE = Path(__file__).parents[1] / "vectors/deployments/good/venue.json"
NOW_S = 1_795_000_000
READY = {"ok": True, "data": {"ready": True}}


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    path = tmp_path / "home/journal.sqlite3"
    open_journal(str(path), lambda: 0).close()
    return path


# ---- the journal ------------------------------------------------------------------------------------------------------


def test_a_journal_that_is_whole_opens_and_nothing_is_made_beside_it(journal: Path) -> None:
    before = contents(journal.parent)
    line = journal_line(str(journal))
    assert (line.verdict, line.found) == (OK, f"{journal} opens, schema {SCHEMA_VERSION}")
    assert journal_line(f"sqlite:///{journal}") == line
    assert contents(journal.parent) == before


def test_a_journal_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    path = tmp_path / "home/journal.sqlite3"
    assert (journal_line(str(path)).verdict, "not there yet" in journal_line(str(path)).found) == (OK, True)
    assert not path.parent.exists()


def _others_may_read(path: Path) -> None:
    path.chmod(0o644)


def _replaced_by_a_link(path: Path) -> None:
    path.rename(path.with_name("other"))
    path.symlink_to("other")


def _replaced_by_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _not_a_database(path: Path) -> None:
    path.write_bytes(b"journal" * 1000)


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-4096])


def _damaged(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4096 : 4096 + 200] = b"\xff" * 200
    path.write_bytes(data)


def _newer(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("UPDATE journal_schema SET version = 99")
    database.close()


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (_others_may_read, "may be read by others"),
        (_replaced_by_a_link, "not a regular file"),
        (_replaced_by_a_folder, "not a regular file"),
        (_not_a_database, "is no journal of Airlock"),
        (_cut, "cannot be read"),
        (_damaged, "cannot be read"),
        (_newer, "has the schema 99"),
    ],
)
def test_a_journal_that_does_not_work_is_a_fault(journal: Path, harm: object, said: str) -> None:
    assert callable(harm)
    harm(journal)
    line = journal_line(str(journal))
    assert (line.verdict, line.code, said in line.found) == (FAULT, ExitCode.USAGE, True), line
    assert line.do


def test_a_server_that_cannot_be_reached_is_a_fault_without_its_password() -> None:
    line = journal_line(f"postgresql+psycopg://desk:sesame@127.0.0.1:{closed_port()}/journal?connect_timeout=5")
    assert (line.verdict, "sesame" in repr(line)) == (FAULT, False)


def test_a_journal_on_a_server_is_read_and_not_made(postgres_url: str) -> None:
    assert "it is empty" in journal_line(postgres_url).found
    engine = create_engine(postgres_url)
    with engine.connect() as connection:
        assert connection.scalar(text("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")) == 0
    engine.dispose()
    open_journal(postgres_url, lambda: 0).close()
    line = journal_line(postgres_url)
    assert (line.verdict, line.found.endswith(f"opens, schema {SCHEMA_VERSION}")) == (OK, True)


# ---- services ---------------------------------------------------------------------------------------------------------


def deployment(**urls: str) -> Deployment:
    return parse_deployment(VENUE.read_bytes())._replace(base_urls=urls)


def ask(builder: Answer, ready: Answer) -> dict[str, Observed]:
    """What is said of a builder that answers so at its base and at /ready."""
    with Wire({"GET /": [builder], "GET /ready": [ready]}) as wire, Http() as client:
        lines = list(service_lines(deployment(builder=wire.url), client, NOW_S))
        assert {seen.method for seen in wire.seen} == {"GET"}
    return {line.what: line for line in lines}


def dated(off_s: int = 0) -> str:
    return f"date: {formatdate(NOW_S + off_s, usegmt=True)}"


@pytest.mark.parametrize("status", [200, 404, 500])
def test_any_answer_is_an_answer(status: int) -> None:
    lines = ask(reply(status, {}, dated()), reply(200, READY))
    assert {name: line.verdict for name, line in lines.items()} == {"builder": OK, "ready": OK, "clock": OK}
    assert f"HTTP {status}" in lines["builder"].found


@pytest.mark.parametrize(
    ("ready", "said"),
    [
        (reply(503, {"ok": False, "data": {"ready": False}}), "not ready"),
        (reply(200, {"ok": True, "data": {"ready": "yes"}}), "not ready"),
        (reply(404, {}), "neither ready nor not ready"),
        (http(200, b"<html>", "text/html"), "instead of JSON"),
        (Answer(b"", reset=True), "broke"),
    ],
)
def test_a_builder_that_is_not_ready_is_a_fault(ready: Answer, said: str) -> None:
    line = ask(reply(200, {}, dated()), ready)["ready"]
    assert (line.verdict, line.code, said in line.found) == (FAULT, ExitCode.SERVICE, True), line


def test_a_service_that_cannot_be_reached_is_a_fault_and_the_next_is_asked() -> None:
    url = f"http://127.0.0.1:{closed_port()}"
    with Http() as client:
        lines = list(service_lines(deployment(builder=url, relayer=url, twap="http://[::"), client, NOW_S))
    codes = {"builder": ExitCode.SERVICE, "relayer": ExitCode.SERVICE, "twap": ExitCode.USAGE}
    assert [(line.what, line.verdict, line.code) for line in lines] == [
        (name, FAULT, code) for name, code in codes.items()
    ]


@pytest.mark.parametrize(
    ("off_s", "verdict", "code"),
    [(0, OK, 0), (5, OK, 0), (-5, OK, 0), (6, LOOK, 0), (-60, LOOK, 0), (61, FAULT, 7), (-86_400 * 365, FAULT, 7)],
)
def test_a_clock_that_is_off_is_told_by_how_much(off_s: int, verdict: str, code: int) -> None:
    line = ask(reply(200, {}, dated(off_s)), reply(200, READY))["clock"]
    assert (line.verdict, int(line.code)) == (verdict, code)
    assert verdict == OK or ("behind" if off_s > 0 else "ahead") in line.found


def _node(chain_id: str) -> Answer:
    return reply(200, {"jsonrpc": "2.0", "id": 1, "result": chain_id})


@pytest.mark.parametrize(
    ("answer", "verdict", "code"),
    [
        (_node(hex(parse_deployment(VENUE.read_bytes()).chain_id)), OK, 0),
        (_node("0x1"), FAULT, 3),
        (_node("one"), FAULT, 8),
        (reply(500, {}), FAULT, 8),
    ],
)
def test_a_node_of_another_chain_is_a_fault_and_its_key_is_not_shown(answer: Answer, verdict: str, code: int) -> None:
    with Wire({"POST /v3/sesame": [answer]}) as wire, Http() as client:
        line = node_line(f"{wire.url}/v3/sesame", [deployment()], client, "node")
        assert b"eth_chainId" in wire.seen[0].body
    assert (line.verdict, int(line.code)) == (verdict, code), line
    assert "sesame" not in repr(line)


# ---- the command ------------------------------------------------------------------------------------------------------


def doctor(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(ONLINE), "--home", str(home), "doctor", *words], capture_output=True, text=True, check=False, timeout=120
    )


def test_on_a_new_machine_nothing_is_wrong_and_nothing_is_made(tmp_path: Path) -> None:
    ended = doctor(tmp_path / "home")
    assert (ended.returncode, "Nothing is wrong." in ended.stderr) == (0, True), ended.stdout
    assert list(tmp_path.iterdir()) == []
    assert max(map(len, ended.stdout.splitlines())) <= 80


def test_with_the_rehearsals_services_nothing_is_wrong_and_nothing_is_changed(journal: Path) -> None:
    home = journal.parent
    TranscriptFile(home / "transcript.jsonl").record("fetched", {}, 0)
    with RehearsalServices(trader=TRADER) as services:
        words = ("--name", "rehearsal", "--builder", services.builder_url, "--batched-market", services.batched_url)
        fetched = home.parent / "deployment.json"
        subprocess.run(
            [str(ONLINE), "--home", str(home), "deployment", "fetch", *words, "-o", str(fetched)],
            check=True,
            capture_output=True,
        )
        before = contents(home)
        ended = doctor(home, "--json")
        assert contents(home) == before
    result = json.loads(ended.stdout)
    assert (ended.returncode, result["ok"]) == (0, True), ended.stdout
    found = {line["what"]: line["verdict"] for line in result["lines"] if line["group"].startswith("services of")}
    assert found == {"builder": OK, "batched_market": OK, "ready": OK, "clock": OK}
    after = doctor(home, "--json")  # they have gone
    assert (after.returncode, json.loads(after.stdout)["ok"]) == (8, False)


def _open_home(home: Path) -> None:
    home.chmod(0o755)


def _wrong_config(home: Path) -> None:
    (home / "config.toml").write_text("[rpc]\naddress = 1\n")


def _broken_chain(home: Path) -> None:
    TranscriptFile(home / "transcript.jsonl").record("one", {}, 0)
    path = home / "transcript.jsonl"
    path.write_bytes(path.read_bytes().replace(b"one", b"two"))


def _damaged_deployment(home: Path) -> None:
    (home / "deployments").mkdir()
    (home / "deployments/venue.json").write_text("{}")


@pytest.mark.parametrize(
    ("harm", "what", "code"),
    [
        (_open_home, "folder", 2),
        (_wrong_config, "config.toml", 2),
        (_broken_chain, "transcript", 4),
        (_damaged_deployment, "venue", 4),
    ],
)
def test_what_is_wrong_is_named_with_what_to_do_and_its_exit_code(
    tmp_path: Path, harm: object, what: str, code: int
) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    assert callable(harm)
    harm(home)
    before = contents(home)
    ended = doctor(home, "--json")
    wrong = [line for line in json.loads(ended.stdout)["lines"] if line["verdict"] not in (OK, LOOK)]
    assert (ended.returncode, [line["what"] for line in wrong]) == (code, [what]), ended.stdout
    assert wrong[0]["do"]
    assert contents(home) == before
