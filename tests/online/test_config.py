"""The configuration, the doctor and the errors: every fault is named with what to do and its exit code."""

import re
import shutil
import socket
import sqlite3
from collections.abc import Callable
from contextlib import closing
from email.utils import formatdate
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

import airlock_online
import airlock_rehearsal
from airlock_online.cli.doctor import journal_line, node_line, service_lines
from airlock_online.cli.machine import DELIVERY_CHECKS, everything
from airlock_online.cli.main import program
from airlock_online.clients.http import Http
from airlock_online.config import OnlineConfig, read_config, require_proxy
from airlock_online.error_codes import ERROR_CODES, SPEC, VENUES
from airlock_online.home import RPC_VARIABLE, OnlineHome
from airlock_online.journal import engine
from airlock_online.journal.journal import open_journal
from airlock_online.journal.order_states import ANOMALIES, OrderEvent, OrderState, is_end_of_view
from airlock_online.journal.schema import SCHEMA, SCHEMA_VERSION
from airlock_shared.checks.catalogue import CHECKS_BY_ID
from airlock_shared.cli.explain import explanations_of
from airlock_shared.errors import ExitCode, UsageError
from airlock_shared.host.files import FAULT, LOOK, OK, Observed, TranscriptFile
from commands import FinishedCommand, contents, run_here
from online.loopback import Answer, Wire, closed_port, http, reply
from online.online_command import OnlineCommand
from shared.world import deployment
from workspace.service_pages import CODE_PLACES

NOW_S = 1_795_000_000
READY = {"ok": True, "data": {"ready": True}}
SOURCES = Path(airlock_online.__file__).parent
REHEARSAL = Path(airlock_rehearsal.__file__).parent
RAISED = re.compile(r'\b(?:Refusal|DocumentError|PlanError)\(\s*"([A-Z]+-[A-Z0-9-]+)"')
SERVED = re.compile(r'\bRefused\([^)]*?,\s*"([A-Z_]+)"')
explain = partial(run_here, program, "explain")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[rpc", "not TOML"),
        ("[node]\nurl = 'x'", "unknown section"),
        ("rpc = 'http://node'", "not a table"),
        ("[rpc]\naddress = 'x'", "'address'"),
        ("[rpc]\nconfirmation = 1", "did you mean confirmations"),
        ("[rpc]\nconfirmations = true", "'confirmations'"),
        ("[rpc]\nconfirmations = 0", "confirmations is 0"),
        ("[rpc]\nconfirmed_by = 'latest'", "confirmed_by is 'latest'"),
        ("[rpc]\nconfirmations = 1001", "confirmations is 1001"),
        ("[reads]\nnonce = '/v2/nonce'", r"unknown section \[reads\]"),
        ("[http]\nplain_http = 1", "'plain_http'"),
        ("[http]\nproxy = 'http://user:word@proxy.example:3128'", "proxy"),
    ],
)
def test_a_wrong_configuration_is_refused(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "config.toml").write_text(text)
    with pytest.raises(UsageError, match=told):
        read_config(tmp_path / "config.toml")


def test_config_show_tells_where_each_value_comes_from_and_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config.toml").write_text("[rpc]\nconfirmations = 5\n")
    monkeypatch.setenv("AIRLOCK_RPC", "https://user:secret-one@node.example:8545/v3/secret-two?key=secret-three")
    monkeypatch.setenv("AIRLOCK_JOURNAL", "postgresql://desk:secret-four@db.example/journal")
    shown, ended = (run_here(program, "--home", tmp_path, "config", "show", *more) for more in ((), ("--json",)))
    origins = {(row["section"], row["name"]): (row["value"], row["from"]) for row in ended.json()["settings"]}
    assert origins["rpc", "confirmations"] == (5, "file")
    assert origins["paths", "pairs"] == ("/v2/pairs", "default")
    assert origins["rpc", "url"] == ("https://node.example:8545/…", "environment AIRLOCK_RPC")
    assert origins["machine", "journal"] == ("postgresql://db.example", "environment AIRLOCK_JOURNAL")
    assert origins["machine", "home"] == (str(tmp_path), "--home")
    assert "secret" not in f"{shown}{ended}"


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1:3128", "https://127.0.0.1:3128", "socks5://127.0.0.1:1080", "http://127.0.0.1", "http://u:p@127.0.0.1:1",
     "http://127.0.0.1:1/x", "http://:1", "http://a b:1", "http://127.0.0.1:0", "http://127.0.0.1:99999", "http://[::1"],
)  # fmt: skip
def test_a_proxy_has_one_form(address: str) -> None:
    with pytest.raises(UsageError, match="proxy") as caught:
        require_proxy(address)
    assert "u:p" not in str(caught.value)


