"""What else can be wrong with a picture than what a rehearsal's camera does: a lamp, an old screen, two frames in one."""

from __future__ import annotations

import math
from random import Random
from typing import NamedTuple

from PIL import Image, ImageChops

from airlock_rehearsal.camera import CHANGES, HIGH, Change, captured

__all__ = ["DEGRADATIONS", "HIGH", "LOW", "captured", "straddled"]

LOW = (640, 480)  # what cheap cameras give


def glaring(image: Image.Image, seed: Random, size: float) -> Image.Image:
    """Return a picture with a lamp's reflection on the code, a soft white spot ``size`` of the picture's height wide."""
    across = round(size * image.height)
    spot = Image.radial_gradient("L").resize((across, across)).point([max(0, 300 - 2 * each) for each in range(256)])
    light = Image.new("L", image.size, 0)
    left = (image.width - image.height) // 2
    light.paste(spot, (left + seed.randrange(image.height - across), seed.randrange(image.height - across)))
    return ImageChops.add(image, light)


def with_moire(image: Image.Image, seed: Random, depth: float) -> Image.Image:
    """Return a picture in which the screen's grid of pixels beats with the sensor's, ``depth`` grey levels deep."""
    width, height = image.size
    reach, period, phase = 2 * (width + height), seed.uniform(2.3, 3.7), seed.uniform(0, math.tau)
    wave = bytes(round(255 - depth * (0.5 + 0.5 * math.sin(math.tau * x / period + phase))) for x in range(reach))
    grid = Image.frombytes("L", (reach, 1), wave).resize((reach, reach))
    turned = grid.rotate(seed.uniform(2, 12), Image.Resampling.BILINEAR)
    middle = reach // 2
    return ImageChops.multiply(image, turned.crop((middle, middle, middle + width, middle + height)))


def inverted(image: Image.Image, _seed: Random, _strength: float) -> Image.Image:
    """Return a picture of a screen in dark mode: light codes on dark."""
    return ImageChops.invert(image)


def straddled(image: Image.Image, following: Image.Image, share: float) -> Image.Image:
    """Return a capture during which the screen went on to its next frame: it has, above ``share`` of the height."""
    result = image.copy()
    result.paste(following.crop((0, 0, image.width, round(share * image.height))), (0, 0))
    return result


class Degradation(NamedTuple):
    """A change for the worse, and how strong it is when it is mild, ordinary and harsh."""

    change: Change
    strengths: tuple[float, float, float]

    def apply(self, image: Image.Image, seed: Random, *, level: int = 1) -> Image.Image:
        """Return the changed picture at level 0 (mild), 1 (ordinary) or 2 (harsh)."""
        return self.change(image, seed, self.strengths[level])


_STRONGER = {
    "blur": (2, 3),
    "motion": (5, 8),
    "rotation": (20, 45),
    "tilt": (20, 35),
    "noise": (35, 60),
    "low contrast": (0.2, 0.08),
    "uneven light": (0.25, 0.1),
}
DEGRADATIONS = {name: Degradation(change, (mild, *_STRONGER[name])) for name, (change, mild) in CHANGES.items()} | {
    "glare": Degradation(glaring, (0.2, 0.35, 0.5)),
    "moiré": Degradation(with_moire, (50, 100, 150)),
    "inversion": Degradation(inverted, (1, 1, 1)),
}
