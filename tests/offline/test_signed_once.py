"""Between a person's Yes and the record: judged anew, reserved on the disk, and whatever the device signed written down."""

import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from airlock_offline.home import OfflineHome
from airlock_offline.ledger.device_errors import DeviceLost, SettingOff
from airlock_offline.ledger.transport import Ins
from airlock_offline.signing.sign_item import ItemResult, account_lock, sign_item
from airlock_shared.checks.nonces import nonces_of, record_of
from airlock_shared.checks.times import CONTRADICTED, VALID_MS
from airlock_shared.documents.requests import Request
from airlock_shared.documents.transcript import Entry
from airlock_shared.errors import DeviceError, ExitCode, Refusal, UsageError
from airlock_software_ledger.app import SoftwareLedger
from offline.test_signing import STEP, Table, case, fill_the_disk, ledger
from shared.make_payloads import NOW_MS
from shared.world import case_of, good, renonce, situation

MINUTE = 60_000
SIGNER = case_of(good(STEP)).step.signer.address


def renonced(step: str, nonce: str) -> Request:
    """Return a step's request as prepared once more: with another nonce."""
    return case(step, lambda item: renonce(item, nonce))


def sign(table: Table, item: Request) -> ItemResult:
    """Sign at a table that has just been set up: it knows what the transcript says."""
    fresh = table.desk._replace(used=nonces_of(table.state.transcript.entries()))
    return sign_item(item, situation()._replace(now_ms=table.now_ms), fresh)


def during(table: Table, what: Callable[[], object]) -> None:
    """Have something happen while the person thinks, before the Yes."""
    table.desk = table.desk._replace(ask=lambda _question: (what(), None)[1])


def at_the_answer(what: Callable[[], object]) -> SoftwareLedger:
    """Return a Ledger at which something happens while the person confirms on it."""
    return ledger(screens=lambda _pages: (what(), True)[1])


def answer_instead(table: Table, ins: Ins, answer: Callable[[], tuple[bytes, int]]) -> None:
    """Have the device answer one instruction so."""
    exchange = table.exchange
    table.exchange = lambda apdu, *, person: (  # type: ignore[method-assign]
        answer() if apdu[1] == ins else exchange(apdu, person=person)
    )


@pytest.mark.parametrize("step", [STEP, "open", "take-profit"])
def test_what_another_terminal_signed_meanwhile_is_refused_after_the_yes(tmp_path: Path, step: str) -> None:
    table, other = Table(tmp_path, ledger()), Table(tmp_path, ledger())
    during(table, lambda: sign(other, renonced(step, "99")))
    result = sign(table, case(step))
    assert (result.code, result.answer.why) == (ExitCode.REFUSED, "NONCE-PENDING")
    assert table.asked_of_the_device == []
    assert any("NONCE-PENDING" in line for line in table.told)
    assert table.events == ["signing", "signed", "refused"]


def test_another_deployment_that_is_pinned_meanwhile_stops_before_the_device(tmp_path: Path) -> None:
    table = Table(tmp_path, ledger())
    during(table, lambda: table.pin("ab" * 32))
    with pytest.raises(Refusal, match="pinned meanwhile") as refused:
        sign(table, case(STEP))
    assert refused.value.check == "PIN-DEPLOYMENT"
    assert table.asked_of_the_device == []
    assert table.events == []


def test_the_same_document_in_two_terminals_is_signed_by_the_device_once(tmp_path: Path) -> None:
    table, other = Table(tmp_path, ledger()), Table(tmp_path, ledger())
    during(table, lambda: sign(other, case()))
    assert sign(table, case()).answer == other.state.kept_signature(sign(other, case()).answer.digest)
    assert (table.asked_of_the_device, table.events) == ([], ["signing", "signed"])


@pytest.mark.parametrize(
    ("step", "later_ms", "why"),
    [
        ("open", 14 * MINUTE, "TIME-REMAINING"),
        (STEP, 16 * MINUTE, "TIME-REMAINING"),
        ("take-profit", 60 * MINUTE, "TIME-STAMP"),
        (STEP, VALID_MS + 1, "TIME-REMAINING"),
    ],
)
def test_who_thinks_for_too_long_asks_no_device(tmp_path: Path, step: str, later_ms: int, why: str) -> None:
    table = Table(tmp_path, ledger())
    during(table, lambda: setattr(table, "now_ms", NOW_MS + later_ms))
    result = sign(table, case(step))
    assert (result.code, result.answer.result, result.answer.why) == (ExitCode.EXPIRED, "refused", why)
    assert (table.asked_of_the_device, table.events) == ([], ["refused"])


