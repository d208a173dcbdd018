"""Signing one item at a time: examined, shown, confirmed by a person, signed by the device, recovered, kept.

The order of things is the protection: nothing reaches the device that a check refused or a person did not confirm, and no
signature leaves that does not recover to the plan's address over our own digest. After the person's Yes the
account is locked until the result is on record; the transcript and the clock are read again, and the item, its pin, the
people and the time are judged again.
Decided in ``docs/adr/0019-signed-once.md``.
"""

from __future__ import annotations

import os
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from airlock_offline.home import OfflineHome
from airlock_offline.ledger.ethereum_app import EthereumApp, require_ready
from airlock_offline.ledger.typed_data import filtered_message, need_of, require_no_fault
from airlock_offline.signing.review import verdict_lines
from airlock_offline.signing.second_opinion import Opinion, OpinionProcess, compare_opinion, opinion_question
from airlock_shared.ceremony.sections import people_of
from airlock_shared.checks.document import Attended, people_are_present
from airlock_shared.checks.intent import typed_data_of
from airlock_shared.checks.judge import Examined, Known, check_signature, exit_code_of, judge_item
from airlock_shared.checks.model import Case, Check, IntentCase, Situation
from airlock_shared.checks.nonces import NOT_SIGNED, SIGNED, SIGNED_LATE, SIGNING, UsedNonces, record_of, use_of
from airlock_shared.checks.times import Clock, late_by, time_is_stated
from airlock_shared.cli.terminal import say
from airlock_shared.documents.requests import Answer, Request
from airlock_shared.documents.transcript import Entry
from airlock_shared.errors import AirlockError, Declined, ExitCode, Refusal, UsageError
from airlock_shared.ethereum.signatures import checksum_address, recover, unsigned_bytes
from airlock_shared.host.files import lock, locked, make_folder, open_lock
from airlock_shared.start import held_signals
from airlock_shared.units import utc_text
from airlock_shared.wire.strict_json import JsonObject


class SigningDesk(NamedTuple):
    """What signing needs of the world: the state folder, how to reach the device, the clock, and how to show and ask.

    ``ceremony`` is the id of the one on whose record it is.
    ``used`` holds what the transcript says was signed, and grows with every signature.
    ``proofs`` holds the challenges that delegate keys have answered; without one in it a delegate is registered only where
    the plan waives it.
    ``probe`` requires before people read that the device can sign, and lets go of it; ``app`` opens it to sign,
    and ``let_go`` ends that.
    ``show`` shows an examined item with its verdicts; ``list_pages`` has the Ledger's pages of one that was confirmed on a
    page of its group, to be shown while the Ledger waits; ``ask`` returns when a person has confirmed, and raises
    ``Declined`` otherwise; ``tell`` says what happens next. ``clock`` is what a transcript says of the clock now.
    ``opinion`` begins to ask somebody else what is to be signed.
    """

    state: OfflineHome
    ceremony: str
    used: UsedNonces
    probe: Callable[[Case], None]
    app: Callable[[], EthereumApp]
    let_go: Callable[[], None]
    now_ms: Callable[[], int]
    clock: Callable[[list[Entry]], Clock]
    show: Callable[[Examined], None]
    ask: Callable[[str], None]
    tell: Callable[[str], None]
    proofs: frozenset[str] = frozenset()
    opinion: Callable[[JsonObject], Opinion] = OpinionProcess
    list_pages: Callable[[Examined], None] = lambda _examined: None

    def record(self, event: str, data: JsonObject) -> None:
        """Put an event of the ceremony on record, with the time of now."""
        self.state.transcript.record(event, {"ceremony": self.ceremony, **data}, self.now_ms())


class ItemResult(NamedTuple):
    """What became of an item, and the exit code that it alone would give."""

    answer: Answer
    code: ExitCode


def first_to_sign(items: list[Examined], state: OfflineHome) -> Case | None:
    """Return the first item for which a Ledger is needed: nothing stands in its way, and it was not signed before."""
    return next((case for item in items if (case := to_sign(item, state))), None)


def judged(request: Request, situation: Situation, desk: SigningDesk) -> Examined:
    """Return an item with the verdicts of every check, by what this machine knows."""
    return judge_item(request, situation, Known(used=desk.used, proofs=desk.proofs))


def to_sign(examined: Examined, state: OfflineHome) -> Case | None:
    """Return the case of an item for which a Ledger is needed; None where a check refused it, or a signature is kept."""
    case = _signable(examined)
    return None if case is None or state.kept_signature(_digest(case)) else case


