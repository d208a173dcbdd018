"""One self-contained HTML page that plays a transfer: it needs no network and no other file, and its policy allows none.

The browser draws the codes itself from the texts, with ``page_parts/symbol.js``. The Content Security Policy names the
page's one script and one style by hash, so that nothing else in the page can run.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from importlib.resources import files

from airlock_shared.qr.symbol import DEFAULT_VERSION
from airlock_shared.qr.transfer import DEFAULT_PAUSE_MS, Transfer, cycle_texts, densities_of, ideal_count
from airlock_shared.text.fingerprint_words import grouped, spoken
from airlock_shared.text.safe import safe

WINDOW = "now.html"
"""The page that a person opens once: it shows the newest page of codes in its folder."""


def page(transfer: Transfer, *, version: int = DEFAULT_VERSION, pause_ms: int = DEFAULT_PAUSE_MS) -> bytes:
    """Return the page, UTF-8. It begins to play when it is opened, at the largest density up to ``version``.

    Raises ``UsageError`` for a message that is too long for codes.
    """
    style, script = _part("page.css"), _part("symbol.js") + _part("player.js")
    policy = (
        f"default-src 'none'; script-src '{_source_hash(script)}'; style-src '{_source_hash(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    filled = _part("page.html")
    for place, text in {
        "@POLICY@": policy,
        "@STYLE@": style,
        "@SCRIPT@": script,
        "@TRANSFER@": _embedded(transfer, version, pause_ms),
    }.items():  # the transfer last, so that no place is looked for in it
        filled = filled.replace(place, text, 1)
    return filled.encode()


def window(newest: str) -> dict[str, bytes]:
    """Return the files of the one page that shows the newest page of a folder: itself, and the one that names that."""
    return {WINDOW: _part("window.html").encode(), "next.html": _part("next.html").replace("@NAME@", newest).encode()}


def _embedded(transfer: Transfer, version: int, pause_ms: int) -> str:
    """Return the transfer as JSON that cannot end the script element which holds it, nor be read otherwise by a script."""
    versions = densities_of(transfer)
    densities = [
        {"version": each, "ideal": ideal_count(transfer, each), "texts": cycle_texts(transfer, each)}
        for each in versions
    ]
    value = {
        "kind": safe(transfer.kind),
        "ceremony": safe(transfer.ceremony),
        "fingerprint": grouped(transfer.fingerprint),
        "words": spoken(transfer.fingerprint),
        "densities": densities,
        "density": max((n for n, each in enumerate(versions) if each <= version), default=0),
        "pause_ms": pause_ms,
    }
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _part(name: str) -> str:
    return (files("airlock_shared.qr") / "page_parts" / name).read_text(encoding="utf-8")


def _source_hash(text: str) -> str:
    """Return a hash-source of the Content Security Policy, level 3, section 2.3.1."""
    return "sha256-" + b64encode(hashlib.sha256(text.encode()).digest()).decode()