def test_a_clock_that_was_contradicted_meanwhile_is_refused_after_the_yes(tmp_path: Path) -> None:
    table = Table(tmp_path, ledger())
    during(table, lambda: table.state.transcript.record(CONTRADICTED, {"uncertainty_s": 60}, NOW_MS))
    result = sign(table, case())
    assert (result.code, result.answer.why, table.asked_of_the_device) == (ExitCode.EXPIRED, "TIME-CLOCK", [])


def test_the_account_is_locked_from_the_yes_until_the_record_and_not_during_the_review(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))  # the lock is the machine's: other tests sign meanwhile
    home, tried = tmp_path / "home", []

    def busy(*_: Any, **__: Any) -> None:
        raise BlockingIOError

    monkeypatch.setattr("airlock_offline.signing.sign_item.lock", busy)

    def attempt(name: str) -> None:
        try:
            with account_lock(home, SIGNER):
                tried.append((name, "free"))
        except BlockingIOError:
            tried.append((name, "taken"))

    table = Table(home, at_the_answer(lambda: attempt("at the device")))
    during(table, lambda: attempt("at the question"))
    record = table.state.transcript.record

    def recorded(event: str, *rest: Any) -> Any:
        attempt(event)
        return record(event, *rest)

    table.state.transcript.record = recorded  # type: ignore[method-assign, assignment]
    assert sign(table, case()).code == ExitCode.DONE
    attempt("afterwards")
    assert tried == [
        ("at the question", "free"), ("signing", "taken"), ("at the device", "taken"), ("signed", "taken"),
        ("afterwards", "free"),
    ]  # fmt: skip


@pytest.mark.parametrize(("same_home", "same_account"), [(True, True), (False, True), (True, False), (False, False)])
def test_two_state_folders_share_the_lock_of_an_account(
    tmp_path: Path, same_home: bool, same_account: bool, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    waited: list[int] = []
    monkeypatch.setattr(
        "airlock_offline.signing.sign_item.lock", lambda descriptor, *_, **__: waited.append(descriptor)
    )
    other = account_lock(tmp_path / ("one" if same_home else "two"), SIGNER if same_account else bytes(20))
    with account_lock(tmp_path / "one", SIGNER):
        with other:
            assert (bool(waited), "signs with" in capsys.readouterr().err) == (same_account,) * 2
        waited.clear()
        (tmp_path / "elsewhere").mkdir()  # one home has one lock, wherever temporary files are
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "elsewhere"))
        with account_lock(tmp_path / "one", SIGNER):
            assert len(waited) == 1


def test_a_lock_file_that_leads_elsewhere_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with account_lock(tmp_path / "home", SIGNER):
        pass
    for file in tmp_path.rglob("*.lock"):
        assert file.stat().st_mode & 0o777 == 0o600
        file.unlink()
        file.symlink_to(tmp_path / "target")
    with pytest.raises(UsageError, match="lock file"), account_lock(tmp_path / "home", SIGNER):
        pass


def test_the_reservation_is_on_the_disk_before_the_device_is_asked(tmp_path: Path) -> None:
    table = Table(tmp_path, ledger())
    exchange, seen = table.exchange, dict[int, Entry]()

    def looked(apdu: bytes, *, person: bool) -> tuple[bytes, int]:
        seen.setdefault(apdu[1], OfflineHome(tmp_path).transcript.entries()[-1])
        return exchange(apdu, person=person)

    table.exchange = looked  # type: ignore[method-assign]
    result = sign(table, case())
    first = seen[Ins.EIP712_DEFINITION]
    assert (first.event, first.data["digest"], first.data["step"]) == ("signing", result.answer.digest, STEP)
    assert first.data["nonce"] == case().payload["message"]["nonce"]
    signed = table.state.transcript.entries()[-1].data
    assert first.data | {"shown": signed["shown"], "app": signed["app"]} == signed


