"""The judge: every check over a document and its items, in one fixed order, for whoever asks.

A caller says what its machine knows (:class:`Known`), and gets a verdict for every check. What the machine does not know is
not passed over: its verdict is ``not-judged``, with the reason. There is no way to leave a check out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from airlock_shared.checks import agreement, document, nonces, payload, times
from airlock_shared.checks.case import (
    NOT_REACHED,
    WELL_FORMED,
    CallCase,
    Case,
    Check,
    Finding,
    Found,
    Named,
    Planned,
    Read,
    ReadCall,
    ReadIntent,
    Received,
    Situation,
)
from airlock_shared.checks.clock import Clock, time_is_stated
from airlock_shared.checks.possession import Claim, key_is_proved
from airlock_shared.checks.signature import SIG_CHECKS, check_signature
from airlock_shared.checks.verdicts import Verdicts
from airlock_shared.documents.services import AUTHORIZATION
from airlock_shared.errors import Refusal

if TYPE_CHECKING:
    from airlock_shared.documents.requests import Header, Request
    from airlock_shared.documents.signatures import Signed


class Known(NamedTuple):
    """What a machine knows beside plan and deployment; None is what it cannot know.

    ``clock`` is what was stated of its clock, ``used`` what was signed on it and what the items before this one spend,
    ``proofs`` the challenges that delegate keys have answered, ``own`` what its transcript says of itself, and ``people``
    who holds which role in the plan's open ceremony.
    """

    clock: Clock | None = None
    used: nonces.UsedNonces | None = None
    proofs: Collection[str] | None = None
    own: document.OwnRecord | None = None
    people: Mapping[str, str] | None = None


class Examined(NamedTuple):
    """An item with its verdicts, and how far it came: each stage, or None."""

    received: Received
    planned: Planned | None
    named: Named | None
    read: Read | None
    case: Case | None
    verdicts: Verdicts

    @property
    def digest(self) -> bytes:
        """What would be signed, 32 bytes; empty when the payload could not be hashed."""
        if isinstance(self.read, ReadIntent):
            return self.read.hashes.digest
        return self.case.digest if self.case is not None else b""


# ---- the document as a whole ----------------------------------------------------------------------------------------

_NO_CLOCK = Finding(
    None, "", "a stated time", "", "no time is stated on this machine: the signing machine's clock decides"
)


def judge_header(header: Header, situation: Situation, known: Known) -> Verdicts:
    """Return the verdicts on a requests document's header, and on the clock that its items are judged by."""
    heading = document.Heading(header, situation)
    findings = [check.run(heading) for check in document.HEADER_CHECKS]
    findings.append(document.head_is_known.run(document.Told(header, situation.plan, known.own)))
    findings.append(document.people_are_present.run(document.Attended(situation.plan, known.people)))
    findings.append(_NO_CLOCK if known.clock is None else time_is_stated.run(known.clock))
    checks = (*document.HEADER_CHECKS, document.head_is_known, document.people_are_present, time_is_stated)
    return Verdicts(checks, findings)


def judge_steps(steps: Iterable[str], situation: Situation, signer: str) -> Verdicts:
    """Return the verdict on the items' steps; ``signer`` names whose part of the plan they are, empty for the whole."""
    planned = document.part_of(situation.plan, signer)
    check = document.steps_are_planned
    return Verdicts((check,), [check.run(document.Steps(list(steps), planned))])


# ---- an item --------------------------------------------------------------------------------------------------------


def judge_item(request: Request, situation: Situation, known: Known, signed: Signed | None = None) -> Examined:
    """Run every check over an item; ``signed`` is its signature, where there is one."""
    received = Received(request, situation)
    is_intent = request.transaction is None and request.action != AUTHORIZATION
    _, planned, named, read, case, (checks, findings) = _intent(received) if is_intent else _transaction(received)
    ready = case if case is not None and case.digest else None
    sig_checks, sig_findings = ((), ()) if signed is None else (SIG_CHECKS, _signature(ready, signed))
    proved = NOT_REACHED if planned is None else key_is_proved.run(Claim(planned.step, situation, known.proofs))
    verdicts = Verdicts(
        (*checks, *sig_checks, *nonces.CHECKS, key_is_proved),
        [*findings, *sig_findings, *_nonces(ready, known.used), proved],
    )
    return Examined(received, planned, named, read, case, verdicts)


