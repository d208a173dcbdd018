"""The judge: every check over a document and its items, in one fixed order, for whoever asks.

A caller says what its machine knows (:class:`Known`), and gets a verdict for every check. What the machine does not know is
not passed over: its verdict is ``not-judged``, with the reason. Within each function here no check can be left out: ``SIG``
needs the signature, and header, steps, people and clock are functions of their own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from airlock_shared.checks import agreement, document, intent, nonces, times, transaction
from airlock_shared.checks.document import KeyEvidence, key_is_proved
from airlock_shared.checks.model import (
    COPY,
    SIGNABLE,
    STOP,
    CallCase,
    Case,
    Check,
    Finding,
    Info,
    Named,
    Planned,
    ReadCall,
    ReadIntent,
    ReadPayload,
    Received,
    Situation,
    Verdict,
    checks_of_reading,
)
from airlock_shared.checks.times import Clock, time_is_stated
from airlock_shared.documents.requests import Answer, Header, Request
from airlock_shared.errors import ExitCode, Refusal
from airlock_shared.ethereum.signatures import checksum_address, recover
from airlock_shared.venue.structs import AUTHORIZATION

# ---- verdicts -------------------------------------------------------------------------------------------------------
# The verdicts on an item or a document, in the checks' fixed order.


class Verdicts(NamedTuple):
    """One verdict for each check that was to run."""

    found: Sequence[Verdict]

    def also(self, *more: Verdict) -> Verdicts:
        """Return the verdicts with more of them."""
        return Verdicts((*self.found, *more))

    def passed(self) -> int:
        """Return how many checks passed."""
        return len(self._of("pass"))

    def unreached(self) -> int:
        """Return how many checks could not be reached."""
        return len(self._of("not-reached"))

    def signable(self) -> bool:
        """Tell whether it may be signed: nothing was refused, not reached, or not judged."""
        return not self._of("refused", "not-reached", "not-judged")

    def refused(self) -> list[Verdict]:
        """Return what was refused."""
        return self._of("refused")

    def blocking(self) -> list[Verdict]:
        """Return what stands in the way: what was refused, and what could not be reached."""
        return self._of("refused", "not-reached")

    def not_judged(self) -> list[Verdict]:
        """Return what this machine could not judge; nothing is signed while there is any."""
        return self._of("not-judged")

    def _of(self, *results: str) -> list[Verdict]:
        return [verdict for verdict in self.found if verdict.result in results]


def require_none(verdicts: Sequence[Verdict], limit: int | None = None) -> None:
    """Raise the first of what stands in the way as ``Refusal``; it has exit code 7 where nothing but time does."""
    for verdict in verdicts[:1]:
        got, expected = str(verdict.got)[:limit], str(verdict.expected)[:limit]
        refusal = Refusal(verdict.check, verdict.what, got, expected, where=verdict.where)
        refusal.exit_code = exit_code_of(verdicts)
        raise refusal


def exit_code_of(verdicts: Sequence[Verdict]) -> ExitCode:
    """Return the exit code of what stands in the way: 7 where only time does, 3 for everything else."""
    return ExitCode.EXPIRED if all(verdict.check.startswith("TIME-") for verdict in verdicts) else ExitCode.REFUSED


# ---- judge ----------------------------------------------------------------------------------------------------------


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
    named: Named | None
    read: ReadPayload | None
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
    heading = document.Heading(header, situation, known.own)
    return Verdicts(
        [
            *(check.run(heading) for check in document.HEADER_CHECKS),
            document.people_are_present.run(document.Attended(situation.plan, known.people)),
            time_is_stated.verdict(_NO_CLOCK) if known.clock is None else time_is_stated.run(known.clock),
        ]
    )


def judge_steps(steps: Iterable[str], situation: Situation, signer: str) -> Verdicts:
    """Return the verdict on the items' steps; ``signer`` names whose part of the plan they are, empty for the whole."""
    planned = document.part_of(situation.plan, signer)
    return Verdicts([document.steps_are_planned.run(document.Steps(list(steps), planned))])


# ---- signature ------------------------------------------------------------------------------------------------------
# SIG: a signature by the step's signer, over our own digest, in its one form.


_SIG = {
    "SIG-LENGTH": Info("not 65 bytes", "A compact or damaged signature.", COPY),
    "SIG-V": Info("v is neither 27 nor 28", "A signature in another convention.", COPY),
    "SIG-RANGE": Info("r or s is not a number of the curve", "A made-up signature.", STOP),
    "SIG-LOW-S": Info("s is in the upper half", "A second valid form of the same signature.", STOP),
    "SIG-DIGEST": Info("signed over another digest", "A signature for something else.", STOP),
    "SIG-SIGNER": Info("signed by another key", "The wrong account, or a fault in the device.",
                       "Check the derivation path and that the right Ledger is plugged in."),
}  # fmt: skip
SIG_CHECKS = checks_of_reading(SIGNABLE, _SIG)
"""One look at the signature answers for all of them."""


