"""The process that reads pictures: what it says is read as hostile, and it may open what it was named and no more."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from airlock_offline.scanning import scan_process as records
from airlock_offline.scanning.scan_process import END, ERROR, REMARK, TEXTS, record, texts_by_child
from airlock_shared.errors import AirlockError, DocumentError, UsageError
from airlock_shared.qr.render import picture as drawn
from airlock_shared.qr.symbol import matrix
from offline.confined import require_landlock, require_seccomp

TEXT = "UR:BYTES/1"


def picture(path: Path) -> Path:
    drawn(matrix(TEXT, version_at_most=10), module_pixels=4).save(path)
    return path


def saying(said: bytes, end: str = "") -> Callable[[], subprocess.Popen[bytes]]:
    """Return how a child is started that says these bytes and then runs ``end``."""
    script = f"import os, sys, time; sys.stdin.read(); os.write(1, {said!r}); {end}"
    words = [sys.executable, "-I", "-c", script]
    return lambda: subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def read(said: bytes, end: str = "") -> tuple[list[list[str]], list[str]]:
    told: list[str] = []
    return list(texts_by_child(["x.png"], told.append, saying(said, end))), told


def words(path: Path) -> Path:
    path.write_text("words")
    return path


def test_pictures_are_read_in_order_and_what_is_left_out_is_told(tmp_path: Path) -> None:
    picture(tmp_path / "a.png")
    (tmp_path / "b.png").write_bytes(b"\x89PNG\r\n")
    picture(tmp_path / "c.png")
    told: list[str] = []
    assert list(texts_by_child([str(tmp_path)], told.append)) == [[TEXT], [TEXT]]
    assert any("b.png is not a whole picture" in remark for remark in told)


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda folder: folder / "none.png", UsageError, "cannot be opened"),
        (lambda folder: folder / "none.txt", UsageError, r"none\.txt is not there; name a camera"),
        (lambda folder: words(folder / "a.txt"), UsageError, "of a kind that Airlock does not read"),
        (lambda _: "camera:77", UsageError, "camera 77|OpenCV"),
    ],
)
def test_an_error_is_the_same_as_in_one_process(
    tmp_path: Path, make: Callable[[Path], object], error: type[AirlockError], said: str
) -> None:
    source = make(tmp_path)
    with pytest.raises(error, match=said):
        list(texts_by_child([str(source)], lambda _: None))


def test_a_damaged_picture_is_refused_by_its_own_name(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n")
    with pytest.raises(DocumentError, match=r"QR-IMAGE: .*a\.png is not a whole picture"):
        list(texts_by_child([str(tmp_path / "a.png")], lambda _: None))


GOOD = record(TEXTS, [TEXT])


WRONG = {"check": "", "what": "x", "got": "", "expected": "", "do": ""}
INCOMPLETE = [
    b"", GOOD, GOOD[:-1], b"T\xff\xff\xff\xff", b"T\0\x10\0\x01", b"X\0\0\0\x02[]", b"T\0\0\0\0", b"T\0\0\0\x02[]" * 3,
]  # fmt: skip
STRANGE = [
    b"T\0\0\0\x02{}", record(TEXTS, [1]), record(TEXTS, ["x" * 8193]), record(TEXTS, [""] * 257), record(TEXTS, "x"),
    record(TEXTS, [["x"]]), b"T\0\0\0\x02[[", b"T\0\0\x01\x00" + b"[" * 256, b"T\0\0\0\x04[\"\xff]", record(REMARK, 7),
    record(REMARK, "x" * 8193), record(ERROR, "x"), record(ERROR, {}), record(ERROR, WRONG | {"check": "SIG-SIGNER"}),
    record(ERROR, WRONG | {"check": 3}), record(ERROR, WRONG | {"what": None}), b"X\0\0\0\x02[]",
]  # fmt: skip


@pytest.mark.parametrize("said", [*INCOMPLETE, *(strange + END for strange in STRANGE)])
def test_anything_else_is_a_refusal(said: bytes) -> None:
    with pytest.raises(DocumentError) as caught:
        read(said)
    assert (caught.value.check, caught.value.what) == ("QR-IMAGE", "the process that reads pictures failed")


def test_a_crash_is_a_refusal_after_what_was_read() -> None:
    pictures = texts_by_child(["x.png"], lambda _: None, saying(GOOD, "os.kill(os.getpid(), 11)"))
    assert next(pictures) == [TEXT]
    with pytest.raises(DocumentError, match="failed"):
        next(pictures)


def test_a_refusal_of_the_child_keeps_its_id_and_its_words() -> None:
    error = DocumentError("QR-LIMIT", "too large", got="1", expected="2", do="less")
    with pytest.raises(DocumentError) as caught:
        read(record(ERROR, records.error_value(error)))
    assert caught.value.as_json() == error.as_json()


HOSTILE = """
import ctypes, os, pty, socket, subprocess, sys, threading
def attempt(work):
    try: result = work()
    except BaseException as error: return type(error).__name__
    return 'done' if result is None else str(result)
