"""``submit``, ``follow``, ``resolve``, ``export`` and ``status`` at the rehearsal services, as an operator types them."""

import errno
import io
import json
import stat
import time
from pathlib import Path
from typing import Any

import pytest
from eth_account import Account
from sqlalchemy import text

from airlock_online.cli import ceremony as of_ceremony
from airlock_online.cli import delivery_context
from airlock_online.cli import resolve as resolve_command
from airlock_online.clock import now_ms
from airlock_online.delivery import chain_evidence
from airlock_online.delivery.chain_evidence import NONCE_BITMAP
from airlock_online.delivery.outcome import OrderOutcome
from airlock_online.home import OnlineHome
from airlock_online.journal.journal import open_journal
from airlock_online.journal.order_states import Anomaly, OrderEvent, OrderState
from airlock_online.readback.expectations import Expectation
from airlock_online.wallets.other_wallets import WalletAnswers
from airlock_rehearsal.chain.evm import STORAGE
from airlock_rehearsal.services.runtime import DEFAULT_TRADER
from airlock_rehearsal.services.venue.venue_state import set_up
from airlock_shared.cli import kept_signatures
from airlock_shared.documents.requests import parse_signatures
from airlock_shared.documents.transcript import Entry
from airlock_shared.errors import UsageError
from airlock_shared.host.files import TranscriptFile, read_transcript
from airlock_shared.venue.calls import arguments_in
from airlock_shared.wire.strict_json import parse_json
from online.delivering_machine import TRADER_KEY
from online.loopback import Wire, reply
from online.online_command import APPROVAL, CLOSE, CODE, OPEN, TRIGGER, TWAP, OnlineCommand
from online.test_authorizations import signed, transaction

PART = CLOSE.replace("500", "200")
ALL = {"sell": PART, "buy": OPEN, "code": CODE, "stop": TWAP, "arm": TRIGGER, "allow": APPROVAL}
NOTE = ("--note", "seen filled at the venue", "--by", "Ada")


class Full(io.StringIO):
    """A stream behind which the disk is full once this was written."""

    def __init__(self, last: str) -> None:
        super().__init__()
        self.last = last

    def write(self, text: str) -> int:
        if self.last in self.getvalue():
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(text)


def once(machine: OnlineCommand) -> bool:
    """Whether no nonce and no transaction came twice to any service."""
    posts = machine.services.posts
    return all(count == 1 for name, counts in posts.items() if name != "builder" for n, count in counts.items() if n)


@pytest.mark.parametrize("by_rpc", [False, True])
def test_every_route_is_delivered_followed_and_read_back_at_once(machine: OnlineCommand, by_rpc: bool) -> None:
    signatures = machine.signatures(**ALL)
    ended = machine("submit", signatures, "--json", *(["--by-rpc"] if by_rpc else []))
    assert ended.code == 0, ended.err
    assert machine.states() == {step: "FILLED" if step in ("buy", "sell") else "CONFIRMED" for step in ALL}
    told = {line["step"]: line for line in ended.lines if "state" in line}
    assert set(told) == set(ALL)
    assert told["arm"]["entity_id"]
    assert all(promise["kept"] is not False for line in told.values() for promise in line["read_back"])
    events = [line for line in ended.lines if "event" in line]
    assert {event["step"] for event in events} == set(ALL)
    again = machine("submit", signatures)
    assert (again.code, again.out.count("outcome: ")) == (0, len(ALL))
    assert "it is not sent again" in again.err.replace("\n  ", " ")
    assert once(machine)
    sender = "rpc" if by_rpc else "relay"
    assert sum(count for key, count in machine.services.posts[sender].items() if key) == 1


def test_one_refused_order_does_not_keep_the_others(machine: OnlineCommand) -> None:
    signatures = machine.signatures(stop=TWAP, code=CODE)
    gone = {"trader": "0x" + "00" * 20, "escrow": 0}
    machine.services.state.act(STORAGE, "seedTwap", 41, gone)
    ended = machine("submit", signatures)
    assert (ended.code, machine.states()) == (8, {"stop": "REJECTED", "code": "CONFIRMED"})


