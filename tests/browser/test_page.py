"""Pages of codes in a real Chromium: they play, what they show is scanned from screenshots, and nothing leaves them."""

import json
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from qrcode import QRCode  # type: ignore[import-untyped]
from qrcode.util import MODE_ALPHA_NUM, QRData  # type: ignore[import-untyped]

from airlock_shared.qr.documents import Transfer, cycle_texts
from airlock_shared.qr.render import WINDOW, qr_page, window
from airlock_shared.qr.scan import scan_pictures, texts_in
from airlock_shared.qr.symbol import LARGEST_VERSION, capacity
from airlock_shared.ur.decode import Decoder
from airlock_shared.ur.envelope import unwrap
from browser.chromium import Page, chromium
from shared.qr.transfers import batch, one_intent, whole_plan

LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:"
WHITE = (255, 255, 255)
SMALL, LARGE = (1280, 720), (1920, 1080)
SHOTS = 600  # far more than any of these transfers takes


def show(browser: Page, tmp_path: Path, transfer: Transfer, **settings: int) -> Path:
    path = tmp_path / "transfer.html"
    path.write_bytes(qr_page(transfer, **settings))
    browser.open(path)
    return path


def shots(browser: Page) -> Iterator[Image.Image]:
    for _ in range(SHOTS):
        yield browser.screenshot()


def corner_of_code(browser: Page) -> tuple[int, int]:
    box = browser.evaluate("(() => { const b = element('code').getBoundingClientRect(); return [b.x, b.y]; })()")
    return int(box[0]) + 2, int(box[1]) + 2


@pytest.mark.parametrize(("size", "theme"), [(SMALL, "light"), (LARGE, "dark")], ids=["small-light", "large-dark"])
def test_a_document_is_scanned_while_it_plays(browser: Page, tmp_path: Path, size: tuple[int, int], theme: str) -> None:
    browser.resize(*size)
    browser.use_theme(theme)
    path = show(browser, tmp_path, whole_plan())
    message = scan_pictures(shots(browser), Decoder(), lambda _report: None)
    assert unwrap(message.cbor).fingerprint == whole_plan().fingerprint
    assert browser.screenshot().convert("RGB").getpixel(corner_of_code(browser)) == WHITE
    assert browser.requests() == [path.as_uri()]
    assert browser.complaints() == []


def test_a_signature_is_one_still_code(browser: Page, tmp_path: Path) -> None:
    browser.resize(*SMALL)
    signature = batch(1)[1]
    show(browser, tmp_path, signature)
    message = scan_pictures([browser.screenshot()], Decoder(), lambda _report: None)
    assert unwrap(message.cbor).fingerprint == signature.fingerprint
    assert browser.evaluate("playing.timer") is None
    assert browser.evaluate("['start', 'stop', 'step'].every((name) => element(name).disabled)") is True
    assert browser.evaluate("element('counter').textContent") == "One still code"


def test_a_browser_that_darkens_every_page_does_not_invert_the_code(tmp_path: Path) -> None:
    with chromium(tmp_path / "profile", "--force-dark-mode", "--enable-features=WebContentsForceDark") as browser:
        browser.resize(*SMALL)
        show(browser, tmp_path, one_intent())
        shot = browser.screenshot().convert("RGB")
        assert shot.getpixel(corner_of_code(browser)) == WHITE
        assert texts_in(shot)[0] in cycle_texts(one_intent(), 20)


ADDED = (
    "<script>window.owned = true</script><script src='x.js'></script><img src='x' onerror='window.owned = true'>"
    "<style>body { --owned: true }</style><link rel='stylesheet' href='x.css'><iframe src='x.html'></iframe>"
)


def test_what_is_added_neither_runs_nor_loads(browser: Page, tmp_path: Path) -> None:
    for file, content in (("x.js", "window.owned = true"), ("x.css", "body { --owned: true }"), ("x.html", "")):
        (tmp_path / file).write_text(content)
    path = tmp_path / "changed.html"
    path.write_bytes(qr_page(one_intent()).replace(b"</aside>", f"{ADDED}</aside>".encode()))
    browser.open(path)
    assert browser.evaluate("window.owned === undefined") is True
    assert browser.evaluate("getComputedStyle(document.body).getPropertyValue('--owned')") == ""
    assert len(browser.complaints()) >= ADDED.count("</") + 1
    assert texts_in(browser.screenshot())


def test_the_symbols_of_every_version_are_those_of_an_independent_encoder(browser: Page, tmp_path: Path) -> None:
    show(browser, tmp_path, one_intent())
    rng = random.Random(27)
    texts = [
        "".join(rng.choices(LETTERS, k=capacity(version) - less))
        for version in range(1, LARGEST_VERSION + 1)
        for less in (0, 1)
    ]
    drawn: list[dict[str, Any]] = browser.evaluate(f"{json.dumps(texts)}.map(symbolOf)")
    for text, symbol in zip(texts, drawn, strict=True):
        version = (len(symbol["rows"]) - 17) // 4
        assert capacity(version - 1 or 1) < len(text) <= capacity(version) or version == 1
        code = QRCode(version=version, error_correction=1, border=0, mask_pattern=symbol["mask"])
        code.add_data(QRData(text.encode(), mode=MODE_ALPHA_NUM))
        code.make(fit=False)
        assert symbol["rows"] == code.get_matrix()


OTHER, NEWEST = "hand-over-00000000000000aa.html", "hand-over-00000000000000bb.html"
PATIENCE_S = 30


def name(folder: Path, newest: str) -> None:
    for file, data in window(newest).items():
        (folder / file).write_bytes(data)


def shown(browser: Page, wanted: str) -> str:
    """Return what the window shows once it is what is wanted, or after a while."""
    began, page = time.monotonic(), ""
    while page != wanted and time.monotonic() - began < PATIENCE_S:
        time.sleep(0.2)
        page = browser.evaluate("document.getElementById('page').getAttribute('src')")
    return page


def test_the_window_shows_the_newest_page_then_the_next_and_no_other_name(browser: Page, tmp_path: Path) -> None:
    name(tmp_path, OTHER)
    browser.open(tmp_path / WINDOW)
    assert shown(browser, OTHER) == OTHER
    name(tmp_path, NEWEST)
    assert shown(browser, NEWEST) == NEWEST
    name(tmp_path, "https://example.com/")
    asked = len(browser.requests())
    while len(browser.requests()) < asked + 2:  # it has read the name twice
        time.sleep(0.2)
    assert shown(browser, NEWEST) == NEWEST
    assert not any(request.startswith("http") for request in browser.requests())