def sign_item(
    request: Request, situation: Situation, desk: SigningDesk, confirmed: Mapping[str, bool] = MappingProxyType({})
) -> ItemResult:
    """Examine an item, probe the device, show it, have it confirmed, and have it signed.

    ``confirmed`` holds the digests (0x-hex) that stood on a page of their group, and whether it was confirmed: what is
    signed over any other digest is shown and asked about by itself.
    Raises ``DeviceError`` when the device fails, ``Refusal`` of family ``SIG`` when its answer must not be used,
    ``UsageError`` when the Ledger signed and that cannot be put on record, as on a full disk: the item counts as signed.
    Items signed before stay signed, and the same command goes on from there.
    """
    examined = judged(request, situation, desk)
    case = to_sign(examined, desk.state)
    page_confirmed = confirmed.get("0x" + examined.digest.hex())
    if case is None:
        if not _signable(examined):  # of what was signed before, nothing new is to be read
            desk.show(examined)
        return _settled(examined, desk, quietly=bool(page_confirmed))
    if page_confirmed is False:
        return _declined(case, desk, "its page was not confirmed")
    if page_confirmed and desk.used.earlier(use_of(case)):  # since then: it is to be read by itself
        page_confirmed = None
    if isinstance(case, IntentCase) and case.step.signer.show == "fields":
        require_no_fault(typed_data_of(case))
    desk.probe(case)
    opinion = desk.opinion(opinion_question(case))  # it computes while the person reads
    try:
        if page_confirmed:
            desk.list_pages(examined)
        else:
            desk.show(examined)
        return _confirm_and_sign(case, desk, opinion, ask=not page_confirmed)
    finally:
        opinion.end()


def _confirm_and_sign(case: Case, desk: SigningDesk, opinion: Opinion, *, ask: bool) -> ItemResult:
    if begun_ms := desk.used.begun_ms(_digest(case)):
        desk.tell(f"Signing of this step began at {utc_text(begun_ms)}; it is not known whether the Ledger signed.")
    for earlier in desk.used.earlier(use_of(case)):
        desk.tell(f"WARNING: this step was signed before, with digest {earlier.digest}. It can no longer execute, but")
        desk.tell("it may have been executed: check on the online machine before you sign it again.")
    try:
        if ask:
            desk.ask(f"Sign step {case.request.step} as {case.step.signer.account}?")
        with account_lock(desk.state.home, case.step.signer.address):
            return _sign_locked(case, desk, opinion)
    except Declined as declined:
        return _declined(case, desk, declined.what)


def _declined(case: Case, desk: SigningDesk, why: str) -> ItemResult:
    desk.record("declined", _step_and_digest(case) | {"why": why})
    desk.tell(f"Not signed: {why}.")
    return ItemResult(Answer(case.request.step, "declined", why), ExitCode.DECLINED)


def _signable(examined: Examined) -> Case | None:
    """Return the case when nothing stands in its way."""
    return examined.case if examined.verdicts.signable() else None


def _digest(case: Case) -> str:
    return "0x" + case.digest.hex()


def _step_and_digest(case: Case) -> dict[str, str]:
    return {"step": case.request.step, "digest": _digest(case)}


def _settled(examined: Examined, desk: SigningDesk, *, quietly: bool = False) -> ItemResult:
    """Return what becomes of an item for which no Ledger is needed.

    It was signed before over this digest, and is recovered once more; or a check refused it, or could not judge it here.
    """
    case, step, verdicts = _signable(examined), examined.received.request.step, examined.verdicts
    if case is not None and (kept := desk.state.kept_signature(_digest(case))):
        check_signature(case, kept)
        if not quietly:
            desk.tell(f"Step {step} was signed before; the kept signature is used again.")
        return ItemResult(kept, ExitCode.DONE)
    named = [verdict.check for verdict in (*verdicts.refused(), *verdicts.not_judged())]
    desk.record("refused", {"step": step, "checks": named})
    stopped = [*verdicts.blocking(), *verdicts.not_judged()]
    return ItemResult(Answer(step, "refused", named[0]), exit_code_of(stopped))


# ---- after the Yes, with the account locked -------------------------------------------------------------------------


