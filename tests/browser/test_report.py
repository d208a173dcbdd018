"""The report's page in a real Chromium: readable on screens and on paper, harmless, and asking for nothing."""

import base64
import os
import re
from pathlib import Path

import pytest
from PIL import Image
from pypdf import PdfReader

from airlock_shared.host.print_pdf import print_page
from airlock_shared.plan.reader import parse_plan
from airlock_shared.qr.scan import texts_in
from airlock_shared.report.page.page import plan_page, report_page
from airlock_shared.report.reexamined import judge
from airlock_shared.report.verify import report_of_artefacts
from airlock_shared.text.safe import grouped
from browser.chromium import Page
from shared.report.day import HOSTILE, PLAYED, offline_files, online_files, signed
from shared.world import PLAN_TEXT, plan

ONE_STEP = ("market-close", "delegate-key", "referral-code", "much-to-look-at")
PAGES = ("offline", "online", "plan", *ONE_STEP)
HOSTILE_TITLE = HOSTILE.replace("'", "")
WIDTHS = [1280, 768, 375]
PAPERS = {"A4": (8.27, 11.69), "Letter": (8.5, 11)}
OVERFLOWING = """[...document.querySelectorAll('body *')].filter((e) => !e.closest('svg')
  && e.getBoundingClientRect().right > document.documentElement.clientWidth + 1).map((e) => e.outerHTML.slice(0, 80))"""
CLIPPED = """[...document.querySelectorAll('td, th, li, p, h1, h2, h3, caption')]
  .filter((e) => e.clientWidth && e.scrollWidth > e.clientWidth + 1).map((e) => e.outerHTML.slice(0, 80))"""


CUT_MARKERS = """[...document.querySelectorAll('td > ul')].map((e) => getComputedStyle(e))
  .filter((e) => parseFloat(e.paddingLeft) < 1.2 * parseFloat(e.fontSize)).map((e) => e.paddingLeft)"""


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    for half, files in (("offline", offline_files()), ("online", online_files())):
        (folder / f"{half}.html").write_bytes(report_of_artefacts(files, judge).html)
    for ceremony in ONE_STEP[:3]:
        files = {path.name: path.read_bytes() for path in (PLAYED.parent / ceremony).iterdir()}
        made = report_of_artefacts(files, judge)
        (folder / f"{ceremony}.html").write_bytes(made.html)
    (folder / f"{ONE_STEP[3]}.html").write_bytes(report_page(made.value | {"notes": ["many words " * 13] * 9}))
    text = PLAN_TEXT.replace(f'title = "{plan().title}"', f"title = '{HOSTILE_TITLE}'", 1)
    (folder / "plan.html").write_bytes(plan_page(parse_plan(text.encode())))
    return {path.stem: path for path in folder.iterdir()}


BROKEN = """[...document.querySelectorAll('.address')].filter((e) => e.textContent.length == 42
  && e.getClientRects().length != 1).map((e) => e.parentElement.outerHTML.slice(0, 200))"""


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("half", PAGES)
def test_nothing_is_wider_than_the_screen_nothing_is_cut_and_no_address_is_broken(
    browser: Page, reports: dict[str, Path], half: str, width: int
) -> None:
    browser.resize(width, 900)
    browser.open(reports[half])
    assert browser.evaluate("document.documentElement.scrollWidth <= window.innerWidth") is True
    assert browser.evaluate(OVERFLOWING) == []
    assert browser.evaluate(CLIPPED) == browser.evaluate(CUT_MARKERS) == []
    assert browser.evaluate("[...document.querySelectorAll('caption')].every((e) => e.offsetWidth > 150)") is True
    assert browser.evaluate("document.querySelectorAll('.address').length") >= 3
    assert browser.evaluate(BROKEN) == []


