"""``ceremony gather`` and ``ceremony carry``: what the other machine needs, put together, and copied across."""

from __future__ import annotations

from pathlib import Path

import click

from airlock_shared.ceremony.course import DEPLOYMENT, PEOPLE, READY
from airlock_shared.ceremony.people import write_people
from airlock_shared.ceremony.roles import require_open
from airlock_shared.cli.ceremony.context import CeremonyMachine, plan_with_roles
from airlock_shared.cli.ceremony.put_files import put
from airlock_shared.cli.console import json_option, plan_option, show_json
from airlock_shared.host.files import make_folder, read_input
from airlock_shared.host.transcript_file import MAX_BYTES

_INTO = click.Path(path_type=Path, file_okay=False)


@click.command("gather", short_help="Put together what the other machine needs to begin.")
@plan_option
@click.option("-o", "--output", "folder", type=_INTO, required=True, help="The folder to write into.")
@json_option
@click.pass_obj
def gather(place: CeremonyMachine, plan_file: Path, folder: Path, as_json: bool) -> None:
    r"""Write what the other machine needs: the names of the people, and on the online machine also the deployment.

    \b
    Example:
      PROGRAM ceremony gather --plan plan.toml -o plan.ceremony
    """
    plan = plan_with_roles(plan_file)
    stands = place.standing(plan)
    require_open(stands)
    documents = {PEOPLE if place.half == "online" else READY: write_people(plan, stands.names)}
    if place.deployment_file is not None:
        place.deployment(plan.deployment)  # it says what to do when there is none
        documents[DEPLOYMENT] = read_input(place.deployment_file(plan.deployment))
    make_folder(folder)
    for name, data in documents.items():
        put(folder / name, data)
    if as_json:
        show_json({"ok": True, "folder": str(folder), "files": sorted(documents)})


@click.command("carry", short_help="Copy documents into a folder, whole, and never over others.")
@click.argument("sources", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path, dir_okay=False))
@click.option("-o", "--output", "folder", type=_INTO, required=True, help="The folder to copy into.")
@json_option
def carry(sources: tuple[Path, ...], folder: Path, as_json: bool) -> None:
    r"""Copy each FILE into a folder, such as that of a stick. A file that is there already, and is the same, stays.

    \b
    Example:
      PROGRAM ceremony carry requests.json -o /media/stick
    """
    for source in sources:
        put(folder / source.name, read_input(source, max_bytes=MAX_BYTES))
    if as_json:
        show_json({"ok": True, "folder": str(folder), "files": [source.name for source in sources]})
