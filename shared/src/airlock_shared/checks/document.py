"""PIN and PLAN for the document as a whole: the right deployment, the right plan, the right steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from airlock_shared.checks.case import PLAN, RECEIVED, Finding, Situation, check

if TYPE_CHECKING:
    from airlock_shared.documents.requests import Header
    from airlock_shared.plan.model import Plan


class Heading(NamedTuple):
    """A requests document's header, and what it is judged against."""

    header: Header
    situation: Situation


class Steps(NamedTuple):
    """The steps of a document's items, and those that it must hold, as :func:`part_of` gives them."""

    got: Sequence[str]
    planned: Sequence[str]


@check(
    "PIN-DEPLOYMENT", RECEIVED,
    "not prepared under the pinned deployment", "A venue swapped for another.",
    "Compare both fingerprints. Fetch and trust the deployment again only if you know why it changed.",
)  # fmt: skip
def deployment_is_pinned(heading: Heading) -> Finding:
    """The document was prepared under the pinned deployment."""
    return _same(heading.header.deployment, heading.situation.deployment.fingerprint)


@check(
    "PIN-REHEARSAL", RECEIVED,
    "rehearsal and production are mixed", "A rehearsal payload signed with a real key.",
    "Use the rehearsal's own folder for rehearsals, and never its files elsewhere.",
)  # fmt: skip
def rehearsal_is_apart(heading: Heading) -> Finding:
    """A rehearsal's document is for a rehearsal's deployment, and no other is."""
    return _same(_kind(heading.header.rehearsal), _kind(heading.situation.deployment.rehearsal))


@check("PLAN-FINGERPRINT", RECEIVED, "prepared for another plan", "A plan swapped or edited after it was agreed.", PLAN)
def plan_is_the_same(heading: Heading) -> Finding:
    """The document was prepared for this plan, to the letter."""
    return _same(heading.header.plan, heading.situation.plan.fingerprint)


@check(
    "PLAN-NAME", RECEIVED,
    "the plan is for another deployment or ceremony", "Signing for the wrong venue.", PLAN,
)  # fmt: skip
def names_agree(heading: Heading) -> Finding:
    """Document, plan and deployment name one ceremony and one deployment."""
    header, plan, deployment = heading.header, heading.situation.plan, heading.situation.deployment
    return _same(
        f"{header.ceremony} on {header.deployment_name}, plan for {plan.deployment}",
        f"{plan.id} on {deployment.name}, plan for {deployment.name}",
    )


HEADER_CHECKS = (
    deployment_is_pinned,
    rehearsal_is_apart,
    plan_is_the_same,
    names_agree,
)


def part_of(plan: Plan, signer: str) -> list[str]:
    """Return the steps that a document must hold, in the plan's order: all, or those that the named signer signs."""
    return [step.id for step in plan.steps.values() if signer in ("", step.signer.name)]


@check(
    "PLAN-STEPS", RECEIVED,
    "steps missing, extra, repeated or out of order", "A payload that is not in the plan.", PLAN,
)  # fmt: skip
def steps_are_planned(steps: Steps) -> Finding:
    """The items' steps are those that the plan has there, each once, in its order; a part without a step is none."""
    got, agreed = list(steps.got), list(steps.planned)
    in_document, in_plan = set(got), set(agreed)
    extra = [step for step in got if step not in in_plan]
    missing = [step for step in agreed if step not in in_document]
    if extra:
        where = f"not in the plan: {', '.join(extra)}"
    elif not agreed:
        where = "the plan has no step for this part"
    elif missing:
        where = f"missing: {', '.join(missing)}"
    elif len(in_document) != len(got):
        where = "a step appears twice"
    else:
        where = "" if got == agreed else "in another order than the plan's"
    return Finding(not where, got, agreed, where)


def _same(got: object, expected: object) -> Finding:
    return Finding(got == expected, got, expected)


def _kind(rehearsal: bool) -> str:
    return "rehearsal" if rehearsal else "production"


CHECKS = (*HEADER_CHECKS, steps_are_planned)
