"""What the builder is asked for a struct or a call of this venue alone: the plan's values, named as its file says."""

from __future__ import annotations

import re
from collections.abc import Mapping

from airlock_online.speech.forms import split_decimals
from airlock_online.speech.sections import MARK
from airlock_shared.checks.case import Situation
from airlock_shared.errors import UsageError
from airlock_shared.plan.model import AsSigned, Step
from airlock_shared.units import Unit, to_human


def own_fields(step: Step, situation: Situation, members: Mapping[str, str]) -> dict[str, str]:
    """Return the request's fields by member; a deadline that the plan leaves open is asked for at the plan's limit.

    Raises ``UsageError`` for a leaf of which the plan says nothing, and for one that is no number where decimals are wanted.
    """
    return {member: _value(step, situation, *split_decimals(source[len(MARK) :])) for member, source in members.items()}


def _value(step: Step, situation: Situation, leaf: str, decimals: int) -> str:
    wanted = step.values.get(leaf)
    if isinstance(wanted, AsSigned):
        return with_decimals(wanted.text, decimals, f"step {step.id}: {leaf}") if decimals else wanted.text
    struct = None if step.action.call else situation.deployment.structs.get(step.action.primary_type)
    horizon_ms = situation.plan.limits.deadline_at_most_ms
    if struct is None or leaf != struct.deadline or horizon_ms is None:
        raise UsageError(
            f"step {step.id}: the services file sends {leaf} to the builder, and the plan says nothing of it",
            do=f"give {leaf} in the step's fields, or correct the services file, [requests.{step.action.result}]",
        )
    return str(situation.now_ms + horizon_ms)


def with_decimals(text: str, decimals: int, where: str) -> str:
    """Return a raw whole number with a decimal point so many places from its end. Raises ``UsageError`` for no number."""
    if not re.fullmatch(r"-?[0-9]{1,79}", text):
        raise UsageError(
            f"{where} is no whole number, and the services file sends it with decimals", do="correct either"
        )
    return to_human(int(text), Unit(where, decimals))
