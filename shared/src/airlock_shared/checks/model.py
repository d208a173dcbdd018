"""What the checks look at, stage by stage, and what they find.

An item is ``Received``; found in the plan it is ``Planned``, its struct known it is ``Named``, its payload read it is
``ReadPayload``; a step of the plan whose payload was read is a ``Case``. Every stage is frozen and holds all that is
known there, so a check names the stage that it needs, and is not reached when the item did not come so far.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from airlock_shared.ethereum.eip712 import StructValues
from airlock_shared.venue.structs import value_of

if TYPE_CHECKING:
    from airlock_shared.documents.deployment import Deployment
    from airlock_shared.documents.ledger_metadata import TokenMetadata
    from airlock_shared.documents.requests import Request
    from airlock_shared.ethereum.eip712 import Hashes
    from airlock_shared.plan.decisions import Decision
    from airlock_shared.plan.model import Plan, Step
    from airlock_shared.venue.calls import Call
    from airlock_shared.venue.structs import Field, Intent


class Situation(NamedTuple):
    """What every item of a document is judged against.

    ``now_ms`` is the clock in unix milliseconds, and ``clock_uncertainty_ms`` how far a person says that it may be off.
    """

    plan: Plan
    deployment: Deployment
    now_ms: int
    clock_uncertainty_ms: int = 0


# ---- the stages of an item ------------------------------------------------------------------------------------------


class Received(NamedTuple):
    """An item as it came: nothing in it is believed."""

    request: Request
    situation: Situation


class Planned(NamedTuple):
    """An item that is a step of the plan. ``came`` is the name of the struct or function that came for it."""

    request: Request
    situation: Situation
    step: Step
    came: str


class Named(NamedTuple):
    """An intent whose struct is known."""

    request: Request
    situation: Situation
    intent: Intent


class ReadIntent(NamedTuple):
    """An intent whose message was read strictly, hashed under the pinned domain; ``step`` is None for none of the plan."""

    request: Request
    situation: Situation
    step: Step | None
    intent: Intent
    message: StructValues
    hashes: Hashes

    @property
    def fields(self) -> tuple[Field, ...]:
        """The struct's leaves."""
        return self.intent.fields


class ReadCall(NamedTuple):
    """A transaction whose calldata was read strictly, or an authorization; ``step`` is None for no step of the plan.

    ``delegated_for`` is the account (20 bytes) for which a delegate makes the call; None for a call of the sender itself.
    """

    request: Request
    situation: Situation
    step: Step | None
    call: Call
    message: StructValues
    delegated_for: bytes | None

    @property
    def fields(self) -> tuple[Field, ...]:
        """The function's arguments."""
        return self.call.fields


class IntentCase(NamedTuple):
    """An intent that can be shown beside its step of the plan; once no check refuses it, it can be signed."""

    request: Request
    situation: Situation
    step: Step
    intent: Intent
    message: StructValues
    hashes: Hashes
    decisions: list[Decision]

    @property
    def fields(self) -> tuple[Field, ...]:
        """The struct's leaves."""
        return self.intent.fields

    @property
    def digest(self) -> bytes:
        """What is signed, 32 bytes."""
        return self.hashes.digest

    @property
    def title(self) -> str:
        """What the intent does, for a person."""
        return self.intent.title


class CallCase(NamedTuple):
    """A transaction, or an authorization, that can be shown beside its step of the plan.

    ``digest`` is what is signed, 32 bytes; it is empty until no check refuses it. ``delegated_for`` is as in
    :class:`ReadCall`.
    """

    request: Request
    situation: Situation
    step: Step
    call: Call
    message: StructValues
    delegated_for: bytes | None
    decisions: list[Decision]
    digest: bytes = b""

    @property
    def is_authorization(self) -> bool:
        """Whether it is an EIP-7702 authorization, and no transaction."""
        return self.request.transaction is None

    @property
    def token_for_device(self) -> TokenMetadata | None:
        """The token that is named to a Ledger before it shows this call: of an approval the pinned one, else None."""
        direct = self.call.name == "approve" and self.delegated_for is None
        return self.situation.deployment.token if direct else None

    @property
    def fields(self) -> tuple[Field, ...]:
        """The function's arguments."""
        return self.call.fields

    @property
    def title(self) -> str:
        """What the call does, for a person."""
        return self.call.title


ReadPayload = ReadIntent | ReadCall
Case = IntentCase | CallCase

