"""The models of Ledger, one record each: all that differs from one to another. A new model is a new record in ``MODELS``.

Two families of screen are known: a Nano's, where two buttons turn pages of three lines, and a touch screen's, which has
several fields to a page. Sizes are those of the public device SDK, wording that of the app's published source; both are
compared with the real app (``tests/vectors/ledger``, ``tests/speculos``). A record without a screen is of a model that USB
may name and for which the app is no longer published.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

# ---- glyph widths ---------------------------------------------------------------------------------------------------
# How many pixels wide each character is in the typefaces of Ledgers' screens: the device's own figures.
# Printed by ``tests/speculos/make_glyph_widths.py``. Source: the glyph tables of the public device SDK
# (LedgerHQ/ledger-secure-sdk, ``lib_nbgl/include/fonts``, Apache License 2.0, the parent of commit 70bed26f).


class Typeface(NamedTuple):
    """A typeface in one size: the pixels from line to line, and the width of the characters from the space to ``~``.

    On a screen it stands in lines of ``line_px``.
    """

    height_px: int
    widths_px: tuple[int, ...]
    line_px: int = 0

    def within(self, line_px: int) -> Typeface:
        """Return the typeface in lines of so many pixels."""
        return self._replace(line_px=line_px)

    def width_px(self, character: str) -> int:
        """Return the width of a character; one without a glyph has none."""
        place = ord(character) - 0x20
        return self.widths_px[place] if 0 <= place < len(self.widths_px) else 0


def _typeface(height_px: int, widths_px: str) -> Typeface:
    return Typeface(height_px, tuple(map(int, widths_px.split())))


OPEN_SANS_REGULAR_11 = _typeface(
    14,
    """
3 3 4 7 6 9 9 2 3 3 6 6 3 4 3 4 6 6 6 6 8 6 6 6 6 6 3 3 6 6 6 5 10 7 7 7 8 6 6 8 8 3 3 7 6 10 8 9 7 9 7 6 7 8 7 10 7 6 6
4 4 4 6 5 6 6 7 5 7 6 5 6 7 3 3 6 3 10 7 7 7 7 4 5 4 7 6 9 6 6 5 4 6 4 6
""",
)
OPEN_SANS_EXTRABOLD_11 = _typeface(
    14,
    """
3 3 6 7 6 11 9 3 4 4 6 6 3 4 3 5 8 6 7 7 8 6 8 7 8 8 3 3 5 6 5 6 10 8 7 7 8 6 6 8 8 4 4 8 6 11 9 9 7 9 8 6 6 8 6 11 8 7
7 5 5 5 6 6 7 7 7 6 7 7 6 7 7 4 4 7 4 10 7 7 7 7 5 6 5 7 7 10 7 7 6 5 6 5 6
""",
)
INTER_REGULAR_24 = _typeface(
    32,
    """
7 7 10 15 15 20 15 5 9 9 12 16 7 11 7 9 15 11 15 15 15 15 15 14 15 15 7 7 16 16 16 12 22 16 16 17 17 14 14 18 18 11 13
16 14 21 18 18 15 18 15 15 15 18 16 23 15 16 15 9 9 9 11 11 12 14 15 13 15 14 9 15 14 6 6 13 6 21 14 14 15 15 9 13 9 14
13 20 13 13 13 9 8 9 16
""",
)
INTER_SEMIBOLD_24 = _typeface(
    32,
    """
6 7 10 15 16 20 16 5 9 9 13 16 7 11 7 9 16 12 15 16 16 15 16 14 16 16 7 7 16 16 16 13 24 17 16 18 17 15 14 18 18 11 13
16 14 22 18 19 15 19 16 16 16 18 17 24 17 17 16 9 9 9 12 11 12 14 15 14 15 14 9 15 15 6 6 14 7 22 15 15 15 15 10 13 9 15
14 20 14 14 13 9 9 9 16
""",
)
INTER_MEDIUM_32 = _typeface(
    40,
    """
