"""The journal: durable before anything is sent, one claim a digest, and in its place."""

import errno
import fcntl
import itertools
import os
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from unittest.mock import Mock

import pytest
from sqlalchemy import create_engine, event, text
from sqlalchemy.pool import NullPool

from airlock_offline.ledger.usb import DeviceLock, HeldByAnother
from airlock_offline.signing.sign_item import account_lock
from airlock_online.cli.main import program
from airlock_online.delivery.admission import check_alone
from airlock_online.delivery.submit import _record
from airlock_online.journal import engine
from airlock_online.journal.engine import JournalError, place_of, shown_place
from airlock_online.journal.journal import Journal, Record, open_journal
from airlock_online.journal.order_states import FINAL, Anomaly, OrderEvent, OrderState
from airlock_online.journal.schema import SCHEMA_VERSION, SUBMISSIONS, TRANSITIONS, Submission, before
from airlock_online.preparing.kept_payloads import KeptPayload, KeptPayloads
from airlock_online.preparing.prepare import BuildRequest
from airlock_shared.errors import AirlockError, DocumentError, Refusal, UsageError
from airlock_shared.host.files import TranscriptFile
from commands import at_the_same_moment, contents, run_here
from online.delivering_machine import NOW, unsent

DIGEST = "0x" + "ab" * 32
SECRET = "s3cret"
READS = [["status"], ["follow"], ["resolve"], ["forget"], ["config", "show"], ["doctor"]]


def record(digest: str = DIGEST) -> Record:
    delivery = unsent(digest=digest, trader="0x" + "77" * 20, nonce=str(2**256 - 1), deadline_ms=NOW + 60_000)
    return _record(delivery, "POST", "cd" * 32)


@pytest.fixture
def journal(path: Path) -> Iterator[Journal]:
    with open_journal(str(path), lambda: NOW) as opened:
        yield opened


def steps_to(state: OrderState) -> list[OrderState]:
    """Return the shortest way from PREPARED to a state."""
    ways: dict[OrderState, list[OrderState]] = {OrderState.PREPARED: []}
    queue = [OrderState.PREPARED]
    for here in queue:
        for there in TRANSITIONS[here]:
            if there not in ways:
                ways[there] = [*ways[here], there]
                queue.append(there)
    return ways[state]


def put(journal: Journal, state: OrderState, known: Record | None = None) -> None:
    known = known or record()
    journal.prepare(known)
    for step in steps_to(state):
        assert journal.move(known.digest, step)
    assert journal.get(known.digest).state is state


@pytest.mark.parametrize("held", ["BEGIN EXCLUSIVE", "BEGIN IMMEDIATE"])
def test_a_held_journal_is_told_so(path: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch, held: str) -> None:
    monkeypatch.setattr(engine, "BUSY_TIMEOUT_S", 0.01)
    journal.close()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = DELETE")
        other.execute(held)
        with pytest.raises(JournalError, match="database is locked") as caught:
            open_journal(str(path), lambda: NOW)
    assert caught.value.do.startswith("another program holds it: wait until that has ended")
    with open_journal(str(path), lambda: NOW) as again, again._reading() as reading:  # it was put back without its log
        assert reading.scalar(text("PRAGMA journal_mode")) == "wal"


@pytest.mark.parametrize(("here", "there"), list(itertools.product(OrderState, OrderState)))
def test_every_transition_is_as_the_table_says(journal: Journal, here: OrderState, there: OrderState) -> None:
    put(journal, here)
    allowed = there in TRANSITIONS[here]
    assert journal.move(DIGEST, there) is allowed
    assert journal.get(DIGEST).state is (there if allowed else here)


def reachable(state: OrderState) -> set[OrderState]:
    found: set[OrderState] = set()
    queue = [state]
    while queue:
        for there in TRANSITIONS[queue.pop()] - found:
            found.add(there)
            queue.append(there)
    return found


