"""What both halves look at on the machine that they run on: the home folder, the disk, libraries, camera, versions.

Nothing here changes anything. What cannot be looked at is said to be so, and never taken for good or for absent.
"""

from __future__ import annotations

import os
import platform
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from airlock_shared.errors import AirlockError, ExitCode
from airlock_shared.host import picture_sources
from airlock_shared.host.files import CONFIG_FILE, FAULT, LOOK, OK, MachineProbes, Observed
from airlock_shared.text.safe import WIDTH, grouped, safe, safe_again, spoken, wrapped

ENOUGH_FREE_BYTES = 64 << 20
MARGIN, VERDICT = 18, 8
_PINNED = re.compile(r"^([a-z0-9][a-z0-9.-]*)==([^ \\;]+)([^\\\n]*)", re.MULTILINE)


class Library(NamedTuple):
    """A shared library of the system: its name for the loader, Debian's package, what needs it, whether it does without."""

    soname: str
    package: str
    needed_by: str
    optional: bool = False


LIBRARIES = (
    Library("libz.so.1", "zlib1g", "the Ledger's driver and pictures"),
    Library("libgcc_s.so.1", "libgcc-s1", "the Ledger's driver and CBOR"),
    Library("libstdc++.so.6", "libstdc++6", "reading QR codes"),
    Library("libzbar.so.0", "libzbar0", "the second reader of QR codes", optional=True),
)
"""What the pinned wheels leave to the system, beside the C library; hidapi's bring their own libusb and libudev."""


def broken(group: str, what: str, error: AirlockError) -> Observed:
    """Return a line about what could not be looked at, as the error says it."""
    return fault(group, what, error.what, error.do, error.exit_code)


def fault(group: str, what: str, found: str, do: str, code: ExitCode = ExitCode.USAGE) -> Observed:
    """Return a line about what does not work."""
    return Observed(group, what, found, FAULT, do, "", code)


def fingerprint_text(fingerprint: str) -> str:
    """Return a fingerprint for a line: hex in groups of four, and its words, each behind its number, 1 to 24."""
    return " ".join([grouped(fingerprint), *(f"{at}.{word}" for at, word in enumerate(spoken(fingerprint).split(), 1))])


# ---- the disk -------------------------------------------------------------------------------------------------------


def home_line(home: Path) -> Observed:
    """Look at the permissions of this half's folder: nobody else's business."""
    name = safe(str(home))
    wrong = partial(fault, "disk", "folder")
    try:
        status = home.stat()
    except FileNotFoundError:
        return Observed("disk", "folder", f"{name} is not there yet")
    except OSError as error:
        return wrong(f"{name} cannot be looked at: {error.strerror}", "check the path")
    if not stat.S_ISDIR(status.st_mode):
        return wrong(f"{name} is not a folder", "name another one with --home")
    if status.st_uid != os.geteuid():
        return wrong(f"{name} belongs to another user", f"chown it to user {os.geteuid()}")
    if (mode := stat.S_IMODE(status.st_mode)) & 0o077 or mode & 0o700 != 0o700:
        return wrong(f"{name} has the permissions {mode:04o}, not 0700", f"run: chmod 700 {name}")
    return Observed("disk", "folder", f"{name}, private (0700)")


def disk_line(home: Path, world: MachineProbes) -> Observed:
    """Look at the file system on which the folder is, or would be made: room, and whether it can be written."""
    try:
        there = next(folder for folder in (home.absolute(), *home.absolute().parents) if folder.exists())
        found = world.disk(there)
    except OSError as error:
        return Observed("disk", "space", f"unknown: {error.strerror}", LOOK, "look at it with df")
    free = found.f_bavail * found.f_frsize
    if found.f_flag & os.ST_RDONLY:
        return fault("disk", "space", "the file system is read-only: nothing can be recorded", "mount it for writing")
    text = f"{free >> 20} MiB free"
    if free < ENOUGH_FREE_BYTES:
        return fault("disk", "space", f"{text}, less than {ENOUGH_FREE_BYTES >> 20} MiB", "make room")
    return Observed("disk", "space", text)


def config_line(path: Path, read: Callable[[Path], object]) -> Observed:
    """Read the configuration as every command does."""
    try:
        read(path)
    except AirlockError as error:
        return broken("configuration", CONFIG_FILE, error)
    return Observed("configuration", CONFIG_FILE, "valid" if path.exists() else "none; every value has a default")