8 9 13 20 21 27 21 7 12 12 17 21 9 15 9 12 21 15 20 21 21 20 20 19 20 20 9 9 21 21 21 17 31 22 21 24 23 19 19 24 24 15
18 21 18 29 24 25 20 25 21 21 21 24 22 31 21 22 20 12 12 12 15 15 16 18 20 18 20 19 12 20 19 8 8 18 9 28 19 19 20 20 12
17 12 19 18 26 18 18 18 12 11 12 21
""",
)
INTER_REGULAR_28 = _typeface(
    36,
    """
8 8 11 18 18 23 18 6 10 10 14 18 8 13 8 10 18 13 17 18 18 17 17 16 17 17 8 8 18 18 18 14 26 19 18 20 20 17 16 21 21 12
15 18 16 25 21 21 18 21 18 18 18 21 19 27 18 19 18 10 10 10 13 13 14 16 17 16 17 16 10 17 17 7 7 15 7 24 16 17 17 17 10
15 10 16 16 23 15 16 15 10 9 10 18
""",
)
INTER_SEMIBOLD_28 = _typeface(
    36,
    """
7 9 11 18 18 24 19 6 11 11 15 19 8 13 8 11 19 13 17 18 19 18 18 16 18 18 8 8 19 19 19 15 28 20 18 21 20 17 16 21 21 13
16 19 16 25 21 22 18 22 18 18 18 21 20 28 19 20 18 11 11 11 13 13 14 16 18 16 18 17 11 18 17 7 7 16 8 25 17 17 17 17 11
15 11 17 16 23 16 16 16 11 10 11 19
""",
)
INTER_MEDIUM_36 = _typeface(
    40,
    """
10 11 14 23 23 30 23 8 14 14 19 24 10 17 10 13 23 17 22 23 24 22 23 21 23 23 10 10 24 24 24 19 35 25 24 26 26 22 21 27
27 16 20 24 20 32 27 28 23 28 23 23 23 27 25 35 24 25 23 14 13 14 17 17 18 21 23 20 23 21 13 22 22 9 9 20 10 32 22 22 22
22 14 19 13 21 20 30 20 20 20 14 12 14 24
""",
)
NANOTEXT_MEDIUM_18 = _typeface(
    22,
    """
5 5 9 12 12 19 12 6 7 7 9 12 5 8 5 7 12 7 11 11 12 11 11 10 11 11 5 6 12 12 12 10 18 13 12 13 13 11 11 13 13 8 10 12 10
16 13 14 12 14 12 12 10 13 13 18 13 12 12 7 7 7 9 8 6 10 11 10 11 11 7 11 11 4 4 10 5 16 11 11 11 11 7 10 6 11 10 15 10
10 10 8 6 8 12
""",
)
NANOTEXT_BOLD_18 = _typeface(
    22,
    """
5 5 10 12 12 20 12 6 7 7 10 11 6 8 6 7 12 8 11 12 12 12 12 10 12 12 6 6 12 11 12 10 18 13 12 13 13 11 11 14 13 9 12 13
10 17 14 14 12 14 12 12 11 13 13 21 13 13 12 8 7 8 9 9 7 11 12 12 11 12 7 12 11 5 5 11 6 17 11 12 11 11 8 10 7 11 11 15
11 11 10 8 7 8 12
""",
)
NANODISPLAY_SEMIBOLD_24 = _typeface(
    28,
    """