def check_signature(case: Case, signed: Answer) -> None:
    """Refuse a signature that is not by the step's signer over our own digest. Raises ``Refusal`` of family ``SIG``."""
    digest = "0x" + case.digest.hex()
    if signed.digest != digest:
        raise Refusal("SIG-DIGEST", "signed over another digest", signed.digest, digest)
    signer = recover(case.digest, bytes.fromhex(signed.signature[2:]))
    expected = case.step.signer.account
    if signer != case.step.signer.address or signed.signer != expected:
        raise Refusal("SIG-SIGNER", "signed by another key", checksum_address(signer), expected)


# ---- an item --------------------------------------------------------------------------------------------------------


OF_INTENTS = (
    *intent.AFTER_MESSAGE, *agreement.STEP_CHECKS, *agreement.PLAN_CHECKS, *agreement.INTENT_CHECKS, *times.CHECKS,
    *agreement.TEXT_CHECKS,
)  # fmt: skip
OF_CALLS = (*agreement.PLAN_CHECKS, *times.EXPIRY_CHECKS, *agreement.TEXT_CHECKS)
"""The checks once the payload was read: of an intent, and of a transaction or an authorization behind its own."""


class _Checks(NamedTuple):
    """The checks of a kind of item: before its payload is read, those that the reading answers for, and those after it."""

    before: Sequence[Check]
    of_reading: Sequence[Check]
    after: Sequence[Check]


_INTENT = _Checks(intent.BEFORE_MESSAGE, intent.MSG_CHECKS, OF_INTENTS)
_TRANSACTION = _Checks(agreement.STEP_CHECKS, transaction.CALL_CHECKS, (*transaction.CHECKS, *OF_CALLS))
_AUTHORIZATION = _Checks(agreement.STEP_CHECKS, transaction.FORM_CHECKS, (*transaction.AUTHORIZATION_CHECKS, *OF_CALLS))


def _checks_of(request: Request) -> _Checks:
    if request.action == AUTHORIZATION:
        return _AUTHORIZATION
    return _INTENT if request.transaction is None else _TRANSACTION


def judge_item(request: Request, situation: Situation, known: Known, signed: Answer | None = None) -> Examined:
    """Return an item with the verdict of every check; ``signed`` is its signature, where there is one.

    An intent's message is read when its types and its domain are the pinned ones, calldata whatever else is found.
    """
    received, step = Received(request, situation), situation.plan.steps.get(request.step)
    checks = _checks_of(request)
    is_intent = checks is _INTENT
    named = intent.name_struct(received) if is_intent else None
    came = request.payload["primaryType"] if is_intent else "an unknown function"
    found = _run(checks.before, (received, None, named, None, None))
    read: ReadPayload | None = None
    refusal = None
    try:
        if not is_intent:
            read = ReadCall(request, situation, step, *transaction.read_call(received))
            came = read.call.name
        elif named is not None and all(verdict.result == "pass" for verdict in found):
            read = intent.read_intent(named, step)
    except Refusal as wrong:
        refusal = wrong
    planned = Planned(request, situation, step, came) if step is not None else None
    case = agreement.case_of(planned, read) if planned is not None and read is not None else None
    found += [
        *_verdicts_of_reading(checks.of_reading, read, refusal),
        *_run(checks.after, (received, planned, named, read, case)),
    ]
    verdicts = Verdicts(found)
    if isinstance(case, CallCase) and not verdicts.blocking():
        case = transaction.complete(case)
    ready = case if case is not None and case.digest else None
    evidence = KeyEvidence(step, situation, known.proofs) if step is not None else None
    verdicts = verdicts.also(
        *(() if signed is None else _signature(ready, signed)), *_nonces(ready, known.used), key_is_proved.run(evidence)
    )
    return Examined(received, named, read, case, verdicts)


_Stages = tuple[Received, Planned | None, Named | None, ReadPayload | None, Case | None]


def _run(checks: Iterable[Check], stages: _Stages) -> list[Verdict]:
    return [check.run(stages[check.stage]) for check in checks]


def _verdicts_of_reading(checks: Iterable[Check], read: object, refusal: Refusal | None) -> list[Verdict]:
    """Return the verdicts of checks that one reading answers for: all pass, or one refused and the others saw nothing."""
    if refusal is None:
        return [check.run(read) for check in checks]
    finding = Finding(False, refusal.got, refusal.expected, refusal.where, refusal.what)
    return [check.verdict(finding) if check.id == refusal.check else check.not_reached() for check in checks]


def _signature(case: Case | None, signed: Answer) -> list[Verdict]:
    refusal = None
    if case is not None:
        try:
            check_signature(case, signed)
        except Refusal as wrong:
            refusal = wrong
    return _verdicts_of_reading(SIG_CHECKS, case, refusal)


_ALONE = Finding(None, "", "every item of the document", "", "nonces are judged together with the whole document")


def _nonces(case: Case | None, used: nonces.UsedNonces | None) -> list[Verdict]:
    if case is None:
        return [check.not_reached() for check in nonces.CHECKS]
    if used is None:
        return [check.verdict(_ALONE) for check in nonces.CHECKS]
    spending = nonces.Spending(case, nonces.use_of(case), used)
    return [check.run(spending) for check in nonces.CHECKS]
