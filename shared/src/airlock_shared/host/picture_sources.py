"""Where pictures come from: a camera, a video, an animation, picture files, a folder. The edge of scanning.

A picture's size is looked at before it is unpacked. Only kinds of files that cameras and screens make are opened. Cameras
and videos need OpenCV (the extra ``camera``); everything else is read by Pillow.
"""

from __future__ import annotations

import ctypes
import os
import re
import struct
import warnings
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

from airlock_shared.errors import AirlockError, DocumentError, UsageError
from airlock_shared.host.files import append_line, open_input, read_input
from airlock_shared.ur.fountain import MAX_TEXT
from airlock_shared.wire.strict_json import damaged

if TYPE_CHECKING:
    from PIL import Image


MAX_PIXELS = 12_500_000  # a telephone's ordinary picture, 4032 x 3024, and no more: in colours it takes 50 MB of memory
MAX_PICTURE_BYTES = 64 << 20
MAX_VIDEO_BYTES = 4 << 30
PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".tif", ".tiff", ".bmp")
VIDEOS = (".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi")
_KINDS = ("PNG", "JPEG", "GIF", "WEBP", "TIFF", "BMP")
_BROKEN = (OSError, SyntaxError, ValueError, EOFError, struct.error)  # what Pillow raises for damaged files
MAX_FRAMES = 6_000  # of one file: more than the longest transfer has parts
MAX_FILE_PIXELS = 2_000_000_000  # of one file's frames together: a minute or two of reading

_Made = TypeVar("_Made")
Skipped = Callable[[DocumentError], None]


def file_frames(
    path: Path, *, on_skipped: Skipped, on_file: Callable[[Path], object] = lambda _: None
) -> Iterator[Image.Image]:
    """Yield every picture of a file, or of a folder's files in the order of their names.

    ``on_file`` is told each file of a folder before its pictures; one that cannot be read is told to ``on_skipped`` then.
    Raises ``UsageError`` for a path that is not there or of no known kind, ``DocumentError`` with ``QR-IMAGE`` or
    ``QR-LIMIT`` for a single file that cannot be read.
    """
    if not path.is_dir():
        yield from _frames_of(path)
        return
    inside = [each for each in sorted(path.iterdir()) if each.suffix.lower() in PICTURES]
    if not inside:
        raise UsageError(
            f"there are no pictures in {path}", do=f"put files into it that end with {', '.join(PICTURES)}"
        )
    for each in inside:
        on_file(each)
        try:
            yield from _frames_of(each)
        except DocumentError as error:
            on_skipped(error)


def _frames_of(path: Path) -> Iterator[Image.Image]:
    suffix = path.suffix.lower()
    if suffix in PICTURES:
        with open_input(path, max_bytes=MAX_PICTURE_BYTES) as source:
            yield from _pictures(source, str(path))
    elif suffix in VIDEOS:
        cv2 = _opencv()
        with open_input(path, max_bytes=MAX_VIDEO_BYTES):
            pass  # a regular file, and not too large; OpenCV opens it by name
        capture = cv2.VideoCapture(str(path.absolute()), cv2.CAP_FFMPEG)
        shut = damaged("QR-IMAGE", f"{path} is not a video that can be read", do="record or copy it again")
        yield from _captured(cv2, capture, str(path), shut)
    elif not path.exists():
        raise UsageError(f"{path} is not there", do="name a camera, or pictures of the other machine's screen")
    else:
        raise UsageError(
            f"{path} is of a kind that Airlock does not read",
            do=f"give one of {', '.join((*PICTURES, *VIDEOS))}",
        )


# ---- pictures -------------------------------------------------------------------------------------------------------


def _pictures(source: IO[bytes], name: str) -> Iterator[Image.Image]:
    """Yield each frame of a picture file, grey. Raises ``DocumentError``."""
    from PIL import Image  # noqa: PLC0415 - native: after the filter

    pixels = 0
    try:
        with _silently(lambda: Image.open(source, formats=_KINDS)) as image:
            for number in count():  # Pillow's own count would walk through millions of frames first
                if not _silently(_sought, image, number):
                    return
                _require_size(image.width, image.height, name)
                pixels += image.width * image.height
                if number >= MAX_FRAMES or pixels > MAX_FILE_PIXELS:
                    expected = f"<= {MAX_FRAMES} frames, {MAX_FILE_PIXELS} pixels together"
                    do = "give a shorter animation, or the pictures one by one"
                    raise damaged("QR-LIMIT", f"{name} holds too many pictures", expected=expected, do=do)
                image.draft("L", image.size)  # of a JPEG the colours are not even unpacked
                yield _silently(_grey, image)
    except Image.DecompressionBombError as error:
        raise _too_large(name) from error
    except _BROKEN as error:
        raise damaged("QR-IMAGE", f"{name} is not a whole picture", do="take or copy the picture again") from error


def _sought(image: Image.Image, number: int) -> bool:
    """Go to a frame; return whether it is there."""
    try:
        image.seek(number)
    except EOFError:
        if number == 0:
            raise
        return False
    return True


