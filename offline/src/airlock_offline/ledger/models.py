"""The models of Ledger, one record each: all that differs from one to another. A new model is a new record in ``MODELS``.

Two families of screen are known: a Nano's, where two buttons turn pages of three lines, and a touch screen's, which has
several fields to a page. Sizes are those of the public device SDK, wording that of the app's published source; both are
compared with the real app (``tests/vectors/ledger``, ``tests/speculos``). A record without a screen is of a model that USB
may name and for which the app is no longer published.
"""

from __future__ import annotations

from typing import NamedTuple

from airlock_offline.ledger.drawing import (
    INTER_MEDIUM_32,
    INTER_MEDIUM_36,
    INTER_REGULAR_24,
    INTER_REGULAR_28,
    INTER_SEMIBOLD_24,
    INTER_SEMIBOLD_28,
    NANODISPLAY_SEMIBOLD_24,
    NANOTEXT_BOLD_18,
    NANOTEXT_MEDIUM_18,
    OPEN_SANS_EXTRABOLD_11,
    OPEN_SANS_REGULAR_11,
    Typeface,
)

RELEASED, DEVELOPMENT = "1.22.0", "1.22.0-dev"
"""The versions of the app whose words are known: of the second, the build that the app's own repository holds."""


class Buttons(NamedTuple):
    """A Nano's screen: one field to a page, ``lines`` of its value under the field's name; sizes in pixels.

    ``pause``: the page that asks to go on after each field of a long review.
    """

    face: Typeface
    titles: Typeface
    line_px: int
    lines: int
    pause: tuple[str, ...]


class Touch(NamedTuple):
    """A touch screen: as many fields to a page as fit in its height; sizes in pixels.

    A field takes the lines of its name, ``NAME_GAP_PX``, the lines of its value, and ``between_px`` up to the next; the
    first begins at ``top_px``. A value of more than ``lines`` ends in "..." and More; there ``more_lines`` in ``bold`` fill
    a page. Source: the public device SDK (LedgerHQ/ledger-secure-sdk, ``lib_nbgl``, Apache License 2.0).
    """

    names: Typeface
    values: Typeface
    bold: Typeface
    line_px: int
    height_px: int
    height_with_skip_px: int
    top_px: int
    between_px: int
    lines: int
    more_lines: int


NAME_GAP_PX = 4


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
        face=OPEN_SANS_REGULAR_11,
        titles=OPEN_SANS_EXTRABOLD_11,
        line_px=114,
        lines=3,
        pause=("Press right button to ", "continue message or ", "press both to skip"),
    ),
    Wording(
        warning=("Blind signing ahead", "To accept risk, press ", "both buttons"),
        transaction_hash="Tx hash",
        delegated_network="On network",
    ),
    marks_every_cut=False,
    raw_messages_first=False,
    app_version=RELEASED,
)
# The constants of ``nbgl_layout.h``, ``nbgl_types.h`` and ``nbgl_use_case.h``: screen less margins, headers and footers.
_FLEX = Touch(
    names=INTER_REGULAR_28,
    values=INTER_MEDIUM_36,
    bold=INTER_SEMIBOLD_28,
    line_px=416,
    height_px=464,
    height_with_skip_px=408,
    top_px=0,
    between_px=24,
    lines=9,
    more_lines=11,
)
_STAX = Touch(
    names=INTER_REGULAR_24,
    values=INTER_MEDIUM_32,
    bold=INTER_SEMIBOLD_24,
    line_px=352,
    height_px=548,
    height_with_skip_px=492,
    top_px=24,
    between_px=12,
    lines=10,
    more_lines=12,
)
_APEX = Touch(
    names=NANOTEXT_MEDIUM_18,
    values=NANODISPLAY_SEMIBOLD_24,
    bold=NANOTEXT_BOLD_18,
    line_px=268,
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
_TOUCH_WORDING = Wording(
    warning=(
        "Blind signing ahead",
        _LOSSES,
        "Accept risk and continue",
        "Back to safety",
    ),
    transaction_hash="Transaction hash",
    delegated_network="Delegate on network",
)
_DEVELOPMENT_WORDING = _TOUCH_WORDING._replace(
    warning=(
        "Blind signing ahead",
        "This transaction's details are not fully verifiable. If you sign, you could lose all your assets.",
        "Continue anyway",
        "Back to safety",
    )
)


def _touch_screen(layout: Touch) -> Screen:
    return Screen(layout, _TOUCH_WORDING, marks_every_cut=False, raw_messages_first=True, app_version=RELEASED)


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
        _touch_screen(_FLEX),
        usb_legacy=0x0007,
    ),
    Model("nanox", "Nano X", 0x40, "shows what a Nano S Plus shows; use its cable, Airlock does not use Bluetooth",
          _NANO_SCREEN, usb_legacy=0x0004),
    Model("stax", "Stax", 0x60, "shows what a Flex shows, more to a page; open More for long texts",
          _touch_screen(_STAX), usb_legacy=0x0006),
    Model("apexp", "Nano Gen5", 0x80, "shows what a Flex shows, in narrower lines; open More for long texts",
          _touch_screen(_APEX), usb_legacy=0x0008),
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
        Screen(_FLEX, _DEVELOPMENT_WORDING, marks_every_cut=True, raw_messages_first=True, app_version=DEVELOPMENT),
        offered=False,
    ),
)  # fmt: skip
MODELS = {model.name: model for model in _RECORDS}
DEFAULT_MODEL = _RECORDS[0].name


def shown_models() -> list[str]:
    """Return the names of the models whose pages Airlock can tell."""
    return [model.name for model in MODELS.values() if model.screen is not None and model.offered]


def screen_of(name: str) -> Screen:
    """Return the screen of the model of this name, one of :func:`shown_models`. Raises ``KeyError`` for another name."""
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