def test_an_altered_signature_stops_everything_before_anything_is_sent(machine: OnlineCommand) -> None:
    path = machine.signatures(code=CODE, stop=TWAP)
    document = json.loads(path.read_text())
    first, second = document["signatures"]
    first["signature"], second["signature"] = second["signature"], first["signature"]
    path.write_text(json.dumps(document))
    assert machine("submit", path).code == 3
    assert machine.states() == {}


def _presigned(folder: Path, key: str = "0x" + TRADER_KEY.to_hex()) -> Path:
    """Return a file with an EIP-7702 transaction whose authorization a key signed."""
    (folder / "a.json").write_text(transaction(signed(31337, nonce=0, key=key), chainId="31337", data="0x") + "\n")
    return folder / "a.json"


def test_without_a_yes_nothing_is_sent(machine: OnlineCommand, tmp_path: Path) -> None:
    ended = machine("submit", machine.signatures(buy=OPEN), "--eip7702", f"buy={_presigned(tmp_path)}", typed="no\n")
    assert (ended.code, machine.states()) == (6, {}), ended.err


def test_what_was_signed_for_a_deployment_that_changed_since_is_not_sent(machine: OnlineCommand) -> None:
    signatures, words = machine.signatures(buy=OPEN), ("deployment", "fetch", "--name", "rehearsal", "--builder")
    assert machine(*words, machine.services.builder_url, "-o", machine.folder / "again.json").code == 0
    ended = machine("submit", signatures)
    told = " ".join(ended.err.split())
    assert (ended.code, "sent before is followed: airlock-online" in told, machine.states()) == (2, True, {}), told
    (kept,) = (machine.home / "deployments").glob("*.replaced.json")
    kept.write_bytes(kept.read_bytes()[:99])
    plan = machine.folder / "signatures.json.plan.toml"
    made = machine("report", "make", "--plan", plan, "--signatures", signatures, "-o", machine.folder / "evidence")
    assert (made.code, kept.name in made.err.replace("\n  ", "")) == (4, True), made.err


def test_what_was_sent_is_asked_about_no_more(machine: OnlineCommand, tmp_path: Path) -> None:
    words = ("submit", machine.signatures(buy=OPEN), "--eip7702", f"buy={_presigned(tmp_path)}")
    for answer in ("Yes\n", ""):
        ended = machine(*words, typed=answer)
        assert (ended.code, machine.states()) == (0, {"buy": "FILLED"}), ended.err
    assert once(machine)


