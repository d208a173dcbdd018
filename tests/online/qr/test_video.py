"""Videos and cameras through OpenCV."""

import socket
from pathlib import Path

import pytest

from airlock_shared.errors import DocumentError, UsageError
from airlock_shared.host.picture_sources import camera_frames, file_frames
from airlock_shared.qr.documents import cycle_texts
from airlock_shared.qr.render import pictures
from airlock_shared.qr.scan import scan_pictures
from airlock_shared.ur.decode import Decoder
from shared.qr.transfers import unexpected, whole_plan

cv2 = pytest.importorskip("cv2", reason="OpenCV is not installed (the extra: camera)")


def film(path: Path, codec: str) -> None:
    """Record the transfer as a camera would: three pictures of each frame."""
    import numpy

    images = pictures(cycle_texts(whole_plan(), 15), 15)
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*codec), 15, images[0].size)
    assert writer.isOpened()
    for image in images:
        for _ in range(3):
            writer.write(numpy.array(image.convert("RGB")))
    writer.release()


@pytest.mark.parametrize(("name", "codec"), [("film.avi", "MJPG"), ("film.mp4", "mp4v")])
def test_a_film_of_the_screen_carries_a_document(tmp_path: Path, name: str, codec: str) -> None:
    film(tmp_path / name, codec)
    frames = file_frames(tmp_path / name, on_skipped=unexpected)
    assert scan_pictures(frames, Decoder(), lambda _report: None).cbor == whole_plan().cbor


@pytest.mark.parametrize("data", [b"", b"not a film", b"\x00\x00\x00\x18ftypmp42", b"RIFF\xff\xff\xff\xffAVI LIST"])
def test_a_file_that_is_no_film_or_a_link_to_one_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "film.mp4").write_bytes(data)
    (tmp_path / "link.mp4").symlink_to(tmp_path / "film.mp4")
    for name, check in (("film.mp4", "QR-IMAGE"), ("link.mp4", "DOC-LINK")):
        with pytest.raises(DocumentError, match=check):
            list(file_frames(tmp_path / name, on_skipped=unexpected))


@pytest.mark.parametrize("scheme", ["http", "tcp"])
def test_a_film_that_names_an_address_is_not_followed(tmp_path: Path, scheme: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        address = f"{scheme}://127.0.0.1:{server.getsockname()[1]}/film.ts"
        playlist = f"#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n{address}\n#EXT-X-ENDLIST\n"
        (tmp_path / "film.mp4").write_text(playlist)
        with pytest.raises(DocumentError, match="QR-IMAGE"):
            list(file_frames(tmp_path / "film.mp4", on_skipped=unexpected))
        with pytest.raises(BlockingIOError):
            server.accept()


def test_a_camera_that_is_not_there_is_a_mistake() -> None:
    with pytest.raises(UsageError, match="camera 98 cannot be opened"):
        next(camera_frames(98))
