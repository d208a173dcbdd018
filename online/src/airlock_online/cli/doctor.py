"""``doctor``: what to run when something does not work."""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from pathlib import Path
from urllib.parse import quote

import click
from sqlalchemy import create_engine, inspect, select, text
from sqlalchemy.engine import Engine

from airlock_online.cli.connections import connections
from airlock_online.clients.builder import BuilderClient
from airlock_online.clients.connection import HttpCall, tls_context
from airlock_online.clients.http import Http, Timeouts
from airlock_online.clients.rpc import RpcClient
from airlock_online.home import OnlineHome
from airlock_online.journal.engine import (
    READING,
    bounded,
    journal_errors,
    place_of,
    require_journal,
    server_engine,
    shown_place,
)
from airlock_online.journal.schema import COPIED_DO, SCHEMA, SCHEMA_VERSION, identify
from airlock_shared.cli.machine import finish_doctor, read_deployments, transcript_line
from airlock_shared.cli.terminal import json_option, say
from airlock_shared.documents.deployment import Deployment
from airlock_shared.errors import AirlockError, ExitCode
from airlock_shared.host.files import CONFIG_FILE, LOOK, MachineProbes, Observed, as_usage_error, current
from airlock_shared.host.machine import (
    broken,
    camera_line,
    closure_line,
    config_line,
    disk_line,
    fault,
    home_line,
    library_lines,
    program_line,
)
from airlock_shared.text.safe import safe
from airlock_shared.units import span_text

# ---- health lines ---------------------------------------------------------------------------------------------------
# What ``doctor`` looks at on the online machine: its records, and the services of the deployments that were fetched.
# Nothing is changed: the journal is opened for reading, and nothing but GET and ``eth_chainId`` is sent, to the
# deployments' own addresses and the configured node.


CLOCK_LOOK_S, CLOCK_FAULT_S = 5, 60


# ---- the journal ----------------------------------------------------------------------------------------------------


def journal_line(where: str) -> Observed:
    """Open the journal at a file name or a database URL for reading, and say its version. It is not made."""
    try:
        url = place_of(where)
        shown, path = shown_place(url), Path(url.database or "")
        if url.get_backend_name() != "sqlite":
            engine = server_engine(url)
        elif not os.path.lexists(path):
            return Observed("journal", "journal", f"{shown} is not there yet")
        else:
            with as_usage_error(shown, "check its folder and permissions"):
                status = require_journal(path)
            if stat.S_IMODE(status.st_mode) & 0o077:
                return fault("journal", "journal", f"{shown} may be read by others", f"run: chmod 600 {shown}")
            # Where no other program has it open there is no write-ahead log, and it is read as a file that nobody
            # changes: otherwise SQLite would make one beside it.
            mode = "mode=ro" if path.with_name(f"{path.name}-wal").exists() else "mode=ro&immutable=1"
            engine = create_engine(f"sqlite:///file:{quote(str(path.absolute()))}?{mode}&uri=true")
        return _judge(shown, engine)
    except AirlockError as error:
        return broken("journal", "journal", error)


def _judge(shown: str, engine: Engine) -> Observed:
    """Say what is in a database that is whole, and whether anything may be sent from it. Raises ``JournalError``."""
    try:
        with journal_errors("read"), bounded(engine, READING) as connection:
            if engine.dialect.name == "sqlite" and (found := connection.scalar(text("PRAGMA quick_check"))) != "ok":
                raise sqlite3.DatabaseError(found)
            known = inspect(connection).has_table(SCHEMA.name)
            versions = list(connection.scalars(select(SCHEMA.c.version))) if known else []
            if not versions:
                return Observed("journal", "journal", f"{shown} opens; it is empty")
            if versions != [SCHEMA_VERSION]:
                return fault(
                    "journal",
                    "journal",
                    f"{shown} has the schema {', '.join(map(str, versions))}, this program knows {SCHEMA_VERSION}",
                    "use the program that wrote it, or another journal",
                )
            if copied := identify(connection).copied:
                return fault("journal", "journal", f"{shown}: {copied}", COPIED_DO)
            return Observed("journal", "journal", f"{shown} opens, schema {SCHEMA_VERSION}")
    finally:
        engine.dispose()