def threaded():
    thread = threading.Thread(target=int); thread.start(); thread.join()
libc = ctypes.CDLL(None)
tried = [attempt(work) for work in (
    os.fork, lambda: libc.fork(), lambda: libc.vfork(), lambda: subprocess.Popen(['true']),
    lambda: os.execv('/bin/true', ['true']),
    lambda: os.posix_spawn('/bin/true', ['true'], {}), threaded, lambda: open('/dev/tty', 'w'), lambda: open(TERMINAL, 'w'),
    lambda: os.listdir('/dev'), lambda: open('/dev/zero'), lambda: open('/dev/null').close(), lambda: os.listdir('/proc'),
    socket.socket, lambda: open(FOLDER + '/new', 'w'), lambda: open(FOLDER + '/b.png'),
    lambda: open(FOLDER + '/a.png').close())]
"""
SAID = ["PermissionError", "-1", "-1", *3 * ["PermissionError"], "done", *4 * ["PermissionError"], "done"]
SAID += ["PermissionError", "Refusal", "PermissionError", "PermissionError"]


@pytest.mark.parametrize("source", ["a.png", "camera:61"])
def test_a_decoder_has_neither_the_terminal_nor_devices_and_starts_nothing(
    tmp_path: Path, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In place of what reads pictures stands code that tries, loaded after the child has confined itself."""
    require_landlock()
    require_seccomp()
    ours, theirs = pty.openpty()
    stand = tmp_path / "stand"
    stand.mkdir()
    (stand / "zxingcpp.py").write_text(
        f"TERMINAL, FOLDER = {os.ttyname(theirs)!r}, {str(tmp_path)!r}\n{HOSTILE}"
        "class BarcodeFormats:\n"
        "    def __init__(self, _): pass\n"
        "class BarcodeFormat: QRCode = 0\n"
        "class TextMode: Plain = 0\n"
        "def read_barcodes(*_, **__): return [type('C', (), {'text': t}) for t in tried]\n"
    )
    (stand / "cv2.py").write_text(
        "CAP_PROP_FRAME_WIDTH = CAP_PROP_FRAME_HEIGHT = 3\nCOLOR_BGR2GRAY = 6\n"
        "class Frame(bytes): __array_interface__ = {'shape': (1, 1), 'typestr': '|u1', 'version': 3}\n"
        "def cvtColor(*_): return Frame(b'x')\n"
        "class VideoCapture:\n"
        "    def __init__(self, number): assert number == 61\n"
        "    def isOpened(self): return True\n"
        "    def get(self, _): return 1\n"
        "    def read(self): return True, Frame()\n"
        "    def release(self): pass\n"
    )
    monkeypatch.syspath_prepend(str(stand))
    for name in ("a.png", "b.png"):
        picture(tmp_path / name)
    named = str(tmp_path / source) if source == "a.png" else source
    pictures = texts_by_child([named], lambda _: None)
    tried = next(pictures)
    pictures.close()  # type: ignore[attr-defined]
    os.close(ours)
    os.close(theirs)
    assert tried == [*SAID, "done" if source == "a.png" else "PermissionError"]
