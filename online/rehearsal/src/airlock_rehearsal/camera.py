"""What a hand-held camera sees of a screen that plays a transfer, in a rehearsal: pictures of the codes, worse and fewer."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from random import Random
from statistics import NormalDist

from PIL import Image, ImageChops, ImageFilter

from airlock_shared.host.files import make_folder
from airlock_shared.qr.scan import texts_in
from airlock_shared.ur.decode import Decoder

# ---- picture faults -------------------------------------------------------------------------------------------------
# What a poor camera and a bad place to stand make of a code.
# With Pillow alone, and the same for the same seed, so that a rehearsal and a measurement can be run again.


Size = tuple[int, int]
Change = Callable[[Image.Image, Random, float], Image.Image]

HIGH = (1280, 720)  # what ordinary cameras give
_SURROUNDINGS = 150  # the grey around the screen
_NORMAL = NormalDist()


def captured(code: Image.Image, size: Size = HIGH, *, share: float = 0.7) -> Image.Image:
    """Return the camera's grey picture of a screen that shows ``code``, ``share`` of the picture's height."""
    side = round(size[1] * share)
    scene = Image.new("L", size, _SURROUNDINGS)
    scene.paste(
        code.convert("L").resize((side, side), Image.Resampling.BILINEAR),
        ((size[0] - side) // 2, (size[1] - side) // 2),
    )
    return scene


# ---- lens and hand ----


def blurred(image: Image.Image, _seed: Random, radius: float) -> Image.Image:
    """Return a picture out of focus; the radius is in pixels."""
    return image.filter(ImageFilter.GaussianBlur(radius))


def moved(image: Image.Image, seed: Random, length: float) -> Image.Image:
    """Return a picture taken with a moving hand: the mean over a way of ``length`` pixels in some direction."""
    angle = seed.uniform(0, math.pi)
    result = image
    for step in range(1, round(length)):
        shift = ImageChops.offset(image, round(step * math.cos(angle)), round(step * math.sin(angle)))
        result = Image.blend(result, shift, 1 / (step + 1))
    return result


def rotated(image: Image.Image, seed: Random, degrees: float) -> Image.Image:
    """Return a picture from a camera held askew by so many degrees, either way."""
    turn = degrees * seed.choice((-1, 1))
    return image.rotate(turn, Image.Resampling.BILINEAR, fillcolor=_SURROUNDINGS)


def tilted(image: Image.Image, seed: Random, degrees: float) -> Image.Image:
    """Return a picture of a screen seen from the side: turned about its upright axis by so many degrees."""
    angle = math.radians(degrees) * seed.choice((-1, 1))
    distance, cx, cy = 1.5 * image.width, image.width / 2, image.height / 2
    sine, cosine = math.sin(angle), math.cos(angle)
    # A place X, Y in the picture shows x = X d / (d cos - X sin), y = Y d cos / (d cos - X sin) of the screen, all from the
    # middle. Here with the origin in the corner, and divided by the constant of the denominator, as Pillow wants it.
    constant = distance * cosine + cx * sine
    numbers = (
        (distance - cx * sine) / constant, 0.0, (cx * constant - distance * cx) / constant,
        -cy * sine / constant, distance * cosine / constant, (cy * constant - distance * cosine * cy) / constant,
        -sine / constant, 0.0,
    )  # fmt: skip
    method, filling = Image.Transform.PERSPECTIVE, Image.Resampling.BILINEAR
    return image.transform(image.size, method, numbers, filling, fillcolor=_SURROUNDINGS)


# ---- light and sensor ----


def noisy(image: Image.Image, seed: Random, sigma: float) -> Image.Image:
    """Return a picture taken in the dark: normal noise with this deviation, in grey levels."""
    quantiles = [min(255, max(0, round(128 + sigma * _NORMAL.inv_cdf((level + 0.5) / 256)))) for level in range(256)]
    noise = Image.frombytes("L", image.size, seed.randbytes(image.width * image.height)).point(quantiles)
    return ImageChops.add(image, noise, 1, -128)


def faint(image: Image.Image, _seed: Random, contrast: float) -> Image.Image:
    """Return a picture of a dim screen behind reflections: this part of the contrast is left."""
    return image.point([round(140 + contrast * (level - 128)) for level in range(256)])


def unevenly_lit(image: Image.Image, seed: Random, darkest: float) -> Image.Image:
    """Return a picture with a shadow that falls across it, down to this part of the light."""
    slope = Image.linear_gradient("L").resize((512, 512)).rotate(seed.uniform(0, 360), Image.Resampling.BILINEAR)
    light = slope.crop((128, 128, 384, 384))  # what a turned square covers whole
    light = light.point([round(255 * min(1, max(darkest, darkest + (level - 64) / 128))) for level in range(256)])
    return ImageChops.multiply(image, light.resize(image.size, Image.Resampling.BILINEAR))


CHANGES: dict[str, tuple[Change, float]] = {
    "blur": (blurred, 1),
    "motion": (moved, 3),
    "rotation": (rotated, 8),
    "tilt": (tilted, 10),
    "noise": (noisy, 15),
    "low contrast": (faint, 0.4),
    "uneven light": (unevenly_lit, 0.5),
}
"""The changes for the worse, and how strong each is where it is mild."""

# ---- camera ---------------------------------------------------------------------------------------------------------


ROUNDS = 2  # how often the camera sees the whole cycle, at least
MOST_ROUNDS = 20  # then somebody would look what is wrong
LEAST_FRAMES = 6  # of a still code, too, a camera takes more than one picture
LOST = 0.3  # of all frames, each time they are shown
_EACH = 2  # changes for the worse in every picture


def photograph(codes: Path, pictures: Path, *, seed: str) -> tuple[int, int]:
    """Take pictures of a folder's frames into a new folder; return how many were shown, and how many were seen.

    As people do, it holds the camera until the transfer is whole. The same seed and frames give the same pictures.
    """
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
