"""``doctor``: what to run when something does not work."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import click

from airlock_online.cli.connections import connections
from airlock_online.clients.connection import tls_context
from airlock_online.clients.http import Timeouts
from airlock_online.health_lines import journal_line, node_line, service_lines
from airlock_online.home import JOURNAL_VARIABLE, OnlineHome
from airlock_shared.cli.console import json_option, say
from airlock_shared.cli.doctor import finish_doctor, read_deployments, transcript_line
from airlock_shared.documents.deployment import Deployment
from airlock_shared.errors import AirlockError
from airlock_shared.host.files import current
from airlock_shared.host.machine import (
    camera_line,
    closure_line,
    config_line,
    disk_line,
    home_line,
    library_lines,
    program_line,
)
from airlock_shared.host.observed import LOOK, MachineProbes, Observed, broken
from airlock_shared.host.settings import FILE
from airlock_shared.text.safe import safe

REQUIREMENTS = Path(__file__).resolve().parents[3] / "requirements.txt"  # of a source checkout: online/
FETCH = "run: airlock-online deployment fetch --name NAME --builder URL -o deployment.json"
PATIENCE = Timeouts(connect=5.0, silence=10.0, total=20.0)


@click.command("doctor")
@json_option
@click.pass_obj
def doctor(home: OnlineHome, as_json: bool) -> None:
    r"""Find out why something does not work; change nothing.

    Versions, folder, disk, configuration, journal, deployments, transcript, libraries and camera; then whether it can
    reach the services of the fetched deployments, whether the builder is ready, and how far the two clocks differ, each
    with what to do. Exit code 0 when nothing is wrong, else the worst exit code of its lines.

    \b
    Example:
      airlock-online doctor
    """
    deployments, deployment_lines = read_deployments(current(home.folder / "deployments"), first=FETCH)
    lines = [*_own_lines(home), *deployment_lines, *_reached(home, deployments)]
    finish_doctor(lines, as_json=as_json)


def _own_lines(home: OnlineHome) -> Iterator[Observed]:
    world = MachineProbes()
    yield program_line("airlock-online")
    yield closure_line(REQUIREMENTS)
    yield home_line(home.folder)
    yield disk_line(home.folder, world)
    yield config_line(home.folder / FILE, lambda _: home.config())
    yield from _services_lines(home)
    yield journal_line(os.environ.get(JOURNAL_VARIABLE) or str(home.folder / "journal.sqlite3"))
    yield transcript_line(home.transcript)
    yield from library_lines(world)
    yield camera_line(world)


def _services_lines(home: OnlineHome) -> Iterator[Observed]:
    """Say how the services speak and are reached.

    Which file tells how they speak, how much of it differs from what ships, and the fingerprint of the whole.
    """
    group = "configuration"
    try:
        config = home.config()
    except AirlockError:  # its line says what is wrong
        return
    speech, file, settings = config.speech, config.venue.services, config.http
    where = safe(file) if file else "as ships"
    differs = f"; {len(speech.differences)} of its values differ from what ships" if speech.differences else ""
    yield Observed(group, "services", f"{where}{differs}; fingerprint {speech.fingerprint}")
    if settings.ca_file:
        try:
            known = len(tls_context(settings.ca_file).get_ca_certs())
            found = f"{safe(settings.ca_file)}: {known} authorities, and no others are trusted"
            yield Observed(group, "ca_file", found)
        except AirlockError as error:
            yield broken(group, "ca_file", error)
    if settings.proxy:
        yield Observed(group, "proxy", f"{safe(settings.proxy)}, for all but this machine")
    if settings.plain_http:
        found = "http:// addresses beyond this machine are allowed: they can be read and changed on the way"
        yield Observed(group, "plain_http", found, LOOK, "use https, and take plain_http out of config.toml")


def _reached(home: OnlineHome, deployments: list[Deployment]) -> Iterator[Observed]:
    try:
        config = home.config()
        tls_context(config.http.ca_file)
    except AirlockError:  # its line says what is wrong
        return
    url = config.rpc.url
    with connections(home, PATIENCE) as http:
        for deployment in deployments:
            say(f"Asking the services of {deployment.name} ...")
            yield from service_lines(deployment, http, time.time())
        if url:
            say("Asking the node ...")
            yield node_line(url, deployments, http, "node")
