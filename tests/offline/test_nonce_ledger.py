"""A ceremony and its transcript: what was signed is remembered, and the time is what a person said it is."""

from __future__ import annotations

import dataclasses
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from airlock_offline.cli.ceremony import _place
from airlock_offline.cli.preflight import Statement, compare_clocks, read_time
from airlock_offline.clock import now_ms, uptime
from airlock_offline.home import OfflineHome
from airlock_offline.signing.guards import account_lock
from airlock_offline.signing.sign_item import ItemResult, SigningDesk, sign_item
from airlock_shared.checks.judge import Examined
from airlock_shared.checks.model import Case, Verdict
from airlock_shared.checks.nonces import UsedNonces, nonces_of, read_use
from airlock_shared.checks.times import CONTRADICTED, STATED, VALID_MS, Clock, Uptime, clock_of, time_is_stated
from airlock_shared.cli.ceremony.workflow import facts_of
from airlock_shared.documents.transcript import Entry, next_entry
from airlock_shared.errors import ExitCode, Expired, Refusal, UsageError
from offline.opinions import SameProcess
from shared.make_payloads import NOW_MS, seal
from shared.world import VECTORS, case_of, good, good_challenges, situation

MINUTE, HOUR = 60_000, 3_600_000
SIGNATURES = {
    item["step"]: bytes.fromhex(item["signature"][2:])
    for item in json.loads((VECTORS / "signatures/good/every-struct.json").read_text())["signatures"]
}


@dataclasses.dataclass
class FakeAnswer:
    rsv: bytes


