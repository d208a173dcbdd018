"""``descriptors``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from airlock_online.home import OnlineHome
from airlock_online.wallets import erc7730
from airlock_shared.cli.console import json_option, rows, say, show, show_json
from airlock_shared.host.files import make_folder, require_new, write_new
from airlock_shared.text.safe import safe


@click.command("descriptors")
@click.option("--deployment", "name", help="The fetched deployment (default: the only one).")
@click.option("--owner", help="The owner's name in wallets (default: the trading domain's name).")
@click.option("--url", help="The owner's web site, https://...")
@click.option("-o", "--output", type=click.Path(path_type=Path, file_okay=False), required=True, help="The folder.")
@json_option
@click.pass_obj
def descriptors(
    home: OnlineHome, name: str | None, owner: str | None, url: str | None, output: Path, as_json: bool
) -> None:
    r"""Write clear-signing descriptors (ERC-7730) of a deployment.

    They are for the venue to submit to the registry, so that wallets show the names and units of signed values. No
    check of Airlock depends on them.

    \b
    Example:
      airlock-online descriptors --deployment mainnet --owner Venue -o erc7730
    """
    deployment = home.choose_deployment(name)
    files = erc7730.descriptors(deployment, owner, url)
    make_folder(output)
    for file in files:
        require_new(output / file)
    for file, document in files.items():
        write_new(output / file, f"{json.dumps(document, indent=2)}\n".encode())
    if as_json:
        shown = {file: len(document["display"]["formats"]) for file, document in files.items()}
        show_json({"ok": True, "deployment": deployment.fingerprint, "folder": str(output), "formats": shown})
        return
    for file, document in files.items():
        show("\n".join(rows(f"{len(document['display']['formats']):>3} formats  ", safe(str(output / file)))))
    if deployment.rehearsal:
        say("REHEARSAL: these contracts are worth nothing; there is no registry for them.")
