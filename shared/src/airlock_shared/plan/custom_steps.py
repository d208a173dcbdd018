"""Reading a step for a struct or a call that people pinned for one venue: its name, and the raw value of each leaf."""

from __future__ import annotations

from typing import Any

from airlock_shared.catalogue.actions import Action
from airlock_shared.catalogue.calls import CALLS
from airlock_shared.catalogue.intents import CATALOGUE
from airlock_shared.plan.model import CUSTOM, AsSigned, Value
from airlock_shared.plan.values import plan_error


def read_custom_fields(fields: Any, where: str) -> tuple[Action, dict[str, Value]]:
    """Return what a custom step asks for, and the raw values by path. Raises ``PlanError`` naming the leaf."""
    kind = next((each for each in ("struct", "call") if type(fields) is dict and type(fields.get(each)) is str), "")
    if not kind:
        raise plan_error(
            "PLAN-FIELD", "a custom step names its struct or its call", f"{where}.struct", expected="a name"
        )
    if fields[kind] in (CATALOGUE if kind == "struct" else CALLS):
        raise plan_error("PLAN-FIELD", f"this {kind} ships, and has an action of its own", f"{where}.{kind}",
                         got=fields[kind], expected=f"a {kind} that the venue alone has")  # fmt: skip
    struct, call = (fields[kind], "") if kind == "struct" else ("", fields[kind])
    values: dict[str, Value] = {}
    for path, value in fields.items():
        if path == kind:
            continue
        if type(value) not in (str, int, bool):
            raise plan_error("PLAN-FIELD", "not a raw value", f"{where}.{path}", expected="a text, number or flag")
        values[path] = AsSigned(str(value).lower() if type(value) is bool else str(value))
    return Action(CUSTOM, "Sign what people pinned for this venue alone", "", struct, (), call), values
