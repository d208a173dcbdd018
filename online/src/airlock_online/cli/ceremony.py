"""``ceremony`` and ``plan`` on the online machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from airlock_online.clock import now_ms
from airlock_online.home import OnlineHome, last_outcomes
from airlock_online.readback.expectations import Expectation, expectation_lines, kept_lines
from airlock_shared.checks.foreseen import foreseen
from airlock_shared.checks.model import Situation
from airlock_shared.cli.ceremony.commands import ceremony_group
from airlock_shared.cli.ceremony.status import CeremonyMachine
from airlock_shared.cli.plan import plan_group
from airlock_shared.cli.terminal import rows
from airlock_shared.documents.transcript import Entry
from airlock_shared.errors import PlanError
from airlock_shared.plan.model import Plan

# ---- ceremony -------------------------------------------------------------------------------------------------------
# ``ceremony``: the people of a ceremony and what they confirm, in this machine's transcript.


EACH_AT_MOST = 20
"""Steps of which what was read back is shown in full; of more, what is not as promised."""


def _shown(checkpoint: str, entries: Sequence[Entry], whole: bool) -> Iterator[str]:
    """Yield what became of each step, and what was read back then, for the checkpoint at which people agree to it."""
    last = last_outcomes(entries if checkpoint == "outcome" else ())
    for outcome in last.values():
        read = [Expectation(**row) for row in outcome.get("read_back", ())]
        said = str(outcome.get("state", "")) or f"no outcome: {outcome['error']}"
        if len(last) > EACH_AT_MOST and all(each.kept for each in read):
            yield from rows(
                f"step {outcome['step']}: ", f"{said}, {len(read)} read back, each as promised" if read else said
            )
            continue
        yield from rows(f"step {outcome['step']}: ", said)
        yield from expectation_lines(read) if whole else kept_lines(read)


def _place(home: OnlineHome) -> CeremonyMachine:
    return CeremonyMachine(
        "online",
        home.transcript,
        now_ms,
        lambda name: home.require_deployment(name).fingerprint,
        home.all_worth_nothing,
        home.deployment_path,
        _shown,
    )


ceremony = ceremony_group(_place)

# ---- plan -----------------------------------------------------------------------------------------------------------
# ``plan``: show, check, or write by asking.


def _machine_faults(home: OnlineHome, agreed: Plan) -> list[PlanError] | None:
    """Return what is refused in a plan whatever comes; None when its deployment was not fetched."""
    deployment = next((each for each in home.deployments() if each.name == agreed.deployment), None)
    return None if deployment is None else list(foreseen(Situation(agreed, deployment, now_ms())))


plan = plan_group("Write, check or show a ceremony plan.", lambda home: home.deployments(), _machine_faults)
