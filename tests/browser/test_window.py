"""One page in a browser shows whatever is handed over next, without being opened again."""

from __future__ import annotations

import time
from pathlib import Path

from airlock_shared.qr.render import WINDOW, window
from browser.chromium import Page

OTHER = "hand-over-00000000000000aa.html"
NEWEST = "hand-over-00000000000000bb.html"
SHOWN = "document.getElementById('page').getAttribute('src')"
PATIENCE_S = 30


def _name(folder: Path, newest: str) -> None:
    for name, data in window(newest).items():
        (folder / name).write_bytes(data)


def _shows(browser: Page, name: str) -> bool:
    began = time.monotonic()
    while (shown := browser.evaluate(SHOWN)) != name and time.monotonic() - began < PATIENCE_S:
        time.sleep(0.2)
    return bool(shown == name)


def test_the_window_shows_the_newest_page_and_then_the_next_one(browser: Page, tmp_path: Path) -> None:
    _name(tmp_path, OTHER)
    browser.open(tmp_path / WINDOW)
    assert _shows(browser, OTHER)
    _name(tmp_path, NEWEST)
    assert _shows(browser, NEWEST)
    assert not any(request.startswith("http") for request in browser.requests())


def test_a_name_of_another_form_is_not_shown(browser: Page, tmp_path: Path) -> None:
    _name(tmp_path, OTHER)
    browser.open(tmp_path / WINDOW)
    assert _shows(browser, OTHER)
    _name(tmp_path, "https://example.com/")
    time.sleep(5)
    assert browser.evaluate(SHOWN) == OTHER