def _sign_locked(shown: Case, desk: SigningDesk, opinion: Opinion) -> ItemResult:
    """Judge what was confirmed once more, have it signed, and put on record what came of it.

    A person may think for an hour, and somebody else may have signed, or pinned another deployment.
    """
    entries = desk.state.transcript.entries()
    desk.used.read_again(entries)
    desk.state.require_on_record(shown.situation.deployment)
    clock, plan = desk.clock(entries), shown.situation.plan
    examined = judged(shown.request, _situation_by(clock, shown.situation), desk)
    present = people_are_present.run(Attended(plan, people_of(entries, plan)))
    examined = examined._replace(verdicts=examined.verdicts.also(present, time_is_stated.run(clock)))
    if _signable(examined) is None:
        desk.tell("After your Yes, judged again with the transcript and the time now:")
        for line in verdict_lines(examined.verdicts):
            desk.tell(line)
    if (case := to_sign(examined, desk.state)) is None:
        return _settled(examined, desk)
    compare_opinion(case, opinion.result())
    try:
        return _sign_with(desk.app(), case, desk)
    finally:
        desk.let_go()


def _sign_with(app: EthereumApp, case: Case, desk: SigningDesk) -> ItemResult:
    """Look once more whether the device can sign, ask it, and trust nothing before it is recovered over our own digest."""
    require_ready(app, need_of(case))
    desk.tell("Now compare every page on the Ledger with the list; confirm or reject there.")
    signature, shown = _ask_on_record(case, app, desk)
    with held_signals():  # from here until it is on record, whatever a person or the system wants
        signed = Answer(
            step=case.request.step,
            result="signed",
            digest=_digest(case),
            signature="0x" + signature.hex(),
            signer=case.step.signer.account,
            shown=shown,
            app=app.version,
        )
        _require_signature(case, signed, desk)
        return _recorded(case, signed, desk)


_QUARANTINED_DO = (
    "the signature is quarantined: it was not kept, and the transcript {}. Find out why before you sign again "
    "with this Ledger: check the account, the path, and the Ethereum app's version"
)


def _require_signature(case: Case, signed: Answer, desk: SigningDesk) -> None:
    """Check a case's signature over our own digest; one that fails is quarantined.

    Raises ``Refusal`` of family ``SIG``, after the transcript has recorded it; it says so where that cannot be written.
    """
    try:
        check_signature(case, signed)
    except Refusal as refusal:
        data = _step_and_digest(case) | {
            "check": refusal.check,
            "recovered": recovered_by(case.digest, bytes.fromhex(signed.signature[2:])),
            "expected": case.step.signer.account,
        }
        refusal.do = _QUARANTINED_DO.format("says so")
        try:
            desk.record(QUARANTINED, data)
        except AirlockError as error:
            refusal.do = _QUARANTINED_DO.format(f"could NOT be written ({error.what}): write it down by hand")
        raise


def _ask_on_record(case: Case, app: EthereumApp, desk: SigningDesk) -> tuple[bytes, str]:
    """Write down that the device is asked, then ask it; what is surely not signed is written down as that.

    Without an end on record, what was begun counts as signed.
    """
    desk.record(SIGNING, record_of(case))
    try:
        return _ask_device(case, app)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            desk.tell("\nInterrupted. If the Ledger still shows the review, reject it there before you go on.")
        if app.may_have_signed:
            desk.tell("It is not known whether the Ledger signed: this machine counts it as signed.")
        else:
            desk.record(NOT_SIGNED, _step_and_digest(case) | {"why": type(error).__name__})
        raise


def _recorded(case: Case, signed: Answer, desk: SigningDesk) -> ItemResult:
    """Put on record what the device has signed; hand it on only when it is still in time."""
    data = record_of(case) | {"shown": signed.shown, "app": signed.app}
    try:
        late = _late_by(case, desk)
        desk.record(SIGNED_LATE if late else SIGNED, data)
        desk.used.add(use_of(case))
        if late is None:
            desk.state.keep_signature(signed)
            return ItemResult(signed, ExitCode.DONE)
    except AirlockError as error:
        raise UsageError(
            f"the Ledger has signed step {signed.step}, but that is NOT on record as a whole: {error.what}. The "
            f"signature is not given out, and the step counts as signed",
            do="make the disk writable, then run the same command again: it asks the Ledger for the same signature",
        ) from error
    desk.tell(f"{late.id}: the Ledger signed too late. That is on record; the signature is not given out.")
    desk.record("refused", {"step": signed.step, "checks": [late.id]})
    return ItemResult(Answer(signed.step, "refused", late.id), ExitCode.EXPIRED)


