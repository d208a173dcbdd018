"""The pages that a Ledger will show, in order, as lists of lines: for the review screen and for the software Ledger.

Wording and order were recorded from the Ethereum app (``tests/vectors/ledger``): 1.22.0 on Nano S Plus, 1.22.0-dev on
Flex; a Flex with 1.22.0 words its warning page otherwise. Pages that only come when somebody looks further (a Nano's
Reject page, a Flex's More) are not among them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from airlock_offline.ledger.drawing import counted_breaks, counted_lines, cut_lines, text_lines, text_pages, title_line
from airlock_offline.ledger.models import NAME_GAP_PX, Buttons, Touch, screen_of
from airlock_offline.ledger.typed_data import Leaf, leaves
from airlock_shared.ethereum.eip712 import DOMAIN_TYPE, Hashes, TypedData
from airlock_shared.ethereum.signatures import checksum_address

Page = list[str]

_PAGED_TITLE = 35  # characters of a title with its page's number (``displayTextPage`` of the device SDK)
MORE_TAKES_LINES = 3  # the room of the button
SHOWN_CHARACTERS = 379  # of a value, as measured; the rest of it is hashed and not shown
UNSHORTENED_FROM = 509  # app 1.22.0: a string of so many bytes is cut without its three dots


class ScreenField(NamedTuple):
    """One thing shown: its title and its value, the value already cut to what the app keeps of it."""

    title: str
    value: str


class Frame(NamedTuple):
    """The first and the last page around the fields, without what the layout adds."""

    first: tuple[str, ...]
    last: tuple[str, ...]


class Review(NamedTuple):
    """The frame around the fields of one kind of review, on each kind of screen, and what comes between.

    ``blind``: preceded by the warning; ``skippable``: a touch screen offers Skip; ``pauses``: buttons ask to go on after
    each field.
    """

    buttons: Frame
    touch: Frame
    blind: bool = True
    skippable: bool = False
    pauses: bool = False


_TYPED_FRAMES = (
    Frame(("Review typed ", "message"), ("Sign message",)),
    Frame(("Review typed message",), ("Accept risk and sign ", "typed message?")),
)
TYPED_DATA = Review(*_TYPED_FRAMES, skippable=True, pauses=True)
HASHES = Review(*_TYPED_FRAMES, skippable=True)
FILTERED = Review(_TYPED_FRAMES[0], Frame(("Review typed message",), ("Sign typed message?",)), blind=False)


def typed_data_pages(typed_data: TypedData, hashes: Hashes, model: str, *, by_hashes: bool) -> list[Page]:
    """Return the pages for typed data, signed field by field or by its two hashes, up to the one that signs.

    ``model`` is one of ``shown_models()``. Field by field needs the setting Raw messages.
    """
    if by_hashes:
        return review_pages(HASHES, hash_fields(hashes.domain_separator, hashes.struct_hash), model)
    return review_pages(TYPED_DATA, typed_data_fields(typed_data, model), model)


def hash_fields(domain_hash: bytes, message_hash: bytes) -> list[ScreenField]:
    """Return the two fields of signing by hashes."""
    return [
        ScreenField("Domain hash", shown_bytes(domain_hash)),
        ScreenField("Message hash", shown_bytes(message_hash)),
    ]


def typed_data_fields(typed_data: TypedData, model: str) -> list[ScreenField]:
    """Return the fields of signing field by field: each struct's heading, then its leaves."""
    result = []
    for root in (DOMAIN_TYPE, typed_data.primary_type):
        result.append(ScreenField("Review struct", root))
        result += [ScreenField(leaf.name, raw_value(leaf, model)) for leaf in leaves(typed_data, root)]
    return result


def raw_value(leaf: Leaf, model: str) -> str:
    """Return a value as the device shows it raw."""
    if leaf.type == "address":
        return checksum_address(leaf.value)
    if isinstance(leaf.value, bool):
        return "true" if leaf.value else "false"
    if isinstance(leaf.value, str):
        return shown_string(leaf.value.encode(), model)
    return str(leaf.value) if isinstance(leaf.value, int) else shown_bytes(leaf.value)


