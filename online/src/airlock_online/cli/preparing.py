"""The steps of a plan prepared one after the other: what is kept is used, the builder is waited for, nothing is lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from airlock_online.clock import now_ms
from airlock_online.preparing.authorizations import authorization_item
from airlock_online.preparing.kept_payloads import KeptPayload, KeptPayloads
from airlock_online.preparing.patience import Patience
from airlock_online.preparing.prepare import (
    BuildRequest,
    Prepared,
    Sources,
    ask_for,
    examine,
    planned_ask,
    require_known,
)
from airlock_online.preparing.venue_profile import by_the_profile
from airlock_shared.catalogue.kinds import leaf
from airlock_shared.catalogue.services import AUTHORIZATION
from airlock_shared.checks.case import Situation
from airlock_shared.checks.nonces import UsedNonces
from airlock_shared.cli.console import say
from airlock_shared.cli.progress import count_down
from airlock_shared.documents.deployment import Deployment
from airlock_shared.errors import Expired, Refusal, UsageError
from airlock_shared.plan.model import Plan, Step
from airlock_shared.text.safe import safe
from airlock_shared.units import utc_text


def prepare_plan(
    plan: Plan,
    deployment: Deployment,
    sources: Sources,
    payloads: KeptPayloads,
    asked: Mapping[str, BuildRequest] | None = None,
    *,
    part: Sequence[str] | None = None,
) -> list[Prepared]:
    """Return every step of a plan, or of a part of it, prepared and accepted; each payload that passed is kept at once.

    ``asked`` holds the steps asked for otherwise than documented. Raises ``Refusal`` for the first payload that a check
    refuses, ``ServiceError`` when the builder or the node fails, ``Expired`` when a deadline came too near meanwhile.
    """
    steps = [plan.steps[step] for step in (plan.steps if part is None else part)]
    patience = Patience(count_down, now_ms)
    sources, used = sources._replace(patience=patience), UsedNonces(knows_signed=False)
    prepared: list[Prepared] = []
    begun = Situation(
        plan, deployment, now_ms()
    )  # deadlines that the plan leaves open are asked for from here: one for all
    try:
        for number, step in enumerate(steps, start=1):
            label = f"[{number}/{len(steps)}]"
            if step.action.name == AUTHORIZATION:
                say(f"{label} {step.id} ({step.action.name}): the plan says all of it")
                prepared.append(accepted(authorization_item(step, Situation(plan, deployment, now_ms()), used)))
                continue
            own = (asked or {}).get(step.id)
            kept = None if own else _usable(step, Situation(plan, deployment, now_ms()), sources, payloads)
            if kept is None:
                require_known(step, begun)
                own = own or planned_ask(step, begun, sources.config.speech)
                say(f"{label} building {step.id} ({step.action.name})")
                kept = KeptPayload(own, ask_for(own, sources), now_ms())
            else:
                say(f"{label} {step.id} ({step.action.name}) is kept since {utc_text(kept.built_ms)}")
            situation = Situation(plan, deployment, now_ms())
            item = accepted(examine(step, situation, sources, used, kept.asked, kept.payload))
            payloads.keep(step.id, kept)
            patience.bound(_until_ms(item, situation))
            prepared.append(item)
        _require_in_time(patience)
    except BaseException:
        if prepared:
            say(f"{len(prepared)} of {len(steps)} payloads are kept. The same command goes on from there.")
        raise
    return prepared


def _usable(step: Step, situation: Situation, sources: Sources, payloads: KeptPayloads) -> KeptPayload | None:
    """Return what is kept for a step if the checks still pass it; what does not is forgotten, and why is said."""
    try:
        kept = payloads.find(step.id)
        if kept is None or step.action.call:  # a call has no time of its own: the checks read it once, with its nonce
            return kept
        accepted(examine(step, situation, sources, None, kept.asked, kept.payload))
    except Refusal as refusal:
        why = f"{refusal.check} ({refusal.what})"
        say(f"The kept payload of {step.id} can no longer be used: {why}. It is asked for again.")
        payloads.forget(step.id)
        return None
    return kept


def _until_ms(item: Prepared, situation: Situation) -> int | None:
    """Return when a payload has too little time left (unix ms); None for one without a deadline."""
    request = item.request
    known = (
        None if request.transaction is not None else situation.deployment.structs.get(request.payload["primaryType"])
    )
    deadline = leaf(request.payload["message"], known.deadline) if known is not None and known.deadline else None
    return None if deadline is None else int(str(deadline)) - situation.plan.limits.remaining_at_least_ms


def _require_in_time(patience: Patience) -> None:
    if patience.until_ms is not None and patience.until_ms < now_ms():
        raise Expired(
            "the first payload's deadline came too near while the others were built",
            do="run it again: only what is too near is asked for again; or prepare fewer steps at once",
        )


def accepted(prepared: Prepared) -> Prepared:
    """Return what was prepared. Raises ``Refusal`` when a check refuses it."""
    for verdict in map(by_the_profile, prepared.verdicts.refused()):
        refusal = Refusal(
            verdict.check,
            f"step {prepared.request.step}: {verdict.what}",
            got=str(verdict.got)[:400],
            expected=str(verdict.expected)[:400],
            do=f"nothing was written. {verdict.do}",
        )
        refusal.where = verdict.where
        raise refusal
    return prepared


def fields_of(words: tuple[str, ...]) -> dict[str, str]:
    """Return NAME=VALUE words as fields. Raises ``UsageError`` for another form, or a name given twice."""
    fields: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name or name in fields:
            what = f"{name} is given twice" if name in fields else f"{safe(word, limit=80)!r} is not NAME=VALUE"
            raise UsageError(what, do="give each field once, such as tradeIndex=0")
        fields[name] = value
    return fields
