"""What a hand-held camera sees of a screen that plays a transfer, in a rehearsal: pictures of the codes, worse and fewer."""

from __future__ import annotations

from pathlib import Path
from random import Random

from airlock_rehearsal.picture_faults import CHANGES, captured
from airlock_shared.host.files import make_folder
from airlock_shared.qr.read import texts_in
from airlock_shared.ur.decode import Decoder

ROUNDS = 2  # how often the camera sees the whole cycle, at least
MOST_ROUNDS = 20  # then somebody would look what is wrong
LEAST_FRAMES = 6  # of a still code, too, a camera takes more than one picture
LOST = 0.3  # of all frames, each time they are shown
_EACH = 2  # changes for the worse in every picture


def photograph(codes: Path, pictures: Path, *, seed: str) -> tuple[int, int]:
    """Take pictures of a folder's frames into a new folder; return how many were shown, and how many were seen.

    As people do, it holds the camera until the transfer is whole. The same seed and frames give the same pictures.
    """
    from PIL import Image

    rng = Random(seed)  # noqa: S311  (a simulation)
    cycle, decoder = sorted(codes.glob("*.png")), Decoder()
    make_folder(pictures)
    shown = seen = 0
    for frame in cycle * MOST_ROUNDS:
        if shown >= max(ROUNDS * len(cycle), LEAST_FRAMES) and decoder.result is not None:
            break
        shown += 1
        if rng.random() < LOST:
            continue
        seen += 1
        with Image.open(frame) as code:
            picture = captured(code)
        for change, mild in rng.sample(list(CHANGES.values()), _EACH):
            picture = change(picture, rng, mild)
        picture.save(pictures / f"picture-{seen:04}.png", compress_level=1)
        if decoder.result is None:
            for text in texts_in(picture):
                decoder.receive(text)
    return shown, seen
