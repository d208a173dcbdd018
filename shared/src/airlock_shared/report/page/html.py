"""HTML made of texts: every text is made safe for a screen and then escaped, so that none can become markup or hide.

Content is :class:`Html`, or anything else, which is escaped where it is put into an element. An address stands on one line
in groups of four, which the style sheet sets apart: its text is one word still. A hash of 32 bytes, as one word of a text,
may break in its middle and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

from airlock_shared.qr.symbol import LARGEST_VERSION, bordered, matrix
from airlock_shared.text.fingerprint_words import grouped
from airlock_shared.text.safe import safe, safe_again

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


def told(value: object) -> Html:
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
    """Return a list; a ``dense`` one stands in two columns."""
    return element("ul", *(element("li", row) for row in rows), css=css)


def pairs(caption: str, rows: Iterable[Fact], css: str = "facts") -> Html:
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
