"""``plan``: show, check, or write by asking."""

from __future__ import annotations

from airlock_online.clock import now_ms
from airlock_online.home import OnlineHome
from airlock_shared.checks.case import Situation
from airlock_shared.checks.foreseen import foreseen
from airlock_shared.cli.plan import plan_group
from airlock_shared.errors import PlanError
from airlock_shared.plan.model import Plan


def machine_faults(home: OnlineHome, agreed: Plan) -> list[PlanError] | None:
    """Return what is refused in a plan whatever comes; None when its deployment was not fetched."""
    deployment = next((each for each in home.deployments() if each.name == agreed.deployment), None)
    return None if deployment is None else list(foreseen(Situation(agreed, deployment, now_ms())))


plan = plan_group("Write, check or show a ceremony plan.", lambda home: home.deployments(), machine_faults)