@pytest.mark.parametrize("state", [OrderState.ACCEPTED, OrderState.UNKNOWN, OrderState.EXPORTED, *sorted(FINAL)])
def test_what_may_have_been_taken_never_leads_back_to_sending(state: OrderState) -> None:
    assert OrderState.SENDING not in reachable(state)


def test_every_state_can_be_reached_and_only_final_ones_end() -> None:
    assert reachable(OrderState.PREPARED) | {OrderState.PREPARED} == set(OrderState)
    assert {state for state in OrderState if not TRANSITIONS[state]} == FINAL


def test_a_digest_is_claimed_once_and_again_after_a_rejection(journal: Journal) -> None:
    journal.prepare(record())
    assert journal.claim(DIGEST)
    assert not journal.claim(DIGEST)
    assert journal.move(DIGEST, OrderState.REJECTED, note="HTTP 400: bad")
    assert journal.claim(DIGEST, url="https://other.example", body_sha256="ef" * 32)
    known = journal.get(DIGEST)
    assert (known.note, known.record.url, known.record.body_sha256) == ("", "https://other.example", "ef" * 32)


def test_a_submission_is_read_back_whole(journal: Journal) -> None:
    assert journal.prepare(record()).record == record()
    undated = record("0x" + "01" * 32)._replace(deadline_ms=None, ceremony="other")
    assert journal.prepare(undated).record == undated
    assert [found.record for found in journal.submissions("other")] == [undated]
    assert len(journal.submissions()) == 2


def test_an_event_is_written_once_and_a_first_tracking_id_stays(journal: Journal) -> None:
    put(journal, OrderState.SENDING)
    first = OrderEvent(0, "MarketOrderAccepted", {"trackingId": "t-1"}, 5)
    assert journal.record(DIGEST, first, tracking_id="t-1", path=(OrderState.ACCEPTED,))
    assert not journal.record(DIGEST, first._replace(payload={"other": 1}))
    assert not journal.record(DIGEST, first)
    known = journal.get(DIGEST)
    assert (known.state, known.tracking_id) == (OrderState.ACCEPTED, "t-1")
    assert journal.events(DIGEST) == [first]
    assert journal.record(DIGEST, OrderEvent(1, "B", {}), tracking_id="t-2")
    assert journal.get(DIGEST).tracking_id == "t-1"


def test_events_are_kept_as_they_came_and_those_without_a_seq_told_apart_by_content(journal: Journal) -> None:
    put(journal, OrderState.ACCEPTED)
    for seq in (4, 2, 7, 0):
        journal.record(DIGEST, OrderEvent(seq, "X", {"n": seq}))
    assert [event.seq for event in journal.events(DIGEST)] == [4, 2, 7, 0]
    error = OrderEvent(None, "Error", {"code": "ENQUEUE_FAILED"})
    assert journal.record(DIGEST, error)
    assert not journal.record(DIGEST, error)
    assert journal.record(DIGEST, error._replace(payload={"code": "OTHER"}))


def test_a_second_terminal_event_is_kept_and_changes_no_state(journal: Journal) -> None:
    put(journal, OrderState.FILLED)
    assert journal.record(DIGEST, OrderEvent(9, "Error", {}), path=(OrderState.ACCEPTED, OrderState.FAILED), code="X")
    assert (journal.get(DIGEST).state, journal.get(DIGEST).code) == (OrderState.FILLED, "")


def test_anomalies_are_kept_apart_and_once(journal: Journal) -> None:
    put(journal, OrderState.ACCEPTED)
    anomaly = Anomaly("seq-went-back", OrderEvent(1, "X", {"a": 1}))
    assert journal.record_anomaly(DIGEST, anomaly, "")
    assert not journal.record_anomaly(DIGEST, anomaly, "")
    assert journal.events(DIGEST) == []
    assert journal.anomalies(DIGEST) == ["seq-went-back"]


