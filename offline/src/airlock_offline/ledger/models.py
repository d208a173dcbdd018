"""The models of Ledger, one record each: all that differs from one to another. A new model is a new record in ``MODELS``.

Two families of screen are known: a Nano's, where two buttons turn pages of three lines, and a touch screen's, which has
several fields to a page. A record without a screen is of a model that USB may name and whose pages were never recorded.
Wording and figures are as recorded from the Ethereum app (``tests/vectors/ledger``).
"""

from __future__ import annotations

from typing import NamedTuple


class Face(NamedTuple):
    """A typeface on one model: the pixels of a line, and the characters that are so many pixels wide."""

    line_px: int
    widths: dict[str, int]


class Buttons(NamedTuple):
    """A Nano's screen: one field to a page, ``lines`` of its value under the field's name.

    ``pause``: the page that asks to go on after each field of a long review. ``digits_whole``: of a negative number longer
    than this the second page repeats digits of the first.
    """

    face: Face
    lines: int
    pause: tuple[str, ...]
    digits_whole: int


class Touch(NamedTuple):
    """A touch screen: as many fields to a page as fit in its height; sizes in pixels.

    ``lines`` of a value are shown before "..." and More. A field takes ``field_px`` for its name and the space around it,
    and ``line_px`` for each line. ``undrawn``: lengths at which a text may take the twelve smaller lines of which the last
    is not drawn behind More.
    """

    face: Face
    lines: int
    height_px: int
    height_with_skip_px: int
    field_px: int
    line_px: int
    undrawn: range


class Wording(NamedTuple):
    """What the app says on this model in its own words: the warning page, and titles that differ."""

    warning: tuple[str, ...]
    transaction_hash: str
    delegated_network: str


class Screen(NamedTuple):
    """How a model shows a review.

    ``marks_every_cut``: as recorded; app 1.22.0 cuts a long string without its three dots, 1.22.0-dev never does.
    ``raw_messages_first``: with Raw messages and Blind signing off, typed data is refused at its first command and not at
    its first value; and with Blind signing alone the fields are shown all the same, where a Nano shows a hash.
    ``app_version``: the app that was recorded, and that the software Ledger names.
    """

    layout: Buttons | Touch
    wording: Wording
    marks_every_cut: bool
    raw_messages_first: bool
    app_version: str


class Model(NamedTuple):
    """One model: its name in options and settings, its product's name, its USB product, what ``preflight`` advises.

    ``usb_product`` is the high byte of the USB product id; the low byte says which interfaces there are. Source: the product
    ids of Ledger's own ``@ledgerhq/devices``.
    """

    name: str
    product: str
    usb_product: int
    advice: str
    screen: Screen | None = None


def _face(line_px: int, characters: dict[int, str]) -> Face:
    return Face(line_px, {character: width for width, group in characters.items() for character in group})


# Widths in pixels, **fitted**: the smallest changes to Open Sans' published proportions with which every line break of the
# recorded screens comes out as it was.
_NANO_WIDTHS = {
    2: "'",
    3: " !(),.:;IJijl",
    4: '"-/[\\]rt{}',
    5: "?_cfsvz",
    6: "$*+012356789<=>EFLSTXYZ^`aegkxy|~",
    7: "#ABCKPRVbdhnopqu",
    8: "&4DGHNU",
    9: "%OQw",
    10: "@MWm",
}
_FLEX_WIDTHS = {
    9: "',",
    10: " !.:;Jijl",
    11: "()I",
    12: "-",
    13: "[]ft",
    14: "/\\",
    15: '"{}',
    16: "r",
    17: "?_",
    18: "1csz",
    19: "vy",
    20: "Lkx",
    21: "*EFST^ag|",
    22: "$+02356789<=>XYZ`e~",
    23: "PVdhnopu",
    24: "4KRbq",
    25: "#AB",
    27: "C",
    28: "&DGHU",
    29: "N",
    30: "OQw",
    32: "%",
    35: "@M",
    36: "Wm",
}
_NANO_SCREEN = Screen(
    Buttons(
        face=_face(114, _NANO_WIDTHS),
        lines=3,
        pause=("Press right button to ", "continue message or ", "press both to skip"),
        digits_whole=17,
    ),
    Wording(
        warning=("Blind signing ahead", "To accept risk, press ", "both buttons"),
        transaction_hash="Tx hash",
        delegated_network="On network",
    ),
    marks_every_cut=False,
    raw_messages_first=False,
    app_version="1.22.0",
)
_FLEX_SCREEN = Screen(
    Touch(
        face=_face(416, _FLEX_WIDTHS),
        lines=6,
        height_px=480,
        height_with_skip_px=440,  # between what did and did not fit when recorded
        field_px=64,
        line_px=40,
        undrawn=range(200, 380),
    ),
    Wording(
        warning=(
            "Blind signing ahead",
            "This transaction's details are ",
            "not fully verifiable. If you sign, ",
            "you could lose all your assets.",
            "Continue anyway",
            "Back to safety",
        ),
        transaction_hash="Transaction hash",
        delegated_network="Delegate on network",
    ),
    marks_every_cut=True,
    raw_messages_first=True,
    app_version="1.22.0-dev",
)

_RECORDS = (
    Model(
        "nanosp",
        "Nano S Plus",
        0x50,
        "three lines a page; compare every page, and never join the pages of a number",
        _NANO_SCREEN,
    ),
    Model(
        "flex", "Flex", 0x70, "open More for long texts; a text of twelve lines lacks its last one there", _FLEX_SCREEN
    ),
    Model("nanox", "Nano X", 0x40, "shows what a Nano S Plus shows; use its cable, Airlock does not use Bluetooth"),
    Model("stax", "Stax", 0x60, "shows what a Flex shows, more to a page; Airlock lists a Flex' pages"),
    Model(
        "nanos",
        "Nano S",
        0x10,
        "Ledger has stopped its updates; the app may never reach the version that Airlock needs",
    ),
)
MODELS = {model.name: model for model in _RECORDS}
DEFAULT_MODEL = _RECORDS[0].name


def shown_models() -> list[str]:
    """Return the names of the models whose pages Airlock can tell."""
    return [model.name for model in MODELS.values() if model.screen is not None]


def screen_of(name: str) -> Screen:
    """Return the screen of the model of this name, one of :func:`shown_models`. Raises ``KeyError`` for another name."""
    screen = MODELS[name].screen
    if screen is None:
        raise KeyError(name)
    return screen


def model_of_product(product_id: int) -> str:
    """Return the name of the model with this USB product id, empty when it is not known."""
    return next((model.name for model in MODELS.values() if model.usb_product == product_id >> 8), "")


def advice_for(name: str) -> str:
    """Return what ``preflight`` advises for the model of this name, empty for one that is not known."""
    model = MODELS.get(name)
    return f"{model.product}: {model.advice}" if model else ""