@pytest.mark.parametrize("step", [STEP, "take-profit"])  # the latter has no deadline
def test_a_reservation_without_an_end_counts_as_signed_and_is_resumed(tmp_path: Path, step: str) -> None:
    begun = Table(tmp_path, ledger(screens=Mock(side_effect=DeviceLost("the Ledger was unplugged"))))
    with pytest.raises(DeviceLost):
        sign(begun, case(step))
    assert begun.events == ["signing"]
    table, digest = Table(tmp_path, ledger()), "0x" + case_of(good(step)).digest.hex()
    assert sign(table, renonced(step, "99")).answer.why == "NONCE-PENDING"
    used = nonces_of(table.state.transcript.entries())
    assert used.begun_ms(digest) == NOW_MS
    shown: list[str] = []
    watching = table.desk._replace(used=used, show=lambda e: shown.extend(str(v.got) for v in e.verdicts.found))
    sign_item(renonced(step, "99"), situation(), watching)
    assert any("signing began at 2026-09-21" in got and "is not known" in got for got in shown)
    assert table.sent == []
    assert sign(table, case(step)).code == ExitCode.DONE  # the same digest
    assert any("of this step began at" in line for line in table.told)
    assert table.events[-2:] == ["signing", "signed"]
    assert nonces_of(table.state.transcript.entries()).begun_ms(digest) is None


@pytest.mark.parametrize(
    ("ins", "error"),
    [(Ins.EIP712_DEFINITION, DeviceLost), (Ins.EIP712_VALUE, DeviceLost), (Ins.SIGN_EIP712, SettingOff)],
)
def test_a_device_that_cannot_have_signed_frees_the_step(tmp_path: Path, ins: Ins, error: type[DeviceError]) -> None:
    def failing() -> tuple[bytes, int]:
        if error is DeviceLost:
            raise DeviceLost("gone")
        return b"", 0x6A80

    table = Table(tmp_path, ledger())
    answer_instead(table, ins, failing)
    with pytest.raises(error):
        sign(table, case())
    assert table.events == ["signing", "not-signed"]
    assert table.state.transcript.entries()[-1].data["why"] == error.__name__
    assert sign(Table(tmp_path, ledger(screens=lambda _: False)), renonced(STEP, "98")).answer.result == "declined"
    assert sign(Table(tmp_path, ledger()), renonced(STEP, "99")).code == ExitCode.DONE


@pytest.mark.parametrize("reply", [b"", bytes(64), bytes(65), b"\x1b" + bytes(65)])
def test_a_success_that_cannot_be_read_counts_as_signed(tmp_path: Path, reply: bytes) -> None:
    table = Table(tmp_path, ledger())
    answer_instead(table, Ins.SIGN_EIP712, lambda: (reply, 0x9000))
    with pytest.raises(Exception, match=r"reported success|SIG-"):
        sign(table, case())
    assert table.events[0] == "signing"
    assert "not-signed" not in table.events
    assert sign(Table(tmp_path, ledger()), renonced(STEP, "99")).answer.why == "NONCE-PENDING"


def test_what_was_signed_at_another_time_is_not_freed_by_a_later_no(tmp_path: Path) -> None:
    sign(Table(tmp_path, ledger()), case())
    for kept in (tmp_path / "signed").iterdir():
        kept.unlink()
    assert sign(Table(tmp_path, ledger(screens=lambda _: False)), case()).answer.result == "declined"
    assert sign(Table(tmp_path, ledger()), renonced(STEP, "99")).answer.why == "NONCE-PENDING"


@pytest.mark.parametrize(
    ("step", "later_ms", "why"),
    [
        (STEP, 15 * MINUTE - MINUTE, "TIME-REMAINING"),  # the watch may be a minute wrong
        (STEP, 16 * MINUTE, "TIME-REMAINING"),
        ("take-profit", 60 * MINUTE, "TIME-STAMP"),
        ("stop-loss", 2 * VALID_MS, "TIME-CLOCK"),
    ],
)
def test_a_late_signature_is_recorded_and_not_handed_over(tmp_path: Path, step: str, later_ms: int, why: str) -> None:
    table = Table(tmp_path, at_the_answer(lambda: setattr(table, "now_ms", NOW_MS + later_ms)))
    result = sign(table, case(step))
    assert (result.code, result.answer.result, result.answer.why) == (ExitCode.EXPIRED, "refused", why)
    assert result.answer.signature == ""
    assert (table.events, table.kept()) == (["signing", "signed-late", "refused"], [])
    late = next(entry for entry in table.state.transcript.entries() if entry.event == "signed-late")
    assert (late.data["step"], late.data["shown"]) == (step, "fields")
    assert "signature" not in late.data
    assert sign(Table(tmp_path, ledger()), renonced("take-profit", "99")).answer.why == (
        "NONCE-PENDING" if step == "take-profit" else ""
    )


