"""Claims on a journal: one holder each; many submissions at once; what is typed before anything is sent."""

import json
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.exc import OperationalError

from airlock_online.clients.http import Timeouts
from airlock_online.delivery import submit as parallel
from airlock_online.delivery.routes.context import OTHERS, STREAMS, DeliveryContext
from airlock_online.delivery.submit import Job, _record, follow_submission, run_parallel, submit_delivery
from airlock_online.journal import schema as claims
from airlock_online.journal.engine import CONNECT_S, TRANSACTION_S
from airlock_online.journal.journal import Journal, open_journal
from airlock_online.journal.order_states import OrderEvent, OrderState
from airlock_online.journal.schema import LEASE_MS, holder, is_gone, let_go, new_token
from airlock_rehearsal.services.faults import Faults
from online.delivering_machine import NOW, delivering_machine, unsent
from online.loopback import Wire, closed_port, frame, reply, stream
from online.online_command import OPEN, OnlineCommand, note_compared
from online.test_journal import DIGEST, record

SUBMIT = "POST /market/execute-batched"
ACCEPTED = frame("MarketOrderAccepted", {"trackingId": "t-1"}, 0)
EXECUTED = frame("MarketOrderExecuted", {"orderId": 1, "trackingId": "t-1"}, 1)
Answered = Callable[[], None]


@pytest.fixture
def journal(where: str) -> Iterator[Journal]:
    with open_journal(where, lambda: NOW) as opened:
        yield opened


def elsewhere(journal: Journal) -> None:
    """Make the claim one of another machine."""
    with journal._engine.begin() as connection:
        connection.execute(text("UPDATE submissions SET claim_holder = 'desk@other, process 7 (00000000.1.7.9)'"))


def expire(journal: Journal) -> None:
    with journal._engine.begin() as connection:
        connection.execute(text(f"UPDATE submissions SET claim_until_ms = claim_until_ms - {LEASE_MS}"))


def test_the_lease_is_longer_than_every_time_out_of_a_sending() -> None:
    most = Timeouts()
    sending_s = most.connect + most.head + max(most.total, most.stream_total) + 3 * (CONNECT_S + TRANSACTION_S)
    assert sending_s * 1000 < LEASE_MS


def test_the_lease_runs_by_the_databases_clock(journal: Journal) -> None:
    journal.prepare(record())
    assert journal.claim(DIGEST)
    with journal._engine.connect() as connection:
        sqlite = connection.dialect.name == "sqlite"
        now = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"
        query = now if sqlite else "CAST(extract(epoch from clock_timestamp()) * 1000 AS BIGINT)"
        left = journal.get(DIGEST).claim_until_ms - connection.scalar(text(f"SELECT {query}"))
    assert LEASE_MS - 60_000 < left <= LEASE_MS


def test_a_live_claim_of_another_desk_is_left_alone_and_its_holder_is_named(where: str, journal: Journal) -> None:
    delivery = unsent()._replace(digest=DIGEST)
    journal.prepare(record())
    token = journal.claim(DIGEST)
    elsewhere(journal)
    with delivering_machine(where) as desk:
        for _ in range(5):
            outcome = follow_submission(delivery.digest, desk.world)
            assert outcome.state is OrderState.SENDING
            assert "desk@other, process 7" in outcome.reason
            assert "00000000" not in outcome.reason
        expire(journal)
        assert follow_submission(delivery.digest, desk.world).state is OrderState.PRESUMED_UNKNOWN
    let_go(token)


@pytest.mark.parametrize(
    ("learned", "then"),
    [
        (lambda j, t: j.move(DIGEST, OrderState.PREPARED, note="not sent", token=t), OrderState.PREPARED),
        (lambda j, t: j.reject(DIGEST, 400, "no", token=t), OrderState.REJECTED),
        (lambda j, t: j.move(DIGEST, OrderState.UNKNOWN, note="cut", token=t), OrderState.UNKNOWN),
        (lambda j, t: j.record(DIGEST, OrderEvent(0, "X", {}), path=[OrderState.ACCEPTED]), OrderState.ACCEPTED),
    ],
)
def test_the_holder_still_writes(journal: Journal, learned: Callable[[Journal, str], object], then: OrderState) -> None:
    journal.prepare(record())
    token = journal.claim(DIGEST)
    elsewhere(journal)
    expire(journal)
    assert journal.presume(DIGEST)
    assert learned(journal, token)
    assert journal.get(DIGEST).state is then
    let_go(token)


