"""The ceremony alone, with a software Ledger in the same process: what may reach the device, and what may leave it."""

from __future__ import annotations

import errno
import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from airlock_offline.cli.preflight import Statement
from airlock_offline.home import OfflineHome
from airlock_offline.ledger.ethereum_app import open_app, require_ready
from airlock_offline.ledger.screens import Page
from airlock_offline.ledger.typed_data import need_of
from airlock_offline.signing import sign_item as ceremony
from airlock_offline.signing.sign_item import SigningDesk, sign_item
from airlock_shared.checks.intent import typed_data_of
from airlock_shared.checks.model import Case, IntentCase
from airlock_shared.checks.nonces import UsedNonces, nonces_of
from airlock_shared.checks.times import STATED, clock_of
from airlock_shared.cli.terminal import ask_yes
from airlock_shared.documents.requests import Request
from airlock_shared.errors import Declined, ExitCode, Refusal
from airlock_shared.ethereum.library_opinion import opinion_on
from airlock_software_ledger.answers import AppSettings
from airlock_software_ledger.app import SoftwareLedger, approve
from refusals import check_of
from shared.make_payloads import NOW_MS
from shared.world import good, good_challenges, good_with, high_s, intent_case, request_of, situation

SEED = "test " * 11 + "junk"  # the plan's signers are the first accounts of this published phrase
STEP = "desk-key"
LOOKS = ("b0010000", "e0020000", "e0060000")
"""All that may be sent before the Yes: which app is open, an address that is not shown, the app's configuration."""


PINNED = "deployment-pinned"


class SameProcess:
    """A second opinion by the same libraries, computed when it is asked for: no process for each of a hundred signings."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = json.loads(json.dumps(document))
        self.ended = False

    def result(self) -> bytes:
        return opinion_on(self._document)

    def end(self) -> None:
        self.ended = True


class Table:
    """A desk whose Ledger and people are the test's: what was asked, told and sent to the device is kept."""

    def __init__(
        self, home: Path, device: SoftwareLedger, *, yes: bool = True, ledger: UsedNonces | None = None
    ) -> None:
        self.state = OfflineHome(home)
        self.state.transcript.record(STATED, Statement(NOW_MS, 60).as_data(NOW_MS), NOW_MS)
        self.pin(situation().deployment.fingerprint)
        self.now_ms = NOW_MS
        self.asked: list[str] = []
        self.told: list[str] = []
        self.sent: list[bytes] = []
        self._yes = yes
        self._device = device
        proofs = frozenset(challenge.sha256() for challenge in good_challenges())
        self.desk = SigningDesk(
            self.state, "demo", ledger or UsedNonces(), self._look, lambda: open_app(self), self.close, lambda: self.now_ms,
            lambda entries: clock_of(entries, self.now_ms, None), lambda _examined: None, self._ask, self.told.append,
            proofs, SameProcess,
        )  # fmt: skip

    def pin(self, fingerprint: str) -> None:
        """Have the deployment of the vectors' name on record as pinned with this fingerprint."""
        pinned = {"name": situation().deployment.name, "fingerprint": fingerprint}
        self.state.transcript.record(PINNED, pinned, NOW_MS)

    def _look(self, case: Case) -> None:
        require_ready(open_app(self), need_of(case))
        self.close()

    @property
    def asked_of_the_device(self) -> list[str]:
        """What was sent beyond looks, by class and instruction."""
        return [apdu[:2].hex() for apdu in self.sent if apdu[:4].hex() not in LOOKS]

    def _ask(self, question: str) -> None:
        self.asked.append(question)
        if not self._yes:
            raise Declined("no")

    def exchange(self, apdu: bytes, *, person: bool) -> tuple[bytes, int]:
        self.sent.append(apdu)
        return self._device.exchange(apdu, person=person)

    def close(self) -> None:
        self._device.close()

    def plug_in(self, device: SoftwareLedger) -> None:
        """Have another Ledger from now on."""
        self._device = device

    @property
    def events(self) -> list[str]:
        return [entry.event for entry in self.state.transcript.entries() if entry.event not in (STATED, PINNED)]

    def kept(self) -> list[Path]:
        return list((self.state.home / "signed").glob("*"))


def ledger(*faults: str, screens: Callable[[list[Page]], bool] = approve) -> SoftwareLedger:
    return SoftwareLedger(seed=SEED, faults=frozenset(faults), screens=screens)


def case(step: str = STEP, change: Callable[[dict[str, Any]], None] | None = None) -> Request:
    document = good(step)
    if change:
        change(document["requests"][0])
    return request_of(document)


def refusal_of(table: Table, item: Request) -> str:
    return check_of(sign_item, item, situation(), table.desk)


