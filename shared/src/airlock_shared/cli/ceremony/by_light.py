"""``ceremony codes`` and ``ceremony scan``: what is handed over at once, shown as one page of codes and read from it."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

import click

from airlock_shared.ceremony.course import DEPLOYMENT
from airlock_shared.ceremony.proofs import FILE as PROOFS
from airlock_shared.cli.ceremony.put_files import put
from airlock_shared.cli.console import json_option, led, plan_option, say, show_json
from airlock_shared.cli.progress import working
from airlock_shared.errors import DocumentError
from airlock_shared.host.files import make_folder, read_input, write_new
from airlock_shared.host.transcript_file import MAX_BYTES
from airlock_shared.plan.model import Plan
from airlock_shared.plan.reader import parse_plan
from airlock_shared.text.safe import safe

_INTO = click.Path(path_type=Path, file_okay=False)
_AGAIN = re.compile(r"(requests|signatures)(-[0-9]{1,2})?\.json", re.ASCII)


@click.command("codes", short_help="Show documents as one page of QR codes.")
@click.argument("sources", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path, dir_okay=False))
@plan_option
@click.option("-o", "--output", "folder", type=_INTO, required=True, help="The folder for the page.")
@json_option
def codes(sources: tuple[Path, ...], plan_file: Path, folder: Path, as_json: bool) -> None:
    r"""Write one page that shows every FILE as QR codes, for the other machine's camera. The documents stay as they are.

    \b
    Example:
      PROGRAM ceremony codes requests.json --plan plan.toml -o codes
    """
    from airlock_shared.documents.hand_over import write_hand_over
    from airlock_shared.qr.documents import file_name, transfer_of
    from airlock_shared.qr.page import WINDOW, page, window
    from airlock_shared.qr.symbol import DEFAULT_VERSION
    from airlock_shared.qr.transfer import DEFAULT_PAUSE_MS, densities_of

    files = {source.name: read_input(source, max_bytes=MAX_BYTES) for source in sources}
    document = write_hand_over(_plan(plan_file).id, files)
    transfer = transfer_of(document)
    path = make_folder(folder) / f"{file_name(transfer.kind, transfer.fingerprint)}.html"
    if not path.exists():  # the name holds the fingerprint: it is the same page
        version = max(DEFAULT_VERSION, densities_of(transfer)[0])
        untold = transfer._replace(
            fingerprint=""
        )  # nobody types its words: those of each document stand on the terminal
        with working("Drawing the codes"):
            write_new(path, page(untold, version=version, pause_ms=DEFAULT_PAUSE_MS))
    put(path.with_suffix(".json"), document)
    for name, data in window(path.name).items():
        (folder / name).unlink(missing_ok=True)
        write_new(folder / name, data)
    if not led():
        say(f"Show the page {safe('/'.join((folder / WINDOW).resolve().parts[-3:]))}")  # its folder, and the ceremony's
    if as_json:
        show_json({"ok": True, "codes": str(path), "file": str(path.with_suffix(".json")), "files": sorted(files)})


@click.command("scan", short_help="Read documents from QR codes into a folder.")
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True)
@plan_option
@click.option("--file", "names", multiple=True, required=True, metavar="NAME", help="A file that is waited for.")
@click.option("-o", "--output", "folder", type=_INTO, required=True, help="The folder to write into.")
@json_option
def scan_hand_over(
    sources: tuple[str, ...], plan_file: Path, names: tuple[str, ...], folder: Path, as_json: bool
) -> None:
    r"""Read what the other machine's page shows, from a camera or pictures, and write its files, never over others.

    It writes only the files that are waited for. People compare them at the next stops.

    \b
    Example:
      PROGRAM ceremony scan camera --plan plan.toml \
        --file requests.json -o plan.ceremony
    """
    from airlock_shared.cli.qr.scanning import scan_document
    from airlock_shared.documents.hand_over import FORMAT, parse_hand_over
    from airlock_shared.host.scan_progress import KeptFrames
    from airlock_shared.qr.sources import CAMERA

    plan = _plan(plan_file)
    told = ""
    if any(map(CAMERA.fullmatch, sources)):
        say(f"Point the camera at the other machine's page of codes: {', '.join(names)}")
    while True:  # nothing is kept between two pages: half of the one before would keep the next one out
        document = scan_document(sources, FORMAT, kept=KeptFrames(), known=None)
        ceremony, files = parse_hand_over(document.data)
        if not (other := _other(plan, ceremony, files, names)):
            break
        if not any(map(CAMERA.fullmatch, sources)):
            raise other
        if told != document.fingerprint:  # the page before is still open: it will be another one
            say(f"{other.what}: {safe(other.got)}. Waiting for {safe(other.expected)}.")
        told = document.fingerprint
    make_folder(folder)
    for name, data in files.items():
        put(folder / name, data)
    if as_json:
        show_json({"ok": True, "folder": str(folder), "files": sorted(files)})


def _plan(file: Path) -> Plan:
    return parse_plan(read_input(file))


def _other(plan: Plan, ceremony: str, files: Collection[str], names: Collection[str]) -> DocumentError | None:
    """Return what is wrong with a hand-over: it is of another ceremony, or holds a file that is not waited for."""
    if ceremony != plan.id:
        return DocumentError("DOC-FORMAT", "a hand-over of another ceremony", got=ceremony, expected=plan.id,
                             do="show the page of this ceremony")  # fmt: skip
    again = {found[1] for name in names if (found := _AGAIN.fullmatch(name))}  # made again, it has a number
    unexpected = [
        name
        for name in files
        if name not in names
        and not ((found := _AGAIN.fullmatch(name)) and found[1] in again)
        and not (DEPLOYMENT in names and PROOFS.fullmatch(name))  # on the same page; it is checked at a stop of its own
    ]
    if not unexpected:
        return None
    return DocumentError("DOC-FORMAT", "another hand-over", got=", ".join(unexpected), expected=", ".join(names),
                         do="show the other machine's newest page, and take pictures of other pages away")  # fmt: skip


BY_LIGHT = (codes, scan_hand_over)