6 7 13 15 16 24 16 8 9 9 13 16 8 11 8 9 16 10 15 15 16 15 15 14 15 15 8 8 16 16 16 13 24 17 16 18 17 15 14 17 18 11 14
17 14 22 18 18 15 19 16 16 15 18 17 25 17 17 16 9 9 9 12 11 8 14 15 14 15 14 9 15 15 5 6 14 7 21 15 15 15 15 10 13 8 15
14 20 14 14 14 11 9 11 16
""",
)

# ---- line breaks ----------------------------------------------------------------------------------------------------
# How a text becomes lines and pages on a Ledger's screen: the rules of the device's own drawing library.
# Source: ``nbgl_fonts.c`` and ``nbgl_obj.c`` of the public device SDK (LedgerHQ/ledger-secure-sdk, Apache License
# 2.0, the parent of commit 70bed26f). The device counts lines by one rule and draws them by another, which differ
# where a line begins with a delimiter. Both are kept as they are: pages are divided by the first, and read by the
# second.


_DELIMITERS = " -_"


def width_px(text: str, face: Typeface) -> int:
    """Return the width of a text; a character without a glyph has none."""
    return sum(map(face.width_px, text))


def counted_breaks(text: str, face: Typeface) -> Iterator[int]:
    """Yield where each further line begins as the device counts them; a line feed belongs to neither line."""
    at = used_px = 0
    delimiter = -1
    while at < len(text):
        character = text[at]
        if character in _DELIMITERS:
            delimiter = at
        own_px = face.width_px(character)
        if character != "\n" and used_px + own_px <= face.line_px:
            used_px += own_px
            at += 1
            continue
        if character == "\n" or delimiter >= 0:
            at = at if character == "\n" else delimiter
            at += 1
        elif not used_px:  # a character wider than the line
            at += 1
        yield at
        used_px, delimiter = 0, -1


def counted_lines(text: str, face: Typeface) -> int:
    """Return how many lines a touch screen counts in a text: its height on the page follows from it."""
    return 1 + sum(1 for _ in counted_breaks(text, face))


def text_lines(text: str, face: Typeface) -> list[str]:
    """Return the lines that are drawn: broken after a space, ``-`` or ``_``, else anywhere; a line feed ends one.

    Between two line feeds stands an empty line: it takes its room, and a reader of the screen finds no text there.
    """
    result: list[str] = []
    while text:
        end = _first_line(text, face)
        result.append(text[:end])
        text = text[end:].removeprefix("\n")
    return result


def _first_line(text: str, face: Typeface) -> int:
    """Return how many characters of a text its first line takes, without a line feed at its end."""
    used_px = delimiter = delimiter_px = 0
    for length, character in enumerate(text):
        if character == "\n":
            return length
        own_px = face.width_px(character)
        if own_px and character in _DELIMITERS:
            delimiter, delimiter_px = length, used_px
        if own_px and used_px + own_px > face.line_px:
            return delimiter + 1 if delimiter_px else max(length, 1)
        used_px += own_px
    return len(text)


def text_pages(text: str, face: Typeface, lines: int) -> list[list[str]]:
    """Return the pages of so many lines over which a Nano spreads a text; at least one."""
    count = 1 + sum(1 for _ in counted_breaks(text.removesuffix("\n"), face)) // lines
    result = []
    for page in range(count):
        result.append(text_lines(text, face)[:lines])
        if page < count - 1:
            at = [*counted_breaks(text, face), *[len(text)] * lines][lines - 1]
            text = (
                text[at:] if text[at - 1] == "\n" else text[at:].removeprefix("\n")
            )  # no page begins with an empty line
    return result


def cut_lines(text: str, face: Typeface, lines: int) -> list[str]:
    """Return the first lines of a text that goes on; three dots end the last, in place of three characters if need be.

    The device measures a line that was broken at a delimiter without it. Where a line feed follows, there are no dots.
    """
    result = text_lines(text, face)[: lines - 1]
    for _ in result:
        text = text[_first_line(text, face) :].removeprefix("\n")
    end = _first_line(text, face)
    line = text[:end]
    if text[end : end + 1] == "\n":
        return [*result, line]
    measured = line[:-1] if text[:end][-1:] in _DELIMITERS else line
    fits = width_px(measured, face) + width_px("...", face) < face.line_px
    return [*result, f"{line if fits else line[:-3]}..."]


def title_line(title: str, face: Typeface) -> str:
    """Return a Nano's title as it stands on its one line: cut in its middle where it is too long.

    Source: ``nbgl_textReduceOnNbLines`` in ``nbgl_fonts.c``, ``displayTextPage`` in ``nbgl_step.c``: 23 characters are kept
    of what fits.
    """
    if width_px(title, face) <= face.line_px:
        return title[:23]
    half_px = (face.line_px - width_px(" ... ", face)) // 2
    front = 0
    while width_px(title[: front + 1], face) <= half_px:
        front += 1
    back = len(title)
    while width_px(title[back:], face) < half_px:
        back -= 1
    return f"{title[: front - 1]}...{title[back + 1 :]}"


# ---- models ---------------------------------------------------------------------------------------------------------


RELEASED, DEVELOPMENT = "1.22.0", "1.22.0-dev"
"""The versions of the app whose words are known: of the second, the build that the app's own repository holds."""