def test_a_wrong_eip7702_is_refused(machine: OnlineCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("airlock_online.cli.presigned.ask_yes", None)
    signatures, file = machine.signatures(buy=OPEN, code=CODE), tmp_path / "a.json"
    empty = '{"chainId":"1","to":"0x1","data":"0x","gas":"1","authorizationList":[]}'
    wrong = [("{}", "buy", 2), ("", f"buy={file}", 4), ("{}", f"buy={file}", 2), (empty, f"code={file}", 3)]
    for content, argument, code in wrong:
        file.write_text(content)
        assert machine("submit", signatures, "--eip7702", argument).code == code
    ended = machine("submit", signatures, "--eip7702", f"buy={_presigned(tmp_path, '0x' + '22' * 32)}")
    assert (ended.code, "ORDER-EIP7702" in ended.err) == (3, True), ended.err
    assert machine.states() == {}


def filled_up(monkeypatch: pytest.MonkeyPatch, *events: str) -> None:
    """Let no more of these events be written into the transcript."""
    recording = TranscriptFile.record

    def full(transcript: TranscriptFile, event: str, data: dict[str, Any], at_ms: int) -> Entry:
        if event in events:
            raise UsageError("transcript.jsonl cannot be written")
        return recording(transcript, event, data, at_ms)

    monkeypatch.setattr(TranscriptFile, "record", full)


@pytest.mark.parametrize(("fault", "state"), [("drop-before-accepted@batched", "UNKNOWN"), ("", "FILLED")])
def test_what_was_sent_is_told_on_a_full_disk(
    machine: OnlineCommand, monkeypatch: pytest.MonkeyPatch, fault: str, state: str
) -> None:
    signatures = machine.signatures(sell=CLOSE, code=CODE)
    (machine.home / "config.toml").write_text("")
    filled_up(monkeypatch, "outcome")
    ended = machine.submit(signatures, *filter(None, [fault]), patience=60)
    assert (ended.code, f"outcome: {state}" in ended.out, "outcome: CONFIRMED" in ended.out) == (9, True, True)
    assert ended.err.count("could not be shown or recorded") == 2
    monkeypatch.undo()
    assert "outcome: CONFIRMED" in machine("follow", "--patience", 0).out


def test_nothing_is_called_sent_on_a_full_disk(machine: OnlineCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    signatures = machine.signatures(sell=CLOSE)
    filled_up(monkeypatch, "sending", "outcome")
    ended = machine("submit", signatures)
    assert (ended.code, "was sent" in ended.err, machine.states()) == (2, False, {"sell": "PREPARED"})


@pytest.mark.parametrize("buffering", [1, -1])
def test_what_was_sent_is_followed_although_stdout_is_full(machine: OnlineCommand, buffering: int) -> None:
    signatures = machine.signatures(sell=CLOSE, buy=OPEN)
    with Path("/dev/full").open("w", buffering) as full:
        ended = machine("submit", signatures, out=full)
    assert (ended.code, ended.err.count("could not be shown or recorded")) == (9, 2)
    assert machine.states() == {"sell": "FILLED", "buy": "FILLED"}
    assert machine("follow").out.count("outcome: FILLED") == 2


def test_several_lost_orders_are_followed_at_once_to_their_ends(machine: OnlineCommand) -> None:
    signatures = machine.signatures(sell=CLOSE, buy=OPEN, allow=APPROVAL)
    (machine.home / "config.toml").write_text("")  # a node would tell before the services do
    faults = ("drop-after-accepted", "empty-events", "drop-before-accepted@relay")
    assert machine.submit(signatures, *faults).code == 9
    ended = machine("follow")
    assert ended.code == 0, ended.err
    assert machine.states() == {"sell": "FILLED", "buy": "FILLED", "allow": "CONFIRMED"}
    assert once(machine)
    assert "nothing to follow" in machine("follow").err


def test_an_end_that_another_desk_saw_first_is_not_called_read_back(
    machine: OnlineCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIRLOCK_JOURNAL", str(tmp_path / "shared.sqlite3"))
    signatures = machine.signatures(sell=CLOSE)
    (machine.home / "config.toml").write_text("")
    assert machine.submit(signatures, "drop-after-accepted", "empty-events").code == 9
    (tmp_path / "other").mkdir()
    other = OnlineCommand(tmp_path / "other", machine.services)
    (other.home / "config.toml").write_text("")
    digest = json.loads(machine("status", "--json").out)[0]["digest"]
    assert machine("resolve", digest).out.endswith("Run `airlock-online follow`.\n")
    told = other("follow")
    assert (told.code, "its requests or their deployment are not here" in " ".join(told.out.split())) == (0, True)
    with open_journal(str(tmp_path / "shared.sqlite3"), now_ms) as journal:
        journal.record_anomaly(digest, Anomaly("seq-gap", OrderEvent(None, "gap", {})), "")
    plan = machine.folder / "signatures.json.plan.toml"
    made = machine("report", "make", "--plan", plan, "--signatures", signatures, "-o", tmp_path / "evidence")
    notes = json.loads((tmp_path / "evidence/report.json").read_text())["notes"]
    assert "step sell: FILLED, but what was promised was not read back" in notes, made.err
    assert "step sell: what was told of it was not in order: seq-gap" in notes


def test_two_closes_that_are_followed_after_both_were_filled_are_not_called_broken(machine: OnlineCommand) -> None:
    (machine.home / "config.toml").write_text("")
    machine.submit(machine.signatures(a=PART, b=PART), "drop-after-accepted@batched")
    time.sleep(1)
    with machine.journal() as journal:
        digests = [known.record.digest for known in journal.submissions()]
    assert [machine("follow", digest).code for digest in digests] == [0, 0]
    assert machine.states() == {"a": "FILLED", "b": "FILLED"}


@pytest.mark.parametrize(("amount", "at_first", "code"), [("200", True, 0), ("200", False, 11), ("500", True, 11)])
def test_what_was_read_back_as_kept_is_not_held_against_a_later_world(
    machine: OnlineCommand, monkeypatch: pytest.MonkeyPatch, amount: str, at_first: bool, code: int
) -> None:
    """Of a position a part was closed, and later the rest; nothing was closed at all; what was closed is there again."""
    monkeypatch.setattr(delivery_context, "POLL_S", 0)
    venue, signatures = machine.services.state, machine.signatures(sell=CLOSE.replace("500", amount))
    found = [] if code == 0 else venue.trades_of(DEFAULT_TRADER)
    told = [machine("submit", signatures, "--json").lines[-1]] if at_first else []
    monkeypatch.setattr(venue, "trades_of", lambda _: found)
    told += [] if at_first else [machine("submit", signatures, "--json").lines[-1]]
    ended = machine("follow", told[0]["digest"], "--json")
    [[first], [last]] = [line["read_back"] for line in (*told, ended.lines[-1])]
    assert (first["kept"], last["kept"], ended.code) == (at_first, None if code == 0 else False, code)
    assert ("; it was as promised at 20" in last["found"]) is (code == 0)
    assert machine("follow", told[0]["digest"], "--tracking-id", "x").code == 2
    shown = [*of_ceremony._shown("outcome", read_transcript(machine.home / "transcript.jsonl"), whole=False)]
    assert (shown[0], last["found"][:30] in shown[3]) == ("step sell: FILLED", True)


def test_what_another_order_kept_excuses_nothing_and_what_is_still_kept_stays_so(
    machine: OnlineCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = [Expectation("of all", "a", "a", True), Expectation("a slot", "a", "a", True)]
    monkeypatch.setattr(delivery_context.Desk, "expectations", lambda *_: read)
    monkeypatch.setattr(delivery_context, "POLL_S", 0)
    first = machine("submit", machine.signatures(a=PART), "--json").lines[-1]["digest"]
    read[1] = Expectation("a slot", "a", "b", False)
    second = machine("submit", machine.signatures("second.json", b=PART), "--json").lines[-1]
    again = machine("follow", first, "--json").lines[-1]
    assert [[row["kept"] for row in line["read_back"]] for line in (second, again)] == [[True, False], [True, None]]


def test_without_a_node_a_used_nonce_by_the_service_s_word_leaves_a_lost_close_open(machine: OnlineCommand) -> None:
    signatures = machine.signatures(sell=PART)
    (machine.home / "config.toml").write_text("")
    machine.submit(signatures, "drop-before-accepted@batched")
    for _ in range(200):
        [report] = json.loads(machine("resolve", "--json").out)
        if "its nonce is used" in report["known"]:
            break
    assert (report["state"], "never" in report["known"] + report["waits_for"]) == ("UNKNOWN", False)
    assert "may still be executed" in report["known"]
    assert "a confirmed block with its nonce used" in report["waits_for"]
    assert "a node of your own" in report["do"]


def test_resolve_says_what_is_known_asked_and_waited_for(machine: OnlineCommand) -> None:
    signatures = machine.signatures(buy=OPEN, code=CODE, arm=TRIGGER)
    machine.submit(signatures, "http-500@batched", "http-429@relayer", "http-500@core")
    ended = machine("resolve")
    assert (ended.code, [line for line in ended.out.splitlines() if len(line) > 80]) == (9, [])
    for word in ("buy: UNKNOWN", "code: REJECTED", "arm: UNKNOWN", "unused", "waits for", "refused 1", "no deadline"):
        assert word in ended.out
    reports = {report["step"]: report for report in json.loads(machine("resolve", "--json").out)}
    assert {"buy", "code", "arm"} == set(reports)
    assert reports["buy"]["until_ms"] > reports["buy"]["deadline_ms"]
    assert (reports["arm"]["until_ms"], reports["code"]["asked"]) == (None, [])
    assert len(reports["code"]["rejections"]) == 1
    assert machine.services.posts["batched"].total() == 1


def test_nothing_open_is_nothing_to_resolve(machine: OnlineCommand) -> None:
    assert machine("resolve").code == 0
    for command in ("resolve", "follow"):
        for digest in ("0x" + "ab" * 32, "\udcff"):
            ended = machine(command, digest)
            assert (ended.code, "the journal knows nothing of" in ended.err) == (2, True)
    assert machine("submit", machine.signatures(code=CODE)).code == 0
    assert machine("resolve").out == ""
    assert "go on with" not in machine("status").out
    [row] = json.loads(machine("status", "--json").out)
    assert (row["state"], row["method"], len(row["requests"])) == ("CONFIRMED", "POST", 64)


@pytest.mark.parametrize(("patience", "state", "code"), [(0, "UNKNOWN", 9), (60, "FILLED", 0)])
def test_a_deleted_journal_calls_nothing_unsent(machine: OnlineCommand, patience: int, state: str, code: int) -> None:
    signatures = machine.signatures(sell=CLOSE)
    (machine.home / "config.toml").write_text("")
    machine.submit(signatures, *([] if patience else ["drop-before-accepted@batched"]), patience=patience)
    for file in machine.home.glob("journal.sqlite3*"):
        file.unlink()
    for command in ("status", "follow", "resolve"):
        ended = machine(command)
        assert ended.code == (0 if command == "status" else code), ended.err
        assert f"is {state} by this machine's transcript" in " ".join(ended.err.split())
        assert "Nothing has been submitted" not in ended.err
        assert "has its outcome" not in ended.err


def test_a_journal_that_was_written_back_in_place_calls_nothing_unsent(machine: OnlineCommand) -> None:
    signatures = machine.signatures(sell=CLOSE)
    machine.submit(signatures, "http-429@batched")
    assert machine.states() == {"sell": "REJECTED"}
    machine("submit", signatures)
    known = machine.submission
    with delivery_context.open_desk(OnlineHome(machine.home), 0, as_json=False) as desk:  # a terminal tells it late
        late = OrderOutcome(known.record.digest, OrderState.REJECTED)
        desk.run(known.record, lambda: late)
    told = [entry.data for entry in read_transcript(machine.home / "transcript.jsonl") if entry.event == "outcome"]
    claims = [(each["state"], each.get("claim")) for each in told if each["ceremony"] == known.record.ceremony]
    assert claims == [("REJECTED", 1), ("FILLED", None), ("REJECTED", None)]
    with machine.journal() as journal, journal._engine.begin() as connection:
        connection.execute(text("UPDATE submissions SET state = 'REJECTED', claims = 1"))
    assert "sell: UNKNOWN" in machine("status").out
    assert machine("export", signatures, "-o", machine.folder / "package.json").code == 3


@pytest.mark.parametrize("command", ["submit", "follow"])
def test_talk_that_cannot_be_written_keeps_nothing_unsent(machine: OnlineCommand, command: str) -> None:
    signatures = machine.signatures(code=CODE, stop=TWAP)
    if command == "follow":
        machine.submit(signatures, "drop-before-accepted@relayer", "drop-before-accepted@twap")
    words = [command] if command == "follow" else [command, signatures]
    assert machine(*words, err=Full("step code")).code == 0
    assert machine.states() == {"code": "CONFIRMED", "stop": "CONFIRMED"}


def test_a_relayer_that_lies_is_found_out(machine: OnlineCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery_context, "POLL_S", 0)
    machine("submit", machine.signatures(allow=APPROVAL))
    tx_hash = machine.submission.record.transaction_hash
    said = {"id": "r-1", "status": "confirmed", "transactionHash": tx_hash}
    with Wire({"POST /intents": [reply(200, said)], "GET /intents/r-1": [reply(200, said)]}) as wire:
        words = ("--builder", machine.services.builder_url, "--relayer", wire.url, "-o", machine.folder / "other.json")
        assert machine("deployment", "fetch", "--name", "rehearsal", *words).code == 0
        ended = machine("submit", machine.signatures("code.json", code=CODE))
    assert (ended.code, machine.states()["code"]) == (11, "CONFIRMED"), ended.err
    assert "read back: its nonce, by the chain" in ended.out


@pytest.mark.parametrize(
    ("told", "node", "kept"),
    [(True, False, "yes"), (False, True, "NO"), (False, False, "NO"), (None, True, "yes"), (None, False, "not known")],
)
def test_a_part_is_closed_where_the_nonce_is_used(
    machine: OnlineCommand, monkeypatch: pytest.MonkeyPatch, told: bool | None, node: bool, kept: str
) -> None:
    """The builder's word counts; where it has none, a node can say that the nonce is used."""
    signatures = machine.signatures(sell=PART)
    monkeypatch.setattr(delivery_context, "POLL_S", 0)
    monkeypatch.setattr(delivery_context, "nonce_by_word", lambda *_: told)
    if told is None:
        monkeypatch.setattr(chain_evidence, "nonce_by_word", lambda *_: told)
    if not node:
        (machine.home / "config.toml").write_text("")
    ended = machine("submit", signatures)
    assert (ended.code, f"kept      {kept}" in ended.out) == (11 if kept == "NO" else 0, True)


def test_a_damaged_transcript_is_told_and_what_the_journal_knows_is_still_read(machine: OnlineCommand) -> None:
    machine("submit", machine.signatures(sell=CLOSE))
    with (machine.home / "transcript.jsonl").open("a") as transcript:
        transcript.write("{}\n")
    ended = machine("status")
    assert ("sell: FILLED" in ended.out, "DOC-CHAIN" in ended.err) == (True, True)


def test_after_its_deadline_a_refusal_is_over(machine: OnlineCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.submit(machine.signatures(sell=CLOSE), "http-429@batched")
    assert machine("resolve").code == 8
    monkeypatch.setattr(resolve_command, "now_ms", lambda: now_ms() + 7_200_000)
    ended = machine("resolve")
    assert (ended.code, ended.out, machine.states()) == (0, "", {"sell": "REJECTED"})


def test_a_package_has_all_that_another_sender_needs(machine: OnlineCommand, tmp_path: Path) -> None:
    output = tmp_path / "package.json"
    ended = machine("export", machine.signatures(**ALL), "-o", output)
    assert ended.code == 0, ended.err
    assert stat.S_IMODE(output.stat().st_mode) == 0o600
    document = parse_json(output.read_bytes())
    assert document["format"] == "airlock/export@1"
    items = {item["step"]: item for item in document["items"]}
    for step in ("sell", "buy", "code", "stop", "arm"):
        item = items[step]
        assert item["domain"]["verifyingContract"] == item["contract"]
        assert item["encodedIntent"].startswith("0x")
    assert (items["arm"]["deadline"], items["buy"]["orderType"], items["stop"]["goes_to"]) == (None, 0, "twap")
    call = items["code"]["call"]
    assert call["data"][:10] == "0x3e3c0e4d"
    signature, intent = arguments_in(bytes.fromhex(call["data"][2:]), "(bytes signature,bytes intent)").values()
    assert ("0x" + intent.hex(), "0x" + signature.hex()) == (items["code"]["encodedIntent"], items["code"]["signature"])
    assert Account.recover_transaction(items["allow"]["rawTransaction"]) == items["allow"]["signer"]
    assert set(machine.states().values()) == {"EXPORTED"}


def test_another_wallet_s_answer_is_kept_while_alive(machine: OnlineCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_signatures, "ask_yes", lambda *_, **__: None)
    signatures = machine.signatures(close=CLOSE)
    _, [answer], _ = parse_signatures(signatures.read_bytes())
    WalletAnswers(machine.home, "aa").keep(answer)
    damaged = machine.home / "wallet-answers/aa/damaged.json"
    damaged.write_text("{")
    assert machine("forget", "--json").json()["removed"] == []
    assert machine("submit", signatures).code == 0
    assert machine("forget", "--json").json()["removed"] == []  # the market says that it is filled, and nobody else
    with (machine.home / "config.toml").open("a") as config:
        config.write('confirmed_by = "depth"\nconfirmations = 1\n')
    assert machine("follow", answer.digest).code == 0
    ended = machine("forget", "--json").json()
    assert (ended["removed"], ended["kept"]) == (["wallet-answers/aa/close.json"], ["wallet-answers/aa/damaged.json"])


def test_what_was_exported_is_never_submitted_and_can_be_written_again(machine: OnlineCommand, tmp_path: Path) -> None:
    signatures = machine.signatures(code=CODE, stop=TWAP)
    assert machine("export", signatures, "--step", "code", "-o", tmp_path / "one.json").code == 0
    ended = machine("submit", signatures)
    assert (ended.code, "ROUTE-EXPORTED" in ended.err) == (3, True)
    assert machine.states() == {"code": "EXPORTED", "stop": "CONFIRMED"}
    assert machine.services.posts["relayer"].total() == 0
    assert machine("export", signatures, "--step", "code", "-o", tmp_path / "two.json").code == 0
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()


def test_of_several_none_is_marked_as_exported_where_one_is_refused(machine: OnlineCommand, tmp_path: Path) -> None:
    assert machine("submit", machine.signatures("first", stop=TWAP)).code == 0
    ended = machine("export", machine.signatures("again", code=CODE, stop=TWAP), "-o", tmp_path / "package.json")
    assert (ended.code, "ROUTE-STEP" in ended.err, machine.states()) == (3, True, {"stop": "CONFIRMED"}), ended.err
    assert not (tmp_path / "package.json").exists()


def test_a_file_that_is_there_is_not_overwritten_and_nothing_is_marked(machine: OnlineCommand, tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text("mine")
    signatures = machine.signatures(code=CODE)
    for name in ("package.json", "no folder/package.json"):
        assert machine("export", signatures, "-o", tmp_path / name).code == 2
    assert machine("export", signatures, "--step", "nothing", "-o", tmp_path / "other.json").code == 2
    assert ((tmp_path / "package.json").read_text(), machine.states()) == ("mine", {})


def lost(machine: OnlineCommand, step: str, fields: str, place: str) -> str:
    """Send one whose answer is lost, by a machine without a node, and return its digest."""
    signatures = machine.signatures(**{step: fields})
    (machine.home / "config.toml").write_text("")
    assert machine.submit(signatures, f"drop-before-accepted@{place}").code == 9
    return machine.submission.record.digest


def with_node(machine: OnlineCommand) -> None:
    (machine.home / "config.toml").write_text(f'[rpc]\nurl = "{machine.services.rpc_url}"\n')


def executed(machine: OnlineCommand) -> str:
    """Return the transaction in which the chain marked the nonce of what was lost."""
    evm = machine.services.state.evm
    record = machine.submission.record
    for _ in range(200):
        for number in range(evm.block_number() + 1):
            for tx_hash in evm.block(number).hashes:
                found, nonce = evm.transaction(tx_hash), f"{int(record.nonce):064x}"
                if found and found.to.hex() == record.contract[2:].lower() and nonce in found.data.hex():
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
    assert machine.submit(signatures, "http-429@core").code == 8
    digest = machine.submission.record.digest
    ended = machine("resolve", digest, *NOTE)
    told = " ".join(ended.out.split())
    assert (machine.states(), "seen filled at the venue (Ada" in told) == ({"arm": "REJECTED"}, True), ended.err
    assert ("can execute it until the nonce" in told, "it has no deadline" in told) == (True, True)
    assert machine("resolve", digest, "--search").code == 2
    assert machine("submit", signatures).code == 0


def test_what_has_ended_takes_no_note(machine: OnlineCommand) -> None:
    assert machine("submit", machine.signatures(code=CODE)).code == 0
    assert machine("resolve", machine.submission.record.digest, *NOTE).code == 2


def test_a_transaction_is_verified_and_settles_it(machine: OnlineCommand) -> None:
    digest = lost(machine, "code", CODE, "relayer")
    tx_hash = executed(machine)
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
    executed(machine)
    with_node(machine)
    [report] = json.loads(machine("resolve", digest, *([way] if way else []), "--json").out)
    assert report["state"] == "CONFIRMED"
    assert [event["event"] for event in report["events"]] == ["FoundOnChain"]


def test_a_search_begins_where_it_was_prepared_whenever_the_row_was_made(machine: OnlineCommand) -> None:
    digest = lost(machine, "stop", TWAP, "twap")
    executed(machine)
    with_node(machine)
    with machine.journal() as journal, journal._engine.begin() as connection:  # made again, long after the execution
        connection.execute(text("UPDATE submissions SET created_ms = created_ms + 7200000"))
    ended = machine("resolve", digest, "--search")
    assert ("executed it" in ended.err, "hold no transaction" in ended.err) == (True, False)
    assert (ended.code, machine.states(), "searching block" in ended.err) == (0, {"stop": "CONFIRMED"}, True)


def test_a_tracking_id_is_verified_and_settles_it(machine: OnlineCommand) -> None:
    digest = lost(machine, "sell", CLOSE, "batched")
    executed(machine)
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