class FakeApp:
    """A Ledger that signs only what the vectors hold a signature for; it counts how often it was asked."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.asked = 0
        self.may_have_signed = False
        self.version = "1.22.0"

    def address(self, _path: str, **_options: bool) -> Any:
        return type("Found", (), {"address": self.case.step.signer.address})

    def sign_typed_data(self, _path: str, _typed_data: Any, _told: Any = None) -> FakeAnswer:
        self.asked += 1
        return FakeAnswer(SIGNATURES[self.case.request.step])


def _item(step: str, **message: Any) -> Case:
    document = good(step)
    payload = document["requests"][0]["payload"]
    payload["message"] |= message
    if message:
        seal(payload)
    return case_of(document)


def _desk(state: OfflineHome, ledger: UsedNonces, app: FakeApp) -> SigningDesk:
    """Return a desk at which somebody says Yes to everything, with a clock that was stated just now."""
    state.transcript.record(STATED, Statement(NOW_MS, 60).as_data(NOW_MS), NOW_MS)

    def say_nothing(_said: object) -> None: ...

    def clock(entries: list[Entry]) -> Clock:
        return clock_of(entries, NOW_MS)

    device: Any = app
    alone = partial(account_lock, state.home)
    return SigningDesk(
        state,
        ledger,
        say_nothing,
        lambda: device,
        lambda: None,
        lambda: NOW_MS,
        clock,
        alone,
        say_nothing,
        say_nothing,
        say_nothing,
        opinion=SameProcess,
    )


def _sign(state: OfflineHome, case: Case, told: list[str] | None = None) -> tuple[ItemResult, list[Verdict], int]:
    """Sign one item as a command that starts now would."""
    app, shown = FakeApp(case), []

    def show(examined: Examined) -> None:
        shown.extend(examined.verdicts.all())

    tell = (lambda _text: None) if told is None else told.append
    ledger = nonces_of(state.transcript.entries())
    proofs = frozenset(challenge.sha256() for challenge in good_challenges())
    desk = _desk(state, ledger, app)._replace(show=show, tell=tell, proofs=proofs)
    return sign_item(case.request, case.situation, desk), shown, app.asked


@pytest.fixture
def state(tmp_path: Path) -> OfflineHome:
    return OfflineHome(tmp_path)


# ---- what was signed ------------------------------------------------------------------------------------------------


def test_no_signature_is_in_the_transcript(state: OfflineHome) -> None:
    _sign(state, _item("open"))
    text = (state.home / "transcript.jsonl").read_text()
    assert SIGNATURES["open"].hex() not in text
    assert SIGNATURES["open"][:32].hex() not in text


@pytest.mark.parametrize(
    ("first", "second", "message", "check"),
    [
        ("open", "close", {"_nonce": str(2**255 + 1)}, "NONCE-USED"),
        ("desk-key", "desk-key-terms", {"nonce": "13"}, "NONCE-USED"),
        ("referral", "own-code", {"_nonce": "10"}, "NONCE-USED"),
        ("open", "open", {"_nonce": "99"}, "NONCE-PENDING"),
        ("take-profit", "take-profit", {"nonce": "99"}, "NONCE-PENDING"),
        ("desk-key", "desk-key", {"nonce": "99"}, "NONCE-PENDING"),
    ],
)
def test_what_clashes_with_an_earlier_signature_never_reaches_the_device(
    state: OfflineHome, first: str, second: str, message: dict[str, str], check: str
) -> None:
    assert _sign(state, _item(first))[0].code == ExitCode.DONE
    result, shown, asked = _sign(state, _item(second, **message))
    assert (result.answer.result, result.answer.why, result.code, asked) == ("refused", check, ExitCode.REFUSED, 0)
    assert [v.check for v in shown if v.result == "refused"] == [check]
    assert state.transcript.entries()[-1].data["checks"] == [check]


def test_a_changed_transcript_stops_everything(state: OfflineHome) -> None:
    _sign(state, _item("open"))
    path = state.home / "transcript.jsonl"
    path.write_text(path.read_text().replace('"nonce":"', '"nonce":"1'))
    with pytest.raises(Refusal, match="DOC-CHAIN"):
        state.transcript.entries()


def test_a_step_that_is_signed_once_more_after_its_deadline_is_warned_about(state: OfflineHome) -> None:
    old = _item("open")
    from airlock_shared.checks.nonces import record_of

    state.transcript.record("signed", record_of(old) | {"digest": "0x" + "ab" * 32, "nonce": "5", "deadline_ms": 1}, 1)
    told: list[str] = []
    assert _sign(state, _item("open"), told)[0].code == ExitCode.DONE
    assert any("WARNING" in line and "ab" * 32 in line for line in told)


# ---- the time -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("off_ms", [-60_001, 60_001, -HOUR, HOUR, -365 * 24 * HOUR, 10**15, -NOW_MS])
def test_a_clock_that_differs_by_more_is_refused_with_its_id(off_ms: int) -> None:
    with pytest.raises(Expired, match="TIME-CLOCK") as error:
        compare_clocks(Statement(NOW_MS, 60), NOW_MS + off_ms)
    assert error.value.exit_code == 7
    assert ("fast" if off_ms > 0 else "slow") in error.value.what


@pytest.mark.parametrize(
    "text",
    ["", "now", "2026-09-21T14:13:20", "14:13:20Z", "2026-09-21", "1790000000", "1790000000000", "2026-13-01T00:00:00Z",
     "2026-09-21T25:00:00Z", "21.09.2026 14:13Z", "\x1b[2J"],
)  # fmt: skip
def test_a_time_without_a_zone_or_form_is_a_mistake(text: str) -> None:
    with pytest.raises(UsageError):
        read_time(text)


def _entries(*events: tuple[str, int]) -> list[Entry]:
    entries: list[Entry] = []
    for event, at_ms in events:
        data = Statement(at_ms, 60).as_data(at_ms) if event in (STATED, CONTRADICTED) else {}
        entries.append(next_entry(entries[-1] if entries else None, at_ms, event, data))
    return entries


@pytest.mark.parametrize(
    ("events", "holds"),
    [
        ([], False),
        ([("preflight", NOW_MS)], False),
        ([(STATED, NOW_MS)], True),
        ([(STATED, NOW_MS - VALID_MS)], True),
        ([(STATED, NOW_MS - VALID_MS - 1)], False),
        ([(STATED, NOW_MS + 1)], False),  # the clock was set back since
        ([(STATED, NOW_MS - HOUR), ("signed", NOW_MS + HOUR)], False),
        ([(STATED, NOW_MS - HOUR), ("signed", NOW_MS - 1)], True),
        ([(CONTRADICTED, NOW_MS - 1)], False),
        ([(STATED, NOW_MS - HOUR), (CONTRADICTED, NOW_MS - 1)], False),
        ([(CONTRADICTED, NOW_MS - HOUR), (STATED, NOW_MS - 1)], True),
        ([(STATED, NOW_MS - 2 * VALID_MS), (STATED, NOW_MS - 1)], True),
        ([(STATED, NOW_MS - 1), (STATED, NOW_MS - 2 * VALID_MS)], False),  # the last one counts
    ],
)
def test_a_statement_holds_for_a_day_while_the_clock_runs_on(events: list[tuple[str, int]], holds: bool) -> None:
    entries = _entries(*events)
    assert clock_of(entries, NOW_MS).uncertainty_ms == (MINUTE if holds else None)
    verdict = time_is_stated.run(clock_of(entries, NOW_MS))
    known_wrong = bool(entries) and entries[-1].event == CONTRADICTED
    failed = "refused" if known_wrong else "not-judged"
    assert (verdict.check, verdict.result) == ("TIME-CLOCK", "pass" if holds else failed)
    if not holds:
        assert "airlock-offline preflight --time" in verdict.what


# ---- the clock and the time since the machine's start ---------------------------------------------------------------

STATED_AT = Uptime("one start", 5 * HOUR)


def _clock(after_ms: int, ran_ms: int, boot_id: str = "one start", event: str = STATED) -> Clock:
    """Return the clock ``after_ms`` after a statement, on a machine that ran for ``ran_ms`` since then."""
    entries = [next_entry(None, NOW_MS, event, Statement(NOW_MS, 60).as_data(NOW_MS, STATED_AT))]
    return clock_of(entries, NOW_MS + after_ms, Uptime(boot_id, STATED_AT.boot_ms + ran_ms))


@pytest.mark.parametrize("gap_ms", [-HOUR, -2001, -2000, -1, 0, 1, 2000, 2001, HOUR, 20 * HOUR])
@pytest.mark.parametrize("ran_ms", [0, MINUTE, 3 * HOUR])
def test_a_clock_that_was_set_since_the_time_was_stated_is_refused(ran_ms: int, gap_ms: int) -> None:
    clock = _clock(max(0, ran_ms + gap_ms), max(0, ran_ms + gap_ms) - gap_ms)
    verdict = time_is_stated.run(clock)
    fine = abs(gap_ms) <= 2000
    assert verdict.result == ("pass" if fine else "refused")
    assert clock.uncertainty_ms == (MINUTE if fine else None)
    if not fine:
        assert "preflight --time" in verdict.what
        assert ("ahead" if gap_ms > 0 else "back") in str(verdict.got)


def test_a_contradicted_clock_stays_contradicted_whatever_ran() -> None:
    clock = _clock(HOUR, 0, event=CONTRADICTED)
    assert (clock.uncertainty_ms, clock.was_set) == (None, False)


@pytest.mark.parametrize(("after_ms", "ran_ms"), [(HOUR, -4 * HOUR), (HOUR, HOUR), (1, 0), (11 * HOUR, -5 * HOUR)])
def test_after_another_start_nobody_vouches_for_the_clock(after_ms: int, ran_ms: int) -> None:
    verdict = time_is_stated.run(clock := _clock(after_ms, ran_ms, "another start"))
    assert (clock.uncertainty_ms, clock.was_set, verdict.result) == (None, False, "not-judged")
    assert "the machine was started again" in verdict.what
    assert "preflight --time" in verdict.what


@pytest.mark.parametrize("step", ["open", "increase", "referral", "take-profit", "desk-key"])
def test_the_transcript_remembers_what_a_signature_spends(state: OfflineHome, step: str) -> None:
    case = _item(step)
    result, _, asked = _sign(state, case)
    assert (result.code, asked) == (ExitCode.DONE, 1)
    entry = state.transcript.entries()[-1]
    assert entry.event == "signed"
    use = read_use(entry.data)
    message = case.request.payload["message"]
    assert str(use.nonce) == str(message.get("nonce", message.get("_nonce")))
    assert (use.step, use.ceremony, use.signer) == (step, situation().plan.id, case.step.signer.address)
    assert (use.deadline_ms is None) == (step == "take-profit")


def test_a_resumed_ceremony_does_not_ask_the_device_again(state: OfflineHome) -> None:
    first, _, _ = _sign(state, _item("open"))
    again, _, asked = _sign(state, _item("open"))
    assert (again.answer, again.code, asked) == (first.answer, ExitCode.DONE, 0)


def test_a_refused_item_spends_nothing(state: OfflineHome) -> None:
    _sign(state, _item("open"))
    _sign(state, _item("close", _nonce=str(2**255 + 1)))
    assert _sign(state, _item("close"))[0].code == ExitCode.DONE


def test_within_one_run_the_ledger_grows_with_each_signature(state: OfflineHome) -> None:
    ledger = nonces_of([])
    codes = []
    for case in (_item("open"), _item("open", _nonce="99")):
        app = FakeApp(case)
        desk = _desk(state, ledger, app)
        codes.append(sign_item(case.request, case.situation, desk).answer.why)
    assert codes == ["", "NONCE-PENDING"]


@pytest.mark.parametrize("off_s", [-60, -1, 0, 59, 60])
def test_a_clock_that_keeps_the_watch_is_accepted(off_s: int) -> None:
    compare_clocks(Statement(NOW_MS, 60), NOW_MS + off_s * 1000)


@pytest.mark.parametrize("text", ["2026-09-21T14:13:20Z", "2026-09-21T16:13:20+02:00", "2026-09-21 14:13:20+00:00"])
def test_a_time_with_a_zone_is_read(text: str) -> None:
    assert read_time(text) == NOW_MS


@pytest.mark.parametrize("boot_id", ["", "another start"])
def test_a_led_run_has_the_time_stated_anew_after_another_start(
    state: OfflineHome, tmp_path: Path, boot_id: str
) -> None:
    ran, at_ms = uptime(), now_ms()
    assert ran is not None
    said = Statement(at_ms, 60).as_data(at_ms, ran._replace(boot_id=boot_id or ran.boot_id))
    state.transcript.record(STATED, said, at_ms)
    facts = facts_of(_place(state), situation().plan, tmp_path / "ceremony", None)
    assert facts.clock_stated is (not boot_id)


def test_the_machine_says_how_long_it_has_been_running() -> None:
    first, second = uptime(), uptime()
    assert first is not None
    assert second is not None
    assert first.boot_id == second.boot_id
    assert 0 <= second.boot_ms - first.boot_ms < MINUTE
