"""What both programs' commands read by QR codes: scan a transfer, and have a person confirm what came."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from airlock_shared.cli.program import READER
from airlock_shared.cli.terminal import ask_yes, led, renew, rows, say, say_all
from airlock_shared.documents.deployment import DEPLOYMENT_FORMAT, Deployment, all_worth_nothing, parse_deployment
from airlock_shared.errors import Declined, DocumentError
from airlock_shared.host.files import make_folder
from airlock_shared.host.picture_sources import KeptFrames
from airlock_shared.qr.documents import ReceivedDocument, received
from airlock_shared.qr.scan import CAMERA, Reader, ScanReport, scan_pictures, texts_of
from airlock_shared.text.safe import fingerprint_lines, name_lines, wrapped
from airlock_shared.ur.decode import Decoder, Message

_LINE = 78
_SECOND_DECODER = "the second decoder"
"""How the remark begins that it is left out: of this machine, and no news at each of a ceremony's pages."""


def kept_frames(home: Path, purpose: str, *, restart: bool) -> KeptFrames:
    """Return where a command keeps what it has read, in a machine's folder; with ``restart`` it is forgotten first."""
    kept = KeptFrames(make_folder(home / "scans") / f"{purpose}.frames")
    if restart:
        kept.forget()
    return kept


def scan_message(sources: Sequence[str], *, kept: KeptFrames) -> Message:
    """Return the message that the sources show: paths of pictures, folders and videos, or ``camera`` and ``camera:N``.

    What is read is kept at once, so that after Ctrl-C the same command goes on; the caller forgets it when the message has
    been stored or declined. Raises ``UsageError`` and ``DocumentError`` as the sources and ``QR-INCOMPLETE``.
    """
    if kept.texts():
        say("Continuing an interrupted scan; --restart begins again.")
    if any(map(CAMERA.fullmatch, sources)) and not led():  # there it was said which page comes
        say("Point the camera at the other screen. Ctrl-C loses nothing: run the same command to continue.")
    context = click.get_current_context(silent=True)
    reader: Reader = context.meta.get(READER, texts_of) if context else texts_of
    return scan_pictures(reader(sources, _remark), Decoder(), _progress(), kept=kept, read=list)


def _remark(text: str) -> None:
    if not (led() and text.startswith(_SECOND_DECODER)):
        say_all(rows("picture reader | ", text))


def _progress() -> Callable[[ScanReport], None]:
    """Return what tells of a scan: one line that renews itself on a terminal, and none elsewhere; a hint once, wherever."""
    told, live = "", sys.stderr.isatty()

    def tell(report: ScanReport) -> None:
        """Show how the scan stands after a picture; where a ceremony is led and waits for a page, a hint is its line."""
        nonlocal told
        if led() and live and report.hint and not report.progress.percent:
            renew(next(iter(wrapped(report.hint, _LINE))))
            return
        if report.hint and report.hint != told:
            say(report.hint)
        told = report.hint or told
        renew(report.line() if report.progress.percent < 100 or not led() else "")

    return tell


@contextmanager
def forgotten_when_wrong(kept: KeptFrames) -> Iterator[None]:
    """Forget what was read when it is refused or declined inside: it would only come back."""
    try:
        yield
    except (DocumentError, Declined):
        kept.forget()
        raise


Deployments = Callable[[], list[Deployment]]
"""What gives the deployments that a machine knows."""


def scan_document(sources: Sequence[str], *kinds: str, kept: KeptFrames, known: Deployments | None) -> ReceivedDocument:
    """Scan a document of one of these kinds (any known one without), show its names, and have a person confirm them.

    In a rehearsal, which the deployments that are ``known`` and the scanned one tell, a pipe may confirm them. Without
    ``known`` nothing is shown or asked: its words are typed from the other machine's screen afterwards.
    Raises as :func:`scan_message` and :func:`airlock_shared.qr.documents.received`, and ``Declined``.
    """
    message = scan_message(sources, kept=kept)
    with forgotten_when_wrong(kept):
        document = received(message, *kinds)
        if known is None:
            return document
        say_all(name_lines(document.kind, document.ceremony, document.fingerprint))
        say_all(fingerprint_lines("plan", document.plan) if document.plan else ())
        also = [parse_deployment(document.data)] if document.kind == DEPLOYMENT_FORMAT else []
        ask_yes(
            "A second person reads the other machine's screen aloud. Are they the same?",
            piped=all_worth_nothing([*known(), *also]),
        )
    return document