def test_the_reason_of_every_rejection_is_kept(journal: Journal) -> None:
    put(journal, OrderState.SENDING)
    assert journal.reject(DIGEST, 400, "first", "BAD_REQUEST")
    assert journal.claim(DIGEST)
    assert (journal.get(DIGEST).note, journal.get(DIGEST).code) == ("", "")
    assert journal.reject(DIGEST, 400, "first", "BAD_REQUEST")
    kept = [(event.payload["attempt"], event.payload["reason"]) for event in journal.rejections(DIGEST)]
    assert kept == [(1, "first"), (2, "first")]
    assert (journal.events(DIGEST), journal.anomalies(DIGEST)) == ([], [])
    assert journal.move(DIGEST, OrderState.UNKNOWN)
    assert not journal.reject(DIGEST, 400, "late")  # not allowed any more: its reason is kept all the same
    assert (journal.get(DIGEST).state, journal.get(DIGEST).note) == (OrderState.UNKNOWN, "late")


@pytest.mark.parametrize("state", OrderState)
def test_only_what_was_not_sent_can_be_claimed_or_exported(journal: Journal, state: OrderState) -> None:
    put(journal, state)
    assert state in before(OrderState.SENDING) or not journal.claim(DIGEST)
    allowed = state in (OrderState.PREPARED, OrderState.REJECTED, OrderState.EXPORTED)
    assert journal.export(DIGEST) is allowed
    assert journal.get(DIGEST).state is (OrderState.EXPORTED if allowed else state)
    assert not (allowed and journal.claim(DIGEST))


def test_states_are_synced_to_the_disk_and_what_is_told_again_is_not(journal: Journal) -> None:
    said: list[str] = []
    put(journal, OrderState.SENDING)
    event.listen(journal._engine, "checkout", lambda connection, *_: connection.set_trace_callback(said.append))
    journal.record(DIGEST, OrderEvent(0, "A", {}), tracking_id="t-1", path=(OrderState.ACCEPTED,))
    journal.record(DIGEST, OrderEvent(1, "B", {}), readable_again=True)
    journal.record(DIGEST, OrderEvent(2, "C", {}))
    journal.record(DIGEST, OrderEvent(3, "D", {}), path=(OrderState.FILLED,), readable_again=True)
    synced = [statement.rpartition(" ")[2] for statement in said if "synchronous" in statement]
    assert synced == ["FULL", "NORMAL", "FULL", "NORMAL"]


def test_the_file_and_its_companions_are_private_and_commits_are_durable(path: Path, journal: Journal) -> None:
    journal.prepare(record())
    files = [file for file in path.parent.iterdir() if file.name.startswith(path.name)]
    assert len(files) >= 2  # with the write-ahead log
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    with journal._engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2  # FULL
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1


@pytest.mark.parametrize("version", [0, SCHEMA_VERSION + 1])
def test_a_journal_of_another_version_is_refused(path: Path, version: int) -> None:
    open_journal(str(path), lambda: NOW).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"UPDATE journal_schema SET version = {version}")
    with pytest.raises(JournalError, match="version"):
        open_journal(str(path), lambda: NOW)


RACER = """
import sys
from airlock_online.delivery.admission import check_alone
from airlock_online.journal.journal import open_journal
from airlock_shared.errors import Refusal
path, *digests = sys.argv[1:]
with open_journal(path, lambda: 1) as journal:
    print("ready", flush=True)
    sys.stdin.readline()
    for digest in digests:
        try:
            print(digest, bool(journal.claim(digest, check_alone)))
        except Refusal as refusal:
            print(digest, refusal.check)
"""


def race(where: str, *digests: Sequence[str]) -> list[list[str]]:
    """Have four processes claim these digests at the same moment; return each digest with what came of its claim."""
    said = at_the_same_moment(*([sys.executable, "-c", RACER, where, *own] for own in digests))
    return [line.split() for line in "".join(said).splitlines()]


def test_of_processes_that_race_for_a_claim_exactly_one_wins(where: str) -> None:
    digests = [f"0x{n:064x}" for n in range(40)]
    with open_journal(where, lambda: NOW) as journal:
        for digest in digests:
            journal.prepare(record(digest)._replace(step=digest))
    said = race(where, *[digests] * 4)
    assert sorted(digest for digest, won in said if won == "True") == digests
    assert {won for _, won in said} == {"True", "False"}


