"""``resolve`` with what a person gives, as an operator types it at the rehearsal services: verified, or nothing changes."""

import json

import pytest
from sqlalchemy import text

from airlock_online.delivery.chain_evidence import NONCE_BITMAP
from airlock_rehearsal.services.faults import Faults
from airlock_rehearsal.services.venue.venue_state import set_up
from online.online_command import CLOSE, CODE, TRIGGER, TWAP, OnlineCommand

NOTE = ("--note", "seen filled at the venue", "--by", "Ada")


def lost(machine: OnlineCommand, step: str, fields: str, place: str) -> str:
    """Send one whose answer is lost, by a machine without a node, and return its digest."""
    signatures = machine.signatures(**{step: fields})
    (machine.home / "config.toml").write_text("")
    machine.services.faults = Faults.of(f"drop-before-accepted@{place}")
    assert machine("submit", signatures, "--patience", 0).code == 9
    machine.services.faults = Faults()
    with machine.journal() as journal:
        [known] = journal.submissions()
    return known.record.digest


def with_node(machine: OnlineCommand) -> None:
    (machine.home / "config.toml").write_text(f'[rpc]\nurl = "{machine.services.rpc_url}"\n')


def executed(machine: OnlineCommand, digest: str) -> str:
    """Return the transaction in which the chain marked the nonce of what was lost."""
    evm = machine.services.state.venue.evm
    with machine.journal() as journal:
        record = journal.get(digest).record
    for _ in range(200):
        for number in range(evm.block_number() + 1):
            for tx_hash in evm.block(number).hashes:
                found, nonce = evm.transaction(tx_hash), f"{int(record.nonce):064x}"
                if found and found.to.lower() == record.contract.lower() and nonce in found.data.hex():
                    return tx_hash
        machine("status")
    raise AssertionError(NONCE_BITMAP)


def test_a_note_changes_no_state_and_follow_waits_no_more(machine: OnlineCommand) -> None:
    digest = lost(machine, "arm", TRIGGER, "core")
    ended = machine("resolve", digest, *NOTE)
    assert (ended.code, machine.states()) == (9, {"arm": "UNKNOWN"})
    assert "seen filled at the venue (Ada" in " ".join(ended.out.split())
    [report] = json.loads(machine("resolve", "--json").out)
    assert (report["notes"][0]["by"], report["state"]) == ("Ada", "UNKNOWN")
    followed = machine("follow", "--patience", 0)
    assert (followed.code, "1 with a note" in followed.err, "outcome" in followed.out) == (9, True, False)
    assert machine("follow", digest, "--patience", 0).code == 9


@pytest.mark.parametrize(
    "words",
    [
        ("--note", "x"),
        ("--note", "", "--by", "Ada"),
        ("--note", "x", "--by", " "),
        ("--note", "x" * 501, "--by", "Ada"),
        ("--note", "x\x1b[2J", "--by", "Ada"),
        ("--transaction", "0x12"),
        ("--transaction", "0x" + "ab" * 32),
        ("--search",),
        ("--tracking-id", "t-1"),
    ],
)
def test_what_lacks_form_author_or_node_is_a_usage_error(machine: OnlineCommand, words: tuple[str, ...]) -> None:
    digest = lost(machine, "arm", TRIGGER, "core")
    assert machine("resolve", digest, *words).code == 2
    assert machine("resolve", *words).code == 2
    assert machine.states() == {"arm": "UNKNOWN"}
    with machine.journal() as journal:
        assert journal.notes(digest) == []


def test_what_was_refused_and_has_no_deadline_takes_a_note_and_the_doubt_is_told(machine: OnlineCommand) -> None:
    signatures = machine.signatures(arm=TRIGGER)
    machine.services.faults = Faults.of("http-429@core")
    assert machine("submit", signatures).code == 8
    machine.services.faults = Faults()
    with machine.journal() as journal:
        [known] = journal.submissions()
    ended = machine("resolve", known.record.digest, *NOTE)
    told = " ".join(ended.out.split())
    assert (machine.states(), "seen filled at the venue (Ada" in told) == ({"arm": "REJECTED"}, True), ended.err
    assert ("can execute it until the nonce" in told, "it has no deadline" in told) == (True, True)
    assert machine("resolve", known.record.digest, "--search").code == 2
    assert machine("submit", signatures).code == 0


def test_what_has_ended_takes_no_note(machine: OnlineCommand) -> None:
    assert machine("submit", machine.signatures(code=CODE)).code == 0
    with machine.journal() as journal:
        [known] = journal.submissions()
    assert machine("resolve", known.record.digest, *NOTE).code == 2


def test_a_transaction_is_verified_and_settles_it(machine: OnlineCommand) -> None:
    digest = lost(machine, "code", CODE, "relayer")
    tx_hash = executed(machine, digest)
    with_node(machine)
    wrong = machine("resolve", digest, "--transaction", "0x" + "ab" * 32)
    assert wrong.code == 8, wrong.err
    assert machine.states() == {"code": "UNKNOWN"}
    ended = machine("resolve", digest, "--transaction", tx_hash)
    assert (ended.code, machine.states()) == (0, {"code": "CONFIRMED"}), ended.err


@pytest.mark.parametrize("way", ["--search", ""])
def test_with_json_the_answer_is_one_document_with_the_events_told(machine: OnlineCommand, way: str) -> None:
    digest = lost(machine, "code", CODE, "relayer")
    machine("resolve", digest, "--note", "never happened", "--by", "Ada")  # later evidence overrides it
    executed(machine, digest)
    with_node(machine)
    [report] = json.loads(machine("resolve", digest, *([way] if way else []), "--json").out)
    assert report["state"] == "CONFIRMED"
    assert [event["event"] for event in report["events"]] == ["FoundOnChain"]


def test_a_search_begins_where_it_was_prepared_whenever_the_row_was_made(machine: OnlineCommand) -> None:
    digest = lost(machine, "stop", TWAP, "twap")
    executed(machine, digest)
    with_node(machine)
    with machine.journal() as journal, journal._engine.begin() as connection:  # made again, long after the execution
        connection.execute(text("UPDATE submissions SET created_ms = created_ms + 7200000"))
    ended = machine("resolve", digest, "--search")
    assert ("executed it" in ended.err, "hold no transaction" in ended.err) == (True, False)
    assert (ended.code, machine.states(), "searching block" in ended.err) == (0, {"stop": "CONFIRMED"}, True)


def test_a_tracking_id_is_verified_and_settles_it(machine: OnlineCommand) -> None:
    digest = lost(machine, "sell", CLOSE, "batched")
    executed(machine, digest)
    with_node(machine)
    assert machine("resolve", digest, "--tracking-id", "no-such-id").code == 8
    assert machine.states() == {"sell": "UNKNOWN"}
    state = machine.services.state
    tracking_id = set_up(state.settings, state.trader, lambda: 1_790_000_000_000).draw_id("tracking-id")
    ended = machine("resolve", digest, "--tracking-id", tracking_id)
    assert ended.code in (0, 9), ended.err
    for _ in range(200):
        if machine.states() == {"sell": "FILLED"}:
            break
        machine("resolve")
    assert machine.states() == {"sell": "FILLED"}
