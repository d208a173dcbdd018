"""Pictures into a message: every picture is tried, progress is told, and nothing that was read is lost.

Pure but for what it is given: the pictures, the decoder, and the place where frames are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from airlock_shared.errors import DocumentError
from airlock_shared.host.scan_progress import KeptFrames
from airlock_shared.qr.candidates import Candidates
from airlock_shared.qr.read import texts_in
from airlock_shared.ur.decode import Decoder, Message, Progress, Taken
from airlock_shared.wire.codec import damaged

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
        done = f"{p.percent:3} %  {p.useful} of {p.expected or '?'} parts"
        ignored = [f"{count} {name}" for name, count in (("mixed", p.mixed), ("damaged", p.bad)) if count]
        return ", ".join([done, f"{p.repeated} repeated", f"{p.foreign} foreign", *ignored])[:80]


def scan(
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
        on_progress(ScanReport(count, decoder.progress, hint or _hint(idle)))
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
        if seen.overtaken_by(text, at_once=may_replace):
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


def _hint(idle: int) -> str:
    """Return what to try after so many pictures without a code; another advice each time."""
    return HINTS[(idle // HINT_AFTER - 1) % len(HINTS)] if idle >= HINT_AFTER else ""


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
        do="show the missing frames, or let it play longer, and scan again",
    )
