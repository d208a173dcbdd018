"""Pictures that are written: PNG files, a GIF and sheets, each read again into the document."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from PIL import Image

from airlock_shared.errors import UsageError
from airlock_shared.host.picture_sources import file_frames
from airlock_shared.qr.documents import Transfer, cycle_texts, ideal_count
from airlock_shared.qr.pictures import pictures, sheet, write_gif, write_sequence, write_sheet
from airlock_shared.qr.scan import scan_pictures
from airlock_shared.ur.decode import Decoder
from shared.qr.transfers import batch, one_intent, whole_plan


def scanned(path: Path) -> bytes:
    def unexpected(error: Exception) -> None:
        raise error

    return scan_pictures(file_frames(path, on_skipped=unexpected), Decoder(), lambda _report: None).cbor


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_sequence_of_pictures_carries_a_document(tmp_path: Path) -> None:
    paths = write_sequence(whole_plan(), tmp_path / "frames", 20)
    assert [path.name for path in paths[:2]] == ["frame-0001.png", "frame-0002.png"]
    assert len(paths) == 3 * ideal_count(whole_plan(), 20)
    assert {mode(path) for path in paths} == {0o600}
    sizes = set()
    for path in paths:
        with Image.open(path) as image:
            sizes.add(image.size)
    assert len(sizes) == 1
    assert scanned(tmp_path / "frames") == whole_plan().cbor


def test_a_gif_carries_a_document_plays_for_ever_and_keeps_its_speed(tmp_path: Path) -> None:
    path = tmp_path / "transfer.gif"
    count = write_gif(whole_plan(), path, 20, pause_ms=250)
    with Image.open(path) as image:
        assert (image.n_frames, image.info["loop"], image.info["duration"]) == (count, 0, 250)  # type: ignore[attr-defined]
    assert mode(path) == 0o600
    assert scanned(path) == whole_plan().cbor


@pytest.mark.parametrize("transfer", [batch(1)[1], one_intent(), whole_plan()], ids=["signature", "intent", "plan"])
@pytest.mark.parametrize("version", [10, 20])
@pytest.mark.parametrize("suffix", [".pdf", ".png"])
def test_a_printed_sheet_carries_a_document(tmp_path: Path, transfer: Transfer, version: int, suffix: str) -> None:
    folder = tmp_path / "sheets"
    folder.mkdir()
    pages = write_sheet(transfer, folder / f"sheet{suffix}", version)
    written = sorted(folder.iterdir())
    assert len(written) == (1 if suffix == ".pdf" else pages)
    assert {mode(path) for path in written} == {0o600}
    assert scanned(folder) == transfer.cbor


def test_a_sheet_of_many_frames_has_many_pages_each_frame_once() -> None:
    count, pages = ideal_count(whole_plan(), 10), sheet(whole_plan(), 10)
    assert count > len(pages) > 1
    assert {page.size for page in pages} == {(1240, 1754)}


def test_the_frames_of_a_cycle_have_one_size() -> None:
    made = pictures(cycle_texts(whole_plan(), 15), 15)
    assert len({each.size for each in made}) == 1
    assert made[0].size[0] >= 600


@pytest.mark.parametrize("name", ["frames", "transfer.gif", "sheet.pdf", "sheet.png"])
def test_nothing_is_written_over_what_is_there(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"precious")
    with pytest.raises(UsageError, match="exists already"):
        write(name, path)
    assert path.read_bytes() == b"precious"


def write(name: str, path: Path) -> None:
    if name == "frames":
        write_sequence(one_intent(), path, 20)
    elif name.endswith("gif"):
        write_gif(one_intent(), path, 20, pause_ms=200)
    else:
        write_sheet(one_intent(), path, 20)


def test_a_later_page_that_is_there_already_stops_the_sheet_before_its_first_page(tmp_path: Path) -> None:
    (tmp_path / "sheet-2.png").write_bytes(b"precious")
    with pytest.raises(UsageError, match=r"sheet-2\.png exists already"):
        write_sheet(whole_plan(), tmp_path / "sheet.png", 10)
    assert [path.name for path in tmp_path.iterdir()] == ["sheet-2.png"]


@pytest.mark.parametrize("name", ["sheet", "sheet.jpg", "sheet.txt"])
def test_a_sheet_of_another_kind_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"\.pdf or a \.png"):
        write_sheet(one_intent(), tmp_path / name, 20)
    assert not list(tmp_path.iterdir())


def test_untrusted_names_on_a_sheet_are_made_safe() -> None:
    hostile = one_intent()._replace(kind="a\nb\x1b" * 100, ceremony="\u202e" * 500)
    assert sheet(hostile, 20)[0].size == (1240, 1754)
