"""What both halves look at: folder, disk, libraries, camera, versions; each fault is named with what to do."""

from __future__ import annotations

import os
from importlib.metadata import version
from pathlib import Path

import pytest

from airlock_shared.host.files import FAULT, LOOK, OK, MachineProbes
from airlock_shared.host.machine import (
    LIBRARIES,
    Library,
    camera_line,
    closure_line,
    disk_line,
    home_line,
    library_lines,
)
from offline.machine_trees import zbar_of


def statvfs(**changed: int) -> os.statvfs_result:
    names = ("f_bsize", "f_frsize", "f_blocks", "f_bfree", "f_bavail", "f_files", "f_ffree", "f_favail", "f_flag")
    values = dict.fromkeys(names, 0) | {"f_frsize": 4096, "f_bavail": 1 << 20} | changed
    return os.statvfs_result((*(values[name] for name in names), 255))


# ---- the disk -------------------------------------------------------------------------------------------------------


def test_a_private_folder_is_ok_and_one_that_is_not_there_yet_too(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert (home_line(home).verdict, "not there yet" in home_line(home).found) == (OK, True)
    home.mkdir(mode=0o700)
    assert home_line(home).verdict == OK


@pytest.mark.parametrize("mode", [0o755, 0o750, 0o707, 0o701, 0o500, 0o777, 0o600])
def test_other_permissions_than_0700_are_a_fault(tmp_path: Path, mode: int) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home").chmod(mode)
    line = home_line(tmp_path / "home")
    (tmp_path / "home").chmod(0o700)
    assert (line.verdict, line.code, f"{mode:04o}" in line.found) == (FAULT, 2, True)
    assert line.do == f"run: chmod 700 {tmp_path / 'home'}"


def test_a_file_in_the_folders_place_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "home").touch()
    assert (home_line(tmp_path / "home").verdict, home_line(tmp_path / "home" / "more").verdict) == (FAULT, FAULT)


@pytest.mark.parametrize(
    ("changed", "said", "verdict"),
    [
        ({}, "4096 MiB free", OK),
        ({"f_bavail": 16384}, "64 MiB free", OK),
        ({"f_bavail": 16383}, "63 MiB free, less than 64 MiB", FAULT),
        ({"f_bavail": 0}, "0 MiB free", FAULT),
        ({"f_flag": os.ST_RDONLY}, "read-only", FAULT),
    ],
)
def test_a_disk_that_is_full_or_read_only_is_a_fault(
    tmp_path: Path, changed: dict[str, int], said: str, verdict: str
) -> None:
    asked: list[Path] = []

    def disk(path: Path) -> os.statvfs_result:
        asked.append(path)
        return statvfs(**changed)

    line = disk_line(tmp_path / "not/yet/there", MachineProbes(disk=disk))
    assert (line.verdict, said in line.found, asked) == (verdict, True, [tmp_path])


def test_a_disk_that_cannot_be_asked_is_not_called_good(tmp_path: Path) -> None:
    def disk(path: Path) -> os.statvfs_result:
        raise PermissionError(13, "Permission denied")

    line = disk_line(tmp_path, MachineProbes(disk=disk))
    assert (line.verdict, line.found) == (LOOK, "unknown: Permission denied")


# ---- libraries, camera ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.soname)
def test_a_library_that_is_missing_is_named_with_its_package(library: Library) -> None:
    def load(soname: str) -> object:
        if soname == library.soname:
            raise OSError(soname)
        return zbar_of(0, 23, 93)

    [line] = [line for line in library_lines(MachineProbes(load=load)) if line.verdict != OK]
    assert (line.what, line.verdict) == (library.soname, LOOK if library.optional else FAULT)
    assert library.package in line.do


def entry(package: str, version: str, status: str = "install ok installed") -> str:
    return f"Package: {package}\nStatus: {status}\nDescription: text\n Version: 9\nVersion: {version}\n\n"


FIXED = entry("libzbar0", "0.23.92-7+deb12u1")


@pytest.mark.parametrize(
    ("version", "status", "sound"),
    [
        ((0, 23, 93), "", True),
        ((0, 24, 0), "", True),
        ((1, 0, 0), "", True),
        ((0, 23, 92), FIXED, True),
        ((0, 23, 92), entry("libzbar0t64", "0.23.92-7+deb12u3"), True),
        ((0, 23, 90), entry("libzbar0", "0.23.90-1+deb11u1"), True),
        ((0, 23, 92), "", False),
        ((0, 23, 92), entry("libzbar0", "0.23.92-7"), False),
        ((0, 23, 92), entry("libzbar0", "0.23.92-7+deb12u0"), False),
        ((0, 23, 92), entry("libzbar0", "0.23.92-7+deb12u1~bpo1"), False),
        ((0, 23, 92), entry("libzbar0", "0.23.92-7+deb12u1", "deinstall ok config-files"), False),
        ((0, 23, 92), entry("libzbar0", "0.23.92-7+deb12u1", "install ok half-configured"), False),
        ((0, 23, 92), entry("zbar-tools", "0.23.92-7+deb12u1"), False),
        ((0, 23, 92), entry("libzbar0", "0.23.90-1+deb11u1"), False),
        ((0, 23, 90), FIXED, False),
        ((0, 10, 0), FIXED, False),
        ((0, 23, 92), entry("libzbar0", "0.23.92-4") + FIXED.replace("libzbar0", "libzbar0-dev"), False),
    ],
)
def test_a_zbar_that_a_hostile_code_may_overflow_is_left_out_and_said(
    version: tuple[int, ...], status: str, sound: bool, tmp_path: Path
) -> None:
    (tmp_path / "var/lib/dpkg").mkdir(parents=True)
    (tmp_path / "var/lib/dpkg/status").write_text(entry("libc6", "2.36") + status + entry("zlib1g", "1.2"))
    library = next(one for one in LIBRARIES if one.soname == "libzbar.so.0")
    world = MachineProbes(tmp_path, load=lambda _soname: zbar_of(*version))
    [line] = library_lines(world, [library])
    assert (line.verdict, "left out" in line.found) == ((OK, False) if sound else (LOOK, True))
    assert sound or "libzbar0" in line.do


@pytest.mark.parametrize(
    ("device", "opencv", "verdict", "said"),
    [
        ("", True, OK, "none"),
        ("video0", True, OK, "/dev/video0, readable; OpenCV is installed"),
        ("video0", False, LOOK, "OpenCV is not installed"),
        ("video-spare", True, OK, "none"),
    ],
)
def test_a_camera_is_found_with_what_reads_it(
    tmp_path: Path, device: str, opencv: bool, verdict: str, said: str
) -> None:
    (tmp_path / "dev").mkdir()
    if device:
        (tmp_path / "dev" / device).touch()
    line = camera_line(MachineProbes(tmp_path, spec=lambda name: name if opencv else None))
    assert (line.verdict, said in line.found) == (verdict, True)


# ---- versions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pinned", "said"),
    [
        (f"click=={version('click')} \\\n    --hash=sha256:00\n", "all 1 are"),
        ("click==0.0.1 \\\n    --hash=sha256:00\n", "pinned 0.0.1"),
        ("no-such-package==1.0 \\\n    --hash=sha256:00\n", "no-such-package is missing"),
        ("no-such-package==1.0 ; implementation_name == 'pypy' \\\n", "all 1 are"),
    ],
)
def test_the_installed_versions_are_compared_with_the_pinned_ones(tmp_path: Path, pinned: str, said: str) -> None:
    (tmp_path / "requirements.txt").write_text(f"# made by a tool\n{pinned}    # via something\n")
    assert said in closure_line(tmp_path / "requirements.txt").found
