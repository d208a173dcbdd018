"""The texts of the codes in what a command line names: pictures, folders, videos, ``camera`` and ``camera:N``.

The libraries that open pictures and look for codes are loaded here, and behind it; a program may have it run in a process of
its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

CAMERA = re.compile(r"camera(?::([0-9]{1,2}))?")

Reader = Callable[[Sequence[str], Callable[[str], None]], Iterator[list[str]]]
"""What reads sources: it yields the texts of each picture, and tells remarks meanwhile. Raises as :func:`texts_of`."""


def texts_of(sources: Sequence[str], tell: Callable[[str], None]) -> Iterator[list[str]]:
    """Yield the texts of the codes in each picture, in order.

    What is left out of a folder, and a decoder that is missing, is told. Raises ``UsageError`` for a source that is not
    there, ``DocumentError`` for one that cannot be read.
    """
    from airlock_shared.host.picture_sources import camera_frames, file_frames
    from airlock_shared.qr.read import second_decoder_hint, texts_in

    if advice := second_decoder_hint():
        tell(advice)
    for source in sources:
        camera = CAMERA.fullmatch(source)
        frames = (
            camera_frames(int(camera[1] or 0))
            if camera
            else file_frames(Path(source), on_skipped=lambda error: tell(f"left out: {error}"))
        )
        for frame in frames:
            yield texts_in(frame)
