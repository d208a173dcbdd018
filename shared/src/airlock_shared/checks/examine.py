"""Running the checks over an item: every one of them, in order, and what each found."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

from airlock_shared.checks import agreement, nonces, payload, text_warnings, times
from airlock_shared.checks.case import Case, Check, Finding, Verdict
from airlock_shared.errors import Refusal
from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.ethereum.recovery import recover

SIG_IDS = ("SIG-LENGTH", "SIG-V", "SIG-RANGE", "SIG-LOW-S", "SIG-DIGEST", "SIG-SIGNER")


def examine(case: Case) -> list[Verdict]:
    """Run every check over an item and return a verdict for each, in a fixed order."""
    verdicts = _transaction(case) if case.request.transaction is not None else _intent(case)
    if case.signed is not None:
        verdicts += _signature(case)
    return verdicts


def _intent(case: Case) -> list[Verdict]:
    verdicts = _run(payload.BEFORE_MESSAGE, case)
    verdicts += _message(case, all(v.result == "pass" for v in verdicts))
    families = (payload.AFTER_MESSAGE, agreement.STEP_CHECKS, agreement.PLAN_CHECKS, agreement.INTENT_CHECKS)
    for family in (*families, times.CHECKS, text_warnings.CHECKS):
        verdicts += _run(family, case)
    return verdicts


def _transaction(case: Case) -> list[Verdict]:
    from airlock_shared.checks import transaction  # a start without transactions does not pay for them

    verdicts = _run(agreement.STEP_CHECKS, case)
    verdicts += _group(transaction.CALL_IDS, lambda: transaction.read_call(case))
    for family in (transaction.CHECKS, agreement.PLAN_CHECKS, times.EXPIRY_CHECKS, text_warnings.CHECKS):
        verdicts += _run(family, case)
    if not refused(verdicts):
        transaction.complete(case)
    return verdicts


def examine_nonces(case: Case, ledger: nonces.NonceLedger) -> list[Verdict]:
    """Run the ``NONCE`` checks over an examined item: what was signed before, and the document's items before this one."""
    return _run(nonces.checks(ledger), case)


def refused(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """Return the verdicts that stand in the way: what was refused, and what could not be reached."""
    return [v for v in verdicts if v.result in ("refused", "not-reached")]


def _run(checks: Iterable[Check], case: Case) -> list[Verdict]:
    verdicts = []
    for check in checks:
        for need in check.needs:
            if not hasattr(case, need):
                verdicts.append(Verdict(check.id, "not-reached"))
                break
        else:
            verdicts.append(_verdict(check.id, check.run(case)))
    return verdicts


def _verdict(check: str, finding: Finding | None) -> Verdict:
    if finding is None:
        return Verdict(check, "not-applicable")
    if finding.ok:
        return Verdict(check, "pass", finding.got, finding.expected)
    from airlock_shared.checks.catalogue import CHECKS  # texts: only a refusal needs them

    return Verdict(check, "refused", finding.got, finding.expected, finding.where, CHECKS[check].refusal)


def _message(case: Case, reached: bool) -> list[Verdict]:
    """Read the message once types and domain are the pinned ones; one reading answers for all ``MSG`` checks."""
    if not reached:
        return [Verdict(check, "not-reached") for check in payload.MSG_IDS]
    return _group(payload.MSG_IDS, lambda: payload.read_message(case))


def _signature(case: Case) -> list[Verdict]:
    if not (hasattr(case, "digest") and hasattr(case, "step")):
        return [Verdict(check, "not-reached") for check in SIG_IDS]
    return _group(SIG_IDS, lambda: check_signature(case))


def check_signature(case: Case) -> None:
    """Refuse a signature that is not by the step's signer over our own digest. Raises ``Refusal`` of family ``SIG``."""
    signed, step = case.signed, case.step
    if signed is None:
        return
    digest = "0x" + case.digest.hex()
    if signed.digest != digest:
        raise Refusal("SIG-DIGEST", "signed over another digest", got=signed.digest, expected=digest)
    signer = recover(case.digest, bytes.fromhex(signed.signature[2:]))
    expected = checksum_address(step.signer.address)
    if signer != step.signer.address or signed.signer != expected:
        raise Refusal("SIG-SIGNER", "signed by another key", got=checksum_address(signer), expected=expected)


def _group(ids: tuple[str, ...], run: Callable[[], None]) -> list[Verdict]:
    try:
        run()
    except Refusal as refusal:
        return [
            Verdict(check, "refused", refusal.got, refusal.expected, refusal.where, refusal.what)
            if check == refusal.check
            else Verdict(check, "not-reached")
            for check in ids
        ]
    return list(_well_formed(ids))


@cache
def _well_formed(ids: tuple[str, ...]) -> tuple[Verdict, ...]:
    return tuple(Verdict(check, "pass", "well-formed", "well-formed") for check in ids)
