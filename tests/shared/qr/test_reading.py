"""Codes in pictures: either polarity, any mode of picture, with and without the second decoder."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from PIL import Image, ImageChops, ImageFilter

from airlock_shared.qr import scan as read
from airlock_shared.qr.documents import cycle_texts
from airlock_shared.qr.render import picture
from airlock_shared.qr.scan import second_decoder_hint, texts_in
from airlock_shared.qr.symbol import capacity, matrix
from shared.qr.transfers import whole_plan

TEXT = cycle_texts(whole_plan(), 20)[0]


def code(pixels: int = 5) -> Image.Image:
    return picture(matrix(TEXT, version_at_most=20), module_pixels=pixels).convert("L")


@pytest.fixture
def without_zbar(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine on which importing pyzbar fails, as it does where libzbar is missing."""
    import sys

    read._zbar.cache_clear()
    monkeypatch.setitem(sys.modules, "pyzbar", None)
    monkeypatch.delitem(sys.modules, "pyzbar.pyzbar", raising=False)
    yield
    read._zbar.cache_clear()


def test_what_is_transparent_is_paper() -> None:
    layer = Image.new("RGBA", code().size, (0, 0, 0, 0))
    layer.paste((0, 0, 0, 255), mask=ImageChops.invert(code()))
    assert texts_in(layer) == [TEXT]


@pytest.mark.parametrize("turn", [17, 180])
@pytest.mark.parametrize("inverted", [False, True])
def test_a_turned_or_inverted_code_is_read(turn: int, inverted: bool) -> None:
    turned = code().rotate(turn, expand=True, fillcolor=255)
    assert texts_in(ImageChops.invert(turned) if inverted else turned) == [TEXT]


def test_without_zbar_codes_are_read_and_a_hint_says_what_is_missing(without_zbar: None) -> None:
    assert texts_in(code()) == [TEXT]
    assert texts_in(Image.new("L", (300, 300), 255)) == []
    assert "the zbar library is not installed" in second_decoder_hint()
    assert "libzbar0" in second_decoder_hint()


@pytest.mark.parametrize(
    "image",
    [
        Image.new("L", (1, 1), 0),
        Image.new("L", (1, 4000), 255),
        Image.new("RGB", (640, 480), (200, 30, 30)),
        Image.effect_noise((640, 480), 90),
        Image.frombytes("L", (256, 256), random.Random(1).randbytes(256 * 256)),
        code().crop((0, 0, 250, 250)),
        code().filter(ImageFilter.GaussianBlur(9)),
    ],
    ids=["a dot", "a line", "red", "noise", "random", "cut", "blurred away"],
)
def test_where_there_is_no_whole_code_nothing_is_read(image: Image.Image) -> None:
    assert texts_in(image) == []


def test_a_zbar_that_may_be_overflown_reads_nothing_and_the_hint_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyzbar.pyzbar", reason="the zbar library is not installed", exc_type=ImportError)
    monkeypatch.setattr(read, "why_left_out", lambda _library: "zbar 0.23.90 may be overflown")
    read._zbar.cache_clear()
    try:
        assert read._by_zbar(code()) == []
        assert "left out: zbar 0.23.90 may be overflown" in second_decoder_hint()
        assert texts_in(code()) == [TEXT]
    finally:
        read._zbar.cache_clear()


def test_the_second_decoder_reads_by_itself_and_is_no_hint_when_it_is_there() -> None:
    decode, _ = read._zbar()
    if decode is None:
        pytest.skip("the zbar library is not installed: on Debian, apt-get install libzbar0")
    full = cycle_texts(whole_plan(), 10)[0]
    assert len(full) <= capacity(10)
    assert decode(picture(matrix(full, version_at_most=10), module_pixels=4).convert("L")) == [full]
    assert second_decoder_hint() == ""