# ---- libraries, camera ----------------------------------------------------------------------------------------------


def library_lines(world: MachineProbes, libraries: Iterable[Library] = LIBRARIES) -> Iterator[Observed]:
    """Load each shared library that the wheels leave to the system, and name the package of one that cannot be."""
    good = []
    for library in libraries:
        try:
            loaded = world.load(library.soname)
        except OSError:
            found = f"cannot be loaded; needed by {library.needed_by}"
            do = f"install Debian's package {library.package}"
            if library.optional:
                yield Observed("libraries", library.soname, f"optional: {found}", LOOK, do)
            else:
                yield fault("libraries", library.soname, found, do)
        else:
            if library.soname == picture_sources.SONAME and (why := picture_sources.why_left_out(loaded, world.root)):
                found = f"{why}; it is left out, and codes are read without it"
                yield Observed("libraries", library.soname, found, LOOK, picture_sources.UPGRADE)
            else:
                good.append(library.soname)
    if good:
        yield Observed("libraries", "loaded", ", ".join(good))


def camera_line(world: MachineProbes) -> Observed:
    """Look for a camera that can be opened, and for what reads it. No camera is no fault: documents travel as files."""
    folder = world.root / "dev"
    if not os.access(folder, os.R_OK):
        return Observed("camera", "camera", "unknown: /dev cannot be read", LOOK, "scan a picture instead")
    found = sorted(path for path in folder.iterdir() if re.fullmatch(r"video[0-9]+", path.name))
    if not found:
        return Observed("camera", "camera", "none; carry documents as files, or as pictures of codes")
    names = ", ".join(f"/dev/{path.name}" for path in found)
    shut = [path.name for path in found if not os.access(path, os.R_OK | os.W_OK)]
    if shut:
        do = "add yourself to the group video, log in again, or scan pictures instead"
        return Observed("camera", "camera", f"/dev/{shut[0]} may not be opened", LOOK, do)
    if world.spec("cv2") is None:
        do = "install the camera extra (OpenCV), or scan pictures instead"
        return Observed("camera", "camera", f"{names}, but OpenCV is not installed", LOOK, do)
    return Observed("camera", "camera", f"{names}, readable; OpenCV is installed")


# ---- versions -------------------------------------------------------------------------------------------------------


def program_line(distribution: str) -> Observed:
    """Return the versions of the program and of Python."""
    found = f"{distribution} {version(distribution)}, {platform.python_implementation()} {platform.python_version()}"
    return Observed("program", "version", f"{found}, {platform.system()} {platform.machine()}")


def closure_line(requirements: Path) -> Observed:
    """Compare the versions installed with a pinned requirements file, where there is one (in a source checkout)."""
    try:
        text = requirements.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return Observed("program", "packages", "no list of pinned versions is beside the program")
    pinned = _PINNED.findall(text)
    odd = [
        f"{name} {found or 'is missing'}, pinned {wanted}"
        for name, wanted, marker in pinned
        if (found := installed(name)) != wanted and (found or ";" not in marker)
    ]
    if odd:
        return fault("program", "packages", "; ".join(odd), "set the environment up again from the pinned file")
    return Observed("program", "packages", f"all {len(pinned)} are of the pinned versions")


def installed(name: str) -> str:
    """Return the version of a package, empty when it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


# ---- the page -------------------------------------------------------------------------------------------------------


def page_lines(lines: Iterable[Observed]) -> Iterator[str]:
    """Yield the page, 80 columns wide: a heading a group; what, found and verdict; below it what to do."""
    heading = ""
    for line in lines:
        if line.group != heading:
            heading = line.group
            yield heading
        rows = list(wrapped(safe_again(line.found), WIDTH - MARGIN - VERDICT - 1)) or [""]
        first = f"  {safe(line.what, limit=40):<{MARGIN - 3}} {rows[0]}"
        yield f"{first:<{WIDTH - VERDICT}}{line.verdict:>{VERDICT}}"
        yield from (" " * MARGIN + row for row in rows[1:])
        if line.do and line.verdict != OK:
            name = f"{line.check}: " if line.check else ""
            yield from (" " * MARGIN + row for row in wrapped(safe_again(f"do: {name}{line.do}"), WIDTH - MARGIN))
