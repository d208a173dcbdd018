"""Pictures into a message: every picture is tried, progress is told, and nothing that was read is lost.

Pure but for what it is given: the pictures, the decoder, and the place where frames are kept.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from airlock_shared.errors import DocumentError
from airlock_shared.host.picture_sources import SONAME, UPGRADE, KeptFrames, camera_frames, file_frames, why_left_out
from airlock_shared.ur.decode import Decoder, Message, Progress, Taken
from airlock_shared.wire.strict_json import damaged

if TYPE_CHECKING:
    from PIL import Image


# ---- candidates -----------------------------------------------------------------------------------------------------
# The transfers whose frames a scan has seen: a stray frame of another one, even the very first, stands in nobody's
# way. The candidate with the most parts leads, and the first one that is complete is the scan's message; people
# confirm its kind and its fingerprint in either case. At most four are kept, so that a hostile screen costs bounded
# memory.


MOST = 4


class Candidate(NamedTuple):
    """One transfer: its decoder, and the texts of its useful frames."""

    decoder: Decoder
    texts: list[str]

    @property
    def useful(self) -> int:
        """How many parts of it are known."""
        return self.decoder.progress.useful

    def take(self, text: str) -> Taken:
        """Give it a frame's text, and keep the text when it is of use."""
        taken = self.decoder.receive(text)
        if taken is Taken.USEFUL:
            self.texts.append(text)
        return taken


class Candidates:
    """The leader, which every frame is given to first, and its rivals."""

    def __init__(self, leader: Decoder) -> None:
        self.leader = Candidate(leader, [])
        self._rivals: list[Candidate] = []

    def overtaken_by(self, text: str, *, early: bool) -> bool:
        """Give a rival a frame that is not the leader's; return whether that rival leads from now on.

        It does when it is complete or has more parts than the leader; with ``early`` already with its first.
        """
        rival = self._rival_of(text)
        if rival is None or not (early or rival.decoder.result is not None or rival.useful > self.leader.useful):
            return False
        self._rivals.remove(rival)
        self._keep(self.leader)
        self.leader = rival
        return True

    def _rival_of(self, text: str) -> Candidate | None:
        """Return the rival to which a frame was of use, a new one for the first frame of a transfer."""
        for rival in self._rivals:
            taken = rival.take(text)
            if taken is not Taken.MIXED:
                return rival if taken is Taken.USEFUL else None
        fresh = Candidate(Decoder(), [])
        if fresh.take(text) is not Taken.USEFUL:
            return None
        self._keep(fresh)
        return fresh

    def _keep(self, candidate: Candidate) -> None:
        """Keep one more rival; when there are too many, the one with the fewest parts makes room."""
        self._rivals.append(candidate)
        if len(self._rivals) >= MOST:
            self._rivals.remove(min(self._rivals[:-1], key=lambda rival: rival.useful))


# ---- read -----------------------------------------------------------------------------------------------------------
# The texts of the QR codes in a picture: zxing-cpp, then zbar where there is a sound one, then a clearer picture.


MISSING_ZBAR = (
    "the second decoder is missing: the zbar library is not installed. Codes are read without it; "
    "on Debian, apt-get install libzbar0 brings it"
)

_SMALL_PIXELS = 1 << 20


def texts_in(image: Image.Image) -> list[str]:
    """Return the text of each QR code in a picture without transparency, in either polarity; empty when none can be read."""
    grey = image if image.mode == "L" else image.convert("L")
    return _by_zxing(grey) or _by_zbar(grey) or _by_zxing(_clearer(grey))


def second_decoder_hint() -> str:
    """Return what to tell the operator once when the second decoder is missing, else nothing."""
    decode, why = _zbar()
    return "" if decode else why


def _clearer(grey: Image.Image) -> Image.Image:
    """Return a picture with its whole contrast, a small one at twice its size: noise and a dim screen need it."""
    from PIL import Image, ImageOps  # noqa: PLC0415 - native: after the filter

    full = ImageOps.autocontrast(grey, cutoff=1)
    if grey.width * grey.height > _SMALL_PIXELS:
        return full
    return full.resize((2 * grey.width, 2 * grey.height), Image.Resampling.BICUBIC)


