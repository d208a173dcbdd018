"""``export``: a signed package for another sender."""

from __future__ import annotations

from pathlib import Path

import click

from airlock_online.cli.comparing import prove_compared
from airlock_online.cli.delivery_context import open_desk, requests_option
from airlock_online.cli.signed_documents import not_signed, read_signatures
from airlock_online.clock import now_ms
from airlock_online.delivery.deliveries import delivery_of
from airlock_online.delivery.export_package import EXPORT_FORMAT, package
from airlock_online.delivery.submit import export_delivery, exportable
from airlock_online.home import OnlineHome
from airlock_shared.cli.qr.file_or_qr import require_output
from airlock_shared.cli.terminal import INPUT, finish, json_option, say, show, show_json, worst
from airlock_shared.errors import UsageError
from airlock_shared.host.files import read_input, write_new
from airlock_shared.text.safe import safe
from airlock_shared.venue.structs import AUTHORIZATION


@click.command("export")
@click.argument("file", type=INPUT)
@click.option("--step", help="Export only this step.")
@click.option(
    "-o",
    "--output",
    required=True,
    type=INPUT,
    help="Where to write the package; an existing file is never overwritten.",
)
@requests_option
@json_option
@click.pass_obj
def export(
    home: OnlineHome, file: Path, step: str | None, output: Path, requests_file: Path | None, as_json: bool
) -> None:
    r"""Write the signatures in FILE as a package for another sender.

    After that, this machine never submits them; `airlock-online follow` reads their outcome. Whoever has the package
    can execute what was signed: before it is written, two words of the signatures are typed, as `submit` asks.

    \b
    Example:
      airlock-online export signatures.json --step desk-key -o package.json
    """
    whole = read_signatures(home, read_input(file), requests_file)
    require_output(output)
    named = [pair for pair in whole.pairs if step in (None, pair[0].step)]
    chosen = [pair for pair in named if pair[0].action != AUTHORIZATION]
    if len(chosen) < len(named):
        say("An authorization is in no package: it goes with its order, by `submit --eip7702`.")
    if not chosen:
        raise UsageError(f"these signatures have no step {step!r} for a package", do="name one of their steps")
    codes = [not_signed(request, signed) for request, signed in chosen if signed.result != "signed"]
    deliveries = [
        delivery_of(request, signed, whole.header, whole.deployment, whole.requests, to_send=False)
        for request, signed in chosen
        if signed.result == "signed"
    ]
    if not deliveries:
        finish(worst(codes))
    prove_compared(home, whole)
    with open_desk(home, 0, as_json=as_json, make=True) as desk:
        for delivery in deliveries:
            exportable(delivery, desk.context(delivery))
        for delivery in deliveries:
            export_delivery(delivery, desk.context(delivery))
    digests = [delivery.digest for delivery in deliveries]
    facts = {"ceremony": whole.header.ceremony, "signatures": whole.signatures, "digests": digests}
    home.transcript.record("exported", facts, now_ms())
    write_new(output, package(whole.header, whole.deployment, deliveries))
    if as_json:
        show_json({"ok": True, "format": EXPORT_FORMAT, "file": str(output), "digests": digests})
    for delivery in deliveries:
        if not as_json:
            show(f"exported {delivery.step}: {delivery.primary_type}, for the {delivery.route}\n  {delivery.digest}")
    say(f"Written to {safe(str(output))}. This machine never submits these; whoever has the file can execute them.")
    finish(worst(codes))
