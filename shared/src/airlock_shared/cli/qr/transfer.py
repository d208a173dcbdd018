"""What both programs' commands do by light: show a transfer, scan one, and have a person confirm what came.

Codes are drawn on stdout, everything else is said on stderr. No server is started; a page is a file that a browser opens.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import click

from airlock_shared.cli.console import ask_yes, paint, say
from airlock_shared.cli.document_lines import fingerprint_lines
from airlock_shared.cli.lazy_commands import READER
from airlock_shared.cli.progress import working
from airlock_shared.cli.qr import animation
from airlock_shared.documents.deployment import FORMAT as DEPLOYMENT
from airlock_shared.documents.deployment import Deployment, only_rehearsals, parse_deployment
from airlock_shared.errors import Declined, DocumentError, UsageError
from airlock_shared.host.files import make_folder, write_new
from airlock_shared.host.scan_progress import KeptFrames
from airlock_shared.qr.documents import ReceivedDocument, file_name, received
from airlock_shared.qr.scan import ScanReport, scan
from airlock_shared.qr.sources import CAMERA, Reader, texts_of
from airlock_shared.qr.symbol import DEFAULT_VERSION, DENSITIES
from airlock_shared.qr.transfer import DEFAULT_PAUSE_MS, Transfer, densities_of, ideal_count
from airlock_shared.records import NamedTuple
from airlock_shared.text.fingerprint_words import spoken
from airlock_shared.text.safe import safe, safe_again
from airlock_shared.ur.decode import Decoder, Message

How = Literal["terminal", "page", "png", "gif", "sheet"]
HOWS: tuple[How, ...] = ("terminal", "page", "png", "gif", "sheet")
_ENDINGS = {"page": ".html", "gif": ".gif", "sheet": ".pdf"}


class ShownTransfer(NamedTuple):
    """How a transfer was shown: by ``how``, in so many ideal ``frames``, in ``path`` unless it was in the terminal."""

    transfer: Transfer
    how: How
    frames: int
    path: Path | None

    def as_json(self) -> dict[str, Any]:
        """Return the members of a command's JSON result."""
        transfer = self.transfer
        names = {"kind": transfer.kind, "ceremony": transfer.ceremony, "fingerprint": transfer.fingerprint}
        words = spoken(transfer.fingerprint)
        return names | {"words": words, "as": self.how, "frames": self.frames, "codes": str(self.path or "")}


# ---- showing --------------------------------------------------------------------------------------------------------


def show_transfer(
    transfer: Transfer,
    *,
    how: How | None,
    output: Path | None,
    folder: Path,
    version: int | None,
    as_json: bool = False,
) -> ShownTransfer:
    """Show a transfer; without ``how``, in the terminal when it fits there, otherwise as a page in ``folder``.

    With ``as_json`` stdout is not for codes, and the caller prints the JSON. Ctrl-C ends an animation in the terminal: that
    is its normal end. Raises ``UsageError`` for what is too long, a terminal that is too small, or a file that exists.
    """
    for line in name_lines(transfer.kind, transfer.ceremony, transfer.fingerprint):
        say(line)
    fits = None if as_json or output is not None else animation.fitting(transfer, version)
    how = how or ("page" if fits is None else "terminal")
    if how == "terminal":
        if fits is None:
            do = "leave out --json and -o" if as_json or output is not None else animation.advice()
            raise UsageError("the code cannot be shown in the terminal", do=do)
        animation.play(transfer, fits)
        return ShownTransfer(transfer, how, ideal_count(transfer, fits), None)
    return _in_file(transfer, how, output, folder, version)


def name_lines(kind: str, ceremony: str, fingerprint: str) -> Iterator[str]:
    """Yield the names that people compare on both screens; what has no fingerprint of ours is named without."""
    yield f"{safe(kind)}, ceremony {safe(ceremony)}" if ceremony else safe(kind)
    if fingerprint:
        yield from fingerprint_lines("document", fingerprint)


