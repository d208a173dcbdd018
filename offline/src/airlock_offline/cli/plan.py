"""``plan``: show, check, write by asking, or draft from a request."""

from __future__ import annotations

from pathlib import Path

import click

from airlock_offline.cli.plan_draft import draft_plan
from airlock_offline.home import OfflineHome
from airlock_offline.ledger.typed_data import WIDTHS, WIDTHS_DO, refused_integers
from airlock_shared.catalogue.calls import calls_of
from airlock_shared.checks.case import Situation
from airlock_shared.checks.payload import definitions, known_struct
from airlock_shared.cli.console import INPUT, json_option, say, show_json
from airlock_shared.cli.document_lines import fingerprint_lines
from airlock_shared.cli.plan import plan_group
from airlock_shared.documents.requests import parse_requests
from airlock_shared.errors import PlanError
from airlock_shared.host.files import read_input, require_new, write_new
from airlock_shared.plan.model import CUSTOM, Plan
from airlock_shared.plan.reader import parse_plan
from airlock_shared.plan.values import plan_error
from airlock_shared.text.safe import safe


def machine_faults(state: OfflineHome, agreed: Plan) -> list[PlanError]:
    """Return what this machine refuses in a plan whatever comes: what its pins and the Ethereum app make of the steps."""
    return [*pin_faults(state, agreed), *ledger_faults(state, agreed)]


def pin_faults(state: OfflineHome, agreed: Plan) -> list[PlanError]:
    """Return the custom steps that name no leaf of what is pinned, or leave one undecided."""
    deployment = state.pinned(agreed.deployment)
    own = [step for step in agreed.steps.values() if step.action.name == CUSTOM]
    if deployment is None or not own:
        return []
    known, errors = Situation(agreed, deployment, 0, custom=state.custom_structs(deployment)), []
    for step in own:
        kind = "call" if step.action.call else "struct"
        found = (
            calls_of(deployment).by_name.get(step.action.call)
            if step.action.call
            else known_struct(known, step.action.primary_type)
        )
        where = f"steps[{list(agreed.steps).index(step.id)}].fields"
        if found is None:  # it may be pinned later
            continue
        may = {leaf.rule.parameter for leaf in found.fields if leaf.rule.parameter}
        must = {leaf.rule.parameter for leaf in found.fields if leaf.rule.kind == "plan"}
        for name in [name for name in step.values if name not in may]:
            errors.append(plan_error("PLAN-FIELD", f"the {kind} has no such field", f"{where}.{name}",
                                     got=step.values[name].text, expected=f"one of {sorted(may)}"))  # fmt: skip
        if left := sorted(must - step.values.keys()):
            errors.append(plan_error("PLAN-UNDECIDED", "nobody decides these fields", where,
                                     got=", ".join(step.values) or "none", expected=", ".join(left)))  # fmt: skip
    return errors


def ledger_faults(state: OfflineHome, agreed: Plan) -> list[PlanError]:
    """Return the steps whose struct has integers that the Ethereum app refuses to show field by field."""
    shown = [step for step in agreed.steps.values() if not step.action.call and step.signer.show == "fields"]
    deployment = state.pinned(agreed.deployment) if shown else None
    if deployment is None:
        return []
    known, errors = Situation(agreed, deployment, 0, custom=state.custom_structs(deployment)), []
    for step in shown:
        intent = known_struct(known, step.action.primary_type)
        refused = refused_integers(definitions(intent).structs) if intent else []
        if refused:
            place = "fields.struct" if step.action.name == CUSTOM else "action"
            where = f"steps[{list(agreed.steps).index(step.id)}].{place}"
            got, expected = ", ".join(refused), WIDTHS
            errors.append(plan_error("PLAN-WIDTH", "the Ledger takes no integers of this width", where, got=got,
                                     expected=expected, do=WIDTHS_DO))  # fmt: skip
    return errors


plan = plan_group(
    "Write, check or show a ceremony plan, or draft one from a request.", lambda home: home.pins(), machine_faults
)


@plan.command("draft")
@click.argument("file", type=INPUT)
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="The plan to write.")
@json_option
@click.pass_obj
def draft(state: OfflineHome, file: Path, output: Path, as_json: bool) -> None:
    r"""Write a plan from the requests document FILE, for a person to read, correct and agree on.

    The draft repeats what the payload says. It checks nothing, so read every line.

    \b
    Example:
      airlock-offline plan draft requests.json -o plan.toml
    """
    require_new(output)
    header, items, fingerprint = parse_requests(read_input(file))
    deployment = state.require_pinned(header.deployment_name)
    text = draft_plan(header, items, deployment)
    drafted = parse_plan(text.encode())
    write_new(output, text.encode())
    for line in fingerprint_lines("requests", fingerprint):
        say(line)
    say(
        f"Wrote {safe(str(output))}. It repeats what the payload says: read and correct every line, then use it as the plan."
    )
    if as_json:
        show_json({"ok": True, "file": str(output), "requests": fingerprint, "plan": drafted.fingerprint})
