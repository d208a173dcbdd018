"""The degradations: the same for the same seed, really worse, and read by the scanner up to where they are ordinary."""

from __future__ import annotations

from random import Random

import pytest
from PIL import Image, ImageChops, ImageStat

from airlock_shared.qr.documents import cycle_texts
from airlock_shared.qr.pictures import picture
from airlock_shared.qr.scan import texts_in
from airlock_shared.qr.symbol import matrix
from bench.picture_faults import DEGRADATIONS, HIGH, LOW, captured, straddled
from shared.qr.transfers import whole_plan

TEXT, NEXT = cycle_texts(whole_plan(), 20)[:2]
ASKED = [(name, level) for name in DEGRADATIONS for level in range(3)]


def scene(text: str = TEXT, size: tuple[int, int] = HIGH) -> Image.Image:
    return captured(picture(matrix(text, version_at_most=20), module_pixels=6), size)


def difference(one: Image.Image, other: Image.Image) -> float:
    mean: float = ImageStat.Stat(ImageChops.difference(one, other)).mean[0]
    return mean


@pytest.mark.parametrize(("name", "level"), ASKED)
def test_the_same_seed_gives_the_same_picture_and_it_is_another_than_before(name: str, level: int) -> None:
    before = scene()
    made = [DEGRADATIONS[name].apply(before, Random(5), level=level) for _ in range(2)]
    assert made[0].tobytes() == made[1].tobytes()
    assert (made[0].mode, made[0].size) == ("L", HIGH)
    assert difference(before, made[0]) > 0.5


@pytest.mark.parametrize("name", ["blur", "motion", "noise", "low contrast", "uneven light", "glare", "moiré"])
def test_harsh_is_worse_than_mild(name: str) -> None:
    before = scene()
    mild, harsh = (DEGRADATIONS[name].apply(before, Random(2), level=level) for level in (0, 2))
    assert difference(before, harsh) > difference(before, mild)


@pytest.mark.parametrize("name", DEGRADATIONS)
@pytest.mark.parametrize("level", [0, 1])
def test_what_is_ordinary_is_read_at_the_default_density(name: str, level: int) -> None:
    assert texts_in(DEGRADATIONS[name].apply(scene(), Random(3), level=level)) == [TEXT]


@pytest.mark.parametrize("name", ["rotation", "tilt", "low contrast", "uneven light", "inversion"])
def test_even_harsh_geometry_and_light_are_read(name: str) -> None:
    assert texts_in(DEGRADATIONS[name].apply(scene(), Random(3), level=2)) == [TEXT]


@pytest.mark.parametrize("size", [LOW, HIGH])
def test_a_capture_in_either_resolution_is_read(size: tuple[int, int]) -> None:
    assert scene(size=size).size == size
    assert texts_in(scene(size=size)) == [TEXT]


@pytest.mark.parametrize("share", [0.3, 0.5, 0.7])
def test_a_capture_between_two_frames_is_neither(share: float) -> None:
    assert texts_in(straddled(scene(), scene(NEXT), share)) == []
