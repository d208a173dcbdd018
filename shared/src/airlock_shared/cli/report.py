"""What ``report make`` and ``report verify`` of both halves share: reading files, writing the folder, telling of it.

The evidence folder is ``report.html``, ``report.json``, ``artefacts/`` and perhaps ``report.pdf``. It is written whole or
not at all, mode 0700, and never over an older one.
"""

from __future__ import annotations

import hashlib
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import click

from airlock_shared.cli.ceremony.by_screens import show_by_screens
from airlock_shared.cli.progress import working
from airlock_shared.cli.terminal import FOLDER_TYPE, INPUT, PATH_TYPE, json_option, led, rows, say, show, show_json
from airlock_shared.documents.deployment import parse_deployment
from airlock_shared.documents.requests import parse_requests
from airlock_shared.errors import DocumentError, UsageError
from airlock_shared.host.files import make_folder, read_document, read_input, require_new, write_new
from airlock_shared.plan.toml_positions import parse_written_plan
from airlock_shared.report.evidence.artefacts import (
    DEPLOYMENT_FILE,
    FILES,
    PLAN_FILE,
    REPORT_HTML,
    REPORT_JSON,
    REPORT_PDF,
    REQUESTS_FILE,
)
from airlock_shared.report.reexamined import judge
from airlock_shared.report.rows import Row, headline
from airlock_shared.report.verify import MadeReport, ScreensOf, report_of_artefacts, verify_report
from airlock_shared.text.safe import fingerprint_lines, safe, safe_again, spoken

ARTEFACTS = "artefacts"
_MAX_BYTES = 256 << 20  # of one file: a transcript may be as long
folder_option = click.option(
    "-o", "--output", "folder", type=PATH_TYPE, required=True, help="The evidence folder to write."
)
signatures_option = click.option("--signatures", "signatures_file", type=INPUT, help="The signatures document.")


def read_artefacts(given: Mapping[str, Path | None]) -> dict[str, bytes]:
    """Return the bytes of the files that were given, by artefact. Raises as ``read_input``."""
    return {name: read_input(path, max_bytes=_MAX_BYTES) for name, path in given.items() if path is not None}


def add_deployment(files: dict[str, bytes], pins: Path) -> None:
    """Add the deployment that the requests name, or else the plan, from a folder of pins, also one that was replaced.

    Raises ``UsageError`` when this machine does not have it.
    """
    name = parse_written_plan(files[PLAN_FILE]).deployment
    wanted = parse_requests(files[REQUESTS_FILE])[0].deployment if REQUESTS_FILE in files else ""
    for path in (pins / f"{name}.json", pins / f"{name}.{wanted[:16]}.replaced.json"):
        if not path.exists():
            continue
        data, found = read_document(path, lambda data: (data, parse_deployment(data).fingerprint))
        if wanted in ("", found):
            files[DEPLOYMENT_FILE] = data
            return
    raise UsageError(
        f"the deployment {name} of this plan and these requests is not on this machine",
        do="make the report on the machine of the ceremony, and check which plan and requests these are",
    )


Printing = Callable[[Path, Path], str]
"""Prints a page into a new PDF file; returns why there is none, or an empty text (``host.print_pdf.print_page``)."""


def make_report(folder: Path, files: Mapping[str, bytes], printing: Printing | None, *, as_json: bool) -> None:
    """Write the evidence folder, print it when it is to be, and tell of it. Raises as ``make`` and ``write_folder``."""
    report = report_of_artefacts(files, judge)
    write_folder(folder, report, files)
    printed = printing is not None and _printed(folder, printing)
    lines = () if led() else rows("Wrote ", safe(str(folder)))  # where it is led, its end says where everything is
    facts = {"folder": str(folder), "pdf": printed, **_mark(report.json)}
    _tell(report.value, facts, lines, as_json=as_json)


def verify_command(screens_of: ScreensOf | None, example: str) -> click.Command:
    """Return ``report verify`` of a half; ``screens_of`` computes the Ledger's pages, where the half can."""

    @click.command(
        "verify",
        help=f"""Compute the report in FOLDER again from its artefacts, and compare every field and every byte of the page.

        Exit codes: 0 it matches the artefacts, 3 the artefacts contradict each other, 4 something was changed. With the
        signatures document every signer is recovered again.

        \b
        Example:
          {example}
        """,
    )
    @click.argument("folder", type=FOLDER_TYPE)
    @signatures_option
    @json_option
    def verify_folder(folder: Path, signatures_file: Path | None, as_json: bool) -> None:
        report, html, files = read_folder(folder)
        whole = read_input(signatures_file) if signatures_file is not None else None
        found = verify_report(report, html, files, judge, signatures=whole, screens_of=screens_of)
        pdf = (folder / REPORT_PDF).exists()
        lines = ["The report matches its artefacts: every field, and every byte of the page."]
        for sentence in found.open:
            lines += rows("not computed again: ", sentence)
        if pdf:
            lines.append(f"not verified: {REPORT_PDF}, a browser's copy of {REPORT_HTML}")
        facts = {**_mark(report), "not_computed_again": found.open, "pdf": pdf}
        _tell(found.value, facts, lines, as_json=as_json)

    return verify_folder


