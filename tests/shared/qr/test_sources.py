"""Where pictures come from: good files in order, and every bad file refused by name."""

import struct
import zlib
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image, ImageChops

from airlock_shared.errors import DocumentError
from airlock_shared.host import picture_sources
from airlock_shared.host.picture_sources import MAX_PIXELS, file_frames
from airlock_shared.qr.documents import cycle_texts
from airlock_shared.qr.render import picture
from airlock_shared.qr.scan import texts_in
from airlock_shared.qr.symbol import matrix
from refusals import error_of
from shared.qr.transfers import unexpected, whole_plan

TEXTS = cycle_texts(whole_plan(), 15)


def code(position: int = 0) -> Image.Image:
    return picture(matrix(TEXTS[position], version_at_most=15), module_pixels=4).convert("L")


def read(path: Path) -> list[str]:
    return [text for image in file_frames(path, on_skipped=unexpected) for text in texts_in(image)]


def refusal(path: Path) -> DocumentError:
    return error_of(DocumentError, lambda: list(file_frames(path, on_skipped=unexpected)))


def png_of(width: int, height: int) -> bytes:
    """Return a PNG that says it is as large as that, and holds next to nothing."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")
    )


def test_what_is_transparent_is_paper(tmp_path: Path) -> None:
    black = Image.new("L", code(0).size)
    Image.merge("LA", (black, ImageChops.invert(code(0)))).save(tmp_path / "layer.png")
    assert read(tmp_path / "layer.png") == TEXTS[:1]


@pytest.mark.parametrize("suffix", [".gif", ".tiff", ".webp", ".png"])
def test_every_frame_of_an_animation_is_read_in_its_order(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"codes{suffix}"
    code(0).save(path, save_all=True, append_images=[code(1), code(2)], lossless=True)
    assert read(path) == TEXTS[:3]


def test_a_damaged_picture_in_a_folder_is_named_and_left_out(tmp_path: Path) -> None:
    code(0).save(tmp_path / "a.png")
    (tmp_path / "b.png").write_bytes(b"not a picture")
    code(1).save(tmp_path / "c.png")
    (tmp_path / "d.png").symlink_to(tmp_path / "a.png")
    told: list[DocumentError] = []
    images = list(file_frames(tmp_path, on_skipped=told.append))
    assert refusal(tmp_path / "d.png").check == "DOC-LINK"
    assert [texts_in(image) for image in images] == [[TEXTS[0]], [TEXTS[1]]]
    assert [error.check for error in told] == ["QR-IMAGE", "DOC-LINK"]
    assert "b.png" in told[0].what


@pytest.mark.parametrize(("width", "height"), [(3536, 3536), (1, 12_500_001), (2**31 - 1, 2**31 - 1)])
def test_a_picture_too_large_is_refused_before_it_is_unpacked(tmp_path: Path, width: int, height: int) -> None:
    path = tmp_path / "bomb.png"
    path.write_bytes(png_of(width, height))
    error = refusal(path)
    assert (error.check, error.expected) == ("QR-LIMIT", f"<= {MAX_PIXELS} pixels")


def test_an_animation_of_too_many_pictures_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "codes.gif"
    code(0).save(path, save_all=True, append_images=[code(1), code(2)])
    for limit, most in (("MAX_FRAMES", 3), ("MAX_FILE_PIXELS", 3 * code().width * code().height)):
        with monkeypatch.context() as patch:
            patch.setattr(picture_sources, limit, most)
            assert read(path) == TEXTS[:3]
            patch.setattr(picture_sources, limit, most - 1)
            assert refusal(path).check == "QR-LIMIT"


def saved(kind: str, *others: Image.Image) -> bytes:
    data = BytesIO()
    code().save(data, kind, save_all=bool(others), append_images=others)
    return data.getvalue()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("empty.png", b""),
        ("cut.png", saved("PNG")[:-400]),
        ("flipped.png", saved("PNG")[:60] + b"\xff\xff\xff" + saved("PNG")[63:]),
        ("short.png", png_of(100, 100)),
        ("cut.gif", b"GIF89a\x10\x00\x10\x00\x80\x00\x00"),
        ("cut-later.gif", saved("GIF", code(1), code(2))[:-400]),
        ("cut.jpg", b"\xff\xd8\xff\xe0\x00\x10JFIF"),
        ("postscript.png", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n"),
        ("cut.webp", b"RIFF\x10\x00\x00\x00WEBPVP8 "),
        ("bare.tiff", b"II*\x00\xff\xff\xff\x7f"),
    ],
)
def test_a_file_that_is_no_whole_picture_is_refused(tmp_path: Path, name: str, data: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    error = refusal(path)
    assert error.check == "QR-IMAGE"
    assert name in error.what
