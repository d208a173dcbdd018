"""What the commands of a ceremony stand on: one of the two machines, and a plan that names roles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from airlock_shared.ceremony.checkpoints import Half
from airlock_shared.ceremony.roles import Standing, standing
from airlock_shared.documents.transcript import Entry
from airlock_shared.errors import UsageError
from airlock_shared.host.files import read_input
from airlock_shared.host.transcript_file import TranscriptFile
from airlock_shared.plan.model import Plan
from airlock_shared.plan.reader import parse_plan


def _nothing(_station: str, _entries: Sequence[Entry], _whole: bool) -> Iterable[str]:
    return ()


class CeremonyMachine(NamedTuple):
    """One of the two machines: its transcript and clock, a deployment's fingerprint by name, and whether it rehearses.

    ``shows`` gives the lines that stand on record for a station, from the entries of the ceremony: what is agreed to there,
    whole, or what people have to decide and to compare.
    """

    half: Half
    transcript: TranscriptFile
    now_ms: Callable[[], int]
    deployment: Callable[[str], str]
    rehearses: Callable[[], bool]
    deployment_file: Callable[[str], Path] | None = None
    """Where this machine keeps the deployment of a name, to be handed over; None on the machine to which it comes."""
    shows: Callable[[str, Sequence[Entry], bool], Iterable[str]] = _nothing

    def standing(self, plan: Plan) -> Standing:
        """Return how the ceremony of a plan stands here."""
        return standing(self.transcript.entries(), plan, self.half)

    def known_deployment(self, name: str) -> str:
        """Return the fingerprint of the deployment of this name here, empty when there is none."""
        try:
            return self.deployment(name)
        except UsageError:
            return ""

    def record(self, event: str, plan: Plan, data: dict[str, Any]) -> None:
        """Record an event of a plan's ceremony."""
        self.transcript.record(event, {"ceremony": plan.id, **data}, self.now_ms())


def plan_with_roles(file: Path) -> Plan:
    """Return the plan in a file. Raises ``PlanError``, and ``UsageError`` when it names no roles."""
    plan = parse_plan(read_input(file))
    if not plan.roles:
        raise UsageError("the plan names no roles, so there is nothing to hold or to confirm",
                         do='add them to the plan, such as roles = ["signer", "witness"]')  # fmt: skip
    return plan
