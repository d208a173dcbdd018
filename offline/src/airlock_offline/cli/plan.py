"""``plan``: show, check, write by asking, or draft from a request."""

from __future__ import annotations

from pathlib import Path

import click

from airlock_offline.cli.plan_draft import draft_plan
from airlock_offline.clock import now_ms
from airlock_offline.home import OfflineHome
from airlock_offline.ledger.app_faults import EXPECTED, FAULTS_DO, type_faults
from airlock_offline.ledger.typed_data import WIDTHS, WIDTHS_DO, refused_integers
from airlock_shared.checks.case import Situation
from airlock_shared.checks.foreseen import foreseen
from airlock_shared.checks.payload import definitions
from airlock_shared.cli.console import INPUT, json_option, output_option, say, say_all, show_json
from airlock_shared.cli.document_lines import fingerprint_lines
from airlock_shared.cli.plan import plan_group
from airlock_shared.documents.requests import parse_requests
from airlock_shared.errors import PlanError
from airlock_shared.host.files import read_input, require_new, write_new
from airlock_shared.plan.model import CUSTOM, Plan
from airlock_shared.plan.reader import parse_plan
from airlock_shared.plan.values import plan_error
from airlock_shared.text.safe import safe


def machine_faults(state: OfflineHome, agreed: Plan) -> list[PlanError] | None:
    """Return what this machine refuses in a plan whatever comes; None when its deployment is not pinned."""
    deployment = state.pinned(agreed.deployment)
    if deployment is None:
        return None
    situation = Situation(agreed, state.with_struct_pins(deployment), now_ms())
    return [*foreseen(situation), *ledger_faults(situation)]


def ledger_faults(known: Situation) -> list[PlanError]:
    """Return the steps whose struct the Ethereum app refuses field by field, or signs over another digest."""
    errors = []
    for position, step in enumerate(known.plan.steps.values()):
        intent = known.deployment.structs.get(step.action.primary_type) if step.signer.show == "fields" else None
        structs = definitions(intent).structs if intent else {}
        where = f"steps[{position}].{'fields.struct' if step.action.name == CUSTOM else 'action'}"
        if refused := refused_integers(structs):
            errors.append(plan_error("PLAN-WIDTH", "the Ledger takes no integers of this width", where,
                                     got=", ".join(refused), expected=WIDTHS, do=WIDTHS_DO))  # fmt: skip
        if faults := type_faults(structs, intent.name) if intent else []:
            errors.append(plan_error("DIGEST-LEDGER", "the Ledger's app signs another digest for this struct", where,
                                     got="; ".join(faults), expected=EXPECTED, do=FAULTS_DO))  # fmt: skip
    return errors


plan = plan_group(
    "Write, check or show a ceremony plan, or draft one from a request.", lambda home: home.pins(), machine_faults
)


@plan.command("draft")
@click.argument("file", type=INPUT)
@output_option("The plan to write.")
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
    say_all(fingerprint_lines("requests", fingerprint))
    say(
        f"Wrote {safe(str(output))}. It repeats what the payload says: read and correct every line, then use it as the plan."
    )
    if as_json:
        show_json({"ok": True, "file": str(output), "requests": fingerprint, "plan": drafted.fingerprint})