def test_an_item_that_passes_is_signed_recovered_recorded_and_kept(tmp_path: Path) -> None:
    table = Table(tmp_path, ledger())
    result = sign_item(case(), situation(), table.desk)
    assert (result.code, result.answer.result, result.answer.shown) == (ExitCode.DONE, "signed", "fields")
    assert table.events == ["signing", "signed"]
    assert len(table.kept()) == len(table.asked) == 1
    assert result.answer.signature[2:66] not in (tmp_path / "transcript.jsonl").read_text()


def test_what_a_check_refuses_reaches_neither_people_nor_the_device(tmp_path: Path) -> None:
    table = Table(tmp_path, ledger())
    result = sign_item(
        case(change=lambda item: item["payload"].update(signerRule="trader-or-delegate")), situation(), table.desk
    )
    assert (result.answer.result, result.answer.why) == ("refused", "SIGNER-RULE")
    assert (table.asked, table.sent, table.kept(), table.events) == ([], [], [], ["refused"])


@pytest.mark.parametrize("proofs", [frozenset(), frozenset({"0" * 64})])
def test_a_delegate_that_did_not_prove_its_key_never_reaches_the_device(tmp_path: Path, proofs: frozenset[str]) -> None:
    table = Table(tmp_path, ledger())
    result = sign_item(case(), situation(), table.desk._replace(proofs=proofs))
    assert (result.code, result.answer.why) == (ExitCode.REFUSED, "PROOF-DELEGATE")
    assert (table.asked, table.sent, table.kept(), table.events) == ([], [], [], ["refused"])


def test_without_a_yes_nothing_reaches_the_device(tmp_path: Path) -> None:
    table = Table(tmp_path, ledger(), yes=False)
    result = sign_item(case(), situation(), table.desk)
    assert (result.code, result.answer.result) == (ExitCode.DECLINED, "declined")
    assert [apdu[:4].hex() for apdu in table.sent] == ["b0010000", "e0020000"]
    assert (table.asked_of_the_device, table.kept(), table.events) == ([], [], ["declined"])


def test_another_account_on_the_device_is_not_asked_to_sign(tmp_path: Path) -> None:
    table = Table(tmp_path, SoftwareLedger())  # another seed than the plan's
    assert refusal_of(table, case()) == "SIGNER-DEVICE"
    assert [apdu[:4].hex() for apdu in table.sent] == ["b0010000", "e0020000"]  # name and version, and the address
    assert (table.asked, table.kept(), table.events) == ([], [], [])
    table = Table(tmp_path / "other", ledger())
    table.desk = table.desk._replace(ask=lambda _question: table.plug_in(SoftwareLedger()))  # during the review
    assert refusal_of(table, case()) == "SIGNER-DEVICE"
    assert (table.asked_of_the_device, table.kept(), table.events) == ([], [], [])


