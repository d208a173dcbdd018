"""HTML made of texts: every text is made safe for a screen and then escaped, so that none can become markup or hide.

An address stands on one line. A hash of 32 bytes, as one word of a text, may break in its middle and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

from airlock_shared.text.fingerprint_words import grouped
from airlock_shared.text.safe import safe, safe_again

LONGEST = 20_000
_LONG_HEX = re.compile(r"(?<![0-9A-Za-z])(0x[0-9A-Fa-f]{40})([0-9A-Fa-f]{24})?(?![0-9A-Za-z])", re.ASCII)


def escaped(value: object) -> str:
    """Return a value as text that shows every character and is no markup, also within an attribute."""
    return escape(safe(str(value), limit=LONGEST), quote=True)


def text(value: object) -> str:
    """Return :func:`escaped` with every address and hash in it held together."""
    return _held_together(escaped(value))


def told(value: object) -> str:
    """Return a sentence of ours as :func:`text` does, but for backslashes: parts of it may have been made safe before."""
    return _held_together(escape(safe_again(str(value), limit=LONGEST), quote=True))


def _held_together(shown: str) -> str:
    return _LONG_HEX.sub(_held, shown)


def _held(found: re.Match[str]) -> str:
    word = found[0]
    return element("span", word if found[2] is None else f"{word[:34]}<wbr>{word[34:]}", css="address")


def element(name: str, *content: str, css: str = "") -> str:
    """Return an element around content that is HTML already."""
    attribute = f' class="{css}"' if css else ""
    return f"<{name}{attribute}>{''.join(content)}</{name}>"


def bad(content: str, name: str = "span") -> str:
    """Return content, HTML already, as something that needs attention."""
    return element(name, content, css="bad")


def hexes(digits: str) -> str:
    """Return hex digits in groups of four, which may break between groups and never within; 32 bytes in two lines."""
    digits = digits.removeprefix("0x")
    lines = (digits[:32], digits[32:]) if len(digits) == 64 else (digits,)
    shown = "<br>".join(escaped(grouped(line)) for line in lines)
    return element("span", shown, css="hex") if digits else text("not given")


def items(sentences: Iterable[str]) -> str:
    """Return sentences as a list."""
    return listed(map(text, sentences))


def listed(rows: Iterable[str]) -> str:
    """Return a list of what is HTML already."""
    return element("ul", *(element("li", row) for row in rows))


def pairs(caption: str, rows: Sequence[tuple[str, str]], css: str = "facts") -> str:
    """Return a table of names and values; a value is HTML already."""
    body = [f'<tr><th scope="row">{text(name)}</th><td>{value}</td></tr>\n' for name, value in rows]
    return f'<table class="{css}"><caption>{text(caption)}</caption>\n<tbody>\n{"".join(body)}</tbody></table>\n'


def table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]], css: str = "wide") -> str:
    """Return a table; its cells are HTML already. On a narrow screen each cell stands under the name of its column."""
    head = "".join(f'<th scope="col">{text(name)}</th>' for name in heads)
    body = [
        "<tr>"
        + "".join(f'<td data-name="{escaped(name)}">{cell}</td>' for name, cell in zip(heads, row, strict=True))
        + "</tr>\n"
        for row in rows
    ]
    return (
        f'<table class="{css}"><caption>{text(caption)}</caption>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{''.join(body)}</tbody></table>\n"
    )


def code(digits: str, what: str) -> str:
    """Return a QR symbol of hex digits, upper case, dark on white with its quiet zone, as inline SVG."""
    from airlock_shared.qr.symbol import LARGEST_VERSION, bordered, matrix

    modules = bordered(matrix(digits.upper(), version_at_most=LARGEST_VERSION))
    side = len(modules)
    path = "".join(f"M{x} {y}h1v1h-1z" for y, row in enumerate(modules) for x, dark in enumerate(row) if dark)
    return (
        f'<svg class="code" viewBox="0 0 {side} {side}" role="img" aria-label="QR code of the {escaped(what)} fingerprint" '
        f'shape-rendering="crispEdges"><rect width="{side}" height="{side}" fill="#fff"/>'
        f'<path fill="#000" d="{path}"/></svg>'
    )