class Buttons(NamedTuple):
    """A Nano's screen: one field to a page, ``lines`` of its value under the field's name; sizes in pixels."""

    names: Typeface
    values: Typeface
    lines: int


class Touch(NamedTuple):
    """A touch screen: as many fields to a page as fit in its height; sizes in pixels.

    A field takes the lines of its name, ``NAME_GAP_PX``, the lines of its value, and ``between_px`` up to the next; the
    first begins at ``top_px``. A value of more than ``lines`` ends in "..." and More; there ``more_lines`` in ``bold`` fill
    a page. Source: the public device SDK (LedgerHQ/ledger-secure-sdk, ``lib_nbgl``, Apache License 2.0).
    """

    names: Typeface
    values: Typeface
    bold: Typeface
    height_px: int
    height_with_skip_px: int
    top_px: int
    between_px: int
    lines: int
    more_lines: int


NAME_GAP_PX = 4


class Screen(NamedTuple):
    """How a model shows a review: its layout, the texts of the warning page, and titles that differ.

    ``app_version``: the app that was recorded, and that the software Ledger names.
    """

    layout: Buttons | Touch
    warning: tuple[str, ...]
    transaction_hash: str
    delegated_network: str
    app_version: str = RELEASED


class Model(NamedTuple):
    """One model: its name in options and settings, its product's name, its USB product, what ``preflight`` advises.

    ``proved``: its pages were compared with those of the real app, and not computed by the device's rules alone.
    ``offered``: people may choose it; a development build of the app is for tests.

    ``usb_product`` is the high byte of the USB product id; the low byte says which interfaces there are. ``usb_legacy`` is
    the whole id under older firmware. Source: the product ids of Ledger's own ``@ledgerhq/devices``.
    """

    name: str
    product: str
    usb_product: int
    advice: str
    screen: Screen | None = None
    usb_legacy: int | None = None
    proved: bool = True
    offered: bool = True


