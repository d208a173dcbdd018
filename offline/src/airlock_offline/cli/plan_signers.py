"""The signer of a plan whose Ledger a command needs."""

from __future__ import annotations

import click

from airlock_shared.errors import PlanError, UsageError
from airlock_shared.plan.model import Plan, Signer

signer_option = click.option("--signer", "signer_name", help="Which signer of the plan, when it has several.")


def choose_signer(plan: Plan, name: str | None) -> Signer:
    """Return the plan's signer of this name, or its only one. Raises ``UsageError`` or ``PlanError("PLAN-SIGNER")``."""
    if name is None and len(plan.signers) == 1:
        return next(iter(plan.signers.values()))
    if name is None:
        raise UsageError("the plan has several signers", do=f"choose with --signer, one of {list(plan.signers)}")
    if name not in plan.signers:
        raise PlanError("PLAN-SIGNER", "no such signer in the plan", got=name, expected=str(list(plan.signers)))
    return plan.signers[name]