def _by_zxing(grey: Image.Image) -> list[str]:
    import zxingcpp  # noqa: PLC0415 - native: after the filter

    kind, plain = zxingcpp.BarcodeFormats(zxingcpp.BarcodeFormat.QRCode), zxingcpp.TextMode.Plain
    found = zxingcpp.read_barcodes(grey, formats=kind, text_mode=plain)
    return [code.text for code in found]


def _by_zbar(grey: Image.Image) -> list[str]:
    decode, _ = _zbar()
    return decode(grey) if decode else []


@cache
def _zbar() -> tuple[Callable[[Image.Image], list[str]] | None, str]:
    """Return zbar's decoder of grey pictures, or None and why: the library is missing, or not one that may be used."""
    try:
        from pyzbar import zbar_library  # type: ignore[import-untyped]  # noqa: PLC0415 - it may be missing

        if sys.platform == "linux":  # it would look for the library by starting ldconfig or a compiler
            zbar_library.find_library = lambda _: SONAME
        from pyzbar import pyzbar, wrapper  # noqa: PLC0415 - after its search is changed
    except (ImportError, OSError):
        return None, MISSING_ZBAR
    if why := why_left_out(wrapper.LIBZBAR):
        return None, f"the second decoder is left out: {why}. Codes are read without it; {UPGRADE}"

    def decode(grey: Image.Image) -> list[str]:
        found = pyzbar.decode(grey, symbols=[pyzbar.ZBarSymbol.QRCODE])
        return [code.data.decode("utf-8", "replace") for code in found]

    return decode, ""


# ---- scan -----------------------------------------------------------------------------------------------------------


HINT_AFTER = 45  # pictures without a code: a second and a half of a camera
HINTS = (
    "no code is read: fill the picture with it, and hold it still until it is sharp",
    "no code is read: turn the screen away from lamps and windows, and set its brightness to the middle",
    "no code is read: choose a lower density on the other screen, and a slower speed",
)
OTHER_TRANSFER = "this is not the transfer that was begun before: the scan continues with this one"
MIXED = "codes of another transfer are shown too; the first complete one counts: compare its fingerprint"


class ScanReport(NamedTuple):
    """How a scan stands after a picture: ``pictures`` tried, frames by kind, and a ``hint`` (empty when all is well)."""

    pictures: int
    progress: Progress
    hint: str

    def line(self) -> str:
        """Return the state as one line of at most 80 columns, without the hint."""
        p = self.progress
        done = f"{p.percent:3} %  {p.useful} of {p.expected} parts" if p.expected else "no part is read yet"
        others = {"seen again": p.repeated, "other codes": p.foreign, "of another page": p.mixed, "damaged": p.bad}
        return ", ".join([done, *(f"{count} {name}" for name, count in others.items() if count)])[:80]


