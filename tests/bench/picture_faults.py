"""What a poor camera and a bad place to stand make of a code: with Pillow alone, and the same for the same seed."""

import math
from collections.abc import Callable
from random import Random
from statistics import NormalDist
from typing import NamedTuple

from PIL import Image, ImageChops, ImageFilter

Size = tuple[int, int]
Change = Callable[[Image.Image, Random, float], Image.Image]

HIGH = (1280, 720)  # what ordinary cameras give
LOW = (640, 480)  # what cheap cameras give
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


DEGRADATIONS = {
    "blur": Degradation(blurred, (1, 2, 3)),
    "motion": Degradation(moved, (3, 5, 8)),
    "rotation": Degradation(rotated, (8, 20, 45)),
    "tilt": Degradation(tilted, (10, 20, 35)),
    "noise": Degradation(noisy, (15, 35, 60)),
    "low contrast": Degradation(faint, (0.4, 0.2, 0.08)),
    "uneven light": Degradation(unevenly_lit, (0.5, 0.25, 0.1)),
    "glare": Degradation(glaring, (0.2, 0.35, 0.5)),
    "moiré": Degradation(with_moire, (50, 100, 150)),
    "inversion": Degradation(inverted, (1, 1, 1)),
}
