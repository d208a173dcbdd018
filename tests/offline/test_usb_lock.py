"""What the operating system tells of a Ledger, over a fake ``/sys``, ``/proc`` and ``/dev``."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from airlock_offline.ledger import usb
from airlock_offline.ledger.usb import (
    DeviceLock,
    HeldByAnother,
    HidTransport,
    NotPermitted,
    PluggedLedger,
    UsbPort,
    holders,
    may_open,
    port_of,
)

HIDRAW = "/dev/hidraw3"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A machine with a Ledger on bus 1, number 7, and a browser that has its device file open."""
    device = tmp_path / "sys/bus/usb/devices/1-2.3"
    (device / "1-2.3:1.0/0003:2C97:7011.0005").mkdir(parents=True)
    (device / "busnum").write_text("1\n")
    (device / "devnum").write_text("7\n")
    (tmp_path / "sys/class/hidraw/hidraw3").mkdir(parents=True)
    (tmp_path / "sys/class/hidraw/hidraw3/device").symlink_to(device / "1-2.3:1.0/0003:2C97:7011.0005")
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/hidraw3").touch()
    descriptors = tmp_path / "proc/4711/fd"
    descriptors.mkdir(parents=True)
    (tmp_path / "proc/4711/comm").write_text("browser\n")
    (descriptors / "5").symlink_to(tmp_path / "dev/hidraw3")
    return tmp_path


def test_the_program_that_holds_the_device_is_named(root: Path) -> None:
    port = port_of(HIDRAW, root)
    assert port is not None
    assert holders(port, root) == ["browser (process 4711)"]
    (root / "proc/4711").rename(root / f"proc/{os.getpid()}")  # this process does not hold it from itself
    assert holders(port, root) == []


class Closed:
    """A device that cannot be opened."""

    def open_path(self, path: bytes) -> None:
        raise OSError("open failed")

    def write(self, data: bytes) -> int:
        return 0

    def read(self, size: int, timeout_ms: int) -> list[int]:
        return []

    def close(self) -> None:
        """Nothing was opened."""


@pytest.mark.parametrize(
    ("permitted", "held_by", "error", "said"),
    [(True, ["browser (process 4711)"], HeldByAnother, "held by browser"), (False, [], NotPermitted, "may not open")],
)
def test_held_by_another_program_and_not_permitted_are_told_apart(
    monkeypatch: pytest.MonkeyPatch, permitted: bool, held_by: list[str], error: type[Exception], said: str
) -> None:
    monkeypatch.setattr(usb, "port_of", lambda path: UsbPort(Path("/dev/bus/usb/001/007"), "1-7"))
    monkeypatch.setattr(usb, "may_open", lambda port: permitted)
    monkeypatch.setattr(usb, "holders", lambda port: held_by)
    with pytest.raises(error, match=said):
        HidTransport(device=Closed, plugged=lambda: [PluggedLedger(HIDRAW, "Flex")])


def test_a_lock_is_exclusive_per_device_and_is_not_taken_through_a_link(tmp_path: Path) -> None:
    lock = DeviceLock("one", tmp_path)
    DeviceLock("other", tmp_path).release()
    with pytest.raises(HeldByAnother, match="another airlock-offline"):
        DeviceLock("one", tmp_path)
    lock.release()
    lock.release()
    file = next(tmp_path.glob("*.lock"))
    assert file.stat().st_mode & 0o777 == 0o600
    for found in tmp_path.glob("*.lock"):
        found.unlink()
        found.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(HeldByAnother, match="lock file"):
        DeviceLock("one", tmp_path)


def test_a_path_of_hidraw_is_a_device_file_with_its_number_on_the_bus(root: Path) -> None:
    assert port_of(HIDRAW, root) == UsbPort(root / "dev/hidraw3", "1-7")
    (root / "sys/bus/usb/devices/1-2.3/devnum").write_text("8\n")  # it was plugged in again
    assert port_of(HIDRAW, root) == UsbPort(root / "dev/hidraw3", "1-8")


@pytest.mark.parametrize("path", ["1-9:1.0", "/dev/hidraw9", "IOService:/AppleARM", "", "../../etc/passwd:1.0"])
def test_what_is_gone_or_not_linux_has_no_port(root: Path, path: str) -> None:
    assert port_of(path, root) is None


def test_a_device_file_that_is_not_there_may_not_be_opened(tmp_path: Path) -> None:
    assert not may_open(UsbPort(tmp_path / "none", "1-7"))
    (tmp_path / "some").touch()
    assert may_open(UsbPort(tmp_path / "some", "1-7"))
