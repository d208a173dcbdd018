"""The services start and stop; faults are switched at one place; the cameras of a rehearsed day bring a page again."""

import ast
import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

import httpx
import pytest

from airlock_rehearsal import services as package
from airlock_rehearsal.services.faults import EVERYWHERE, FAULTS, IN_EXECUTION, IN_PAYLOADS, PLACES, Faults
from airlock_rehearsal.services.runtime import REHEARSAL_CHAINS
from airlock_rehearsal.services.server import RehearsalServices
from airlock_shared.documents import deployment
from airlock_shared.errors import UsageError
from commands import run_command
from online.rehearsal.conftest import OpenClient
from online.rehearsal.services_client import PROMPT, TRADER


def thread_names() -> list[str]:
    return [t.name for t in threading.enumerate() if "rehearsal" in t.name]


def test_services_start_on_loopback_and_leave_no_thread() -> None:
    services = RehearsalServices(trader=TRADER.address, settings=PROMPT)
    with services:
        assert services.url.startswith("http://127.0.0.1:")
        assert thread_names() == ["airlock rehearsal services"]
        assert httpx.get(services.builder_url + "/ready").status_code == 200
    assert thread_names() == []
    with pytest.raises(httpx.ConnectError):
        httpx.get(services.builder_url + "/ready")
    services.stop()


def test_a_rehearsal_stops_while_a_stream_is_open(open_desk: OpenClient) -> None:
    desk = open_desk(PROMPT._replace(pacing_s=60))
    body = desk.order(1, desk.close_payload())
    with desk.http.stream("POST", desk.services.batched_url + "/market/execute-batched", json=body) as reply:
        assert next(reply.iter_raw()).startswith(b": open")
        desk.services.stop()
        assert thread_names() == []


def test_its_chains_are_those_of_the_gate_of_which_nothing_is_imported() -> None:
    assert REHEARSAL_CHAINS == deployment.REHEARSAL_CHAINS
    allowed = {"airlock_shared.errors"}
    for path in Path(package.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            shared = {name for name in names if name.startswith("airlock_shared")}
            assert shared <= allowed, path.name


SERVE = [sys.executable, "-c", "from airlock_online.cli.main import main; main()", "rehearse", "serve"]


def test_the_command_says_where_it_serves_and_stops_on_a_signal() -> None:
    words = [*SERVE, "--port", "0", "--trader", TRADER.address, "--fault", "http-503@builder", "--eip7702"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        assert (ready["simulator"], ready["trader"]) == (True, TRADER.address)
        assert httpx.get(ready["services"]["builder"] + "/ready").status_code == 503
        assert httpx.get(ready["url"] + "/rehearsal/faults").json()["in_force"] == ["http-503@builder"]
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0
    assert out == ""
    assert err.startswith("SIMULATOR: ")
    assert f"deployment fetch --name rehearsal --builder {ready['services']['builder']} " in err


@pytest.mark.parametrize(("words", "said"), [
    (["--fault", "nope"], "no fault is called 'nope'"), (["--trader", "me"], "is not an address"),
])  # fmt: skip
def test_the_command_refuses_what_it_does_not_know(words: list[str], said: str) -> None:
    ended = run_command(Path(sys.executable).parent / "airlock-online", "rehearse", "serve", *words)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err


def test_every_fault_has_one_sentence_and_holds_at_its_place_alone() -> None:
    assert len(FAULTS) == len(IN_PAYLOADS) + len(IN_EXECUTION) + len(EVERYWHERE) == 29
    assert all(fault.does.endswith(".") and fault.where for fault in FAULTS.values())
    assert all(set(fault.where) <= set(PLACES) for fault in FAULTS.values())
    faults = Faults.of("http-500@relay", "slow", "attempts-fail=3@batched", "attempts-fail=12")
    assert (faults.has("http-500", "relay"), faults.has("http-500", "builder")) == (True, False)
    assert all(faults.has("slow", place) for place in PLACES)
    assert faults.failing_attempts == 12


@pytest.mark.parametrize(
    "name",
    ["nope", "", "attempts-fail", "attempts-fail=1000", "attempts-fail=2@core", "http-500@builder@core"],
)
def test_a_fault_that_is_not_in_the_table_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        Faults.of(name)