def test_of_processes_that_race_with_two_digests_of_one_step_exactly_one_wins(where: str) -> None:
    """Four digests of each of 40 steps, each claimed by a process of its own."""
    digests = {name: [f"0x{name}{step:063x}" for step in range(40)] for name in "1234"}
    with open_journal(where, lambda: NOW) as journal:
        for name, own in digests.items():
            for step, digest in enumerate(own):
                journal.prepare(record(digest)._replace(step=f"step-{step}", nonce=name))
        said = race(where, *digests.values())
        for step in range(40):
            won = sorted(word for digest, word in said if digest.endswith(f"{step:063x}"))
            assert won == ["ROUTE-STEP"] * 3 + ["True"]
        assert sum(each.state is OrderState.SENDING for each in journal.submissions()) == 40


def test_who_may_not_be_sent_beside_another_claims_nothing_and_is_asked_within_the_claim(path: Path) -> None:
    with open_journal(str(path), lambda: NOW) as journal:
        first, second = (record(f"0x{name * 64}")._replace(nonce=name) for name in "12")
        for each in (first, second):
            journal.prepare(each)
        seen: list[tuple[str, list[str]]] = []

        def alone(own: Record, rivals: Sequence[Submission]) -> None:
            seen.append((own.digest, [f"{each.record.digest} {each.state}" for each in rivals]))
            check_alone(own, rivals)

        assert journal.claim(first.digest, alone)
        for work in (journal.claim, journal.export):
            with pytest.raises(Refusal, match="ROUTE-STEP"):
                work(second.digest, alone)
            assert journal.get(second.digest).state is OrderState.PREPARED
        assert seen[0] == (first.digest, [f"{second.digest} PREPARED"])
        assert seen[1:] == [(second.digest, [f"{first.digest} SENDING"])] * 2
        assert not journal.export(first.digest)


def test_processes_may_make_one_journal_at_the_same_moment(where: str) -> None:
    names = [where] if "://" in where else [f"{where}{number}" for number in range(20)]
    made = "[open_journal(name, int).close() for name in sys.argv[1:]]"
    script = f"import sys; from airlock_online.journal.journal import open_journal; {made}"
    makers = [subprocess.Popen([sys.executable, "-c", script, *names], stderr=subprocess.PIPE) for _ in range(4)]
    assert [(maker.communicate()[1], maker.returncode) for maker in makers] == [(b"", 0)] * 4


# ---- on PostgreSQL, shared by several machines ---------------------------------------------------------------------


@pytest.fixture
def database(postgres_url: str) -> Iterator[Journal]:
    with open_journal(postgres_url, lambda: NOW) as opened:
        yield opened


def test_several_writers_lose_no_row_and_write_none_twice(postgres_url: str) -> None:
    with open_journal(postgres_url, lambda: NOW) as one, open_journal(postgres_url, lambda: NOW) as other:
        put(one, OrderState.ACCEPTED)
        start = threading.Barrier(3)

        def write(journal: Journal) -> int:
            start.wait()
            return sum(journal.record(DIGEST, OrderEvent(seq, "X", {"n": seq})) for seq in range(50))

        with ThreadPoolExecutor(2) as pool:
            writing = [pool.submit(write, journal) for journal in (one, other)]
            start.wait()
            for number in range(50):
                one.reject(DIGEST, 400, str(number))
            assert sum(each.result() for each in writing) == 50
        assert sorted(event.seq or 0 for event in one.events(DIGEST)) == list(range(50))
        assert [told.payload["reason"] for told in one.rejections(DIGEST)] == [str(number) for number in range(50)]


def test_texts_that_no_database_holds_are_kept_escaped(database: Journal) -> None:
    put(database, OrderState.SENDING)
    assert database.reject(DIGEST, 400, "a\ud800b\0", "c\0")
    assert (database.get(DIGEST).note, database.get(DIGEST).code) == ("a\\ud800b\\0", "c\\0")
    assert database.record(DIGEST, OrderEvent(0, "X", {"m": "\ud800\0"}))
    assert database.events(DIGEST)[0].payload == {"m": "\ud800\0"}


