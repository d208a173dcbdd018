"""A journal that was deleted, emptied, copied or restored sends nothing twice, and none sends what another has sent."""

import os
import shutil
import signal
import sqlite3
import threading
from collections.abc import Callable
from itertools import repeat
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from sqlalchemy import create_engine, event, text

from airlock_online.clients.rpc import RpcClient
from airlock_online.delivery.submit import export_delivery, submit_delivery
from airlock_online.home import OnlineHome
from airlock_online.journal import engine
from airlock_online.journal.engine import JournalError, open_engine
from airlock_online.journal.journal import open_journal
from airlock_online.journal.order_states import OrderState
from airlock_shared.errors import DocumentError, Refusal, ServiceError, UsageError
from online.crash.orders import WAYS, order
from online.delivering_machine import NOW, Desk, delivering_machine, unsent
from online.fake_chain import FakeChain
from online.loopback import Answer, Wire, closed_port, reply, stream
from online.node import CHAIN_ID
from online.test_claims import ACCEPTED, EXECUTED, SUBMIT
from online.test_journal import DIGEST, put, record
from online.test_routes import node_with


@pytest.fixture
def home(tmp_path: Path) -> OnlineHome:
    return OnlineHome(tmp_path / "home")


@pytest.fixture
def path(home: OnlineHome) -> Path:
    home.folder.mkdir()
    return home.folder / "journal.sqlite3"


def marked(desk: Desk, home: OnlineHome) -> Desk:
    marks = home.transcript_marks(desk.world.journal.journal_id)
    desk.world = desk.world._replace(transcript_marks=marks, patience_s=0)
    return desk


def sent_once(home: OnlineHome, path: Path, answer: Answer, outcome: str | None) -> OrderState:
    """Submit once, and record the outcome as the command does; None: it was killed before that."""
    with Wire({SUBMIT: [answer]}) as wire, delivering_machine(path) as desk:
        state = submit_delivery(unsent(wire.url), marked(desk, home).world).state
        assert wire.count("POST", "/market/execute-batched") == 1
    if outcome is not None:
        home.transcript.record("outcome", {"digest": unsent().digest, "state": outcome, "claim": 1}, NOW)
    return state


def again(home: OnlineHome, path: Path) -> tuple[OrderState, int]:
    """Submit it again, and return its state and how often it was posted now."""
    with Wire({SUBMIT: [stream(ACCEPTED, EXECUTED)]}) as wire, delivering_machine(path) as desk:
        state = submit_delivery(unsent(wire.url), marked(desk, home).world).state
        return state, wire.count("POST", "/market/execute-batched")


def deleted(path: Path) -> None:
    for file in path.parent.glob(path.name + "*"):
        file.unlink()


