"""The Ledger's pages drawn as its screens, each beside the fields that it shows; without its buttons."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from airlock_shared.report.page.html import Html, element, escaped, joined
from airlock_shared.report.rows import Row

_PAUSE = ["Press right button to ", "continue message or ", "press both to skip"]
_HOLD = "Hold to sign"
_TOUCH_BUTTONS = re.compile(
    r"\ASkip\n"
    r"|\n(?:Accept risk and continue|Continue anyway)\nBack to safety\Z"
    r"|(?:\nSwipe to review(?=\nReject\n1 of))?\nReject\n\d+ of \d+(?:\nHold to sign)?(?=\Z|\nBlind signing required\.\Z)"
)
"""What a touch screen has beside the text: a page of values always ends in its own Reject and number, so that no value can
take the place of a button."""

Lines = Sequence[str]


def without_buttons(pages: Sequence[Lines]) -> list[list[str]]:
    """Return the pages without buttons, and without the Nano's pages that only ask to go on."""
    if not pages or pages[-1][-1:] != [_HOLD]:
        return [list(page) for page in pages if list(page) != _PAUSE]
    return [_TOUCH_BUTTONS.sub("", "\n".join(page)).split("\n") for page in pages]


def beside_fields(pages: Sequence[Lines], fields: Sequence[Row]) -> Iterator[tuple[list[list[str]], list[Row]]]:
    """Yield screens and the fields that they show, in the device's order: first the screens before any field.

    A page belongs to the fields whose names stand on it, and one without a name to those before it. A field whose name is
    on no page stands with the next one that is, or alone.
    """
    rest, screens, shown = list(fields), list[list[str]](), list[Row]()
    for page in without_buttons(pages):
        titles = {re.sub(r" \(1/\d+\)\Z", "", line.strip()) for line in page}
        last = max((n for n, row in enumerate(rest, start=1) if row["field"].rpartition(".")[2] in titles), default=0)
        if last:
            yield screens, shown
            screens, shown, rest = [], rest[:last], rest[last:]
        screens.append(page)
    yield screens, shown
    yield from (([], [row]) for row in rest)


def drawn(pages: Sequence[Lines]) -> Html:
    """Return pages as screens."""
    screens = (Html("<br>".join(escaped(line.rstrip()) for line in page)) for page in pages)
    return joined(*(element("div", screen, css="screen") for screen in screens))
