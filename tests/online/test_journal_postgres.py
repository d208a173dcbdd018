"""The journal on PostgreSQL, shared by several machines: the same states, one claim a digest, no event lost."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.pool import NullPool

from airlock_online.journal.engine import JournalError
from airlock_online.journal.journal import Journal, open_journal
from airlock_online.journal.order_states import OrderEvent, OrderState
from airlock_online.journal.schema import SUBMISSIONS
from online.test_journal import DIGEST, MAKER, NOW, put, require_one_claim_a_digest, require_one_digest_a_step


@pytest.fixture
def journal(postgres_url: str) -> Iterator[Journal]:
    with open_journal(postgres_url, lambda: NOW) as opened:
        yield opened


def test_of_processes_that_race_for_a_claim_exactly_one_wins(journal: Journal, postgres_url: str) -> None:
    require_one_claim_a_digest(journal, postgres_url)


def test_of_processes_that_race_with_two_digests_of_one_step_exactly_one_wins(
    journal: Journal, postgres_url: str
) -> None:
    require_one_digest_a_step(journal, postgres_url)


def test_processes_may_make_one_journal_at_the_same_moment(postgres_url: str) -> None:
    script = MAKER.replace("sys.argv[1] + str(n)", "sys.argv[1]")
    makers = [subprocess.Popen([sys.executable, "-c", script, postgres_url], stderr=subprocess.PIPE) for _ in range(4)]
    assert [maker.communicate()[1] for maker in makers] == [b""] * 4


def test_two_writers_lose_no_event_and_write_none_twice(postgres_url: str) -> None:
    with open_journal(postgres_url, lambda: NOW) as one, open_journal(postgres_url, lambda: NOW) as other:
        put(one, OrderState.ACCEPTED)
        fresh: list[bool] = []
        start = threading.Barrier(2)

        def write(journal: Journal) -> None:
            start.wait()
            fresh.extend([journal.record(DIGEST, OrderEvent(seq, "X", {"n": seq})) for seq in range(50)])

        threads = [threading.Thread(target=write, args=(journal,)) for journal in (one, other)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (len(fresh), sum(fresh)) == (100, 50)
        assert sorted(event.seq or 0 for event in one.events(DIGEST)) == list(range(50))
        assert one.get(DIGEST).last_seq == 49


def test_texts_that_no_database_holds_are_kept_escaped(journal: Journal) -> None:
    put(journal, OrderState.SENDING)
    assert journal.reject(DIGEST, 400, "a\ud800b\0", "c\0")
    assert (journal.get(DIGEST).note, journal.get(DIGEST).code) == ("a\\ud800b\\0", "c\\0")
    assert journal.record(DIGEST, OrderEvent(0, "X", {"m": "\ud800\0"}))
    assert journal.events(DIGEST)[0].payload == {"m": "\ud800\0"}


def test_a_server_that_is_not_there_is_a_journal_error_without_the_password(postgres_url: str) -> None:
    nowhere = postgres_url.replace("airlock@127.0.0.1", "airlock:secret-word@127.0.0.1").rsplit(":", 1)[0] + ":1/x"
    with pytest.raises(JournalError) as caught:
        open_journal(nowhere, lambda: NOW)
    assert "secret-word" not in str(caught.value)


@pytest.mark.parametrize("limit", ["lock_timeout", "statement_timeout"])
def test_a_held_journal_is_told_so(journal: Journal, postgres_url: str, limit: str) -> None:
    impatient = f"{postgres_url}{'&' if '?' in postgres_url else '?'}options=-c%20{limit}%3D200"
    with create_engine(postgres_url, poolclass=NullPool).begin() as other:
        other.execute(text(f"LOCK TABLE {SUBMISSIONS.name} IN ACCESS EXCLUSIVE MODE"))
        with open_journal(impatient, lambda: NOW) as waiting, pytest.raises(JournalError) as caught:
            waiting.submissions()
    assert caught.value.do.startswith("another program holds it: wait until that has ended")


def test_a_server_that_goes_away_is_a_journal_error(journal: Journal) -> None:
    put(journal, OrderState.SENDING)
    with journal._engine.connect() as connection:
        mine = connection.scalar(text("SELECT pg_backend_pid()"))
        connection.execute(
            text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> :p"
            ),
            {"p": mine},
        )
        connection.execute(text(f"ALTER TABLE {SUBMISSIONS.name} RENAME TO gone"))
        connection.commit()
    with pytest.raises(JournalError):
        journal.move(DIGEST, OrderState.ACCEPTED)