def emptied(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.executescript("DELETE FROM events; DELETE FROM submissions;")
    connection.close()


@pytest.mark.parametrize("outcome", ["UNKNOWN", "ACCEPTED", "FILLED", None])
@pytest.mark.parametrize("harm", [deleted, emptied])
def test_what_was_sent_is_not_sent_by_a_journal_that_forgot(
    home: OnlineHome, path: Path, harm: Callable[[Path], None], outcome: str | None
) -> None:
    assert sent_once(home, path, Answer(b""), outcome) is OrderState.UNKNOWN
    harm(path)
    with delivering_machine(path) as desk, pytest.raises(Refusal, match="ROUTE-SENT"):
        export_delivery(unsent(), marked(desk, home).world)
    assert again(home, path) == (OrderState.UNKNOWN, 0)
    assert again(home, path) == (OrderState.UNKNOWN, 0)


@pytest.mark.parametrize(
    ("entries", "told"),
    [
        ((("sending", 1), ("outcome", 1), ("sending", 2), ("outcome", 1), ("outcome", 0)), [1, 0, 2, 2, 2]),
        ((("sending", 2), ("sending", 3), ("outcome", 2), ("outcome", 3)), [2, 3, 3, 0]),
        ((("sending", 2), ("outcome", 2), ("sending", 1)), [2, 0, 3]),  # a new journal counts its claims anew
        ((("exported", 0), ("outcome", 9)), [1 << 63, 1 << 63]),
    ],
)
def test_only_a_refusal_of_the_newest_sending_takes_its_mark(
    home: OnlineHome, entries: tuple[tuple[str, int], ...], told: list[int]
) -> None:
    """A terminal may tell its refusal late, or again, when another one's sending has begun."""
    home.folder.mkdir()
    seen = []
    for kind, claim in entries:
        facts = {"digest": DIGEST, "digests": [DIGEST], "state": "REJECTED", "claim": claim}
        home.transcript.record(kind, facts, NOW)
        seen.append(home.transcript_marks("j").begun().get(DIGEST, 0))
    assert seen == told


@pytest.mark.parametrize("outcome", ["UNKNOWN", None])
@pytest.mark.parametrize("unmarked", [False, True])
def test_a_journal_restored_in_place_sends_nothing_twice(
    home: OnlineHome, path: Path, monkeypatch: pytest.MonkeyPatch, unmarked: bool, outcome: str | None
) -> None:
    """``unmarked``: it knows a claim whose mark could not be written, so that the transcript has fewer marks than claims."""
    with delivering_machine(path) as desk:
        if unmarked:
            monkeypatch.setattr(home.transcript, "record", Mock(side_effect=UsageError("the disk is full")))
            with pytest.raises(UsageError, match="full"):
                submit_delivery(unsent(), marked(desk, home).world)
            monkeypatch.undo()
    before = path.read_bytes()
    sent_once(home, path, Answer(b""), outcome)
    deleted(path.with_name(path.name + "-"))
    with path.open("r+b") as file:  # the same file, with what was in it before
        file.truncate()
        file.write(before)
    assert again(home, path) == (OrderState.UNKNOWN, 0)


@pytest.mark.parametrize(("given", "outcome"), [(True, "EXPORTED"), (True, ""), (False, "ACCEPTED")])
def test_what_is_on_record_is_sent_by_no_new_journal(home: OnlineHome, path: Path, given: bool, outcome: str) -> None:
    """As given to another sender, or by an outcome alone, of before there were marks."""
    if given:
        home.transcript.record("exported", {"digests": ["0x" + "cd" * 32, unsent().digest]}, NOW)
    if outcome:
        home.transcript.record("outcome", {"digest": unsent().digest, "state": outcome, "code": ""}, NOW)
    assert again(home, path) == (OrderState.UNKNOWN, 0)


def test_what_was_sent_is_not_called_unsent_when_its_deadline_is_past(home: OnlineHome, path: Path) -> None:
    sent_once(home, path, Answer(b""), "FILLED")
    deleted(path)
    with delivering_machine(path) as desk:
        late = unsent(deadline_ms=NOW - 1)
        assert submit_delivery(late, marked(desk, home).world).state is OrderState.UNKNOWN
        with pytest.raises(Refusal, match="ROUTE-SENT"):
            export_delivery(late, desk.world)


def test_a_refusal_that_the_transcript_knows_may_be_sent_again_by_a_new_journal(home: OnlineHome, path: Path) -> None:
    assert sent_once(home, path, reply(400, {}), "REJECTED") is OrderState.REJECTED
    deleted(path)
    assert again(home, path) == (OrderState.FILLED, 1)


@pytest.mark.parametrize("way", WAYS)
def test_every_way_leaves_its_mark_before_a_byte_is_sent(home: OnlineHome, path: Path, way: str) -> None:
    seen: list[list[str]] = []
    look = Mock(side_effect=lambda _: seen.append([entry.event for entry in home.transcript.entries()]))
    with Wire({}, look) as wire, delivering_machine(path) as desk:
        world = marked(desk, home).world._replace(node=RpcClient(wire.url + "/rpc", desk.world.http))
        submit_delivery(order(way, wire.url), world)
    assert ["sending"] in seen
    (entry,) = home.transcript.entries()
    assert (entry.data["digest"], entry.data["claim"]) == (order(way, "https://a.example").digest, 1)
    assert order(way, "https://a.example").signature[2:40] not in home.transcript.path.read_text()


def test_without_a_transcript_nothing_is_sent(home: OnlineHome, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Wire({SUBMIT: [stream(ACCEPTED, EXECUTED)]}) as wire, delivering_machine(path) as desk:
        marked(desk, home)
        monkeypatch.setattr(home.transcript, "record", Mock(side_effect=UsageError("the disk is full")))
        with pytest.raises(UsageError, match="full"):
            submit_delivery(unsent(wire.url), desk.world)
        assert (wire.seen, desk.world.journal.get(unsent().digest).state) == ([], OrderState.PREPARED)
        monkeypatch.undo()
        assert submit_delivery(unsent(wire.url), desk.world).state is OrderState.FILLED


def test_a_transcript_that_was_changed_lets_nothing_be_sent(home: OnlineHome, path: Path) -> None:
    sent_once(home, path, reply(400, {}), "REJECTED")
    lines = home.transcript.path.read_text()
    home.transcript.path.write_text(lines.replace("REJECTED", "PREPARED"))
    with Wire({}) as wire, delivering_machine(path) as desk, pytest.raises(DocumentError, match="DOC-CHAIN"):
        submit_delivery(unsent(wire.url), marked(desk, home).world)
    assert wire.seen == []


@pytest.mark.parametrize("state", [OrderState.PREPARED, OrderState.REJECTED])
def test_nothing_is_sent_from_a_copy_and_a_folder_may_be_renamed(tmp_path: Path, state: OrderState) -> None:
    (tmp_path / "a").mkdir()
    with open_journal(str(tmp_path / "a/one"), lambda: NOW) as journal:
        put(journal, state)
    shutil.copyfile(tmp_path / "a/one", tmp_path / "a/two")
    (tmp_path / "a").rename(tmp_path / "b")
    with open_journal(str(tmp_path / "b/two"), lambda: NOW) as copy:
        for take in (copy.claim, copy.export):
            with pytest.raises(JournalError, match="copy"):
                take(DIGEST)
        assert copy.get(DIGEST).state is state
    with open_journal(str(tmp_path / "b/one"), lambda: NOW) as journal:
        assert journal.claim(DIGEST)


def test_a_database_that_was_made_from_another_is_a_copy(postgres_url: str) -> None:
    with open_journal(postgres_url, lambda: NOW) as journal:
        put(journal, OrderState.PREPARED)
    server, _, name = postgres_url.rpartition("/")
    made, _ = open_engine(postgres_url, make=True)
    made.dispose()
    admin = create_engine(f"{server}/postgres", isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}_copy TEMPLATE {name}"))
    admin.dispose()
    with open_journal(f"{postgres_url}_copy", lambda: NOW) as copy, pytest.raises(JournalError, match="copy"):
        copy.claim(DIGEST)
    with open_journal(postgres_url, lambda: NOW) as journal:
        assert journal.claim(DIGEST)


def test_a_file_on_a_network_disk_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounted = f"36 35 98:0 / {tmp_path} rw,noatime - nfs4 server:/export rw\n"
    reading = Path.read_text

    def read_text(path: Path, *args: str) -> str:
        return "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n" + mounted if "mountinfo" in str(path) else reading(path, *args)

    monkeypatch.setattr(Path, "read_text", read_text)
    with pytest.raises(JournalError, match="network disk"):
        open_journal(str(tmp_path / "journal"), lambda: NOW)
    assert list(tmp_path.iterdir()) == []


def test_a_nonce_that_is_used_already_lets_nothing_be_sent_or_exported(path: Path) -> None:
    used = Mock(return_value=True)
    with Wire({SUBMIT: [stream(ACCEPTED, EXECUTED)]}) as wire, delivering_machine(path) as desk:
        outcome = submit_delivery(unsent(wire.url, chain_id=8453), desk.reading(used))
        with pytest.raises(Refusal, match="nonce is used already"):
            export_delivery(unsent(digest="0x" + "cd" * 32, step="other", nonce="6"), desk.reading(used))
    assert (outcome.state, wire.seen) == (OrderState.UNKNOWN, [])
    assert "nonce is used already" in outcome.reason
    record, account = used.call_args_list[0].args
    asked = (record.chain_id, record.contract, account, record.nonce)
    assert asked == (8453, unsent().contract, unsent().signer, "12345")


def test_what_was_refused_and_executed_all_the_same_is_not_sent_again(path: Path) -> None:
    with Wire({SUBMIT: [reply(429, {})]}) as wire, delivering_machine(path) as desk:
        for used, state in ((False, OrderState.REJECTED), (True, OrderState.UNKNOWN)):
            assert submit_delivery(unsent(wire.url), desk.reading(Mock(return_value=used))).state is state
    assert len(wire.seen) == 1


@pytest.mark.parametrize("answer", [False, None, ServiceError("cannot be read")])
def test_a_nonce_that_is_unused_or_cannot_be_read_stops_nothing(path: Path, answer: object) -> None:
    used = Mock(side_effect=repeat(answer))
    with Wire({SUBMIT: [stream(ACCEPTED, EXECUTED)]}) as wire, delivering_machine(path) as desk:
        assert submit_delivery(unsent(wire.url), desk.reading(used)).state is OrderState.FILLED


@pytest.mark.parametrize(("chain", "claims"), [({}, 0), ({"eth_chainId": [hex(CHAIN_ID + 1)]}, 1)])
def test_a_taken_transaction_nonce_lets_nothing_be_sent(path: Path, chain: dict[str, list[Any]], claims: int) -> None:
    delivery = order("relay", f"http://127.0.0.1:{closed_port()}")
    taken: dict[str, list[Any]] = {
        "eth_getTransactionCount": [hex(int(delivery.nonce) + 1)],
        "eth_getTransactionReceipt": [None],
    }
    with node_with(**taken, **chain) as node, delivering_machine(path) as desk:
        world = desk.world._replace(node=RpcClient(node.url, desk.world.http), patience_s=0)
        outcome = submit_delivery(delivery._replace(chain_id=CHAIN_ID), world)
        assert desk.world.journal.get(delivery.digest).claims == claims  # it was tried, and nobody listens there
        assert claims == 0 or outcome.state is OrderState.PREPARED, outcome


@pytest.mark.parametrize(("views", "by_word"), [(True, False), (False, True)])
def test_the_contract_tells_of_a_used_nonce_and_where_it_cannot_the_service(
    path: Path, views: bool, by_word: bool
) -> None:
    chain = FakeChain(1_700_000_000)
    chain.views = views
    with Wire({SUBMIT: [stream(ACCEPTED, EXECUTED)]}) as wire, chain.node() as node, delivering_machine(path) as desk:
        delivery = unsent(wire.url)
        chain.spent[delivery.signer.lower(), int(delivery.nonce)] = 0
        world = desk.reading(lambda *_: by_word)._replace(node=RpcClient(node.url, desk.world.http))
        assert (submit_delivery(delivery, world).state, wire.seen) == (OrderState.UNKNOWN, [])


def test_a_frozen_database_holds_nobody(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has stopped in the middle of everything; who waits for it for 20 s meets it again."""
    monkeypatch.setattr(engine, "TRANSACTION_S", 1)
    with Wire({SUBMIT: [stream(ACCEPTED, EXECUTED)]}) as wire, delivering_machine(postgres_url) as desk:
        desk.world.journal.prepare(record())
        with desk.world.journal._engine.connect() as connection:
            backend = connection.scalar(text("SELECT pg_backend_pid()"))
        os.kill(backend, signal.SIGSTOP)
        waking = threading.Timer(20, os.kill, (backend, signal.SIGCONT))
        waking.start()
        with pytest.raises(JournalError):
            submit_delivery(unsent(wire.url), desk.world)
        assert waking.is_alive(), "it was waited for"
        waking.cancel()
        os.kill(backend, signal.SIGCONT)
    assert wire.seen == []


def test_the_claim_waits_for_postgresql_s_disk(postgres_url: str) -> None:
    with open_journal(postgres_url, lambda: NOW) as journal:
        put(journal, OrderState.PREPARED)
        seen: list[str] = []
        with journal._engine.begin() as connection:
            connection.execute(text("ALTER ROLE airlock SET synchronous_commit = off"))
        journal._engine.dispose()

        @event.listens_for(journal._engine, "before_cursor_execute")
        def look(connection: object, cursor: object, statement: str, *_: object) -> None:
            if statement.startswith("UPDATE submissions"):
                cursor.execute("SHOW synchronous_commit")  # type: ignore[attr-defined]
                seen.append(cursor.fetchone()[0])  # type: ignore[attr-defined]

        assert journal.claim(DIGEST)
        with journal._engine.begin() as connection:
            connection.execute(text("ALTER ROLE airlock RESET synchronous_commit"))
    assert seen == ["on"]
