"""What the checks look at, and what they find."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from airlock_shared.catalogue.intents import CATALOGUE, Field, Intent
from airlock_shared.documents.deployment import Deployment
from airlock_shared.documents.requests import Request
from airlock_shared.documents.signatures import Signed
from airlock_shared.ethereum.eip712 import Hashes
from airlock_shared.plan.decisions import Decision
from airlock_shared.plan.model import Plan, Step

if TYPE_CHECKING:
    from airlock_shared.catalogue.calls import Decoded


class Situation(NamedTuple):
    """What every item of a document is judged against.

    ``now_ms`` is the clock in unix milliseconds, and ``clock_uncertainty_ms`` how far a person says that it may be off.
    """

    plan: Plan
    deployment: Deployment
    now_ms: int
    clock_uncertainty_ms: int = 0
    structs: Mapping[str, Intent] = CATALOGUE


class Case:
    """One item under examination.

    What a check establishes is set here for the later ones; a check that needs what is not set is not reached.
    """

    __slots__ = (
        "call",
        "decisions",
        "digest",
        "fields",
        "hashes",
        "intent",
        "message",
        "request",
        "signed",
        "situation",
        "step",
    )

    step: Step
    intent: Intent  # of an intent alone
    hashes: Hashes  # of an intent alone
    call: Decoded  # of a transaction alone
    fields: tuple[Field, ...]
    message: dict[str, Any]
    digest: bytes  # what is signed, 32 bytes
    decisions: list[Decision]

    def __init__(self, request: Request, situation: Situation, signed: Signed | None = None) -> None:
        self.request = request
        self.situation = situation
        self.signed = signed


class Finding(NamedTuple):
    """What a check found: got and expected as plain values, made text only where they are shown."""

    ok: bool
    got: object
    expected: object
    where: str = ""


class Check(NamedTuple):
    """A check: its id, the function that runs it, and which parts of the case it needs.

    The function returns None when the check does not apply to the item.
    """

    id: str
    run: Callable[[Case], Finding | None]
    needs: tuple[str, ...] = ()


class Verdict(NamedTuple):
    """A check's result on one item: ``pass``, ``refused``, ``not-applicable`` or ``not-reached``."""

    check: str
    result: str
    got: object = ""
    expected: object = ""
    where: str = ""
    what: str = ""
