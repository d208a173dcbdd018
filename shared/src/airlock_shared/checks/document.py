"""PIN and PLAN for the document as a whole: deployment, plan, steps, and rollback detection. PROOF for a delegate's key.

A document names the last head of this machine's transcript that the online machine saw: it must be in our transcript. Once
we have handed out a signature, a head must be named, but for the exceptions of :func:`head_is_known`. So accidents are
found: a machine that went back to an earlier state of itself. An online machine that lies is not (decision 20).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from airlock_shared.checks.model import PLAN, PLANNED, RECEIVED, Finding, Situation, check, same
from airlock_shared.documents.requests import Header
from airlock_shared.documents.transcript import GENESIS, Entry, machine_of
from airlock_shared.plan.delegate_proofs import challenge_of, is_waived
from airlock_shared.plan.model import APART, Plan, Step
from airlock_shared.venue.actions import REGISTRATIONS


class OwnRecord(NamedTuple):
    """What the signing machine's transcript says of itself: its id, every head that it had, and the digests it has signed.

    ``handed_out_ms`` is when it wrote signatures for the first time (unix ms): since then the online machine can know it.
    None before that, and for a document whose signing began here already.
    """

    machine: str
    heads: AbstractSet[str]
    signed: AbstractSet[str]
    handed_out_ms: int | None


class Heading(NamedTuple):
    """A requests document's header, and what it is judged against.

    ``own`` is the own record of the machine that judges; None on a machine that signs nothing.
    """

    header: Header
    situation: Situation
    own: OwnRecord | None


class Attended(NamedTuple):
    """A plan, and who holds which role in its open ceremony here; None on a machine that does not sign."""

    plan: Plan
    people: Mapping[str, str] | None


class Steps(NamedTuple):
    """The steps of a document's items, and those that it must hold, as :func:`part_of` gives them."""

    got: Sequence[str]
    planned: Sequence[str]


@check(
    "PIN-DEPLOYMENT",
    RECEIVED,
    "not prepared under the pinned deployment",
    "A venue swapped for another.",
    "Compare both fingerprints. Fetch and trust the deployment again only if you know why it changed.",
)
def deployment_is_pinned(heading: Heading) -> Finding:
    """The document was prepared under the pinned deployment."""
    return same(heading.header.deployment, heading.situation.deployment.fingerprint)


@check(
    "PIN-REHEARSAL",
    RECEIVED,
    "rehearsal and production are mixed",
    "A rehearsal payload signed with a real key.",
    "Use the rehearsal's own folder for rehearsals, and never its files elsewhere.",
)
def rehearsal_is_apart(heading: Heading) -> Finding:
    """A rehearsal's document is for a rehearsal's deployment, and no other is."""
    return same(_kind(heading.header.rehearsal), _kind(heading.situation.deployment.rehearsal))


@check(
    "PLAN-FINGERPRINT",
    RECEIVED,
    "prepared for another plan",
    "A plan swapped or edited after it was agreed.",
    "Name the plan for which they were prepared. If this is the right plan, prepare it again on the online machine.",
)
def plan_is_the_same(heading: Heading) -> Finding:
    """The document was prepared for this plan, to the letter."""
    header, plan = heading.header, heading.situation.plan
    other = f"made for the ceremony {header.ceremony}; this plan is {plan.id}"
    changed = f"made for another version of the plan {plan.id}: it was changed since, or it is another file"
    what = f"these requests were {changed if header.ceremony == plan.id else other}"
    return Finding(header.plan == plan.fingerprint, header.plan, plan.fingerprint, "", what)


@check(
    "PLAN-NAME",
    RECEIVED,
    "the plan is for another deployment or ceremony",
    "Signing for the wrong venue.",
    PLAN,
)
def names_agree(heading: Heading) -> Finding:
    """Document, plan and deployment name one ceremony and one deployment."""
    header, plan, deployment = heading.header, heading.situation.plan, heading.situation.deployment
    return same(
        f"{header.ceremony} on {header.deployment_name}, plan for {plan.deployment}",
        f"{plan.id} on {deployment.name}, plan for {deployment.name}",
    )


def own_record(entries: Sequence[Entry], requests: str = "") -> OwnRecord:
    """Return what a transcript says of its machine; ``requests`` is the fingerprint of the document that is judged."""
    signed, handed_out_ms, resumed = set(), None, False
    for entry in entries:
        if entry.event == "signed":
            signed.add(str(entry.data.get("digest")))
        elif entry.event == "signatures-written" and signed and handed_out_ms is None:
            handed_out_ms = entry.at_ms
        elif entry.event == "sign-begun":
            resumed = resumed or entry.data.get("requests") == requests
    heads = {entry.hash for entry in entries}
    return OwnRecord(machine_of(entries), heads, signed, None if resumed else handed_out_ms)


_ELSEWHERE = Finding(
    None, "", "a head of the signing machine", "", "only the signing machine knows what it has on record"
)
_NO_HEAD = "none of this machine"