def test_a_server_that_is_not_there_is_a_journal_error_without_the_password(postgres_url: str) -> None:
    nowhere = postgres_url.replace("airlock@127.0.0.1", "airlock:secret-word@127.0.0.1").rsplit(":", 1)[0] + ":1/x"
    with pytest.raises(JournalError) as caught:
        open_journal(nowhere, lambda: NOW)
    assert "secret-word" not in str(caught.value)
    assert "refused Is the server running" in caught.value.what  # its lines stand in one


@pytest.mark.parametrize("limit", ["lock_timeout", "statement_timeout"])
def test_a_held_database_is_told_so(database: Journal, postgres_url: str, limit: str) -> None:
    impatient = f"{postgres_url}{'&' if '?' in postgres_url else '?'}options=-c%20{limit}%3D200"
    with create_engine(postgres_url, poolclass=NullPool).begin() as other:
        other.execute(text(f"LOCK TABLE {SUBMISSIONS.name} IN ACCESS EXCLUSIVE MODE"))
        with open_journal(impatient, lambda: NOW) as waiting, pytest.raises(JournalError) as caught:
            waiting.submissions()
    assert caught.value.do.startswith("another program holds it: wait until that has ended")


def test_a_server_that_goes_away_is_a_journal_error(database: Journal) -> None:
    put(database, OrderState.SENDING)
    others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    with database._engine.begin() as connection:
        connection.execute(text(f"SELECT pg_terminate_backend(pid) {others}"))
        connection.execute(text(f"ALTER TABLE {SUBMISSIONS.name} RENAME TO gone"))
    with pytest.raises(JournalError):
        database.move(DIGEST, OrderState.ACCEPTED)


# ---- where a journal may be: only what `submit` made is one, and nothing else is changed, made or believed ----------


def foreign(folder: Path, kind: str) -> Path:
    """A file of somebody else's."""
    path = folder / "theirs"
    if kind.startswith("database"):
        database = sqlite3.connect(path)
        database.execute("CREATE TABLE theirs (x)")
        if kind == "database with a log":
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA application_id = 7")
        database.commit()
        database.close()
    elif kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "link":
        (folder / "target").write_bytes(b"")
        path.symlink_to(folder / "target")
    else:
        path.write_bytes({"empty": b"", "text": b"a letter", "short": b"SQLite format 3\0"}[kind])
    if kind not in ("folder", "link"):
        path.chmod(0o666)
    return path


@pytest.mark.parametrize(
    "kind", ["database", "database with a log", "empty", "text", "short", "folder", "fifo", "link"]
)
@pytest.mark.parametrize("make", [False, True])
def test_what_submit_did_not_make_is_no_journal_and_stays_as_it_is(tmp_path: Path, kind: str, make: bool) -> None:
    path = foreign(tmp_path, kind)
    before = contents(tmp_path)
    with pytest.raises(JournalError) as caught:
        open_journal(str(path), lambda: NOW, make=make)
    assert "another program" not in caught.value.do
    assert contents(tmp_path) == before


def test_a_device_is_no_journal_and_keeps_its_mode() -> None:
    null = Path(os.devnull)
    before = null.stat()
    for make in (False, True):
        with pytest.raises(JournalError, match="no regular file"):
            open_journal(os.devnull, lambda: NOW, make=make)
    assert null.stat().st_mode == before.st_mode