def test_a_section_changes_what_it_names_and_nothing_else(tmp_path: Path) -> None:
    assert read_config(tmp_path / "config.toml") == OnlineConfig()
    assert (OnlineConfig().rpc.url, OnlineConfig().rpc.confirmations) == ("", 12)
    (tmp_path / "config.toml").write_text('[rpc]\nurl = "http://node"\n[venue]\nservices = "s.toml"\n')
    config = read_config(tmp_path / "config.toml")
    assert config == OnlineConfig(
        rpc=OnlineConfig().rpc._replace(url="http://node"), venue=OnlineConfig().venue._replace(services="s.toml")
    )


@pytest.mark.parametrize(("variable", "url"), [("", "http://file"), ("http://environment", "http://environment")])
def test_the_environment_names_a_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, url: str) -> None:
    monkeypatch.setenv(RPC_VARIABLE, variable)
    (tmp_path / "config.toml").write_text('[rpc]\nurl = "http://file"\nconfirmations = 3\n')
    assert OnlineHome(tmp_path).config().rpc == OnlineConfig().rpc._replace(url=url, confirmations=3)


# ---- ``airlock-online doctor``: every fault is named, and nothing is changed by looking ---------------------------


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    path = tmp_path / "home/journal.sqlite3"
    open_journal(str(path), lambda: 0).close()
    return path


def test_a_journal_that_is_whole_opens_and_nothing_is_made_beside_it(journal: Path) -> None:
    before = contents(journal.parent)
    line = journal_line(str(journal))
    assert (line.verdict, line.found) == (OK, f"{journal} opens, schema {SCHEMA_VERSION}")
    assert journal_line(f"sqlite:///{journal}") == line
    assert contents(journal.parent) == before
    absent = journal.parent.parent / "other/journal.sqlite3"
    assert (journal_line(str(absent)).verdict, "not there yet" in journal_line(str(absent)).found) == (OK, True)
    assert not absent.parent.exists()


def test_a_journal_whose_making_was_cut_short_is_empty_and_no_fault(journal: Path) -> None:
    with closing(sqlite3.connect(journal)) as database, database:
        database.execute(f"DELETE FROM {SCHEMA.name}")
    assert (journal_line(str(journal)).verdict, "it is empty" in journal_line(str(journal)).found) == (OK, True)
    open_journal(str(journal), lambda: 0).close()


def _replaced_by_a_link(path: Path) -> None:
    path.rename(path.with_name("other"))
    path.symlink_to("other")


def _newer(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("UPDATE journal_schema SET version = 99")


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda path: path.chmod(0o644), "may be read by others"),
        (_replaced_by_a_link, "no regular file"),
        (lambda path: path.write_bytes(b"journal" * 1000), "is no journal of Airlock"),
        (lambda path: path.write_bytes(path.read_bytes()[:-4096]), "cannot be read"),
        (_newer, "has the schema 99"),
        (lambda path: Path(shutil.copy(path, f"{path}-copied")).replace(path), "is a copy of another one"),
    ],
)
def test_a_journal_that_does_not_work_is_a_fault(journal: Path, harm: Callable[[Path], object], said: str) -> None:
    harm(journal)
    line = journal_line(str(journal))
    assert (line.verdict, line.code, said in line.found) == (FAULT, ExitCode.USAGE, True), line
    assert line.do


