"""Pictures that are written: PNG files, a GIF and sheets, each read again into the document."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from PIL import Image

from airlock_shared.host.picture_sources import file_frames
from airlock_shared.qr.documents import Transfer
from airlock_shared.qr.render import sheet, write_gif, write_sheet
from airlock_shared.qr.scan import scan_pictures
from airlock_shared.ur.decode import Decoder
from shared.qr.transfers import one_intent, whole_plan


def scanned(path: Path) -> bytes:
    def unexpected(error: Exception) -> None:
        raise error

    return scan_pictures(file_frames(path, on_skipped=unexpected), Decoder(), lambda _report: None).cbor


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_gif_carries_a_document_plays_for_ever_and_keeps_its_speed(tmp_path: Path) -> None:
    path = tmp_path / "transfer.gif"
    count = write_gif(whole_plan(), path, 20, pause_ms=250)
    with Image.open(path) as image:
        assert (image.n_frames, image.info["loop"], image.info["duration"]) == (count, 0, 250)  # type: ignore[attr-defined]
    assert mode(path) == 0o600
    assert scanned(path) == whole_plan().cbor


@pytest.mark.parametrize(("transfer", "version", "suffix"), [(one_intent(), 10, ".png"), (whole_plan(), 20, ".pdf")])
def test_a_printed_sheet_carries_a_document(tmp_path: Path, transfer: Transfer, version: int, suffix: str) -> None:
    folder = tmp_path / "sheets"
    folder.mkdir()
    pages = write_sheet(transfer, folder / f"sheet{suffix}", version)
    written = sorted(folder.iterdir())
    assert len(written) == (1 if suffix == ".pdf" else pages)
    assert {mode(path) for path in written} == {0o600}
    assert scanned(folder) == transfer.cbor


def test_untrusted_names_on_a_sheet_are_made_safe() -> None:
    hostile = one_intent()._replace(kind="a\nb\x1b" * 100, ceremony="\u202e" * 500)
    assert sheet(hostile, 20)[0].size == (1240, 1754)