BEFORE_MESSAGE = payload.BEFORE_MESSAGE
AFTER_MESSAGE = (
    *payload.AFTER_MESSAGE, *agreement.STEP_CHECKS, *agreement.PLAN_CHECKS, *agreement.INTENT_CHECKS, *times.CHECKS,
    *agreement.TEXT_CHECKS,
)  # fmt: skip
_INTENT_CHECKS = BEFORE_MESSAGE + payload.MSG_CHECKS + AFTER_MESSAGE
_WELL_READ, _WELL_SIGNED = (WELL_FORMED,) * len(payload.MSG_CHECKS), (WELL_FORMED,) * len(SIG_CHECKS)


def _intent(received: Received) -> Examined:
    named = payload.name_struct(received)
    planned = agreement.plan_item(received, received.request.payload["primaryType"])
    findings = _run(BEFORE_MESSAGE, (received, planned, named, None, None))
    read: ReadIntent | None = None
    if named is None or [finding for finding in findings if finding is None or not finding[0]]:
        findings += [NOT_REACHED] * len(payload.MSG_CHECKS)
    else:
        try:
            read = payload.read_intent(named, planned.step if planned is not None else None)
            findings += _WELL_READ
        except Refusal as refusal:
            findings += _refused(payload.MSG_CHECKS, refusal)
    case = agreement.agree(planned, read) if planned is not None and read is not None else None
    findings += _run(AFTER_MESSAGE, (received, planned, named, read, case))
    return Examined(received, planned, named, read, case, Verdicts(_INTENT_CHECKS, findings))


def _transaction(received: Received) -> Examined:
    if received.request.action == AUTHORIZATION:  # judged by the same four names; a start without either pays for none
        from airlock_shared.checks import authorization as transaction
    else:
        from airlock_shared.checks import transaction  # type: ignore[no-redef]

    request, situation = received
    read: ReadCall | None = None
    step = situation.plan.steps.get(request.step)
    try:
        read = ReadCall(request, situation, step, transaction.read_call(received))
        found: list[Found | None] = [WELL_FORMED] * len(transaction.CALL_CHECKS)
    except Refusal as refusal:
        found = _refused(transaction.CALL_CHECKS, refusal)
    planned = agreement.plan_item(received, read.call.call.name if read is not None else "an unknown call")
    case = agreement.agree(planned, read) if planned is not None and read is not None else None
    stages = (received, planned, None, read, case)
    after = transaction.CHECKS + agreement.PLAN_CHECKS + times.EXPIRY_CHECKS + agreement.TEXT_CHECKS
    findings = [*_run(agreement.STEP_CHECKS, stages), *found, *_run(after, stages)]
    verdicts = Verdicts(agreement.STEP_CHECKS + transaction.CALL_CHECKS + after, findings)
    if isinstance(case, CallCase) and not verdicts.hinder():
        case = transaction.complete(case)
    return Examined(received, planned, None, read, case, verdicts)


_Stages = tuple[Received, Planned | None, Named | None, Read | None, Case | None]


def _run(checks: Iterable[Check], stages: _Stages) -> list[Found | None]:
    return [run(stage) if (stage := stages[needs]) is not None else NOT_REACHED for _, needs, run, _ in checks]


def _refused(checks: Sequence[Check], refusal: Refusal) -> list[Found | None]:
    """Return the findings of checks that one reading answers for: what it refused, and what it did not come to."""
    finding = Finding(False, refusal.got, refusal.expected, refusal.where, refusal.what)
    return [finding if check.id == refusal.check else NOT_REACHED for check in checks]


def _signature(case: Case | None, signed: Signed) -> Sequence[Found | None]:
    if case is None:
        return [NOT_REACHED] * len(SIG_CHECKS)
    try:
        check_signature(case, signed)
    except Refusal as refusal:
        return _refused(SIG_CHECKS, refusal)
    return _WELL_SIGNED


_ALONE = Finding(None, "", "every item of the document", "", "nonces are judged together with the whole document")


def _nonces(case: Case | None, used: nonces.UsedNonces | None) -> Sequence[Found | None]:
    if case is None:
        return [NOT_REACHED] * len(nonces.CHECKS)
    if used is None:
        return [_ALONE] * len(nonces.CHECKS)
    spending = nonces.Spending(case, nonces.use_of(case), used)
    return [check.run(spending) for check in nonces.CHECKS]