@pytest.mark.parametrize(
    ("fault", "check"),
    [
        ("wrong-digest", "SIG-SIGNER"),
        ("wrong-hash", "SIG-SIGNER"),
        ("wrong-signature", "SIG-SIGNER"),
        ("other-account", "SIG-SIGNER"),
        ("high-s", "SIG-LOW-S"),
    ],
)
def test_a_signature_of_something_else_is_neither_kept_nor_returned(
    tmp_path: Path, fault: str, check: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lying(signed: IntentCase, app: Any) -> tuple[bytes, str]:
        path, typed = signed.step.signer.path, typed_data_of(signed)
        if fault == "wrong-hash":
            return sign_another_hash(signed)
        if fault == "other-account":
            return open_app(SoftwareLedger()).sign_typed_data(path, typed), "fields"
        if fault == "wrong-digest":
            typed = typed._replace(message=typed.message | {"expiry": 1})
        right = app.sign_typed_data(path, typed)
        if fault == "wrong-signature":
            right = bytes([right[0] ^ 1]) + right[1:]
        if fault == "high-s":
            right = high_s(right)
        return right, "fields"

    table = Table(tmp_path, ledger())
    monkeypatch.setattr(ceremony, "_ask_device", lying)
    assert refusal_of(table, case()) in (check, "SIG-RANGE")
    assert (table.kept(), table.events) == ([], ["signing", "signature-quarantined"])


def sign_another_hash(signed: IntentCase) -> tuple[bytes, str]:
    """Sign with the right key what nobody was asked about."""
    other = open_app(SoftwareLedger(seed=SEED, settings=AppSettings(blind_signing=True)))
    return other.sign_hashes(signed.step.signer.path, bytes(32), signed.hashes.struct_hash), "fields"


def fill_the_disk(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return what fills the disk: from then on nothing can be written."""
    full: list[bool] = []
    write = os.write

    def written(descriptor: int, data: bytes) -> int:
        if full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", written)
    return lambda: full.append(True)


def test_a_wrong_signature_is_told_on_a_full_disk_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, fill = Table(tmp_path, ledger()), fill_the_disk(monkeypatch)
    monkeypatch.setattr(ceremony, "_ask_device", lambda signed, _app: (fill(), sign_another_hash(signed))[1])
    with pytest.raises(Refusal) as caught:
        sign_item(case(), situation(), table.desk)
    assert caught.value.check in ("SIG-SIGNER", "SIG-RANGE")
    assert "could NOT be written" in caught.value.do
    assert "No space left" in caught.value.do


class Answers:
    """A second opinion that says something else, or nothing at all."""

    def __init__(self, change: Callable[[bytes], bytes]) -> None:
        self.change = change
        self.begun: list[SameProcess] = []

    def __call__(self, document: dict[str, Any]) -> Answers:
        self.begun.append(SameProcess(document))
        return self

    def result(self) -> bytes:
        return self.change(self.begun[-1].result())

    def end(self) -> None:
        self.begun[-1].end()


@pytest.mark.parametrize(
    ("change", "check"),
    [
        (lambda answer: bytes([answer[0] ^ 1]) + answer[1:], "DIGEST-DISAGREE"),
        (lambda answer: answer[:-1] + bytes([answer[-1] ^ 1]), "ENC-DISAGREE"),
        (lambda answer: answer[:-1], "DIGEST-OPINION"),
        (lambda _answer: b"", "DIGEST-OPINION"),
    ],
)
def test_without_the_second_opinions_agreement_the_device_is_not_asked(
    tmp_path: Path, change: Callable[[bytes], bytes], check: str
) -> None:
    table, opinion = Table(tmp_path, ledger()), Answers(change)
    assert check_of(sign_item, case(), situation(), table.desk._replace(opinion=opinion)) == check
    assert (table.asked_of_the_device, table.kept(), opinion.begun[0].ended) == ([], [], True)


def test_the_second_opinion_begins_before_the_person_reads_and_ends_when_she_says_no(tmp_path: Path) -> None:
    table, opinion, order = Table(tmp_path, ledger(), yes=False), Answers(bytes), []
    desk = table.desk._replace(opinion=opinion, show=lambda *_: order.append(opinion.begun[-1].ended))
    assert sign_item(case(), situation(), desk).answer.result == "declined"
    assert (order, len(opinion.begun), opinion.begun[0].ended) == ([False], 1, True)


def test_the_device_is_shown_the_pinned_types_and_domain_and_never_the_payloads_own() -> None:
    item = intent_case(STEP)
    expected = typed_data_of(item)
    payload = item.request.payload
    payload["types"] = {"DelegateReq": [{"name": "trader", "type": "address"}]}
    payload["domain"] = {"name": "Another", "version": "9", "chainId": 1, "verifyingContract": "0x" + "11" * 20}
    payload["message"] = {"trader": "0x" + "22" * 20}
    assert typed_data_of(item) == expected
    pinned = situation().deployment.domains["trading"]
    assert expected.domain["verifyingContract"] == pinned.contract
    assert [member.name for member in expected.structs["DelegateReq"]] == [
        "trader", "delegate", "expiry", "deadline", "tnc", "nonce",
    ]  # fmt: skip


def test_what_was_signed_before_is_not_asked_for_again_and_is_recovered_again(tmp_path: Path) -> None:
    first = Table(tmp_path, ledger())
    signed = sign_item(case(), situation(), first.desk).answer
    again = Table(tmp_path, ledger(), ledger=nonces_of(first.state.transcript.entries()))
    shown: list[object] = []
    assert sign_item(case(), situation(), again.desk._replace(show=shown.append)).answer == signed
    assert (again.asked, again.sent, shown) == ([], [], [])
    assert again.told == [f"Step {STEP} was signed before; the kept signature is used again."]
    [kept] = again.kept()
    text = kept.read_text()
    kept.write_text(text.replace(signed.signature[2:10], "00" * 4))
    assert refusal_of(again, case()).startswith("SIG-")


def test_the_nonce_ledger_grows_with_every_signature_and_survives_in_the_transcript(tmp_path: Path) -> None:
    deadline_ms = int(case().payload["message"]["deadline"])
    later = request_of(good_with(STEP, deadline=str(deadline_ms - 1)))
    first = Table(tmp_path, ledger())
    sign_item(case(), situation(), first.desk)
    for known in (first.desk.used, nonces_of(first.state.transcript.entries())):
        table = Table(tmp_path / "other", ledger(), ledger=known)
        assert sign_item(later, situation(), table.desk).answer.why == "NONCE-USED"
        assert (table.asked, table.sent) == ([], [])


@pytest.mark.parametrize(
    "answer", ["", "\n", "y\n", "yes\n", "YES\n", "Yes \n", " Yes\n", "Yes.\n", "Yes\r\n", "Yes Yes\n"]
)
def test_only_the_exact_word_yes_goes_on(answer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(answer, newline=""))
    with pytest.raises(Declined):
        ask_yes("Sign?", piped=True)
