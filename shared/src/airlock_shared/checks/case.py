"""What the checks look at, and what they find."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from airlock_shared.decide import Decision
from airlock_shared.deployment import Deployment
from airlock_shared.eip712 import Hashes
from airlock_shared.intents import Intent
from airlock_shared.plan import Plan, Step
from airlock_shared.requests import Request
from airlock_shared.signatures import Signed


class Situation(NamedTuple):
    """What every item of a document is judged against. ``now_ms`` is the clock in unix milliseconds."""

    plan: Plan
    deployment: Deployment
    now_ms: int


class Case:
    """One item under examination.

    What a check establishes is set here for the later ones; a check that needs what is not set is not reached.
    """

    __slots__ = ("decisions", "hashes", "intent", "message", "request", "signed", "situation", "step")

    step: Step
    intent: Intent
    message: dict[str, Any]
    hashes: Hashes
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