def test_a_server_that_is_not_there_or_never_answers_is_a_fault_without_its_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(engine, "CONNECT_S", 2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        for port in (closed_port(), silent.getsockname()[1]):
            line = journal_line(f"postgresql+psycopg://desk:sesame@127.0.0.1:{port}/journal")
            assert (line.verdict, "cannot be read" in line.found, "sesame" in repr(line)) == (FAULT, True, False)


def test_a_journal_on_a_server_is_read_and_not_made(postgres_url: str) -> None:
    assert "it is empty" in journal_line(postgres_url).found
    engine = create_engine(postgres_url)
    with engine.connect() as connection:
        assert connection.scalar(text("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")) == 0
    engine.dispose()
    open_journal(postgres_url, lambda: 0).close()
    line = journal_line(postgres_url)
    assert (line.verdict, line.found.endswith(f"opens, schema {SCHEMA_VERSION}")) == (OK, True)


def ask(builder: Answer, ready: Answer) -> dict[str, Observed]:
    """What is said of a builder that answers so at its base and at /ready."""
    with Wire({"GET /": [builder], "GET /ready": [ready]}) as wire, Http() as client:
        lines = list(service_lines(deployment()._replace(base_urls={"builder": wire.url}), client, NOW_S))
        assert {seen.method for seen in wire.seen} == {"GET"}
    return {line.what: line for line in lines}


def dated(off_s: int = 0) -> str:
    return f"date: {formatdate(NOW_S + off_s, usegmt=True)}"


@pytest.mark.parametrize(
    ("ready", "said"),
    [
        (reply(200, READY), ""),
        (reply(503, {"ok": False, "data": {"ready": False}}), "not ready"),
        (reply(200, {"ok": True, "data": {"ready": "yes"}}), "not ready"),
        (reply(404, {}), "neither ready nor not ready"),
        (http(200, b"<html>", "text/html"), "instead of JSON"),
    ],
)
def test_any_answer_is_an_answer_and_a_builder_that_is_not_ready_is_a_fault(ready: Answer, said: str) -> None:
    lines = ask(reply(500, {}, dated()), ready)
    assert (lines["builder"].verdict, "HTTP 500" in lines["builder"].found, lines["clock"].verdict) == (OK, True, OK)
    line = lines["ready"]
    assert (line.verdict, line.code) == ((FAULT, ExitCode.SERVICE) if said else (OK, ExitCode.DONE))
    assert said in line.found


def test_a_service_that_cannot_be_reached_is_a_fault_and_the_next_is_asked() -> None:
    url = f"http://127.0.0.1:{closed_port()}"
    urls = {"builder": url, "relayer": url, "twap": "http://[::"}
    with Http() as client:
        lines = list(service_lines(deployment()._replace(base_urls=urls), client, NOW_S))
    assert {line.verdict for line in lines} == {FAULT}
    codes = {"builder": ExitCode.SERVICE, "relayer": ExitCode.SERVICE, "twap": ExitCode.USAGE}
    assert {line.what: line.code for line in lines} == codes


@pytest.mark.parametrize(
    ("off_s", "verdict", "code"), [(5, OK, 0), (-5, OK, 0), (6, LOOK, 0), (-60, LOOK, 0), (61, FAULT, 7)]
)
def test_a_clock_that_is_off_is_told_by_how_much(off_s: int, verdict: str, code: int) -> None:
    line = ask(reply(200, {}, dated(off_s)), reply(200, READY))["clock"]
    assert (line.verdict, int(line.code)) == (verdict, code)
    assert verdict == OK or ("behind" if off_s > 0 else "ahead") in line.found


@pytest.mark.parametrize(
    ("chain_id", "verdict", "code"),
    [(hex(deployment().chain_id), OK, 0), ("0x1", FAULT, 3), ("one", FAULT, 8)],
)
def test_a_node_of_another_chain_is_a_fault_and_its_key_is_not_shown(chain_id: str, verdict: str, code: int) -> None:
    answer = reply(200, {"jsonrpc": "2.0", "id": 1, "result": chain_id})
    with Wire({"POST /v3/sesame": [answer]}) as wire, Http() as client:
        line = node_line(f"{wire.url}/v3/sesame", [deployment()], client, "node")
        assert b"eth_chainId" in wire.seen[0].body
    assert (line.verdict, int(line.code)) == (verdict, code), line
    assert "sesame" not in repr(line)


def doctor(home: Path, *words: str) -> FinishedCommand:
    return run_here(program, "--home", home, "doctor", *words)


def test_on_a_new_machine_nothing_is_wrong_and_nothing_is_made(tmp_path: Path) -> None:
    ended = doctor(tmp_path / "home")
    assert (ended.code, "Nothing is wrong." in ended.err) == (0, True), ended.out
    assert list(tmp_path.iterdir()) == []
    assert max(map(len, ended.out.splitlines())) <= 80


def test_with_the_rehearsals_services_nothing_is_wrong_or_changed(journal: Path, machine: OnlineCommand) -> None:
    before = contents(journal.parent)
    ended = doctor(machine.home, "--json")
    assert (ended.code, ended.json()["ok"], contents(journal.parent)) == (0, True, before), ended.out
    found = {line["what"]: line["verdict"] for line in ended.json()["lines"] if line["group"].startswith("services of")}
    assert {"builder", "batched_market", "ready", "clock"} <= found.keys()
    assert set(found.values()) == {OK}
    machine.services.stop()
    after = doctor(machine.home, "--json")
    assert (after.code, after.json()["ok"]) == (8, False)


def _broken_chain(home: Path) -> None:
    TranscriptFile(home / "transcript.jsonl").record("one", {}, 0)
    path = home / "transcript.jsonl"
    path.write_bytes(path.read_bytes().replace(b"one", b"two"))


def _damaged_deployment(home: Path) -> None:
    (home / "deployments").mkdir()
    (home / "deployments/venue.json").write_text("{}")


def _no_key(home: Path) -> None:
    (home / "config.toml").write_text('[api_key]\nheader = "X-Key"\nfile = "key"\naddresses = "https://a.example"\n')


def test_files_are_named_from_the_folder_wherever_a_command_is_given(tmp_path: Path) -> None:
    _no_key(tmp_path)
    with pytest.raises(UsageError, match=re.escape(str(tmp_path / "key"))):
        OnlineHome(tmp_path).api_key()
    (tmp_path / "config.toml").write_text('[http]\nca_file = "own.pem"\n')
    assert OnlineHome(tmp_path).config().http.ca_file == str(tmp_path / "own.pem")


@pytest.mark.parametrize(
    ("harm", "what", "code"),
    [
        (lambda home: home.chmod(0o755), "folder", 2),
        (lambda home: (home / "config.toml").write_text("[rpc]\naddress = 1\n"), "config.toml", 2),
        (lambda home: (home / "config.toml").symlink_to("a-disk-that-is-not-there"), "config.toml", 4),
        (lambda home: (home / "config.toml").write_text('[http]\nca_file = "/none"\n'), "ca_file", 2),
        (lambda home: (home / "config.toml").write_text('[api_key]\nheader = "X-Api-Key"\n'), "api_key", 2),
        (_broken_chain, "transcript", 4),
        (_damaged_deployment, "venue", 4),
        (_no_key, "api_key", 2),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, harm: Callable[[Path], object], what: str, code: int) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    harm(home)
    before = contents(home)
    ended = doctor(home, "--json")
    wrong = [line for line in ended.json()["lines"] if line["verdict"] not in (OK, LOOK)]
    assert (ended.code, [line["what"] for line in wrong]) == (code, [what]), ended.out
    assert wrong[0]["do"]
    assert contents(home) == before


# ---- the error catalogue is complete, is what the specification says, and is what `explain` tells -------------------


VECTORS = Path(__file__).parents[1] / "vectors/errors/spec-codes.txt"


def listed() -> list[tuple[str, str, str]]:
    source, rows = SPEC, []
    for line in VECTORS.read_text().splitlines():
        if line == "# venues":
            source = VENUES
        elif not line.startswith("#"):
            where, code = line.split()
            rows.append((where, code, source))
    return rows


def test_the_catalogue_has_every_code_of_the_specification_and_claims_no_other() -> None:
    for where, code, source in listed():
        known = ERROR_CODES.get(code)
        assert known is not None, code
        assert (known.where, known.source) == (where, source), code
    named = {code for _, code, source in listed() if source == SPEC}
    assert {code for code, known in ERROR_CODES.items() if known.source == SPEC} == named


def test_every_entry_says_what_it_means_what_to_do_and_what_it_ends() -> None:
    for code, known in ERROR_CODES.items():
        assert known.where in CODE_PLACES
        assert known.meaning.endswith(".")
        assert known.do.endswith(".")
        assert "|" not in known.meaning + known.do  # they are cells of a table
        assert known.exit_code is not ExitCode.DONE, code
        assert not known.terminal or known.exit_code is ExitCode.EXECUTION_FAILED, code
        if known.terminal and known.where != "relay":
            still = "The old one is valid until its deadline: wait for it if two fills would do harm."
            assert known.do.endswith(still), code
        if known.where in ("batched", "contract"):
            assert is_end_of_view(OrderEvent(None, "Error", {"code": code})) is not known.terminal


def test_every_code_that_the_rehearsal_services_answer_is_known() -> None:
    served = {code for path in REHEARSAL.rglob("*.py") for code in SERVED.findall(path.read_text())}
    assert served
    assert sorted(served - set(ERROR_CODES)) == []


def test_every_check_that_the_online_half_raises_is_explained() -> None:
    raised = {check for path in SOURCES.rglob("*.py") for check in RAISED.findall(path.read_text())}
    assert set(DELIVERY_CHECKS) <= raised
    assert sorted(raised - set(CHECKS_BY_ID) - set(DELIVERY_CHECKS)) == []


@pytest.mark.parametrize(
    "name", [*ERROR_CODES, *CHECKS_BY_ID, *DELIVERY_CHECKS, *ANOMALIES, *OrderState, *(str(int(c)) for c in ExitCode)]
)
def test_everything_with_a_name_is_explained(name: str) -> None:
    assert explanations_of(everything(), name)


def test_explain_tells_meaning_advice_and_exit_code() -> None:
    ended = explain("SPREAD_BLOCKED")
    assert (ended.code, ended.err) == (0, "")
    for word in ("SPREAD_BLOCKED: batched code", "exit code 11", "order     has ended"):
        assert word in ended.out
    ended = explain("STREAM_TIMEOUT", "--json")
    [told] = ended.json()
    assert (ended.code, told["exit_code"], told["ends_order"]) == (0, 9, False)
    for words in ((), ("NO_PRICE",), ("DOMAIN-CHAIN",), ("PLAN-FIELD",), ("429",), ("UNKNOWN",)):
        assert max(map(len, explain(*words).out.splitlines())) <= 80


def test_an_unknown_code_ends_with_2_and_names_the_nearest() -> None:
    ended = explain("SPREAD_BLOKED")
    assert (ended.code, ended.out, "the nearest names: SPREAD_BLOCKED" in " ".join(ended.err.split())) == (2, "", True)
    ended = explain("\x1b[31mred")
    assert (ended.code, "\x1b" in ended.err) == (2, False)