def shown_bytes(value: bytes) -> str:
    """Return ``bytes`` and ``bytesN`` as the device shows them: upper-case digits, at most 379 characters."""
    return _cut("0x" + value.hex().upper())


def shown_string(value: bytes, model: str) -> str:
    """Return a string, given as its UTF-8 bytes, as the device shows it: cut, and without what it does not draw."""
    text = value.decode("latin-1")  # one character a byte: the device counts bytes
    unmarked = len(text) >= UNSHORTENED_FROM and not screen_of(model).marks_every_cut
    return drawable(text[:SHOWN_CHARACTERS] if unmarked else _cut(text))


def drawable(text: str) -> str:
    """Return a text without what the device does not draw."""
    return "".join(character for character in text if " " <= character <= "~" or character == "\n")


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 3] + "..."


# ---- pages --------------------------------------------------------------------------------------------------------


def review_pages(review: Review, fields: list[ScreenField], model: str) -> list[Page]:
    """Return the pages of a review, from the warning, if any, to the page that signs."""
    screen = screen_of(model)
    layout, warning = screen.layout, list(screen.wording.warning)
    if isinstance(layout, Touch):
        warning = [line for text in warning for line in text_lines(text, layout.names, layout.line_px)]
        bodies = _touch_bodies(fields, layout, layout.height_with_skip_px if review.skippable else layout.height_px)
        count = len(bodies) + 2
        skip = ["Skip"] if review.skippable else []
        first, last = (text_lines("".join(text), layout.values, layout.line_px) for text in review.touch)
        if review.blind:
            pages = [[*first, "Reject", f"1 of {count}", "Blind signing required."]]
        else:
            pages = [[*first, "Swipe to review", "Reject", f"1 of {count}"]]
        pages += [[*skip, *body, "Reject", f"{index} of {count}"] for index, body in enumerate(bodies, start=2)]
        pages.append([*last, "Reject", f"{count} of {count}", "Hold to sign"])
    else:
        pages = [list(review.buttons.first)]
        for index, field in enumerate(fields):
            if index and review.pauses:
                pages.append(list(layout.pause))
            pages += button_field_pages(field, layout)
        pages.append(list(review.buttons.last))
    return [warning, *pages] if review.blind else pages


def button_field_pages(field: ScreenField, layout: Buttons) -> list[Page]:
    """Return a field's pages: so many lines of the value to a page, counted in the title when they are several."""
    parts = text_pages(field.value, layout.face, layout.line_px, layout.lines)
    titles = [f"{field.title} ({index}/{len(parts)})"[:_PAGED_TITLE] for index in range(1, len(parts) + 1)]
    if len(parts) == 1:
        titles = [field.title]
    return [
        [title_line(title, layout.titles, layout.line_px), *filter(None, part)]
        for title, part in zip(titles, parts, strict=True)
    ]


def _touch_bodies(fields: list[ScreenField], layout: Touch, height_px: int) -> list[Page]:
    """Put as many fields on a page as fit; a value of more lines than are shown is alone, cut, and has More.

    Source: ``getNbTagValuesInPage`` in ``nbgl_use_case.c`` of the public device SDK.
    """
    bodies: list[Page] = []
    rest = list(fields)
    while rest:
        body: Page = []
        used_px = layout.top_px
        for number, field in enumerate(rest):
            lines = counted_lines(field.value, layout.values, layout.line_px)
            used_px += layout.between_px if number else 0
            used_px += counted_lines(field.title, layout.names, layout.line_px) * layout.names.line_px + NAME_GAP_PX
            used_px += lines * layout.values.line_px
            whole = used_px < height_px and lines <= layout.lines
            if whole or not number:
                body += _touch_field(field, layout, whole=whole)
                placed = number + 1
            if not whole:
                break
        bodies.append(body)
        rest = rest[placed:]
    return bodies


