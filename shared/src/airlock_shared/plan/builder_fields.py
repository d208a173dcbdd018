"""What a plan step asks of the builder: the request fields, as they are sent.

Amounts go as the plan's own decimal texts: the client never scales and never computes with them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from airlock_shared.errors import PlanError
from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.plan.decisions import wanted_value
from airlock_shared.plan.model import Bounds, Exact, Step
from airlock_shared.units import ADDRESS, UNIX_MS, UNIX_S, UNLIMITED

if TYPE_CHECKING:
    from airlock_shared.documents.deployment import Deployment


def request_fields(step: Step, deployment: Deployment) -> dict[str, str]:
    """Return the fields to send for a step; what the plan only bounds is left to the builder.

    Raises ``PlanError`` when the plan bounds a field that the builder needs as a value, or names an unknown pair.
    """
    fields = {}
    for name, unit, _, required, sent, _, _ in step.action.parameters:
        wanted = step.values.get(name)
        if name == "pairIndex" and wanted is None:
            wanted = wanted_value("pairIndex", step, deployment)
            if isinstance(wanted, Exact) and wanted.raw is None:
                raise _plan_error(step, "pair", "the pinned deployment has no such pair", "one of its pairs")
        if wanted is None or not sent:
            continue
        if type(wanted) is not Exact:
            if required and isinstance(wanted, Bounds):
                raise _plan_error(step, name, "the builder needs a value here, not bounds", "a value")
            continue
        if name == "amountUsdc" and wanted.raw == UNLIMITED:
            continue  # to leave the amount out is how the builder is asked for an unlimited approval
        if unit is ADDRESS and type(wanted.raw) is bytes:
            fields[sent] = checksum_address(wanted.raw)
        elif unit is UNIX_S or unit is UNIX_MS or name == "pairIndex":
            fields[sent] = str(wanted.raw)
        else:
            fields[sent] = wanted.text
    for_another = step.signer.delegate_of is not None and step.raw("trader", "caller") == step.signer.delegate_of
    if for_another and step.action.call and deployment.calls.by_name[step.action.call].delegable:
        fields["delegate"] = checksum_address(step.signer.address)
    return fields


def replaced_trigger(step: Step) -> str:
    """Return the id of the stored price trigger that a step replaces, or an empty text."""
    wanted = step.values.get("replaces")
    return wanted.text if wanted is not None and step.action.parameter("replaces") else ""


def _plan_error(step: Step, field: str, what: str, expected: str) -> PlanError:
    error = PlanError("PLAN-FIELD", what, got=step.values[field].text, expected=expected, do="correct the plan")
    error.where = f"step {step.id}, {field}"
    return error