def _late_by(case: Case, desk: SigningDesk) -> Check | None:
    clock = desk.clock(desk.state.transcript.entries())
    if time_is_stated.run(clock).result != "pass":
        return time_is_stated
    return late_by(case._replace(situation=_situation_by(clock, case.situation)))


def _situation_by(clock: Clock, situation: Situation) -> Situation:
    """Return the situation with the time that this clock says."""
    return situation._replace(now_ms=clock.now_ms, clock_uncertainty_ms=clock.uncertainty_ms or 0)


def _ask_device(case: Case, app: EthereumApp) -> tuple[bytes, str]:
    """Return the device's signature and how the device showed what it signed."""
    signer, filled = case.step.signer, case.request.transaction
    if not isinstance(case, IntentCase):
        if filled is None:
            return app.sign_authorization(signer.path, case.request.payload), "authorization"
        if token := case.token_for_device:
            app.provide_token(token)
        return app.sign_transaction(signer.path, unsigned_bytes(case.request.payload, filled)), "transaction"
    if signer.show == "hashes":
        return app.sign_hashes(signer.path, case.hashes.domain_separator, case.hashes.struct_hash), "hashes"
    filtered = filtered_message(case)
    return app.sign_typed_data(signer.path, typed_data_of(case), filtered), "filters" if filtered else "fields"


# ---- stopped --------------------------------------------------------------------------------------------------------
# When signing stops inside an item: what the error is, and what the signatures say of the items that it left behind.


class ItemFault(AirlockError):
    """Something that nobody foresaw failed inside an item: a fault of this program. No signature of it is given out.

    Where the Ledger was asked before, it may have signed: then the step counts as signed.
    """

    exit_code = ExitCode.REFUSED

    def __init__(self, error: Exception, step: str) -> None:
        place = traceback.extract_tb(error.__traceback__)[-1]
        super().__init__(
            f"step {step}: fault in Airlock: {type(error).__name__}, {Path(place.filename).name} line {place.lineno}",
            do="sign nothing more of this document, and report the fault with these words and the transcript, which says "
            "whether the Ledger was asked",
        )


def left_behind(items: Sequence[Request], stopped: AirlockError, desk: SigningDesk) -> Iterator[ItemResult]:
    """Record and yield, as refused, the item that stopped signing and those after it: a document answers every item."""
    why = stopped.check if isinstance(stopped, Refusal) else type(stopped).__name__
    for item in items:
        desk.record("refused", {"step": item.step, "checks": [], "why": why})
        yield ItemResult(Answer(item.step, "refused", why), stopped.exit_code)
        why = "not begun"


# ---- account lock ---------------------------------------------------------------------------------------------------
# One signature at a time for an account of this machine: from a person's Yes until what came of it is on record.
# An advisory lock on two files, let go with the process if not before. The one in the state folder holds whatever
# TMPDIR says; the one among the temporary files is shared by state folders that hold the same account, by mistake.


@contextmanager
def account_lock(home: Path, address: bytes) -> Iterator[None]:
    """Keep every other Airlock of this user from signing with an account (20 bytes); wait for one that does.

    Raises ``UsageError`` when a lock file cannot be opened or locked.
    """
    account = checksum_address(address)
    files = (
        make_folder(home) / f"signing-{account}.lock",
        Path(tempfile.gettempdir()) / f"airlock-account-{os.getuid()}-{account}.lock",
    )
    with ExitStack() as held:
        for file in files:
            held.enter_context(locked(open_lock(file), file, partial(_wait, account, file)))
        yield


def _wait(account: str, file: Path, descriptor: int) -> None:
    say(f"Another airlock-offline signs with {account}. This one continues when that is on record.")
    lock(descriptor, file, wait=True)


# ---- quarantine -----------------------------------------------------------------------------------------------------
# A signature that does not recover to the expected address over our own digest: recorded as such, and kept nowhere.
# It proves that the device signed something else than what was shown here, or with another key. It may be valid for
# whatever that was, so it is neither written to a file nor printed; the transcript says over which digest it was
# asked and whom it recovered to.


QUARANTINED = "signature-quarantined"


def recovered_by(digest: bytes, signature: bytes) -> str:
    """Return the address (EIP-55) that made a 65-byte signature over a digest, or why it is nobody's."""
    try:
        return checksum_address(recover(digest, signature))
    except Refusal as refusal:
        return f"no key: {refusal.check}"
