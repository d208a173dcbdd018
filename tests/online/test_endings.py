"""How things end: every id that was given is kept, an interrupt leaves a state behind, what nobody was told is told."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from airlock_online.cli import delivery_context
from airlock_online.cli.delivery_context import Desk, open_desk
from airlock_online.cli.main import program
from airlock_online.clients.http import Http
from airlock_online.clients.rpc import RpcClient
from airlock_online.delivery.outcome import OrderOutcome
from airlock_online.delivery.routes.registry import ROUTE_MODULES
from airlock_online.delivery.submit import submit_delivery
from airlock_online.home import OnlineHome
from airlock_online.journal.journal import open_journal
from airlock_online.journal.order_states import FINAL, OrderEvent, OrderState
from airlock_online.readback.expectations import Expectation
from airlock_online.speech.sections import OF_TRANSACTIONS
from airlock_shared.cli.program import run
from airlock_shared.errors import ExitCode
from airlock_shared.venue.structs import CATALOGUE
from commands import Screen
from online.crash.orders import order
from online.delivering_machine import NOW, delivering_machine
from online.fake_chain import FakeChain, Mined
from online.loopback import Answer, Wire, frame, reply, stream
from online.test_journal import DIGEST, put
from online.test_unsent import SENDINGS
from workspace.final_evidence import FINAL_EVIDENCE, FinalEvidence

GIVEN = [
    ("core-api-post", reply(201, {"entityId": -12}), "entityId: -12"),
    ("core-api-post", reply(201, {"entityId": "x" * 201}), 'entityId: "' + "x" * 201),
    ("core-api-put", reply(200, {"newEntityId": "e-9", "oldEntityId": "e-2"}), 'newEntityId: "e-9"'),
    ("relayer", reply(200, {"ok": True, "data": {"id": 4711.5}}), "id: 4711.5"),
    ("relay", reply(200, {"ok": True, "data": {"hash": 9}}), "hash: 9"),
    ("twap", reply(201, {"twapId": 41, "transactionHash": "0xabc", "blockNumber": 1}), "0xabc"),
    ("batched-market", stream(frame("MarketOrderAccepted", {"trackingId": 5.5}, 0)), "trackingId: 5.5"),
    ("batched-market", stream(frame("MarketOrderAccepted", {"trackingId": "\x1b[2J"}, 0)), "trackingId: "),
]


@pytest.mark.parametrize(("way", "answer", "given"), GIVEN)
def test_an_unusable_id_is_kept(tmp_path: Path, capsys: Screen, way: str, answer: Answer, given: str) -> None:
    with Wire({SENDINGS[way]: [answer]}) as wire, delivering_machine(tmp_path / "journal.sqlite3") as desk:
        delivery = order(way, wire.url)
        outcome = submit_delivery(delivery, desk.world._replace(patience_s=0))
        assert outcome.state in (OrderState.UNKNOWN, OrderState.ACCEPTED)
        (kept,) = desk.world.journal.get(delivery.digest).unusable_ids
        assert given in kept
        assert kept.isprintable()
    for command in ("status", "resolve"):
        run(program, ["--home", str(tmp_path), command])
        assert given[:40] in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(("state", "code"), [(OrderState.FILLED, 0), (OrderState.FAILED, 11)])
def test_the_next_follow_tells_what_was_not_told(tmp_path: Path, capsys: Screen, state: OrderState, code: int) -> None:
    with open_journal(OnlineHome(tmp_path).journal_url(), lambda: NOW) as journal:
        put(journal, state)
    follow = ["--home", str(tmp_path), "follow"]
    assert run(program, follow) == code
    assert f"outcome: {state.value}" in capsys.readouterr().out
    assert run(program, follow) == 0
    assert "nothing to follow" in capsys.readouterr().err
    assert run(program, [*follow, DIGEST, "--json"]) == code
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert told["state"] == state.value
    assert told.get("error", {"exit_code": 0})["exit_code"] == code


INTERRUPTED = """
import sys
from pathlib import Path
from airlock_online.cli.delivery_context import open_desk
from airlock_online.delivery.submit import run_parallel, submit_delivery
from airlock_online.home import OnlineHome
from online.crash.orders import order
home, way, url, now_ms = OnlineHome(Path(sys.argv[1])), sys.argv[2], sys.argv[3], int(sys.argv[4])
def job(answered):
    delivery = order(way, "https://a.example")._replace(base_url=url)
    context = desk.context(delivery, answered)._replace(clock_ms=lambda: now_ms)
    return desk.run(delivery, lambda: submit_delivery(delivery, context))
