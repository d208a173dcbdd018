"""PIN and PLAN for the document as a whole: the right deployment, the right plan, the right steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from airlock_shared.checks.case import Finding, Situation, Verdict
from airlock_shared.documents.requests import Header
from airlock_shared.plan.model import Plan


def examine_header(header: Header, situation: Situation) -> list[Verdict]:
    """Return the verdicts on a requests document's header."""
    plan, deployment = situation.plan, situation.deployment
    findings = {
        "PIN-DEPLOYMENT": _same(header.deployment, deployment.fingerprint),
        "PIN-REHEARSAL": _same(_kind(header.rehearsal), _kind(deployment.rehearsal)),
        "PLAN-FINGERPRINT": _same(header.plan, plan.fingerprint),
        "PLAN-NAME": _same(
            f"{header.ceremony} on {header.deployment_name}, plan for {plan.deployment}",
            f"{plan.id} on {deployment.name}, plan for {deployment.name}",
        ),
    }
    return [_verdict(check, finding) for check, finding in findings.items()]


def part_of(plan: Plan, signer: str) -> list[str]:
    """Return the steps that a document must hold, in the plan's order: all, or those that the named signer signs."""
    return [step.id for step in plan.steps.values() if signer in ("", step.signer.name)]


def examine_steps(steps: Iterable[str], planned: Sequence[str]) -> Verdict:
    """Return the verdict on the items' steps: all of those that the plan has there, each once, in the plan's order.

    ``planned`` is what :func:`part_of` gives; nothing, for a signer who signs no step, is refused.
    """
    got, agreed = list(steps), list(planned)
    in_document, in_plan = set(got), set(agreed)
    extra = [step for step in got if step not in in_plan]
    missing = [step for step in agreed if step not in in_document]
    if extra:
        where = f"not in the plan: {', '.join(extra)}"
    elif not agreed:
        where = "no step of the plan is this part's"
    elif missing:
        where = f"missing: {', '.join(missing)}"
    elif len(in_document) != len(got):
        where = "a step appears twice"
    else:
        where = "" if got == agreed else "in another order than the plan's"
    return _verdict("PLAN-STEPS", Finding(not where, got, agreed, where))


def _same(got: object, expected: object) -> Finding:
    return Finding(got == expected, got, expected)


def _kind(rehearsal: bool) -> str:
    return "rehearsal" if rehearsal else "production"


def _verdict(check: str, finding: Finding) -> Verdict:
    if finding.ok:
        return Verdict(check, "pass", finding.got, finding.expected, finding.where)
    from airlock_shared.checks.catalogue import CHECKS  # texts: only a refusal needs them

    return Verdict(check, "refused", finding.got, finding.expected, finding.where, CHECKS[check].refusal)
