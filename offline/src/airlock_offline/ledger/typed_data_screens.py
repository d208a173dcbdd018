"""The pages that a Ledger will show, in order, as lists of lines: for the review screen and for the software Ledger.

Wording and order were recorded from the Ethereum app (``tests/vectors/ledger``): 1.22.0 on Nano S Plus, 1.22.0-dev on
Flex; a Flex with 1.22.0 words its warning page otherwise. Pages that only come when somebody looks further (a Nano's
Reject page, a Flex's More) are not among them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from airlock_offline.ledger.line_breaks import FLEX, NANO, lines_of, shortened
from airlock_offline.ledger.typed_data import ArrayCount, Leaf, leaves
from airlock_shared.ethereum.addresses import checksum_address
from airlock_shared.ethereum.eip712 import DOMAIN_TYPE, Hashes, TypedData

NANO_S_PLUS = "nanosp"
FLEX_MODEL = "flex"
MODELS = (NANO_S_PLUS, FLEX_MODEL)

Page = list[str]

SHOWN_CHARACTERS = 379  # of a value, as measured; the rest of it is hashed and not shown
NANO_LINES = 3  # of a value, under the field's name
FLEX_LINES = 6  # of a value, before "..." and More
FLEX_HEIGHT_SKIP_PX = 440  # for fields on a page with Skip; between what did and did not fit when recorded
FLEX_HEIGHT_PX = 480  # for fields on a page without it
FLEX_FIELD_PX = 64  # a field's name and the space around it
FLEX_LINE_PX = 40
UNSHORTENED_FROM = 509  # app 1.22.0: a string of so many bytes is cut without its three dots

_NANO_WARNING = ["Blind signing ahead", "To accept risk, press ", "both buttons"]
_NANO_PAUSE = ["Press right button to ", "continue message or ", "press both to skip"]
_FLEX_WARNING = [
    "Blind signing ahead",
    "This transaction's details are ",
    "not fully verifiable. If you sign, ",
    "you could lose all your assets.",
    "Continue anyway",
    "Back to safety",
]


class Field(NamedTuple):
    """One thing shown: its title and its value, the value already cut to what the app keeps of it."""

    title: str
    value: str


class Review(NamedTuple):
    """The frame around the fields of one kind of review: first and last page of each model, and what comes between.

    ``blind``: preceded by the warning; ``skippable``: Flex offers Skip; ``pauses``: a Nano asks to go on after each field.
    """

    nano_first: Page
    nano_last: Page
    flex_first: Page
    flex_last: Page
    blind: bool = True
    skippable: bool = False
    pauses: bool = False


_TYPED_FIRST_LAST = (
    ["Review typed ", "message"],
    ["Sign message"],
    ["Review typed message"],
    ["Accept risk and sign ", "typed message?"],
)
TYPED_DATA = Review(*_TYPED_FIRST_LAST, skippable=True, pauses=True)
HASHES = Review(*_TYPED_FIRST_LAST, skippable=True)
MESSAGE = Review(["Review message"], ["Sign message"], ["Review message"], ["Sign message?"], blind=False)


def coming_screens(typed_data: TypedData, hashes: Hashes, model: str, *, by_hashes: bool) -> list[Page]:
    """Return the pages for typed data, signed field by field or by its two hashes, up to the one that signs.

    ``model`` is one of ``MODELS``. Field by field needs the setting Raw messages.
    """
    if by_hashes:
        return review_pages(HASHES, hash_fields(hashes.domain_separator, hashes.struct_hash), model)
    return review_pages(TYPED_DATA, typed_data_fields(typed_data, model), model)


def hash_fields(domain_hash: bytes, message_hash: bytes) -> list[Field]:
    """Return the two fields of signing by hashes."""
    return [Field("Domain hash", shown_bytes(domain_hash)), Field("Message hash", shown_bytes(message_hash))]


def message_fields(message: bytes, model: str) -> list[Field]:
    """Return the field of a personal message: its text, or lower-case hex when it is not printable ASCII."""
    is_text = all(0x20 <= byte <= 0x7E or byte == 0x0A for byte in message)
    return [Field("Message", shown_string(message if is_text else b"0x" + message.hex().encode(), model))]


def typed_data_fields(typed_data: TypedData, model: str) -> list[Field]:
    """Return the fields of signing field by field: each struct's heading, then its leaves."""
    result = []
    for root in (DOMAIN_TYPE, typed_data.primary_type):
        result.append(Field("Review struct", root))
        result += _leaf_fields(leaves(typed_data, root), model)
    return result