@pytest.mark.parametrize("half", ["offline", "online", "plan"])
def test_it_runs_and_loads_nothing_and_shows_hostile_texts(browser: Page, reports: dict[str, Path], half: str) -> None:
    browser.open(reports[half])
    assert browser.requests() == [reports[half].as_uri()]
    assert browser.complaints() == []
    what = "plan" if half == "plan" else f"report of {half}"
    assert browser.evaluate("document.title") == f"2026-09-everything: {what}"
    assert browser.evaluate("document.querySelectorAll('script, img, iframe, link, a, form, object').length") == 0
    text = browser.evaluate("document.body.innerText")
    if half == "plan":
        assert browser.evaluate("document.querySelector('h1').textContent") == f"{HOSTILE_TITLE} (2026-09-everything)"
        return
    assert HOSTILE in text
    for place in (".screen", ".by-hand span"):
        inner = browser.evaluate(f"[...document.querySelectorAll('{place}')].map((e) => e.innerText)")
        assert any("<script>" in each for each in inner)
    assert "a\\u{202e}b\\u{200b}c\\u{1b}[31m" in text
    assert not re.search("[\u202e\u200b\x1b]", text)


def test_what_is_added_neither_runs_nor_loads(browser: Page, reports: dict[str, Path], tmp_path: Path) -> None:
    path = tmp_path / "changed.html"
    added = (
        b"<script>window.owned = true</script><img src='x' onerror='window.owned = true'><style>body{--o: 1}</style>"
    )
    path.write_bytes(reports["online"].read_bytes().replace(b"</main>", added + b"</main>"))
    browser.open(path)
    assert browser.evaluate("window.owned === undefined") is True
    assert browser.evaluate("getComputedStyle(document.body).getPropertyValue('--o')") == ""
    assert len(browser.complaints()) >= 3


def test_incomplete_is_the_largest_word_of_the_first_screen(browser: Page, reports: dict[str, Path]) -> None:
    browser.resize(1280, 900)
    browser.open(reports["offline"])
    box = browser.evaluate("(() => { const b = document.querySelector('.mark strong').getBoundingClientRect();"
                           " return [b.top, b.bottom]; })()")  # fmt: skip
    assert 0 < box[0] < box[1] < 300
    assert browser.evaluate("document.querySelector('.mark strong').textContent") == "INCOMPLETE"
    sizes = browser.evaluate("[...document.querySelectorAll('body *')].map((e) => "
                             "parseFloat(getComputedStyle(e).fontSize))")  # fmt: skip
    first = "parseFloat(getComputedStyle(document.querySelector('.mark strong')).fontSize)"
    assert max(sizes) == browser.evaluate(first)


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 375)])
def test_its_codes_are_scanned_in_either_theme(browser: Page, reports: dict[str, Path], theme: str, width: int) -> None:
    browser.resize(width, 900)
    browser.use_theme(theme)
    browser.open(reports["online"])
    all_hex = "[...document.querySelectorAll('.marks .hex')].map((e) => e.textContent.replaceAll(' ', ''))"
    marks = browser.evaluate(all_hex)
    assert len(marks) == 4
    for number, mark in enumerate(marks):
        browser.evaluate(f"document.querySelectorAll('svg.code')[{number}].scrollIntoView({{block: 'center'}})")
        box = browser.evaluate(f"(() => {{ const b = document.querySelectorAll('svg.code')[{number}]"
                               ".getBoundingClientRect(); return [b.x, b.y, b.right, b.bottom]; })()")  # fmt: skip
        seen = browser.screenshot().convert("RGB").crop((int(box[0]), int(box[1]), int(box[2]), int(box[3])))
        assert seen.getpixel((1, 1)) == (255, 255, 255)
        bigger = seen.resize((seen.width * 3, seen.height * 3), Image.Resampling.NEAREST)
        assert texts_in(bigger) == [mark.upper()]


def _pages_of(pdf: Path) -> list[str]:
    """Return the text of each printed page, none of which has but a few rows."""
    pages = [page.extract_text() for page in PdfReader(pdf).pages]
    assert [page for page in pages if sum(bool(line.strip()) for line in page.splitlines()) < 12] == []
    return pages


def test_the_printed_text_has_every_hash_and_page_number(reports: dict[str, Path], tmp_path: Path) -> None:
    pdf = tmp_path / "report.pdf"
    if (why := print_page(reports["online"], pdf)).startswith("no browser"):
        pytest.skip("Chromium is not installed: on Debian, apt-get install chromium")
    assert (why, pdf.stat().st_mode & 0o777) == ("", 0o600)
    [(width, height)] = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", pdf.read_bytes())[:1]
    assert [round(float(side) / 72 * 25.4) for side in (width, height)] == [210, 297]  # A4
    pages = _pages_of(pdf)
    for number, page in enumerate(pages, start=1):
        assert f"page {number} of {len(pages)}2026-09-everything, INCOMPLETE" in page
    text = "\n".join(pages)
    for each in signed():
        assert all(group in text for group in grouped(each.digest).split())


