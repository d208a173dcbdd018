"""What a hand-held camera sees of a screen that plays a transfer, in a rehearsal: pictures of the codes, worse and fewer."""

from __future__ import annotations

from pathlib import Path
from random import Random

from airlock_rehearsal.picture_faults import DEGRADATIONS, captured
from airlock_shared.host.files import make_folder

LEAST_FRAMES = 6  # of a still code, too, a camera takes more than one picture
ROUNDS = 2  # how often the camera sees the whole cycle, at least
LOST = 0.3  # of all frames, each time they are shown
_CHANGES = ("blur", "motion", "rotation", "tilt", "noise", "low contrast", "uneven light")
_EACH = 2  # changes for the worse in every picture


def photograph(codes: Path, pictures: Path, *, seed: str) -> tuple[int, int]:
    """Take pictures of a folder's frames into a new folder; return how many were shown, and how many were seen.

    The same seed gives the same pictures. At least one is seen.
    """
    from PIL import Image

    rng = Random(seed)  # noqa: S311  (a simulation)
    cycle = sorted(codes.glob("*.png"))
    frames = cycle * max(ROUNDS, -(-LEAST_FRAMES // len(cycle)))
    seen = [frame for frame in frames if rng.random() >= LOST] or frames[:1]
    make_folder(pictures)
    for number, frame in enumerate(seen, start=1):
        with Image.open(frame) as code:
            picture = captured(code)
        for name in rng.sample(_CHANGES, _EACH):
            picture = DEGRADATIONS[name].apply(picture, rng, level=0)
        picture.save(pictures / f"picture-{number:04}.png", compress_level=1)
    return len(frames), len(seen)