def scan_pictures(
    pictures: Iterable[Any],
    decoder: Decoder,
    on_progress: Callable[[ScanReport], None],
    *,
    kept: KeptFrames | None = None,
    read: Callable[[Any], list[str]] = texts_in,
) -> Message:
    """Return the message that the pictures show; ``on_progress`` is called after every picture.

    What ``kept`` holds of an earlier scan is taken first, and every useful frame is added to it at once. The caller
    forgets it when the message has been stored. Raises ``DocumentError("QR-INCOMPLETE")`` when the pictures end before.
    """
    kept, seen = kept or KeptFrames(), Candidates(decoder)
    for text in kept.texts():
        seen.leader.take(text)
    resumed, count, idle = decoder.progress.useful > 0, 0, 0
    if decoder.result is not None:
        return decoder.result
    for picture in pictures:
        texts, hint = read(picture), ""
        count, idle = count + 1, 0 if texts else idle + 1
        for text in texts:
            taken, said = _take(text, seen, kept, may_replace=resumed)
            resumed = resumed and taken not in (Taken.USEFUL, Taken.REPEATED)
            hint = said or hint
        decoder = seen.leader.decoder
        on_progress(
            ScanReport(
                count,
                decoder.progress,
                hint or (HINTS[(idle // HINT_AFTER - 1) % len(HINTS)] if idle >= HINT_AFTER else ""),
            )
        )
        if decoder.result is not None:
            return decoder.result
    raise _incomplete(decoder, count)


def _take(text: str, seen: Candidates, kept: KeptFrames, *, may_replace: bool) -> tuple[Taken, str]:
    """Give a text to the leading transfer and keep it when it is of use; return what became of it, and what to say of it.

    While nothing but kept frames has been of use, the first frame of another transfer takes their place; later a transfer
    of which more is known does, or one that is complete.
    """
    decoder = seen.leader.decoder
    begun = decoder.progress.expected > 0
    taken, said = seen.leader.take(text), decoder.reason
    if taken is Taken.MIXED:
        said = MIXED
        if seen.overtaken_by(text, early=may_replace):
            kept.forget()
            for known in seen.leader.texts:
                kept.add(known)
            return Taken.USEFUL, OTHER_TRANSFER
    if begun and decoder.progress.expected == 0:  # together they were wrong, and the decoder has begun anew
        kept.forget()
        seen.leader.texts.clear()
    if taken is Taken.USEFUL:
        kept.add(text)
    return taken, said


def _incomplete(decoder: Decoder, pictures: int) -> DocumentError:
    progress = decoder.progress
    if not progress.expected:
        found = progress.foreign + progress.bad
        what = f"no frame of a transfer is in {pictures} pictures"
        why = f", the last: {decoder.reason}" if decoder.reason else ""
        got = f"{found} other or damaged QR codes{why}" if found else "no QR code at all"
        do = "check that the pictures show the other screen's code, sharp and whole"
        return damaged("QR-INCOMPLETE", what, got=got, expected="a frame of a transfer", do=do)
    return damaged(
        "QR-INCOMPLETE",
        "the pictures end before the transfer is complete",
        got=f"{progress.useful} parts",
        expected=f"{progress.expected} parts",
        do="",
    )


# ---- sources --------------------------------------------------------------------------------------------------------
# The texts of the codes in what a command line names: pictures, folders, videos, ``camera`` and ``camera:N``.
# The libraries that open pictures and look for codes are loaded here, and behind it; a program may have it run in a
# process of its own.


CAMERA = re.compile(r"camera(?::([0-9]{1,2}))?")

_NAMED = 5  # pictures without a code

Reader = Callable[[Sequence[str], Callable[[str], None]], Iterator[list[str]]]
"""What reads sources: it yields the texts of each picture, and tells remarks meanwhile. Raises as :func:`texts_of`."""


def texts_of(sources: Sequence[str], tell: Callable[[str], None]) -> Iterator[list[str]]:
    """Yield the texts of the codes in each picture, in order.

    What is left out of a folder, its pictures without a code, and a decoder that is missing, are told. Raises ``UsageError``
    for a source that is not there, ``DocumentError`` for one that cannot be read.
    """
    if advice := second_decoder_hint():
        tell(advice)
    read: dict[str, bool] = {}  # whether a code was read in a picture of a folder, by name: the newest is the last

    def begin(file: Path) -> None:
        read[file.name] = False

    def left_out(error: DocumentError) -> None:
        read.popitem()
        tell(f"left out: {error}")

    for source in sources:
        camera = CAMERA.fullmatch(source)
        frames = (
            camera_frames(int(camera[1] or 0))
            if camera
            else file_frames(Path(source), on_skipped=left_out, on_file=begin)
        )
        for frame in frames:
            texts = texts_in(frame)
            for newest in [*read][-1:] if texts else ():
                read[newest] = True
            yield texts
    if without := [name for name, has_code in read.items() if not has_code]:
        named = ", ".join(without[:_NAMED]) + (" and others" if without[_NAMED:] else "")
        tell(f"no code is read in {len(without)} of {len(read)} pictures: {named}")
