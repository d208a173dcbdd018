"""``ceremony codes`` and ``ceremony scan``: what is handed over at once, shown as one page of codes and read from it."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import partial
from pathlib import Path

import click

from airlock_shared.ceremony.roles import require_open, write_people
from airlock_shared.ceremony.workflow import DEPLOYMENT, PEOPLE, PROOFS_FILE, READY
from airlock_shared.cli.ceremony.status import CeremonyMachine, plan_with_roles
from airlock_shared.cli.progress import working
from airlock_shared.cli.qr.scanning import scan_document
from airlock_shared.cli.terminal import FOLDER_TYPE, INPUT, json_option, led, plan_option, say, show_if_json
from airlock_shared.documents.hand_over import HAND_OVER_FORMAT, parse_hand_over, write_hand_over
from airlock_shared.errors import DocumentError, UsageError
from airlock_shared.host.files import MAX_FILE_BYTES, make_folder, read_input, write_new
from airlock_shared.host.picture_sources import KeptFrames
from airlock_shared.plan.model import Plan
from airlock_shared.plan.toml_positions import parse_written_plan
from airlock_shared.qr.documents import file_name, transfer_of
from airlock_shared.qr.render import WINDOW, qr_page, window
from airlock_shared.qr.scan import CAMERA
from airlock_shared.text.safe import safe

# ---- put files ------------------------------------------------------------------------------------------------------
# A document that came or goes, put into a folder: whole, and never over another.


def put(path: Path, data: bytes) -> None:
    """Write a file and tell of it; one that is the same stays. Raises ``UsageError`` for one that is not.

    Raises ``DocumentError("DOC-LINK")`` for a folder that is a link: a stick could name a folder of this machine's own.
    """
    if path.parent.is_symlink():
        raise DocumentError("DOC-LINK", f"{path.parent} is a symbolic link", do="remove it, or name the folder itself")
    name = safe(path.name)
    if not path.exists():
        write_new(path, data)
        said = f"Wrote {name}"
    elif read_input(path, max_bytes=MAX_FILE_BYTES) == data:
        said = f"{name} is there already, and the same."
    else:
        raise UsageError(
            f"{path} is there already, and it is another document",
            do="find out which is right; move the other one away, or use an empty folder",
        )
    if not led():
        say(said)


# ---- by QR codes -----------------------------------------------------------------------------------------------------


_files_argument = click.argument("sources", metavar="FILE...", nargs=-1, required=True, type=INPUT)
_into = partial(click.option, "-o", "--output", "folder", type=FOLDER_TYPE, required=True)
_AGAIN = re.compile(r"(requests|signatures)(-[0-9]{1,2})?\.json", re.ASCII)


@click.command("codes", short_help="Show documents as one page of QR codes.")
@_files_argument
@plan_option
@_into(help="The folder for the page.")
@json_option
def codes(sources: tuple[Path, ...], plan_file: Path, folder: Path, as_json: bool) -> None:
    r"""Write one page that shows every FILE as QR codes, for the other machine's camera. The documents stay as they are.

    \b
    Example:
      PROGRAM ceremony codes requests.json --plan plan.toml -o codes
    """
    files = {source.name: read_input(source, max_bytes=MAX_FILE_BYTES) for source in sources}
    if len(files) < len(sources):
        raise UsageError("two files have one name", do="hand them over one after the other")
    document = write_hand_over(parse_written_plan(read_input(plan_file)).id, files)
    transfer = transfer_of(document)
    path = make_folder(folder) / f"{file_name(transfer.kind, transfer.fingerprint)}.html"
    if not path.exists():  # the name holds the fingerprint: it is the same page
        secret = ", SECRET until it is submitted" if sources[0].name.startswith("signatures") else ""
        untold = transfer._replace(
            fingerprint="", kind=f"{', '.join(files)}{secret}"
        )  # nobody types its words: those of each document stand on the terminal
        with working("Drawing the codes"):
            write_new(path, qr_page(untold))
    put(path.with_suffix(".json"), document)
    for name, data in window(path.name).items():
        (folder / name).unlink(missing_ok=True)
        write_new(folder / name, data)
    if not led():
        say(f"Show the page {safe('/'.join((folder / WINDOW).resolve().parts[-3:]))}")  # its folder, and the ceremony's
    show_if_json(as_json, codes=str(path), file=str(path.with_suffix(".json")), files=sorted(files))


@click.command("scan", short_help="Read documents from QR codes into a folder.")
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True)
@plan_option
@click.option("--file", "names", multiple=True, required=True, metavar="NAME", help="A file that is waited for.")
@_into(help="The folder to write into.")
@json_option
def scan_hand_over(
    sources: tuple[str, ...], plan_file: Path, names: tuple[str, ...], folder: Path, as_json: bool
) -> None:
    r"""Read what the other machine's page shows, from a camera or pictures, and write its files, never over others.

    It writes only the files that are waited for. People compare them at the next tasks.

    \b
    Example:
      PROGRAM ceremony scan camera --plan plan.toml \
        --file requests.json -o plan.ceremony
    """
    plan = parse_written_plan(read_input(plan_file))
    told, by_camera = "", any(map(CAMERA.fullmatch, sources))
    if by_camera:
        say(f"Point the camera at the other machine's page of codes: {', '.join(names)}")
    while True:  # nothing is kept between two pages: half of the one before would keep the next one out
        document = scan_document(sources, HAND_OVER_FORMAT, kept=KeptFrames(), known=None)
        ceremony, files = parse_hand_over(document.data)
        if not (other := _other(plan, ceremony, files, names)):
            break
        if not by_camera:
            raise other
        if told != document.fingerprint:  # the page before is still open: it will be another one
            say(f"{other.what}: {safe(other.got)}. Waiting for {safe(other.expected)}.")
        told = document.fingerprint
    make_folder(folder)
    for name, data in files.items():
        put(folder / name, data)
    show_if_json(as_json, folder=str(folder), files=sorted(files))


def _other(plan: Plan, ceremony: str, files: Collection[str], names: Collection[str]) -> DocumentError | None:
    """Return what is wrong with a hand-over: it is of another ceremony, or holds a file that is not waited for."""
    do = "remove these pictures; photograph the page that the other machine shows now"
    if ceremony != plan.id:
        return DocumentError("DOC-FORMAT", "a hand-over of another ceremony", got=ceremony, expected=plan.id, do=do)
    kinds = {*map(_kind, names)}
    unexpected = [
        name
        for name in files
        if _kind(name) not in kinds
        # on the same page; it is checked by a task of its own
        and not (DEPLOYMENT in names and PROOFS_FILE.fullmatch(name))
    ]
    if not unexpected:
        return None
    return DocumentError(
        "DOC-FORMAT",
        "another hand-over",
        got=", ".join(unexpected),
        expected=", ".join(names),
        do=do,
    )


def _kind(name: str) -> str:
    """Return a file's name as it was before it was made again: then it has a number."""
    again = _AGAIN.fullmatch(name)
    return again[1] if again else name


# ---- carry ----------------------------------------------------------------------------------------------------------
# ``ceremony gather`` and ``ceremony carry``: what the other machine needs, put together, and copied across.


@click.command("gather", short_help="Put together what the other machine needs to begin.")
@plan_option
@_into(help="The folder to write into.")
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
    show_if_json(as_json, folder=str(folder), files=sorted(documents))


@click.command("carry", short_help="Copy documents into a folder, whole, and never over others.")
@_files_argument
@_into(help="The folder to copy into.")
@json_option
def carry(sources: tuple[Path, ...], folder: Path, as_json: bool) -> None:
    r"""Copy each FILE into a folder, such as that of a stick. A file that is there already, and is the same, stays.

    \b
    Example:
      PROGRAM ceremony carry requests.json -o /media/stick
    """
    for source in sources:
        put(folder / source.name, read_input(source, max_bytes=MAX_FILE_BYTES))
    show_if_json(as_json, folder=str(folder), files=[source.name for source in sources])
