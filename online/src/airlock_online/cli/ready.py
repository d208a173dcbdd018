"""``ready``: whether the builder is ready, and what it waits for."""

from __future__ import annotations

import json
from typing import Any

import click

from airlock_online.cli.connections import connections
from airlock_online.cli.venue_reads import VenueRead, reading
from airlock_online.clients.builder import BuilderClient
from airlock_shared.cli.console import led, show, show_json
from airlock_shared.errors import ServiceError, UsageError
from airlock_shared.text.safe import safe


@click.command("ready")
@click.option("--builder", help="Base URL of a builder service, instead of a fetched deployment's.")
@reading
def ready(at: VenueRead, builder: str | None) -> None:
    r"""Ask the builder whether it is ready, and show the breakdown when it is not (exit code 8).

    \b
    Example:
      airlock-online ready
    """
    if builder is not None and at.name is not None:
        raise UsageError("--builder and --deployment name two builders", do="give one of them")
    url = builder or at.deployment.base_urls["builder"]
    with connections(at.home) as http:
        readiness = BuilderClient(url, http).ready()
    if at.as_json:
        show_json({"ok": readiness.ready, "components": readiness.components})
    else:
        show("ready" if readiness.ready else "not ready")
        for name, value in () if led() and readiness.ready else readiness.components.items():
            show(f"  {safe(name):<24} {safe(_in_words(value), limit=200)}")
    if not readiness.ready:
        raise ServiceError("the builder is not ready", status=503, do="wait for its dependencies, then try again")


def _in_words(value: Any) -> str:
    """Return what the builder tells of a component in words, as JSON where it is no table of plain values."""
    if not isinstance(value, dict):
        return json.dumps(value)
    return ", ".join(f"{name} {item if isinstance(item, str) else json.dumps(item)}" for name, item in value.items())