@pytest.mark.parametrize("token", ["", "0" * 32])
def test_nobody_else_unsends_what_was_presumed(journal: Journal, token: str) -> None:
    journal.prepare(record())
    let_go(journal.claim(DIGEST))
    assert not journal.move(DIGEST, OrderState.PREPARED, token="0" * 32)
    assert journal.presume(DIGEST)
    assert not journal.move(DIGEST, OrderState.PREPARED, token=token)
    assert not journal.reject(DIGEST, 400, "no", token=token)
    assert not journal.claim(DIGEST)
    assert journal.get(DIGEST).state is OrderState.PRESUMED_UNKNOWN


def test_a_process_of_this_machine_that_ended_is_gone_and_no_other_is() -> None:
    script = "from airlock_online.journal.schema import holder; print(holder())"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip()
    token = new_token()
    assert is_gone(ended, "x")
    assert not is_gone(holder(), token)
    let_go(token)
    assert is_gone(holder(), token)
    contained = re.sub(r"\((\w+)\.\d+", r"(\1.1", ended)  # a container of this machine has processes of its own
    for other in ("desk@other, process 7 (00000000.1.7.9)", contained):  # only its lease tells
        assert not is_gone(other, "x")
    assert not is_gone("", "")


def lost(monkeypatch: pytest.MonkeyPatch, *, committed: bool) -> None:
    """Let the next COMMIT be without an answer, though it may have been done."""
    commit = DefaultDialect.do_commit

    def do_commit(dialect: DefaultDialect, connection: object) -> None:
        monkeypatch.undo()
        if committed:
            commit(dialect, connection)  # type: ignore[no-untyped-call]
        raise OperationalError("COMMIT", {}, Exception("the connection is lost"))

    monkeypatch.setattr(DefaultDialect, "do_commit", do_commit)


