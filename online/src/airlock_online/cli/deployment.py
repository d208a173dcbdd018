"""``deployment fetch`` and ``ready``."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from airlock_online.clients.builder import BuilderClient
from airlock_online.clients.http import Http
from airlock_online.preparing.deployment_fetch import deployment_document
from airlock_online.state import State
from airlock_shared.cli.console import json_option, say, show, show_json
from airlock_shared.documents.deployment import parse_deployment
from airlock_shared.wire.codec import to_json
from airlock_shared.errors import ServiceError, UsageError
from airlock_shared.host.files import require_new, write_new
from airlock_shared.cli.comparison_lines import deployment_lines
from airlock_shared.text.safe import safe
from airlock_shared.text.fingerprint_words import spoken
from airlock_shared.cli.progress import working


@click.group("deployment")
def DEPLOYMENT() -> None:  # noqa: N802
    """Fetch a venue's deployment, to be pinned on the offline machine."""


@DEPLOYMENT.command("fetch")
@click.option("--name", required=True, help="What to call it, such as mainnet; plans name it.")
@click.option("--builder", required=True, help="Base URL of the builder service.")
@click.option("--batched-market", help="Base URL of the batched-market service.")
@click.option("--relayer", help="Base URL of the relayer.")
@click.option("--twap", help="Base URL of the TWAP service.")
@click.option("--core-api", help="Base URL of the core API.")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="The document to write.")
@json_option
@click.pass_obj
def fetch(state: State, /, name: str, builder: str, output: Path, as_json: bool, **services: str | None) -> None:
    r"""Read GET /v2/meta and the pair catalogue, and write the deployment document.

    Nothing in it is believed until people have compared its fingerprint on the offline machine.

    \b
    Example:
      airlock-online deployment fetch --name mainnet \
        --builder https://venue.example/builder -o deployment.json
    """
    require_new(output)
    config = state.config()
    urls = {"builder": builder} | {label: url for label, url in services.items() if url}
    with working("Waiting for the builder"), Http() as http:
        client = BuilderClient(builder, http)
        meta = client.meta()
        pairs = client.read(config.reads.pairs)
    fetched_at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    data = to_json(deployment_document(name, meta.data, meta.raw, pairs, urls, fetched_at, config.meta))
    deployment = parse_deployment(data)
    write_new(output, data)
    state.keep_deployment(deployment, data)
    if as_json:
        words = spoken(deployment.fingerprint)
        show_json({"ok": True, "file": str(output), "fingerprint": deployment.fingerprint, "words": words})
        return
    for line in deployment_lines(deployment):
        show(line)
    say(f"Wrote {output}")
    say(f"Carry it to the offline machine: airlock-offline trust {output.name}")


@click.command("ready")
@click.option("--builder", help="Base URL of a builder service, instead of a fetched deployment's.")
@click.option("--deployment", "name", help="The fetched deployment (default: the only one).")
@json_option
@click.pass_obj
def READY(state: State, builder: str | None, name: str | None, as_json: bool) -> None:  # noqa: N802
    r"""Ask the builder whether it is ready, and show the breakdown when it is not (exit code 8).

    \b
    Example:
      airlock-online ready
    """
    if builder is not None and name is not None:
        raise UsageError("--builder and --deployment are two builders", do="give one of them")
    url = builder or state.choose_deployment(name).base_urls["builder"]
    with working("Waiting for the builder"), Http() as http:
        readiness = BuilderClient(url, http).ready()
    if as_json:
        show_json({"ok": readiness.ready, "components": readiness.components})
    else:
        show("ready" if readiness.ready else "not ready")
        for name, value in readiness.components.items():
            show(f"  {safe(name):<24} {safe(_in_words(value), limit=200)}")
    if not readiness.ready:
        raise ServiceError("the builder is not ready", status=503, do="wait for its dependencies, then try again")


def _in_words(value: Any) -> str:
    """Return what the builder tells of a component in words, as JSON where it is no table of plain values."""
    if not isinstance(value, dict):
        return json.dumps(value)
    return ", ".join(f"{name} {item if isinstance(item, str) else json.dumps(item)}" for name, item in value.items())
