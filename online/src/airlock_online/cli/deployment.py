"""``deployment fetch``: what a venue says of itself, as a document to be pinned offline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import click

from airlock_online.addresses import join_address
from airlock_online.cli.connections import connections
from airlock_online.clients.builder import BuilderClient
from airlock_online.clients.pages import read_pairs
from airlock_online.home import OnlineHome
from airlock_online.preparing.deployment_fetch import deployment_document
from airlock_online.preparing.device_metadata import MAX_LIST_BYTES, add_device_metadata
from airlock_online.preparing.venue_profile import MAX_PROFILE_BYTES as PROFILE_BYTES
from airlock_online.preparing.venue_profile import add_venue_profile, require_deliverable
from airlock_shared.cli.comparison_lines import deployment_lines
from airlock_shared.cli.qr.file_or_qr import require_output
from airlock_shared.cli.terminal import INPUT, json_option, output_option, say, say_all, show_all, show_json
from airlock_shared.documents.deployment import Deployment, parse_deployment, valid_elsewhere
from airlock_shared.host.files import read_input, write_new
from airlock_shared.text.safe import safe, spoken
from airlock_shared.venue.structs import BUILDER, SERVICES
from airlock_shared.wire.strict_json import JsonObject, to_json

_F = TypeVar("_F", bound=Callable[..., Any])


@click.group("deployment")
def deployment() -> None:
    """Fetch a venue's deployment, to be pinned on the air-gapped machine."""


def _service_options(command: _F) -> _F:
    """Add an option for the address of each service; only the builder's is required."""
    for service in reversed([service for service in SERVICES.values() if service.asked_for]):
        command = click.option(service.option, required=service is BUILDER, help=service.asked_for)(command)
    return command


@deployment.command("fetch")
@click.option("--name", required=True, help="Its name in plans, such as mainnet.")
@_service_options
@click.option("--test-network", metavar="NAME", help="It is a test network: the software Ledger alone may sign for it.")
@output_option("The document to write.")
@click.option(
    "--device-metadata",
    type=INPUT,
    multiple=True,
    help="A file of Ledger's token records or message filters, which the Ledger is then told of. It may be given twice.",
)
@click.option(
    "--venue-profile",
    type=INPUT,
    help="A file that says where this venue's structs and calls differ from Airlock's (docs/reference/venue-profile.md).",
)
@json_option
@click.pass_obj
def fetch(
    home: OnlineHome,
    /,
    name: str,
    builder: str,
    test_network: str | None,
    output: Path,
    device_metadata: tuple[Path, ...],
    venue_profile: Path | None,
    as_json: bool,
    **others: str | None,
) -> None:
    r"""Read GET /v2/meta and the pair catalogue, and write the deployment document.

    Airlock trusts nothing in it until people have compared its fingerprint on the air-gapped machine.

    \b
    Example:
      airlock-online deployment fetch --name mainnet \
        --builder https://venue.example/builder -o deployment.json
    """
    require_output(output)
    records = [read_input(path, max_bytes=MAX_LIST_BYTES) for path in device_metadata]
    profile = None if venue_profile is None else read_input(venue_profile, max_bytes=PROFILE_BYTES)
    config = home.config()
    urls = {BUILDER.url_key: builder} | {url_key: url for url_key, url in others.items() if url}
    for url in urls.values():
        join_address(url, "/v2")  # what carries a password would be carried to the other machine
    with connections(home) as http:
        client = BuilderClient(builder, http, config.speech)
        document, meta = fetch_document(client, name, urls, test_network)
    document = document if profile is None else add_venue_profile(document, profile, safe(str(venue_profile)))
    data = to_json(add_device_metadata(document, *records))
    fetched = parse_deployment(data)
    require_deliverable(fetched, config.speech)
    write_new(output, data)
    home.keep_deployment(fetched, data)
    if as_json:
        words = spoken(fetched.fingerprint)
        show_json({"ok": True, "file": str(output), "fingerprint": fetched.fingerprint, "words": words})
        return
    show_all(deployment_lines(fetched))
    say_all(_said_only(fetched, meta, config.speech.replies["meta"]["simulator"], home.deployments()))
    say(f"Wrote {safe(str(output))}")
    say(f"Carry it to the air-gapped machine: airlock-offline trust {safe(output.name)}")


def fetch_document(
    client: BuilderClient, name: str, urls: Mapping[str, str], test_network: str | None = None
) -> tuple[JsonObject, JsonObject]:
    """Return the deployment document of a builder, and its meta document as it came.

    Raises ``ServiceError``, as ``deployment_document`` and ``read_pairs``.
    """
    meta, pairs = client.meta(), read_pairs(client)
    at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    replies = client.speech.replies
    return deployment_document(name, meta.data, meta.raw, pairs, urls, at, replies, test_network), meta.data


def _said_only(
    fetched: Deployment, meta: Mapping[str, Any], simulator: str, others: Iterable[Deployment]
) -> Iterator[str]:
    """Yield what a venue says of itself and is not believed, and where else a signature for it is valid."""
    if meta.get(simulator) and not fetched.rehearsal:
        yield "NOTE: the venue calls itself a simulator. That is only said: what is signed for it is worth everything."
    yield from valid_elsewhere(fetched, others)