@pytest.mark.parametrize(
    ("half", "paper"), [*((half, "A4") for half in PAGES if half != "online"), ("much-to-look-at", "Letter")]
)
def test_it_prints_with_page_numbers_no_page_of_two_rows_and_one_step_on_seven_pages(
    browser: Page, reports: dict[str, Path], half: str, paper: str, tmp_path: Path
) -> None:
    browser.open(reports[half])
    width, height = PAPERS[paper]
    pdf = browser.send("Page.printToPDF", paperWidth=width, paperHeight=height, preferCSSPageSize=False)["data"]
    (tmp_path / "page.pdf").write_bytes(base64.b64decode(pdf))
    assert len(re.findall(rb"/Type\s*/Page\b", (tmp_path / "page.pdf").read_bytes())) > (14 if half == "offline" else 0)
    sheet = browser.evaluate("document.querySelector('style').textContent")
    assert 'content: "page " counter(page) " of " counter(pages)' in sheet
    assert ('content: "2026-09-everything, INCOMPLETE"' in sheet) is (half == "offline")
    pages = _pages_of(tmp_path / "page.pdf")
    if half not in ONE_STEP or paper != "A4":
        return
    # of one step everything stands on the first page, and all files on the last
    assert len(pages) <= 7
    for said in (
        "REHEARSAL", "Complete", "prepared", "signed", "sealed", "date, signature", "this report", "sealed by",
        "for the account", "may be used", "the chain says", "Witness: ", "outcome, as it was read back",
    )[: 8 if half == ONE_STEP[3] else None]:  # fmt: skip
        assert said in pages[0]
    assert "SHA-256 of each document" in pages[1]
    rooms = browser.evaluate("[...document.querySelectorAll('.by-hand span')].map((e) => e.offsetHeight * 25.4 / 96)")
    assert [round(room) for room in rooms] == [8, 8, 12, 12, 12]  # mm, for a pen: two heads, three signatures
    for name in ("plan.toml", "screens.json", "timeline.jsonl"):
        assert name in pages[-1]


def test_the_browser_leaves_nothing_behind_and_finds_nothing_of_others(
    reports: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a home of its own Chromium takes /tmp for one, where anybody may have put a library that it loads."""
    home, programs = tmp_path / "home", tmp_path / "bin"
    home.mkdir()
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(home))
    if print_page(reports["offline"], tmp_path / "a.pdf").startswith("no browser"):
        pytest.skip("Chromium is not installed: on Debian, apt-get install chromium")
    assert list(home.iterdir()) == []

    programs.mkdir()
    (programs / "chromium").write_text(
        '#!/bin/sh\nfor word; do case "$word" in --print-to-pdf=*) env > "${word#--print-to-pdf=}";; esac; done\n'
    )
    (programs / "chromium").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("LD_PRELOAD_OF_OTHERS", "x")
    assert print_page(reports["offline"], tmp_path / "b.pdf") == ""
    given = dict(line.split("=", 1) for line in (tmp_path / "b.pdf").read_text().splitlines())
    own = {name: value for name, value in given.items() if name not in ("PATH", "PWD", "SHLVL", "_", "OLDPWD")}
    (folder,) = set(own.values())
    assert set(own) == {"HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"}
    assert Path(folder).name.startswith("airlock-print-")
    assert not Path(folder).exists()


def test_without_browser_it_says_so(reports: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert print_page(reports["offline"], tmp_path / "report.pdf") == "no browser that can print it is installed here"
    broken = tmp_path / "chromium"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    assert print_page(reports["offline"], tmp_path / "report.pdf") == "the browser ended with 3"
    broken.write_text("#!/bin/sh\nexit 0\n")
    assert print_page(reports["offline"], tmp_path / "report.pdf") == "the browser printed nothing"
    assert not (tmp_path / "report.pdf").exists()
