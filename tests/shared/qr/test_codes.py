"""Codes drawn and read: symbols, pictures, a terminal, a page as a file."""

import base64
import hashlib
import re
import sys
from collections.abc import Iterator

import pytest
from PIL import Image, ImageChops

from airlock_shared.cli.qr.transfer import draw, hint, version_that_fits
from airlock_shared.errors import UsageError
from airlock_shared.qr import scan as read
from airlock_shared.qr.documents import Transfer, cycle_texts, densities_of
from airlock_shared.qr.render import picture, qr_page, window
from airlock_shared.qr.scan import second_decoder_hint, texts_in
from airlock_shared.qr.symbol import LARGEST_VERSION, capacity, matrix, side
from airlock_shared.ur.decode import BYTES_AT_MOST, Decoder
from shared.qr.transfers import one_intent, whole_plan

# ISO/IEC 18004, table 7: alphanumeric characters at level L.
PUBLISHED = {1: 25, 5: 154, 9: 335, 10: 395, 15: 758, 20: 1249, 26: 1990, LARGEST_VERSION: 2132}
needs_zbar = pytest.mark.skipif(read._zbar()[0] is None, reason="the zbar library is missing: apt-get install libzbar0")


@pytest.mark.parametrize(("version", "characters"), PUBLISHED.items())
def test_a_symbol_holds_what_the_standard_says_and_not_one_character_more(version: int, characters: int) -> None:
    assert capacity(version) == characters
    text = ("UR:BYTES/1-9/" + "LPADAXCFAXNECYDAW" * 200)[: capacity(version)]
    modules = matrix(text, version_at_most=version)
    assert len(modules) == len(modules[0]) == side(version)
    assert texts_in(picture(modules, module_pixels=4)) == [text]
    with pytest.raises(UsageError, match=f"do not fit a QR code of version {version}, which holds {len(text)}"):
        matrix(text + "A", version_at_most=version)


@pytest.mark.parametrize("text", ["", "ur:bytes/aeadaolazmjendeoti", "UR:BYTES/É", "UR_BYTES", "UR:BYTES/A\n"])
def test_a_text_outside_the_alphanumeric_mode_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="alphanumeric"):
        matrix(text, version_at_most=20)


def test_a_message_too_long_for_codes_is_refused_before_anything_is_drawn() -> None:
    with pytest.raises(UsageError, match="too many for codes"):
        densities_of(Transfer("bytes", bytes(BYTES_AT_MOST + 1), "", "", "00" * 32))


LINE = re.compile(r"\x1b\[38;5;16;48;5;231m([ ▀▄█]+)\x1b\[0m")
HALVES = {" ": (255, 255), "▀": (0, 255), "▄": (255, 0), "█": (0, 0)}


def as_terminal_shows(drawn: str, pixels: int = 8) -> Image.Image:
    rows: list[list[int]] = []
    for line in drawn.split("\n"):
        found = LINE.fullmatch(line)
        assert found, f"a line without its own colours: {line!r}"
        pairs = [HALVES[character] for character in found[1]]
        rows += [[upper for upper, _ in pairs], [lower for _, lower in pairs]]
    screen = Image.new("L", (len(rows[0]) + 6, len(rows) + 6), 30)  # a dark terminal around it
    for y, row in enumerate(rows):
        for x, level in enumerate(row):
            screen.putpixel((x + 3, y + 3), level)
    return screen.resize((screen.width * pixels, screen.height * pixels), Image.Resampling.NEAREST)


def test_a_document_is_carried_by_a_terminal_of_the_usual_size() -> None:
    version = version_that_fits(24, 80)
    assert version == 5
    decoder = Decoder()
    for text in cycle_texts(one_intent(), version):
        (read,) = texts_in(as_terminal_shows(draw(matrix(text, version_at_most=version))))
        decoder.receive(read)
    assert decoder.result is not None
    assert decoder.result.cbor == one_intent().cbor


@pytest.mark.parametrize(("rows", "columns"), [(23, 80), (24, 44)])
def test_a_small_terminal_gets_a_hint_and_no_code(rows: int, columns: int) -> None:
    assert version_that_fits(rows, columns) is None
    assert hint(rows, columns) == (
        f"this terminal has {columns} columns and {rows} rows; the code needs 65 and 34: "
        "enlarge the window, use a smaller font, or show the page instead"
    )


