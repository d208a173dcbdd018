"""HTML as the page of ``airlock/report@1`` was made of it: every text made safe for a screen, and escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from airlock_shared.text.fingerprint_words import grouped
from airlock_shared.text.safe import safe, safe_again

LONGEST = 20_000


def text(value: object) -> str:
    """Return a value as text that shows every character and is no markup."""
    return escape(safe(str(value), limit=LONGEST), quote=True)


def told(value: object) -> str:
    """Return a sentence of ours as :func:`text` does, but for backslashes: parts of it may have been made safe before."""
    return escape(safe_again(str(value), limit=LONGEST), quote=True)


def element(name: str, *content: str, css: str = "") -> str:
    """Return an element around content that is HTML already."""
    attribute = f' class="{css}"' if css else ""
    return f"<{name}{attribute}>{''.join(content)}</{name}>"


def hexes(digits: str) -> str:
    """Return hex digits in groups of four, which may break between groups and never within; 32 bytes in two lines."""
    digits = digits.removeprefix("0x")
    lines = (digits[:32], digits[32:]) if len(digits) == 64 else (digits,)
    return (
        element("span", "<br>".join(text(grouped(line)) for line in lines), css="hex") if digits else text("not given")
    )


def items(sentences: Iterable[str]) -> str:
    """Return sentences as a list."""
    return element("ul", *(element("li", text(sentence)) for sentence in sentences))


def pairs(caption: str, rows: Sequence[tuple[str, str]], css: str = "facts") -> str:
    """Return a table of names and values; a value is HTML already."""
    body = [f'<tr><th scope="row">{text(name)}</th><td>{value}</td></tr>\n' for name, value in rows]
    return f'<table class="{css}"><caption>{text(caption)}</caption>\n<tbody>\n{"".join(body)}</tbody></table>\n'


def table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]], css: str = "wide") -> str:
    """Return a table; its cells are HTML already. On a narrow screen each cell stands under the name of its column."""
    head = "".join(f'<th scope="col">{text(name)}</th>' for name in heads)
    body = [
        "<tr>"
        + "".join(f'<td data-name="{text(name)}">{cell}</td>' for name, cell in zip(heads, row, strict=True))
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
        f'<svg class="code" viewBox="0 0 {side} {side}" role="img" aria-label="QR code of the {text(what)} fingerprint" '
        f'shape-rendering="crispEdges"><rect width="{side}" height="{side}" fill="#fff"/>'
        f'<path fill="#000" d="{path}"/></svg>'
    )