def _leaf_fields(items: Iterable[Leaf | ArrayCount], model: str) -> list[Field]:
    return [Field(item.name, _shown(item, model)) for item in items if isinstance(item, Leaf)]


def _shown(leaf: Leaf, model: str) -> str:
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
    unmarked = model == NANO_S_PLUS and len(text) >= UNSHORTENED_FROM
    kept = text[:SHOWN_CHARACTERS] if unmarked else _cut(text)
    return "".join(character for character in kept if " " <= character <= "~" or character == "\n")


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 3] + "..."


# ---- pages --------------------------------------------------------------------------------------------------------


def review_pages(review: Review, fields: list[Field], model: str) -> list[Page]:
    """Return the pages of a review, from the warning, if any, to the page that signs."""
    return _flex_pages(review, fields) if model == FLEX_MODEL else _nano_pages(review, fields)


def _nano_pages(review: Review, fields: list[Field]) -> list[Page]:
    pages = [list(_NANO_WARNING)] if review.blind else []
    pages.append(list(review.nano_first))
    for index, field in enumerate(fields):
        if index and review.pauses:
            pages.append(list(_NANO_PAUSE))
        pages += nano_field_pages(field)
    return [*pages, list(review.nano_last)]


def nano_field_pages(field: Field) -> list[Page]:
    """Return a field's pages on a Nano: three lines of the value to a page, counted in the title when they are several."""
    lines = lines_of(field.value.replace("\n", " "), NANO)
    parts = [lines[at : at + NANO_LINES] for at in range(0, len(lines), NANO_LINES)] or [[]]
    if len(parts) == 1:
        return [[field.title, *parts[0]]]
    return [[f"{field.title} ({index}/{len(parts)})", *part] for index, part in enumerate(parts, start=1)]


def _flex_pages(review: Review, fields: list[Field]) -> list[Page]:
    height_px = FLEX_HEIGHT_SKIP_PX if review.skippable else FLEX_HEIGHT_PX
    bodies = _flex_bodies(fields, height_px)
    count = len(bodies) + 2
    skip = ["Skip"] if review.skippable else []
    pages = [list(_FLEX_WARNING)] if review.blind else []
    if review.blind:
        pages.append([*review.flex_first, "Reject", f"1 of {count}", "Blind signing required."])
    else:
        pages.append([*review.flex_first, "Swipe to review", "Reject", f"1 of {count}"])
    pages += [[*skip, *body, "Reject", f"{index} of {count}"] for index, body in enumerate(bodies, start=2)]
    return [*pages, [*review.flex_last, "Reject", f"{count} of {count}", "Hold to sign"]]


def _flex_bodies(fields: list[Field], height_px: int) -> list[Page]:
    """Put as many fields on a page as fit; a value of more than six lines is alone, cut, and has More."""
    bodies: list[Page] = []
    free_px = 0
    for field in fields:
        lines = lines_of(field.value, FLEX)
        needed_px = FLEX_FIELD_PX + FLEX_LINE_PX * len(lines)
        if len(lines) > FLEX_LINES:
            cut = [*lines[: FLEX_LINES - 1], shortened(lines[FLEX_LINES - 1], FLEX)]
            bodies.append([field.title, *cut, "More"])
            free_px = 0
        elif needed_px <= free_px:
            bodies[-1] += [field.title, *lines]
            free_px -= needed_px
        else:
            bodies.append([field.title, *lines])
            free_px = height_px - needed_px
    return bodies


def address_pages(network: str, address: str, model: str) -> list[Page]:
    """Return the pages on which a person compares an address (EIP-55) with the plan's."""
    field = Field("Address", address)
    if model == FLEX_MODEL:
        lines = lines_of(address, FLEX)
        first = [f"Verify {network}", "address", "Swipe to continue", "Cancel", "1 of 2"]
        return [first, ["Address", *lines, "Cancel", "2 of 2", "Confirm"]]
    return [[f"Verify {network}", "address"], *nano_field_pages(field), ["Confirm"]]
