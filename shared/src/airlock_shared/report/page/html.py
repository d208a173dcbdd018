"""HTML made of texts: every text is made safe for a screen and then escaped, so that none can become markup or hide.

Content is :class:`Html`, or anything else, which is escaped where it is put into an element. An address stands on one line
in groups of four, which the style sheet sets apart: its text is one word still. A hash of 32 bytes, as one word of a text,
may break in its middle and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from html import escape

from airlock_shared.qr.symbol import LARGEST_VERSION, bordered, matrix
from airlock_shared.report.rows import PageRow
from airlock_shared.text.safe import grouped, safe, safe_again

LONGEST = 20_000
_LONG_HEX = re.compile(r"(?<![0-9A-Za-z])(0x[0-9A-Fa-f]{40})([0-9A-Fa-f]{24})?(?![0-9A-Za-z])", re.ASCII)


Fact = tuple[str, object]
"""A label and what stands beside it."""


class Html(str):
    """Markup. What is made of it by ``str`` is a text again, and is escaped again."""

    __slots__ = ()


def escaped(value: object) -> str:
    """Return a value as text that shows every character and is no markup, also within an attribute."""
    return escape(safe(str(value), limit=LONGEST), quote=True)


def text(value: object) -> str:
    """Return :func:`escaped` with every address and hash in it held together; what is markup stays as it is."""
    return value if isinstance(value, Html) else _held_together(escaped(value))


def sentence(value: object) -> Html:
    """Return a sentence of ours as :func:`text` does, but for backslashes: parts of it may have been made safe before."""
    return Html(_held_together(escape(safe_again(str(value), limit=LONGEST), quote=True)))


def _held_together(shown: str) -> str:
    return _LONG_HEX.sub(_held, shown)


def _held(found: re.Match[str]) -> str:
    first, *groups = (found[0][at : at + 4] for at in range(2, len(found[0]), 4))
    shown = ["0x" + first, *(f"<span>{group}</span>" for group in groups)]
    return f'<span class="address">{"".join(shown[:8])}{"<wbr>" if found[2] else ""}{"".join(shown[8:])}</span>'


def joined(*content: object) -> Html:
    """Return contents one after the other."""
    return Html("".join(map(text, content)))


def element(name: str, *content: object, css: str = "") -> Html:
    """Return an element around its contents."""
    attribute = f' class="{css}"' if css else ""
    return Html(f"<{name}{attribute}>{joined(*content)}</{name}>")


paragraph = partial(element, "p")
heading = partial(element, "h2")
strong = partial(element, "strong")


def bad(content: object, name: str = "span") -> Html:
    """Return content as something that needs attention."""
    return element(name, content, css="bad")


def words(spoken: str) -> Html:
    """Return the words of a fingerprint; the style sheet numbers them."""
    return element("ol", *(element("li", word) for word in spoken.split()), css="words")


def hexes(digits: str) -> object:
    """Return hex digits in groups of four, which may break between groups and never within; 32 bytes in two lines."""
    digits = digits.removeprefix("0x")
    lines = (digits[:32], digits[32:]) if len(digits) == 64 else (digits,)
    shown = Html("<br>".join(escaped(grouped(line)) for line in lines))
    return element("span", shown, css="hex") if digits else "not given"


def listed(rows: Iterable[object], css: str = "") -> Html:
    """Return a list."""
    return element("ul", *(element("li", row) for row in rows), css=css)


def dense(rows: Iterable[object]) -> Html:
    """Return a list in two columns."""
    return listed(rows, css="dense")


def pair_table(caption: str, rows: Iterable[Fact], css: str = "facts") -> Html:
    """Return a table of names and values."""
    body = [f'<tr><th scope="row">{text(name)}</th><td>{text(value)}</td></tr>\n' for name, value in rows]
    return Html(f'<table class="{css}"><caption>{text(caption)}</caption>\n<tbody>\n{"".join(body)}</tbody></table>\n')


def table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[object]], css: str = "wide") -> Html:
    """Return a table. On a narrow screen each cell stands under the name of its column."""
    head = "".join(f'<th scope="col">{text(name)}</th>' for name in heads)
    body = [
        "<tr>"
        + "".join(f'<td data-name="{escaped(name)}">{text(cell)}</td>' for name, cell in zip(heads, row, strict=True))
        + "</tr>\n"
        for row in rows
    ]
    return Html(
        f'<table class="{css}"><caption>{text(caption)}</caption>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{''.join(body)}</tbody></table>\n"
    )


def code(digits: str, what: str) -> Html:
    """Return a QR symbol of hex digits, upper case, dark on white with its quiet zone, as inline SVG."""
    modules = bordered(matrix(digits.upper(), version_at_most=LARGEST_VERSION))
    side = len(modules)
    path = "".join(f"M{x} {y}h1v1h-1z" for y, row in enumerate(modules) for x, dark in enumerate(row) if dark)
    return Html(
        f'<svg class="code" viewBox="0 0 {side} {side}" role="img" aria-label="QR code of the {escaped(what)} fingerprint" '
        f'shape-rendering="crispEdges"><rect width="{side}" height="{side}" fill="#fff"/>'
        f'<path fill="#000" d="{path}"/></svg>'
    )


# ---- device ---------------------------------------------------------------------------------------------------------
# The Ledger's pages drawn as its screens, each beside the fields that it shows; without its buttons.


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


def screens_of_fields(
    pages: Sequence[Lines], fields: Sequence[PageRow]
) -> Iterator[tuple[list[list[str]], list[PageRow]]]:
    """Yield screens and the fields that they show, in the device's order: first the screens before any field.

    A page belongs to the fields whose names stand on it, and one without a name to those before it. A field whose name is
    on no page stands with the next one that is, or alone.
    """
    rest, screens, shown = list(fields), list[list[str]](), list[PageRow]()
    for page in without_buttons(pages):
        titles = {re.sub(r" \(1/\d+\)\Z", "", line.strip()) for line in page}
        last = max((n for n, row in enumerate(rest, start=1) if row.field.rpartition(".")[2] in titles), default=0)
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