_NANO_SCREEN = Screen(
    Buttons(
        names=OPEN_SANS_EXTRABOLD_11.within(114),
        values=OPEN_SANS_REGULAR_11.within(114),
        lines=3,
    ),
    warning=("Blind signing ahead", "To accept risk, press both buttons"),
    transaction_hash="Tx hash",
    delegated_network="On network",
)
# The constants of ``nbgl_layout.h``, ``nbgl_types.h`` and ``nbgl_use_case.h``: screen less margins, headers and footers.
_FLEX = Touch(
    names=INTER_REGULAR_28.within(416),
    values=INTER_MEDIUM_36.within(416),
    bold=INTER_SEMIBOLD_28.within(416),
    height_px=464,
    height_with_skip_px=408,
    top_px=0,
    between_px=24,
    lines=9,
    more_lines=11,
)
_STAX = Touch(
    names=INTER_REGULAR_24.within(352),
    values=INTER_MEDIUM_32.within(352),
    bold=INTER_SEMIBOLD_24.within(352),
    height_px=548,
    height_with_skip_px=492,
    top_px=24,
    between_px=12,
    lines=10,
    more_lines=12,
)
_APEX = Touch(
    names=NANOTEXT_MEDIUM_18.within(268),
    values=NANODISPLAY_SEMIBOLD_24.within(268),
    bold=NANOTEXT_BOLD_18.within(268),
    height_px=316,
    height_with_skip_px=280,
    top_px=0,
    between_px=16,
    lines=9,
    more_lines=11,
)
_LOSSES = (  # as the app writes it
    "If you sign this transaction, you could loose your assets. Explore safer alternatives: ledger.com/integrated-apps"
)
_FLEX_SCREEN = Screen(
    _FLEX,
    warning=("Blind signing ahead", _LOSSES, "Accept risk and continue", "Back to safety"),
    transaction_hash="Transaction hash",
    delegated_network="Delegate on network",
)
_DEVELOPMENT_SCREEN = _FLEX_SCREEN._replace(
    warning=(
        "Blind signing ahead",
        "This transaction's details are not fully verifiable. If you sign, you could lose all your assets.",
        "Continue anyway",
        "Back to safety",
    ),
    app_version=DEVELOPMENT,
)


_RECORDS = (
    Model(
        "nanosp",
        "Nano S Plus",
        0x50,
        "three lines a page; compare every page, and never join the pages of a number",
        _NANO_SCREEN,
        usb_legacy=0x0005,
    ),
    Model(
        "flex",
        "Flex",
        0x70,
        "open More for long texts; a text of twelve lines lacks its last one there",
        _FLEX_SCREEN,
        usb_legacy=0x0007,
    ),
    Model("nanox", "Nano X", 0x40, "shows what a Nano S Plus shows; use its cable, Airlock does not use Bluetooth",
          _NANO_SCREEN, usb_legacy=0x0004),
    Model("stax", "Stax", 0x60, "shows what a Flex shows, more to a page; open More for long texts",
          _FLEX_SCREEN._replace(layout=_STAX), usb_legacy=0x0006),
    Model("apexp", "Nano Gen5", 0x80, "shows what a Flex shows, in narrower lines; open More for long texts",
          _FLEX_SCREEN._replace(layout=_APEX), usb_legacy=0x0008),
    Model(
        "nanos",
        "Nano S",
        0x10,
        "Ledger has stopped its updates; the app may never reach the version that Airlock needs",
        usb_legacy=0x0001,
    ),
    Model(
        f"flex-{DEVELOPMENT}",
        "Flex with a development build of the app",
        0x70,
        "for rehearsals alone",
        _DEVELOPMENT_SCREEN,
        offered=False,
    ),
)  # fmt: skip
MODELS = {model.name: model for model in _RECORDS}
DEFAULT_MODEL = next(iter(MODELS))


def shown_models() -> list[str]:
    """Return the names of the models whose pages Airlock can tell."""
    return [model.name for model in MODELS.values() if model.screen is not None and model.offered]


def screen_of(name: str) -> Screen:
    """Return the screen of the model of this name. Raises ``KeyError`` where none is known."""
    screen = MODELS[name].screen
    if screen is None:
        raise KeyError(name)
    return screen


def words_of(name: str, version: str) -> str:
    """Return the record whose words this version of the app has on this model; of a version not known, the model's own."""
    known = [model for model in MODELS.values() if model.usb_product == MODELS[name].usb_product]
    return next((model.name for model in known if model.screen and model.screen.app_version == version), name)


def model_of_product(product_id: int) -> str:
    """Return the name of the model with this USB product id, empty when it is not known."""
    high = product_id >> 8
    return next(
        (name for name, model in MODELS.items() if high == model.usb_product or product_id == model.usb_legacy), ""
    )