# ---- services -------------------------------------------------------------------------------------------------------


def service_lines(deployment: Deployment, http: Http, now_s: float) -> Iterator[Observed]:
    """Ask each service of a deployment for its base address, and the builder whether it is ready.

    ``now_s`` is this machine's time in unix seconds, for the builder's ``Date``. Any HTTP answer counts as reached.
    """
    group = f"services of {deployment.name}"
    for name, url in sorted(deployment.base_urls.items()):
        if name == "rpc":
            yield node_line(url, [deployment], http, group)
            continue
        try:
            reply = http.exchange(HttpCall("GET", url))
        except AirlockError as error:
            yield broken(group, name, error)
            continue
        yield Observed(group, name, f"{safe(url)} answers (HTTP {reply.status})")
        if name == "builder":
            yield _ready_line(url, http, group)
            yield clock_line(reply.date, now_s, group)


def _ready_line(url: str, http: Http, group: str) -> Observed:
    try:
        readiness = BuilderClient(url, http).ready()
    except AirlockError as error:
        return broken(group, "ready", error)
    if readiness.ready:
        return Observed(group, "ready", "the builder says that it is ready")
    do = "wait for its dependencies: airlock-online ready shows them"
    return fault(group, "ready", "the builder says that it is not ready", do, ExitCode.SERVICE)


def clock_line(date: str, now_s: float, group: str) -> Observed:
    """Compare this machine's clock with a ``Date`` header, which has whole seconds and comes from a party not believed."""
    try:
        stated = parsedate_to_datetime(date)
    except (ValueError, OverflowError):
        stated = None
    if stated is None or stated.tzinfo is None:
        return Observed(group, "clock", "unknown: the builder gives no date", LOOK, "compare it with a watch")
    off_s = now_s - stated.timestamp()
    if abs(off_s) <= CLOCK_LOOK_S:
        return Observed(group, "clock", f"within {CLOCK_LOOK_S} s of the builder's")
    found = f"{span_text(int(abs(off_s)))} {'ahead of' if off_s > 0 else 'behind'} the builder's"
    do = "compare both with a watch; deadlines are judged by this machine's clock"
    if abs(off_s) <= CLOCK_FAULT_S:
        return Observed(group, "clock", found, LOOK, do)
    return fault(group, "clock", found, do, ExitCode.EXPIRED)


def node_line(url: str, deployments: list[Deployment], http: Http, group: str) -> Observed:
    """Ask a node for its chain id, and compare it with that of the deployments."""
    try:
        node = RpcClient(url, http)
        chain_id = node.chain_id()
    except AirlockError as error:
        return broken(group, "node", error)
    wanted = {deployment.chain_id for deployment in deployments}
    if wanted and chain_id not in wanted:
        found = f"{safe(node.name)} is on chain {chain_id}, the deployment on {', '.join(map(str, sorted(wanted)))}"
        return fault(group, "node", found, "use a node of that chain: [rpc] url in config.toml", ExitCode.REFUSED)
    return Observed(group, "node", f"{safe(node.name)} answers, chain {chain_id}")


# ---- doctor ---------------------------------------------------------------------------------------------------------


_REQUIREMENTS = Path(__file__).resolve().parents[3] / "requirements.txt"  # of a source checkout: online/
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
    yield closure_line(_REQUIREMENTS)
    yield home_line(home.folder)
    yield disk_line(home.folder, world)
    yield config_line(home.folder / CONFIG_FILE, lambda _: home.config())
    yield from _services_lines(home)
    yield journal_line(home.journal_url())
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
    try:
        home.api_key()
    except AirlockError as error:
        yield broken(group, "api_key", error)
    if settings.proxy:
        yield Observed(group, "proxy", f"{safe(settings.proxy)}, for all but this machine")
    if settings.plain_http:
        found = "http:// addresses beyond this machine are allowed: they can be read and changed on the way"
        yield Observed(group, "plain_http", found, LOOK, "use https, and take plain_http out of config.toml")


def _reached(home: OnlineHome, deployments: list[Deployment]) -> Iterator[Observed]:
    try:
        config = home.config()
        tls_context(config.http.ca_file)
        home.api_key()
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