def _touch_field(field: ScreenField, layout: Touch, *, whole: bool) -> Page:
    name = text_lines(field.title, layout.names, layout.line_px)
    lines = text_lines(field.value, layout.values, layout.line_px)
    if whole:
        return [*name, *filter(None, lines)]
    shown = layout.lines - MORE_TAKES_LINES
    if counted_lines(field.value, layout.values, layout.line_px) > shown:
        lines = cut_lines(field.value, layout.values, layout.line_px, shown)
    return [*name, *filter(None, lines), "More"]


# ---- behind more ----------------------------------------------------------------------------------------------------
# What a touch screen has behind More: the rest of a long value, and of a very long one not all.


def notes_behind_more(name: str, shown: str, layout: Touch) -> Iterator[str]:
    """Yield that a value goes on behind More, and what of its end is not drawn there."""
    yield f"{name} continues behind More: tap it on the Ledger to read all of it."
    if not_drawn_behind_more(shown, layout):
        yield f'The end of {name} is not drawn behind More: read here that it ends in "{shown[-24:].strip()}".'


def not_drawn_behind_more(value: str, layout: Touch) -> str:
    """Return the end of a value for which the pages behind More have no room.

    The device counts the pages in one typeface and fills them in another, a bolder one. Source: ``displayDetails`` and
    ``displayDetailsPage`` in ``nbgl_use_case.c`` of the public device SDK.
    """
    lines = counted_lines(value, layout.names, layout.line_px)
    pages = -(-lines // layout.more_lines)
    if pages > 1:
        a_line_holds = layout.line_px // 16
        lost = -(-3 * (pages - 1) // a_line_holds)
        on_the_last = lines - (pages - 1) * layout.more_lines
        pages += lost // layout.more_lines + (on_the_last + lost % layout.more_lines > layout.more_lines)
    for _ in range(pages):
        breaks = list(counted_breaks(value, layout.bold, layout.line_px))
        if len(breaks) < layout.more_lines:
            return ""
        value = value[breaks[layout.more_lines - 1] :]
    return value


# ---- not shown ------------------------------------------------------------------------------------------------------
# What a Ledger does not show in full of what it signs: named before signing, so that people read it on the review.
# Everything is hashed and signed whole; only the screen is short. Measured on the real app
# (``docs/reference/ledger.md``).


def not_shown_in_full(typed_data: TypedData, model: str) -> list[str]:
    """Return a sentence for each value of ``typed_data`` that ``model`` shows cut, hidden, incomplete, or not at all."""
    every = (leaf for root in (DOMAIN_TYPE, typed_data.primary_type) for leaf in leaves(typed_data, root))
    return list(dict.fromkeys(note for leaf in every for note in notes_of(leaf, model, leaf.name)))


def notes_of(leaf: Leaf, model: str, name: str) -> Iterator[str]:
    """Yield what ``model`` does not show in full of a value that it shows raw; ``name`` is how it is called."""
    value, layout = leaf.value, screen_of(model).layout
    if isinstance(value, str):
        raw, shown = value.encode(), shown_string(value.encode(), model)
        if len(raw) > SHOWN_CHARACTERS:
            marked = "without marking the cut" if len(raw) >= UNSHORTENED_FROM else "and marks the cut with ..."
            yield f"The Ledger shows {SHOWN_CHARACTERS} characters of {name} at most ({len(raw)} bytes), {marked}."
        if not all(0x20 <= byte <= 0x7E or byte == 0x0A for byte in raw):
            yield f"The Ledger does not draw the characters of {name} that are not ASCII."
    elif isinstance(value, bytes) and leaf.type != "address":
        shown = shown_bytes(value)
        if 2 + 2 * len(value) > SHOWN_CHARACTERS:
            yield f"The Ledger shows {SHOWN_CHARACTERS} characters of {name} at most ({len(value)} bytes of data)."
    else:
        if isinstance(layout, Buttons) and type(value) is int:
            pages = text_pages(str(value), layout.face, layout.line_px, layout.lines)
            if "".join(line for page in pages for line in page) != str(value):
                yield f"A Nano repeats digits of {name} on its second page: compare page by page, do not join them."
        return
    if isinstance(layout, Touch) and counted_lines(shown, layout.values, layout.line_px) > layout.lines:
        yield from notes_behind_more(name, shown, layout)