def test_a_claim_whose_commit_was_not_answered_is_recovered(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    journal.prepare(record())
    lost(monkeypatch, committed=True)
    token = journal.claim(DIGEST)
    assert (bool(token), journal.get(DIGEST).claim_token) == (True, token)
    let_go(token)


def test_a_claim_that_was_not_committed_is_no_claim(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    journal.prepare(record())
    held = set(claims._HELD)
    lost(monkeypatch, committed=False)
    with pytest.raises(Exception, match="cannot be"):
        journal.claim(DIGEST)
    assert held == claims._HELD
    assert journal.get(DIGEST).state is OrderState.PREPARED


def test_what_could_not_be_sent_is_sent_by_whoever_comes_next(where: str) -> None:
    delivery = unsent(f"http://127.0.0.1:{closed_port()}")
    with delivering_machine(where) as one, delivering_machine(where) as other:
        assert submit_delivery(delivery, one.world).state is OrderState.PREPARED
        with Wire({SUBMIT: [reply(400, {}), stream(ACCEPTED, EXECUTED)]}) as wire:
            assert submit_delivery(unsent(wire.url), other.world).state is OrderState.REJECTED
            assert submit_delivery(unsent(wire.url), one.world).state is OrderState.FILLED
        assert one.world.journal.get(delivery.digest).claims == 3


@pytest.mark.parametrize("moment", ["marks", "nonce"])
def test_what_another_process_begins_to_send_meanwhile_keeps_its_refusal(where: str, moment: str) -> None:
    """The other one claims and marks while this one looks at the marks or asks for the nonce; then it is refused."""
    delivery = unsent(digest=DIGEST)
    with delivering_machine(where) as desk:
        journal, token = desk.world.journal, ""
        journal.prepare(_record(delivery, "POST", ""))

        def another(*_: object) -> bool:
            nonlocal token
            token = token or journal.claim(DIGEST)
            return moment == "nonce"

        def begun() -> dict[str, int]:
            if moment == "marks":
                another()
            return {DIGEST: 1} if token else {}

        marks: Any = SimpleNamespace(begun=begun)  # this one sets no mark of its own
        world = desk.reading(another)._replace(transcript_marks=marks, patience_s=0)
        assert submit_delivery(delivery, world).state is OrderState.SENDING
        assert journal.reject(DIGEST, 400, "refused", token=token)
        assert journal.get(DIGEST).state is OrderState.REJECTED
        let_go(token)


def test_the_next_one_starts_when_the_one_before_is_answered_and_goes_on() -> None:
    order: list[str] = []
    done = threading.Event()

    def first(answered: Answered) -> str:
        order.append("first sent")
        answered()
        assert done.wait(10)
        return "first"

    def second(answered: Answered) -> str:
        order.append("second sent")
        answered()
        done.set()
        return "second"

    assert run_parallel([first, second], in_turn=True) == ["first", "second"]
    assert order == ["first sent", "second sent"]


def test_one_whose_answer_waits_or_never_comes_does_not_hold_the_next_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[int] = []
    jobs: list[Job[object]] = [lambda _: seen.append(1), lambda _: seen.append(len(seen))]
    assert run_parallel(jobs, in_turn=True) == [None, None]
    assert seen == [1, 1]  # in turn, each when the one before has ended
    monkeypatch.setattr(parallel, "TURN_S", 0.05)
    done = threading.Event()
    jobs = [lambda _: done.wait(10), lambda _: done.set()]
    assert run_parallel(jobs, in_turn=True) == [True, None]


@pytest.mark.parametrize("in_turn", [False, True])
def test_no_more_than_so_many_are_at_work_at_once(monkeypatch: pytest.MonkeyPatch, in_turn: bool) -> None:
    """Each job waits until as many are at work as may be."""
    monkeypatch.setattr(parallel, "THREADS", 40)
    lock, running, most, full = threading.Lock(), [0], [0], threading.Event()

    def job(answered: Answered) -> None:
        answered()
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        if running[0] >= 40:
            full.set()
        full.wait(20)
        time.sleep(0.02)  # for one too many to be seen
        with lock:
            running[0] -= 1

    run_parallel([job] * 80, in_turn=in_turn)
    assert (full.is_set(), most) == (True, [40])


def test_how_many_streams_are_read_and_how_many_ask_other_services_is_bounded_for_the_whole_command() -> None:
    default = DeliveryContext._field_defaults
    for places, most in ((default["streams"], STREAMS), (default["others"], OTHERS)):
        taken = [places.acquire(blocking=False) for _ in range(most + 1)]
        for _ in range(sum(taken)):
            places.release()
        assert taken == [True] * most + [False]


def test_a_bug_in_one_is_raised_when_all_have_ended() -> None:
    ended: list[int] = []

    def broken(_: Answered) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_parallel([broken, lambda _: ended.append(1)], in_turn=True)
    assert ended == [1]


def test_an_interrupt_starts_nothing_more_and_waits_for_nobody() -> None:
    begun: list[str] = []
    never, closing = threading.Event(), threading.Event()

    def silent(answered: Answered) -> None:
        begun.append("silent")
        answered()
        never.wait(30)
        closing.set()

    def jobs() -> Iterator[Job[None]]:
        yield silent
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_parallel(jobs(), in_turn=True)
    assert (begun, closing.is_set()) == (["silent"], False)
    never.set()
    assert closing.wait(10)
    assert begun == ["silent"]


def test_an_interrupted_submission_is_resumed_and_nothing_is_sent_again(machine: OnlineCommand) -> None:
    signatures = machine.signatures(buy=OPEN)
    note_compared(machine.home, signatures)
    machine.services.faults = Faults.of("stream-timeout", "empty-events")
    program = Path(sys.executable).parent / "airlock-online"
    words = [str(word) for word in (program, "--home", machine.home, "submit", signatures, "--json")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["event"] == "MarketOrderAccepted"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert (process.returncode, "Interrupted" in err, "Traceback" in err) == (130, True, False)
    assert machine.states() == {"buy": "ACCEPTED"}
    machine.services.faults = Faults()
    ended = machine("follow", "--json")
    assert (ended.code, machine.states()) == (0, {"buy": "FILLED"})
    assert "MarketOrderAccepted" not in [line.get("event") for line in ended.lines]
    assert machine.services.posts["batched"].total() == 1