def test_a_journal_is_made_whole_with_its_id_and_only_to_send(tmp_path: Path) -> None:
    path = tmp_path / "deep/journal.sqlite3"
    with pytest.raises(JournalError, match="there is no journal at"):
        open_journal(str(path), lambda: NOW, make=False)
    assert list(tmp_path.iterdir()) == []
    open_journal(str(path), lambda: NOW).close()
    assert [each.name for each in path.parent.iterdir()] == ["journal.sqlite3"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o640)  # it is ours: nobody else reads it
    open_journal(str(path), lambda: NOW, make=False).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "where",
    [
        "journal.sqlite3", "./journal.sqlite3", "~nobody-of-this-name/j", "",
        f"host=db user=desk password={SECRET}", f"postgresql:/desk:{SECRET}@db/journal", f"desk:{SECRET}@db/journal",
        f"postgresql://desk:x@{SECRET}@db/journal", f"postgresql://desk:{SECRET}@db:port/journal",
        f"postgresql://desk:{SECRET}/x@db/journal", "sqlite://", "sqlite:///relative", "sqlite:///:memory:",
        "postgresql://", f"://{SECRET}", f"no such://{SECRET}", f"mysql://desk:{SECRET}@db/journal",
    ],
)  # fmt: skip
def test_what_is_no_place_is_refused(where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(JournalError) as refused:
        open_journal(where, lambda: NOW)
    assert SECRET not in f"{refused.value} {refused.value.do}"
    assert list(tmp_path.iterdir()) == []


def test_of_an_address_its_scheme_and_its_host_are_shown() -> None:
    where = f"postgresql://desk:{SECRET}@db.example:5432/x?sslkey={SECRET}"
    assert shown_place(place_of(where)) == "postgresql://db.example"
    with pytest.raises(JournalError, match="neither SQLite nor PostgreSQL"):
        place_of("mysql://db//journal")


@pytest.mark.parametrize("words", READS)
@pytest.mark.parametrize("kind", ["database", "empty", "absent"])
def test_a_file_that_is_not_ours_is_told_by_every_command_and_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], kind: str
) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    path = folder / "absent" if kind == "absent" else foreign(folder, kind)
    monkeypatch.setenv("AIRLOCK_JOURNAL", str(path))
    before = contents(folder)
    ended = run_here(program, "--home", tmp_path / "home", *words)
    assert contents(folder) == before
    assert words[0] in ("config", "doctor") or (ended.code, "no journal" in ended.err) == (2, True)


@pytest.mark.parametrize("words", READS)
@pytest.mark.parametrize("at", [f"postgresql://desk:x@{SECRET}@db/j", f"postgresql://desk:{SECRET}@db:port/j"])
def test_a_slip_tells_no_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], at: str) -> None:
    monkeypatch.setenv("AIRLOCK_JOURNAL", at)
    ended = run_here(program, "--home", tmp_path / "home", *words)
    assert not any(word in ended.out + ended.err for word in (SECRET, "Traceback"))


def test_what_makes_no_document_is_not_kept(tmp_path: Path) -> None:
    payloads = KeptPayloads(tmp_path, "a" * 64, "b" * 64)
    payloads.keep("step", KeptPayload(BuildRequest("/x", {}), {}, 1))
    with pytest.raises(DocumentError, match="fewer steps"), payloads.joined("step"):
        raise DocumentError("DOC-SIZE", "too large")
    assert payloads.find("step") is None


# ---- A file that cannot be locked is told with its name and the reason, wherever a lock is taken --------------------


LOCKS: dict[str, Callable[[Path], object]] = {
    "to sign": lambda folder: account_lock(folder, bytes(20)).__enter__(),
    "to prepare": lambda folder: KeptPayloads(folder, "a" * 64, "b" * 64).alone().__enter__(),
    "to record": lambda folder: TranscriptFile(folder / "transcript.jsonl").record("test", {}, 0),
    "for a device": lambda folder: DeviceLock("device", folder).release(),
}


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lockless_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lock: str) -> None:
    monkeypatch.setattr(fcntl, "flock", Mock(side_effect=OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))))
    with pytest.raises(AirlockError, match="cannot be locked: No locks available") as caught:
        LOCKS[lock](tmp_path)
    assert isinstance(caught.value, UsageError | HeldByAnother)
    assert str(tmp_path) in caught.value.what
    assert "disk of this machine" in caught.value.do