RECEIVED, PLANNED, NAMED, READ, CASE, SIGNABLE = range(6)
"""The stages that a check may need. ``CASE`` is a :data:`Case`, ``SIGNABLE`` one that has its digest."""


def leaf_of(item: ReadPayload | Case, kind: str) -> Any:
    """Return the value of an item's first leaf of a kind, as it is signed; None when it has none."""
    return value_of(item.fields, item.message, kind)


# ---- what checks find -----------------------------------------------------------------------------------------------


class Finding(NamedTuple):
    """What a rule found: whether it is so, what came, what was expected.

    ``ok`` is None for what this machine could not judge; ``what`` then says why. ``spelling``: what came and what was
    expected differ in nothing but how the same value is written.
    """

    ok: bool | None
    got: object
    expected: object
    where: str = ""
    what: str = ""
    spelling: bool = False


def same(got: object, expected: object) -> Finding:
    """Return what a rule found that holds two values to be equal."""
    return Finding(got == expected, got, expected)


class Verdict(NamedTuple):
    """A check's result: ``pass``, ``refused``, ``not-applicable``, ``not-reached`` or ``not-judged``."""

    check: str
    result: str
    got: object = ""
    expected: object = ""
    where: str = ""
    what: str = ""
    do: str = ""


class Info(NamedTuple):
    """A check for people: the sentence of its refusal, what it protects from, what to do."""

    refusal: str
    protects: str
    do: str


REBUILD = "Build the request again on the online machine; if it is refused again, stop and find out who altered it."
AGAIN = (
    "Prepare again on the online machine. If it is refused again, compare its clock with a watch; if that is right, the "
    "plan's time limit is too short for your people."
)
STOP = "Stop. Somebody or something altered the payload. Keep the file, and find out where before you continue."
PLAN = "Compare the payload with the plan. If the plan is wrong, correct it, agree on it again, and prepare again."
SPELLING = (
    "Airlock takes one spelling of this value. If the venue has always written it so, ask it to write it as expected. "
    "If it wrote it otherwise before, stop and find out who altered it."
)
COPY = "Copy or scan the document again from its source, and compare the fingerprint on both screens."
"""What to do, where several checks ask for the same."""

WRONG_ROUTE = Info("not sent to the service of this struct", "An intent executed by the wrong service.", REBUILD)
"""``ORDER-ROUTE``, which intents and transactions have each in their own way."""


class Check(NamedTuple):
    """A check: its id, the stage that it needs, the rule that it holds there, and its description for people.

    The rule returns None when the check does not apply to the item. A rule about something else than an item's stages (a
    header, the clock, what is spent, a proof of a key) gets that, and ``stage`` says how far the item must have come.
    """

    id: str
    stage: int
    rule: Callable[[Any], Finding | None]
    info: Info

    def run(self, item: Any) -> Verdict:
        """Return the verdict on an item at the check's stage; None stands for an item that did not come so far."""
        return self.not_reached() if item is None else self.verdict(self.rule(item))

    def verdict(self, finding: Finding | None) -> Verdict:
        """Return what was found as a verdict, with what to do when it stands in the way."""
        if finding is None:
            return Verdict(self.id, "not-applicable")
        ok, got, expected, where, what, spelling = finding
        if ok:
            return Verdict(self.id, "pass", got, expected)
        result, do = "refused" if ok is False else "not-judged", SPELLING if spelling else self.info.do
        return Verdict(self.id, result, got, expected, where, what or self.info.refusal, do)

    def not_reached(self) -> Verdict:
        """Return the verdict on an item that did not come to the check's stage."""
        return Verdict(self.id, "not-reached")


def check(
    name: str, stage: int, refusal: str, protects: str, do: str
) -> Callable[[Callable[[Any], Finding | None]], Check]:
    """Return what makes a rule a check, with its description beside it."""
    return lambda rule: Check(name, stage, rule, Info(refusal, protects, do))


def sent_to(route: str) -> Check:
    """Return the check that an item which is no intent goes to a route, and has no order type."""
    return Check(
        "ORDER-ROUTE",
        RECEIVED,
        lambda case: Finding(
            case.request.route == route and case.request.order_type is None, case.request.route, route
        ),
        WRONG_ROUTE,
    )


def checks_of_reading(stage: int, infos: Mapping[str, Info]) -> tuple[Check, ...]:
    """Return the checks for which one reading answers: it raises ``Refusal`` with the id of the one that it failed."""
    return tuple(Check(name, stage, lambda _: WELL_FORMED, info) for name, info in infos.items())


WELL_FORMED = Finding(True, "well-formed", "well-formed")