@check(
    "PIN-HEAD",
    RECEIVED,
    "the records of the two machines do not fit together",
    "A machine that was set back, and has forgotten what it did.",
    "Find out which machine was set back. If this one: put its folder aside, and begin with a new one. If the online "
    "machine, or if it never saw the last signatures: give it those (submit, or only report make), and prepare again.",
)
def head_is_known(heading: Heading) -> Finding:
    """The head that the online machine has seen of this machine is in its transcript; there is one if one was handed out.

    None is required of a document that was made before; of one by a program that keeps no record (its own head is all
    zeros); under a plan that replaces a signature of this machine, since whoever agreed on that knows its record.
    """
    header, plan, own = heading.header, heading.situation.plan, heading.own
    if own is None:
        return _ELSEWHERE
    head = header.signing_heads.get(own.machine)
    if head is not None:
        what = "" if head in own.heads else "the online machine has seen a record of this machine that is not here"
        return Finding(not what, head, "a head of this machine's transcript", "", what)
    if own.handed_out_ms is None or header.created_ms <= own.handed_out_ms or header.transcript_head == GENESIS:
        return Finding(True, _NO_HEAD, "none: none was handed out before")
    if any(step.replaced_digest in own.signed for step in plan.steps.values()):
        return Finding(True, _NO_HEAD, "none: the plan replaces a signature of this machine")
    what = "the online machine knows nothing of this one, which has handed out signatures before"
    return Finding(False, _NO_HEAD, "a head of this machine's transcript", "", what)


HEADER_CHECKS = (
    deployment_is_pinned,
    rehearsal_is_apart,
    plan_is_the_same,
    names_agree,
    head_is_known,
)


@check(
    "PLAN-PEOPLE",
    RECEIVED,
    "the plan requires a witness, and no ceremony with one is open on this machine",
    "A signature that one person made alone.",
    "Begin the ceremony on this machine: airlock-offline ceremony begin --plan PLAN. Then sign again.",
)
def people_are_present(attended: Attended) -> Finding:
    """A plan that requires a witness is signed in its open ceremony, in which somebody is the signer and the witness."""
    plan, people = attended
    if not plan.requires_witness:
        return Finding(True, "no witness", "none: the plan requires none")
    if people is None:
        return Finding(None, "", "an open ceremony", "", "only the signing machine knows whether its ceremony is open")
    lacking = [role for role in APART if not people.get(role)]
    what = "" if not lacking else "no ceremony with this plan is open" if not people else "a role is held by nobody"
    return Finding(not lacking, ", ".join(people) or "no ceremony", " and ".join(APART), "", what)


def part_of(plan: Plan, signer: str) -> list[str]:
    """Return the steps that a document must hold, in the plan's order: all, or those that the named signer signs."""
    return [step.id for step in plan.steps.values() if signer in ("", step.signer.name)]


@check(
    "PLAN-STEPS",
    RECEIVED,
    "steps missing, extra, repeated or out of order",
    "A payload that is not in the plan.",
    PLAN,
)
def steps_are_planned(steps: Steps) -> Finding:
    """The items' steps are those that the plan has there, each once, in its order; a part without a step is none."""
    got, agreed = list(steps.got), list(steps.planned)
    extra = [step for step in got if step not in agreed]
    missing = [step for step in agreed if step not in got]
    if extra:
        where = f"not in the plan: {', '.join(extra)}"
    elif not agreed:
        where = "the plan has no step for this part"
    elif missing:
        where = f"missing: {', '.join(missing)}"
    elif len(set(got)) != len(got):
        where = "a step appears twice"
    else:
        where = "" if got == agreed else "in another order than the plan's"
    return Finding(not where, got, agreed, where)


def _kind(rehearsal: bool) -> str:
    return "rehearsal" if rehearsal else "production"


CHECKS = (*HEADER_CHECKS, people_are_present, steps_are_planned)

# ---- possession -----------------------------------------------------------------------------------------------------
# PROOF: no delegate key is registered that nobody has proved to hold.
# Without a proof a mistyped address becomes a delegate that nobody holds, or that somebody else does.


class KeyEvidence(NamedTuple):
    """A step of the plan, and the challenges that delegate keys have answered, as ``transcript.proved`` gives them.

    ``challenges`` is None on a machine that has no record of them.
    """

    step: Step
    situation: Situation
    challenges: Collection[str] | None


@check(
    "PROOF-DELEGATE",
    PLANNED,
    "there is no proof that the delegate key is held",
    "An address registered by mistake.",
    "Run airlock-offline delegate challenge, have the delegate key sign it, then airlock-offline delegate check.",
)
def key_is_proved(evidence: KeyEvidence) -> Finding | None:
    """The delegate key that a step registers was proved, or the plan waives that."""
    if evidence.step.action.name not in REGISTRATIONS:
        return None
    expected = 'a proof for this ceremony, plan and step, or possession = "waived" in the plan'
    if is_waived(evidence.step):
        return Finding(True, "waived by the plan", expected)
    if evidence.challenges is None:
        return Finding(None, "", expected, "", "only the signing machine has the record of proofs of possession")
    challenge = challenge_of(evidence.situation.plan, evidence.situation.deployment, evidence.step).sha256()
    if challenge in evidence.challenges:
        return Finding(True, f"proved, challenge {challenge}", expected)
    return Finding(False, "no proof on this machine", expected, "delegate")