POLICY = re.compile(r'http-equiv="Content-Security-Policy" content="([^"]+)"')
DATA = re.compile(r'<script id="transfer" type="application/json">(.*?)</script>', re.DOTALL)


def parts(made: str) -> tuple[list[str], str, list[str]]:
    styles = re.findall(r"<style>(.*?)</style>", made, re.DOTALL)
    (script,) = re.findall(r"<script>(.*?)</script>", made, re.DOTALL)
    (policy,) = POLICY.findall(made)
    return styles, script, policy.split("; ")


def test_the_policy_of_each_page_allows_its_own_script_and_style_and_nothing_else() -> None:
    framed = [data.decode() for data in window("hand-over-00000000000000aa.html").values()]
    for made, frames in zip((qr_page(one_intent()).decode(), *framed), ([], ["frame-src file:"], []), strict=True):
        styles, script, policy = parts(made)
        kinds = [("script", script), *(("style", style) for style in styles)]
        marks = [(kind, base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()) for kind, source in kinds]
        own = [f"{kind}-src 'sha256-{mark}'" for kind, mark in marks]
        assert policy == ["default-src 'none'", *frames, *own, "base-uri 'none'", "form-action 'none'"]


@pytest.mark.parametrize("text", ["</script>", "<!--", "\u2028\u2029", "a & b", "\x00\x1b[31m", "@TRANSFER@"])
def test_a_name_cannot_leave_its_element(text: str) -> None:
    made = qr_page(one_intent()._replace(kind=text, ceremony=text)).decode()
    (data,) = DATA.findall(made)
    assert not set("<>&\u2028\u2029\x00\x1b") & set(data)
    assert parts(made) == parts(qr_page(one_intent()).decode())


TEXT = cycle_texts(whole_plan(), 20)[0]


def code(pixels: int = 5) -> Image.Image:
    return picture(matrix(TEXT, version_at_most=20), module_pixels=pixels).convert("L")


@pytest.fixture
def looked_for_again() -> Iterator[None]:
    """Look for the zbar library in this test, and again after it."""
    read._zbar.cache_clear()
    yield
    read._zbar.cache_clear()


@pytest.mark.parametrize("turn", [17, 180])
@pytest.mark.parametrize("inverted", [False, True])
def test_a_turned_or_inverted_code_is_read(turn: int, inverted: bool) -> None:
    turned = code().rotate(turn, expand=True, fillcolor=255)
    assert texts_in(ImageChops.invert(turned) if inverted else turned) == [TEXT]


@pytest.mark.usefixtures("looked_for_again")
def test_without_zbar_codes_are_read_and_a_hint_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyzbar", None)
    monkeypatch.delitem(sys.modules, "pyzbar.pyzbar", raising=False)
    assert texts_in(code()) == [TEXT]
    assert texts_in(Image.new("L", (300, 300), 255)) == []
    assert "the zbar library is not installed" in second_decoder_hint()
    assert "libzbar0" in second_decoder_hint()


@pytest.mark.parametrize("image", [Image.new("L", (1, 1), 0), code().crop((0, 0, 250, 250))], ids=["a dot", "cut"])
def test_where_there_is_no_whole_code_nothing_is_read(image: Image.Image) -> None:
    assert texts_in(image) == []


@needs_zbar
@pytest.mark.usefixtures("looked_for_again")
def test_a_zbar_that_may_be_overflown_reads_nothing_and_the_hint_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "why_left_out", lambda _library: "zbar 0.23.90 may be overflown")
    assert read._by_zbar(code()) == []
    assert "left out: zbar 0.23.90 may be overflown" in second_decoder_hint()
    assert texts_in(code()) == [TEXT]


@needs_zbar
def test_the_second_decoder_reads_by_itself_and_is_no_hint_when_it_is_there() -> None:
    assert (decode := read._zbar()[0])
    full = cycle_texts(whole_plan(), 10)[0]
    assert len(full) <= capacity(10)
    assert decode(picture(matrix(full, version_at_most=10), module_pixels=4).convert("L")) == [full]
    assert second_decoder_hint() == ""