try:
    with open_desk(home, 0, as_json=True, make=True) as desk:
        run_parallel([job], in_turn=True)
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.mark.parametrize(("scheme", "state"), [("https", OrderState.PREPARED), ("http", OrderState.UNKNOWN)])
@pytest.mark.parametrize("way", ["batched-market", "twap", "relay"])
def test_ctrl_c_between_claim_and_answer_is_recorded(tmp_path: Path, way: str, scheme: str, state: OrderState) -> None:
    """The peer takes the connection and says nothing: with https no request was written yet, with http all of it was."""
    with socket.create_server(("127.0.0.1", 0)) as peer:
        url = f"{scheme}://127.0.0.1:{peer.getsockname()[1]}"
        command = [sys.executable, "-c", INTERRUPTED, str(tmp_path), way, url, str(NOW)]
        peer.settimeout(20)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
            connection, _ = peer.accept()
            with connection:
                assert connection.recv(1)
                began = time.monotonic()
                process.send_signal(signal.SIGINT)
                _, err = process.communicate(timeout=20)
                took = time.monotonic() - began
    assert (process.returncode, "Traceback" in err) == (130, False), err
    with open_journal(OnlineHome(tmp_path).journal_url(), lambda: NOW) as journal:
        known = journal.get(order(way, "https://a.example").digest)
    assert (known.state, bool(known.note)) == (state, True)
    assert took < 5


def test_after_an_interrupt_nobody_waits_to_ask_again_and_no_outcome_is_told(tmp_path: Path, capsys: Screen) -> None:
    known, ended = order("twap", "https://a.example"), threading.Event()

    def follow(desk: Desk) -> None:
        with pytest.raises(KeyboardInterrupt):
            desk.context(known).sleep(60)
        ended.set()

    def interrupted() -> Desk:
        try:
            with open_desk(OnlineHome(tmp_path), 0, as_json=True, make=True) as desk:
                threading.Thread(target=follow, args=(desk,), daemon=True).start()
                raise KeyboardInterrupt
        except KeyboardInterrupt:
            return desk

    desk = interrupted()
    assert ended.wait(10)
    with pytest.raises(KeyboardInterrupt):
        desk.run(known, lambda: OrderOutcome(known.digest, OrderState.UNKNOWN, "", "", "cut", ()))
    assert capsys.readouterr().out == ""


def test_no_more_than_so_many_read_back_what_was_promised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = threading.Event()
    with open_desk(OnlineHome(tmp_path), 0, as_json=True, make=True) as desk:
        put(desk.journal, OrderState.PREPARED)
        monkeypatch.setattr(desk, "_context", desk._context._replace(others=(others := threading.Semaphore(0))))

        def expectations(_: str) -> list[Expectation]:
            read.set()
            return []

        monkeypatch.setattr(desk, "expectations", expectations)
        reading = threading.Thread(target=desk._read_back, args=(DIGEST,))
        reading.start()
        assert not read.wait(0.2)
        others.release()
        reading.join(10)
        assert read.is_set()
        assert others.acquire(blocking=False)