def _printed(folder: Path, printing: Printing) -> bool:
    if not led():
        say("Printing it as PDF ...")
    with working("Printing the page"):
        why = printing(folder / REPORT_HTML, folder / REPORT_PDF)
    if why:
        say(f"No {REPORT_PDF}: {safe_again(why)}. {REPORT_HTML} can be printed from any browser.")
    return not why


def _mark(report: bytes) -> Row:
    mark = hashlib.sha256(report).hexdigest()
    return {"fingerprint": mark, "words": spoken(mark)}


def _tell(value: Row, facts: Row, lines: Iterable[str], *, as_json: bool) -> None:
    """Show lines and what a report says below; as JSON, these facts and the members of the report that say it."""
    if as_json:
        own = {name: value[name] for name in ("made_by", "rehearsal", "complete", "missing", "notes", "part", "alive")}
        show_json({"ok": True, **facts, "ceremony": value["ceremony"]["id"], **own})
        return
    fingerprint = () if led() else fingerprint_lines("report", facts["fingerprint"])  # the page that is signed has it
    show_by_screens([*lines, *_shown(value), *fingerprint], show, stays=1)


def _shown(value: Row) -> Iterator[str]:
    ceremony, part = value["ceremony"], value["part"]
    if not led():
        yield from rows("ceremony    ", f"{ceremony['id']}: {ceremony['title']}")
    if value["rehearsal"]:
        yield "REHEARSAL   nothing here is worth anything"
    if part:
        yield from rows("PART        ", f"{part['what']}; not in it: {', '.join(part['not_in_it']) or 'none'}")
    notes = "; look at what is named below" if value["notes"] else ""
    whole = rows("complete    ", f"nothing that this report looks for is missing{notes}")
    yield from whole if value["complete"] else (headline(value["missing"]),)
    alive = [
        f"step {each['step']} of {each['ceremony']} may execute {each['may_execute']}; {each['known']}"
        for each in value["alive"]["signatures"]
    ]
    for heading, said in ("missing     ", value["missing"]), ("look at     ", value["notes"]), ("still alive ", alive):
        for sentence in said:
            yield from rows(heading, sentence)


# ---- the evidence folder on the disk ----------------------------------------------------------------------------------


def write_folder(folder: Path, report: MadeReport, files: Mapping[str, bytes]) -> None:
    """Write a new evidence folder. Raises ``UsageError`` when it exists, or cannot be written."""
    require_new(folder)
    made = make_folder(folder.with_name(f".{folder.name}.{secrets.token_hex(6)}"))
    try:
        make_folder(made / ARTEFACTS)
        for name, data in files.items():
            write_new(made / ARTEFACTS / name, data)
        write_new(made / REPORT_JSON, report.json)
        write_new(made / REPORT_HTML, report.html)
        made.rename(folder)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror}", do="choose another name") from error
    finally:
        shutil.rmtree(made, ignore_errors=True)


def read_folder(folder: Path) -> tuple[bytes, bytes, dict[str, bytes]]:
    """Return ``report.json``, ``report.html`` and the artefacts of an evidence folder.

    Raises ``UsageError`` when there is none, ``DocumentError("REPORT-ARTEFACT")`` for a file that does not belong there.
    """
    inside = folder / ARTEFACTS
    if not inside.is_dir() or inside.is_symlink():
        raise UsageError(f"{folder} is not an evidence folder", do="give the folder that `report make` wrote")
    for place, known in ((folder, (REPORT_JSON, REPORT_HTML, REPORT_PDF, ARTEFACTS)), (inside, FILES)):
        for path in sorted(place.iterdir()):
            if path.name not in known:
                raise DocumentError(
                    "REPORT-ARTEFACT",
                    "a file that does not belong in an evidence folder",
                    got=path.name[:80],
                    do="find out who put it there; the report does not cover it",
                )
    files = read_artefacts({path.name: path for path in sorted(inside.iterdir())})
    report, html = (read_input(folder / name, max_bytes=_MAX_BYTES) for name in (REPORT_JSON, REPORT_HTML))
    return report, html, files
