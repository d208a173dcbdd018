"""``plan show`` and ``actions``: what people agree on, and what they can ask for."""

from __future__ import annotations

import click

from airlock_shared.actions import ACTIONS
from airlock_shared.command import json_option, show, show_json
from airlock_shared.plan_command import show_plan


@click.group("plan")
def PLAN() -> None:  # noqa: N802
    """Show a ceremony plan with its fingerprint."""


PLAN.add_command(show_plan)


@click.command("actions")
@click.argument("name", required=False, type=click.Choice(list(ACTIONS)))
@json_option
def ACTIONS_COMMAND(name: str | None, as_json: bool) -> None:  # noqa: N802
    """List the actions with their fields, units and meanings; or those of one action."""
    chosen = [ACTIONS[name]] if name else list(ACTIONS.values())
    if as_json:
        show_json([_as_json(action.name) for action in chosen])
        return
    for action in chosen:
        show(f"{action.name}: {action.title} ({action.primary_type})")
        show(f"  {action.path or 'no documented endpoint'}")
        for parameter in action.parameters:
            optional = "" if parameter.required else " (optional)"
            choices = f": {', '.join(parameter.choices)}" if parameter.choices else ""
            show(f"  {parameter.name:<26} {parameter.unit.name}{choices}{optional}\n{'':<29}{parameter.meaning}")


def _as_json(name: str) -> dict[str, object]:
    action = ACTIONS[name]
    fields = [
        {"name": p.name, "unit": p.unit.name, "required": p.required, "choices": list(p.choices), "meaning": p.meaning}
        for p in action.parameters
    ]
    return {"name": name, "title": action.title, "path": action.path, "struct": action.primary_type, "fields": fields}