def _silently(work: Callable[..., _Made], *given: object) -> _Made:
    """Return what a call makes, without Pillow's warnings: what it cannot read it raises, and sizes have our cap."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return work(*given)


def _grey(image: Image.Image) -> Image.Image:
    """Return a frame in grey; what is transparent is paper."""
    if not image.has_transparency_data:
        return image.convert("L")
    from PIL import Image  # noqa: PLC0415 - native: after the filter

    paper = Image.new("LA", image.size, (255, 255))
    return Image.alpha_composite(paper.convert("RGBA"), image.convert("RGBA")).convert("L")


def _require_size(width: int, height: int, name: str) -> None:
    if width * height > MAX_PIXELS:
        raise _too_large(name, got=f"{width} x {height} pixels")


def _too_large(name: str, got: str = "") -> DocumentError:
    do = "take the picture at a lower resolution"
    return damaged("QR-LIMIT", f"{name} is too large a picture", got=got, expected=f"<= {MAX_PIXELS} pixels", do=do)


# ---- OpenCV ---------------------------------------------------------------------------------------------------------


def camera_frames(number: int) -> Iterator[Image.Image]:
    """Yield a camera's pictures, grey, without end. Raises ``UsageError`` without OpenCV, or without that camera."""
    cv2 = _opencv()
    do = "plug it in, end the program that holds it, or give another number"
    shut = UsageError(f"camera {number} cannot be opened", do=do)
    yield from _captured(cv2, cv2.VideoCapture(number), f"camera {number}", shut)
    raise UsageError(f"camera {number} gives no more pictures", do="plug it in again; what was read is kept")


def _captured(cv2: Any, capture: Any, name: str, shut: AirlockError) -> Iterator[Image.Image]:
    from PIL import Image  # noqa: PLC0415 - native: after the filter

    try:
        if not capture.isOpened():
            raise shut
        width, height = (int(capture.get(each)) for each in (cv2.CAP_PROP_FRAME_WIDTH, cv2.CAP_PROP_FRAME_HEIGHT))
        _require_size(width, height, name)
        while (taken := capture.read())[0]:
            yield Image.fromarray(cv2.cvtColor(taken[1], cv2.COLOR_BGR2GRAY))
    finally:
        capture.release()


def _opencv() -> Any:
    """Import OpenCV, quiet, and with a reader of videos that opens no other file, and no address that a file names."""
    os.environ["OPENCV_FFMPEG_CAPTURE_OPTIONS"] = "protocol_whitelist;file"
    os.environ["OPENCV_LOG_LEVEL"] = "OFF"
    try:
        import cv2  # noqa: PLC0415 - native: after the filter; it may be missing
    except ImportError as error:
        raise UsageError(
            "cameras and videos need OpenCV, which is not installed",
            do="give pictures, a folder or a GIF, or install the program with its extra: airlock-shared[camera]",
        ) from error
    return cv2


# ---- scan progress --------------------------------------------------------------------------------------------------
# What a scan has read, kept in a file: an interrupted scan goes on from there. One frame's text a line, synced as it
# comes. A line that a power cut left half written is a frame that is damaged: its checksum says so, and it is ignored.
# The file may hold signatures that are not submitted yet: its mode is 0600, and it is taken away when the transfer is
# complete.


MAX_KEPT_BYTES = 32 << 20


class KeptFrames:
    """The useful frames of one transfer, in a file that need not exist; without a path, in memory alone."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path

    def texts(self) -> list[str]:
        """Return what an earlier scan kept. Raises ``DocumentError`` or ``UsageError`` when the file cannot be read."""
        if self._path is None or not self._path.exists():
            return []
        lines = read_input(self._path, max_bytes=MAX_KEPT_BYTES).decode("ascii", "replace").splitlines()
        return [line for line in lines if 0 < len(line) <= MAX_TEXT]

    def add(self, text: str) -> None:
        """Keep a frame's text. Raises ``UsageError`` when it cannot be written."""
        if self._path is not None:
            append_line(self._path, text.encode("ascii"))

    def forget(self) -> None:
        """Take the file away."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)


# ---- zbar library ---------------------------------------------------------------------------------------------------
# Whether the system's zbar may read codes: below 0.23.93 a hostile code overflows it, unless Debian has repaired it.
# CVE-2023-40889 and CVE-2023-40890 were reported of 0.23.90. Debian repaired them without a new release of zbar, in
# 0.23.92-7+deb12u1 (bookworm) and 0.23.90-1+deb11u1 (bullseye), DSA-5614-1: so the library's own version cannot tell,
# and the status that dpkg keeps of the installed package decides. What nobody can tell is left out; codes are read
# without it.


SONAME = "libzbar.so.0"
PACKAGES = ("libzbar0", "libzbar0t64")
DPKG_STATUS = "var/lib/dpkg/status"
REPAIRED_SINCE = (0, 23, 93)
REPAIRED_BY_DEBIAN = re.compile(r"(0\.23\.92)-7\+deb12u[1-9][0-9]*|(0\.23\.90)-1\+deb11u[1-9][0-9]*")
UPGRADE = "on Debian, apt-get install --only-upgrade libzbar0 brings a repaired one"
_MAX_STATUS_BYTES = 64 << 20


def why_left_out(library: Any, root: Path = Path("/")) -> str:
    """Return why a loaded zbar must not read codes, empty when it may; dpkg's status is looked up below ``root``."""
    numbers = [ctypes.c_uint() for _ in range(3)]
    library.zbar_version(*(ctypes.byref(number) for number in numbers))
    version = tuple(number.value for number in numbers)
    if version >= REPAIRED_SINCE:
        return ""
    told = ".".join(map(str, version))
    package = _packaged(root / DPKG_STATUS)
    repaired = REPAIRED_BY_DEBIAN.fullmatch(package)
    if repaired and told in repaired.groups():
        return ""
    source = package or "from a package that dpkg does not know"
    return f"a hostile code may overflow zbar {told} ({source}; CVE-2023-40889)"


def _packaged(status: Path) -> str:
    """Return the version of zbar's package that dpkg has wholly installed, empty when it has none."""
    try:
        with status.open("rb") as file:
            text = file.read(_MAX_STATUS_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
    for entry in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in entry.splitlines() if re.match(r"[A-Z][A-Za-z-]*: ", line))
        if fields.get("Package") in PACKAGES and fields.get("Status") == "install ok installed":
            return fields.get("Version", "")
    return ""