def _in_file(transfer: Transfer, how: How, output: Path | None, folder: Path, version: int | None) -> ShownTransfer:
    density = _density(transfer, version)
    path = output or _default_path(transfer, how, folder, version)
    shown = ShownTransfer(transfer, how, ideal_count(transfer, density), path)
    if output is None and path.exists():  # the name holds the fingerprint: it is the same transfer
        say(f"{safe(str(path))} is there already")
    else:
        with working("Drawing the codes"):
            _write(transfer, how, path, density)
        say(f"Wrote {safe(str(path))}")
    if how == "page":
        say("Open it in a browser on this machine; no server and no network are needed.")
    return shown


def _density(transfer: Transfer, version: int | None) -> int:
    """Return the largest number of a symbol's version to use. Raises ``UsageError`` when the message is too long for it."""
    counts = densities_of(transfer)
    if version is not None and version < counts[0]:
        raise UsageError("the document is too long for codes of this density", do="choose a higher density")
    return version or max(DEFAULT_VERSION, counts[0])


def _default_path(transfer: Transfer, how: How, folder: Path, version: int | None) -> Path:
    if how == "png":
        raise UsageError("a sequence of pictures needs a folder", do="name a new one with -o")
    name = file_name(transfer.kind, transfer.fingerprint or sha256(transfer.cbor).hexdigest())
    density = f"-{version}" if version else ""
    return make_folder(folder) / f"{name}{density}{_ENDINGS[how]}"


def _write(transfer: Transfer, how: How, path: Path, version: int) -> None:
    from airlock_shared.qr import page, pictures

    if how == "page":
        write_new(path, page.page(transfer, version=version, pause_ms=DEFAULT_PAUSE_MS))
    elif how == "png":
        pictures.write_sequence(transfer, path, version)
    elif how == "gif":
        pictures.write_gif(transfer, path, version, pause_ms=DEFAULT_PAUSE_MS)
    else:
        pictures.write_sheet(transfer, path, version)


def density_option(command: Callable[..., None]) -> Callable[..., None]:
    """Add ``--density`` to a command, as ``version``."""
    words = "Density of the codes: the version of the QR code (default: 20)."
    kind = click.Choice([str(each) for each in DENSITIES])
    return click.option("--density", "version", type=kind, callback=_number, help=words)(command)


def _number(_context: click.Context, _option: click.Parameter, value: str | None) -> int | None:
    return None if value is None else int(value)


# ---- scanning -------------------------------------------------------------------------------------------------------


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
    if any(map(CAMERA.fullmatch, sources)):
        say("Point the camera at the other screen. Ctrl-C loses nothing: run the same command to continue.")
    context = click.get_current_context(silent=True)
    reader: Reader = context.meta.get(READER, texts_of) if context else texts_of
    return scan(
        reader(sources, lambda remark: say(safe_again(remark))), Decoder(), _Screen().tell, kept=kept, read=list
    )


class _Screen:
    """Progress on stderr: one line that renews itself on a terminal, otherwise a line at each tenth; a hint once."""

    def __init__(self) -> None:
        self._tenth, self._hint, self._live = -1, "", sys.stderr.isatty()

    def tell(self, report: ScanReport) -> None:
        """Show how the scan stands after a picture."""
        if report.hint and report.hint != self._hint:
            if self._live:
                paint("\r\x1b[K", err=True, end="")
            say(report.hint)
        self._hint = report.hint or self._hint
        if self._live:
            end = "\n" if report.progress.percent == 100 else ""
            paint(f"\r\x1b[K{report.line()}", err=True, end=end)
        elif report.progress.percent // 10 != self._tenth:
            self._tenth = report.progress.percent // 10
            say(report.line())


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
        for line in name_lines(document.kind, document.ceremony, document.fingerprint):
            say(line)
        for line in fingerprint_lines("plan", document.plan) if document.plan else ():
            say(line)
        also = [parse_deployment(document.data)] if document.kind == DEPLOYMENT else []
        ask_yes(
            "A second person reads the other machine's screen aloud. Are they the same?",
            piped=only_rehearsals([*known(), *also]),
        )
    return document