def test_a_signature_in_the_plans_margin_is_in_time(tmp_path: Path) -> None:
    """What is left for the way was judged before; a signature that may still execute is not thrown away."""
    table = Table(tmp_path, at_the_answer(lambda: setattr(table, "now_ms", NOW_MS + 15 * MINUTE - MINUTE - 1)))
    assert sign(table, case()).code == ExitCode.DONE


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_what_would_end_the_command_waits_for_the_record(
    tmp_path: Path, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Ended(Exception):
        """The signal came through."""

    def end(_number: int, _frame: object) -> None:
        raise Ended

    before = signal.signal(number, end)
    table = Table(tmp_path, ledger())
    record = table.state.transcript.record

    def interrupted(event: str, *rest: Any) -> Any:
        if event == "signed":
            signal.pthread_kill(threading.get_ident(), number)  # a signing has no other thread; a worker of pytest has
        return record(event, *rest)

    table.state.transcript.record = interrupted  # type: ignore[method-assign, assignment]
    try:
        with pytest.raises(Ended):
            sign(table, case())
    finally:
        signal.signal(number, before)
    assert table.events == ["signing", "signed"]
    assert len(table.kept()) == 1


def test_a_signature_that_cannot_be_recorded_stays_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patches:
        table = Table(tmp_path, at_the_answer(fill_the_disk(patches)))
        with pytest.raises(UsageError, match="has signed step desk-key, but that is NOT on record"):
            sign(table, case())
    assert (table.events, table.kept()) == (["signing"], [])
    assert sign(Table(tmp_path, ledger()), renonced(STEP, "99")).answer.why == "NONCE-PENDING"
    assert sign(Table(tmp_path, ledger()), case()).code == ExitCode.DONE


def test_a_step_that_is_signed_once_more_after_its_deadline_is_warned_about(tmp_path: Path) -> None:
    table = Table(tmp_path, ledger())
    old = record_of(case_of(good(STEP))) | {"digest": "0x" + "ab" * 32, "nonce": "5", "deadline_ms": 1}
    table.state.transcript.record("signed", old, 1)
    assert sign(table, case()).code == ExitCode.DONE
    assert any("WARNING" in line and "ab" * 32 in line for line in table.told)


def test_a_signature_that_cannot_be_kept_is_told_as_signed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise UsageError("signed/x.json cannot be written")

    table = Table(tmp_path, ledger())
    with monkeypatch.context() as patches:
        patches.setattr(OfflineHome, "keep_signature", full)
        with pytest.raises(UsageError, match="the Ledger has signed step desk-key, but"):
            sign(table, case())
    assert (table.events, table.kept()) == (["signing", "signed"], [])
    assert sign(Table(tmp_path, ledger()), case()).code == ExitCode.DONE


@pytest.mark.parametrize("ended", [False, True])
def test_a_ceremony_that_was_ended_meanwhile_is_noticed_after_the_yes(tmp_path: Path, ended: bool) -> None:
    table, agreed = Table(tmp_path, ledger()), situation().plan._replace(witness="required")
    names = {"signer": "Ada Lovelace", "witness": "Mary Somerville"}
    begun = {"ceremony": agreed.id, "plan": agreed.fingerprint, "roles": names}
    over = {"ceremony": agreed.id, "complete": False, "missing": ["all"]}
    table.state.transcript.record("ceremony-begun", begun, NOW_MS)
    if ended:
        during(table, lambda: table.state.transcript.record("ceremony-ended", over, NOW_MS))
    result = sign_item(case(STEP), situation()._replace(plan=agreed), table.desk)
    assert result.answer.why == ("PLAN-PEOPLE" if ended else "")
    assert bool(table.asked_of_the_device) is not ended