@pytest.mark.parametrize(
    ("newest_s", "mined", "spent", "code", "told"),
    [
        (-9, False, False, ExitCode.UNKNOWN, "the node may be behind"),
        (59, False, False, ExitCode.UNKNOWN, "the node may be behind"),
        (75, False, False, ExitCode.EXECUTION_FAILED, "unused"),
        (-9, True, False, ExitCode.EXECUTION_FAILED, "unused"),
        (-9, False, True, ExitCode.DONE, "FILLED"),
    ],
)
def test_a_node_that_lags_behind_a_fill_breaks_no_promise_and_one_that_does_not_finds_the_lie_out(
    tmp_path: Path, capsys: Screen, monkeypatch: pytest.MonkeyPatch,
    newest_s: int, mined: bool, spent: bool, code: ExitCode, told: str,
) -> None:  # fmt: skip
    monkeypatch.setattr(delivery_context, "POLL_S", 0)
    chain, tx_hash = FakeChain(int(time.time()) + newest_s), "0x" + "7f" * 32
    chain.mine(0, *([Mined(tx_hash, "0x" + "66" * 20, 0)] if mined else []))
    with chain.node() as node, open_desk(OnlineHome(tmp_path), 0, as_json=False, make=True) as desk:
        desk.node = RpcClient(node.url, desk.http)
        put(desk.journal, OrderState.FILLED)
        desk.journal.record(DIGEST, OrderEvent(2, "MarketOrderExecuted", {"transactionHash": tx_hash}))
        known = desk.journal.get(DIGEST).record
        chain.spent = {(known.signer.lower(), int(known.nonce)): 0} if spent else {}
        assert desk.run(known, lambda: OrderOutcome(DIGEST, OrderState.FILLED)) is code
    assert told in "".join(capsys.readouterr())


def test_a_row_made_again_is_no_older_bound_than_its_requests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_desk(OnlineHome(tmp_path), 0, as_json=True, make=True) as desk:
        put(desk.journal, OrderState.PREPARED)
        known = desk.journal.get(DIGEST)
        assert desk.request_of(known)[0] == known.created_ms  # its requests are not here
        for made_ms in (known.created_ms - 5, known.created_ms + 5):
            header = SimpleNamespace(created_ms=made_ms)
            monkeypatch.setattr(OnlineHome, "require_requests", lambda *_, header=header: (header, []))
            assert desk.request_of(known)[0] == min(made_ms, known.created_ms)


def test_nothing_is_begun_to_be_written_by_a_command_that_is_ending(tmp_path: Path) -> None:
    with Wire({SENDINGS["twap"]: [reply(201, {})]}) as wire, delivering_machine(tmp_path / "j") as desk:
        http = Http()
        http._changing.acquire()  # it is past the door when the interrupt comes
        http._changing.release()
        desk.world = desk.world._replace(http=http)
        http.close()
        assert submit_delivery(order("twap", wire.url), desk.world).state is OrderState.PREPARED
        assert wire.seen == []


# ---- who says that an order has ended, who could lie, and what then happens ----------------------------------------


def test_every_final_state_has_a_row_and_no_other_state_has_one() -> None:
    assert {row.state for row in FINAL_EVIDENCE} == FINAL


@pytest.mark.parametrize("route", ROUTE_MODULES)
def test_every_route_can_succeed_and_end_by_some_row(route: str) -> None:
    ends = {row.state.value for row in FINAL_EVIDENCE if route in row.routes}
    assert ends & {"FILLED", "CONFIRMED"}
    assert "VOIDED" in ends
    assert ("FILLED" in ends) == ("MARKET_DECLINED" in ends) == (route == "batched-market")
    has_deadline = any(intent.deadline for intent in CATALOGUE.values() if intent.route == route)
    assert ("EXPIRED_UNUSED" in ends) == (has_deadline and route not in OF_TRANSACTIONS)


@pytest.mark.parametrize("row", FINAL_EVIDENCE, ids=lambda row: f"{row.state}-{'-'.join(row.routes)}")
def test_a_row_says_who_could_lie_and_what_then_happens(row: FinalEvidence) -> None:
    assert set(row.routes) <= set(ROUTE_MODULES)
    assert min(map(len, (row.proof, row.liar, row.then))) > 5
    assert row.proof.endswith(".")
    assert row.then.endswith(".")
    assert "|" not in row.proof + row.then
