"""Scanning: progress, hints, interruptions, other transfers, and pictures that end too soon."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from PIL import Image

from airlock_shared.errors import DocumentError
from airlock_shared.host.picture_sources import KeptFrames
from airlock_shared.qr.documents import Transfer, cycle_texts
from airlock_shared.qr.pictures import picture
from airlock_shared.qr.scan import MOST, Candidates, ScanReport, scan_pictures
from airlock_shared.qr.symbol import matrix
from airlock_shared.ur.decode import Decoder
from shared.qr.transfers import batch, one_intent, whole_plan

BLANK = Image.new("L", (200, 200), 128)


@cache
def image_of(text: str) -> Image.Image:
    return picture(matrix(text, version_at_most=27), module_pixels=3)


def images_of(transfer: Transfer, version: int = 15) -> list[Image.Image]:
    return [image_of(text) for text in cycle_texts(transfer, version)]


def nothing(_report: ScanReport) -> None:
    """Tell nobody."""


def interrupted_after(images: list[Image.Image], count: int) -> Iterator[Image.Image]:
    yield from images[:count]
    raise KeyboardInterrupt


# ---- progress ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strays", [1, 7])
def test_stray_first_frames_of_other_transfers_block_nothing(strays: int, tmp_path: Path) -> None:
    kept = KeptFrames(tmp_path / "scan.part")
    others = [batch(count)[0] for count in range(2, 2 + strays)]
    shown = [*(images_of(other)[0] for other in others), *images_of(one_intent())]
    assert scan_pictures(shown, Decoder(), nothing, kept=kept).cbor == one_intent().cbor
    assert set(kept.texts()) <= set(cycle_texts(one_intent(), 15))


def test_no_more_than_four_transfers_are_kept_at_a_time() -> None:
    seen = Candidates(Decoder())
    first = cycle_texts(whole_plan(), 15)
    seen.leader.take(first[0])
    for count in range(2, 12):
        seen.overtaken_by(cycle_texts(batch(count)[0], 15)[0], at_once=False)
        assert len(seen._rivals) < MOST
    assert seen.leader.texts == first[:1]


# ---- pictures that end too soon ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("images", "got"),
    [
        ([], "no QR code at all"),
        ([BLANK] * 3, "no QR code at all"),
        (
            [image_of("HTTP://EXAMPLE.ORG")],
            "1 other or damaged QR codes, the last: a QR code that is not of a transfer",
        ),
        ([image_of("UR:BYTES/AEADAOLAZMJENDEO")], "1 other or damaged QR codes, the last: QR-CRC"),
        ([image_of("UR:BYTES/1-5000/AEADAOLAZMJENDEOTIJK")], "1 other or damaged QR codes, the last: QR-"),
        (images_of(whole_plan())[:4], "4 parts"),
    ],
)
def test_pictures_without_the_whole_message_are_refused(images: list[Image.Image], got: str) -> None:
    with pytest.raises(DocumentError) as caught:
        scan_pictures(images, Decoder(), nothing)
    assert caught.value.check == "QR-INCOMPLETE"
    assert caught.value.got.startswith(got)


# ---- nothing that was read is lost -------------------------------------------------------------------------------------


def test_an_interrupted_scan_goes_on_from_what_it_read(tmp_path: Path) -> None:
    images, kept = images_of(whole_plan()), KeptFrames(tmp_path / "scan.part")
    with pytest.raises(KeyboardInterrupt):
        scan_pictures(interrupted_after(images, 9), Decoder(), nothing, kept=kept)
    assert stat.S_IMODE((tmp_path / "scan.part").stat().st_mode) == 0o600
    reports: list[ScanReport] = []
    message = scan_pictures(images[9:], Decoder(), reports.append, kept=kept)
    assert message.cbor == whole_plan().cbor
    assert reports[0].progress.useful == 10
    kept.forget()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-30],
        lambda data: data + b"UR:BYTES/1-13/LPAD",
        lambda data: data + b"\x00\xff\xfe garbage\n",
        lambda data: b"\n\n" + data,
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: b"A" * 10_000 + b"\n" + data,
    ],
)
def test_a_damaged_file_of_kept_frames_costs_the_damaged_frames_alone(tmp_path: Path, damage: object) -> None:
    assert callable(damage)
    path = tmp_path / "scan.part"
    with pytest.raises(KeyboardInterrupt):
        scan_pictures(interrupted_after(images_of(whole_plan()), 9), Decoder(), nothing, kept=KeptFrames(path))
    path.write_bytes(damage(path.read_bytes()))
    reports: list[ScanReport] = []
    message = scan_pictures(images_of(whole_plan())[9:], Decoder(), reports.append, kept=KeptFrames(path))
    assert message.cbor == whole_plan().cbor
    assert reports[0].progress.useful >= 9


def test_what_is_kept_beyond_the_cap_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from airlock_shared.host import picture_sources as kept

    monkeypatch.setattr(kept, "MAX_KEPT_BYTES", 10)
    (tmp_path / "scan.part").write_bytes(b"U" * 11)
    with pytest.raises(DocumentError, match="DOC-SIZE"):
        KeptFrames(tmp_path / "scan.part").texts()
