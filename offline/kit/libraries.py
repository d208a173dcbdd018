"""Which shared libraries of the system the wheels need, and the Debian packages that bring them.

Read from the wheels' own ELF headers (DT_NEEDED), less what they carry with them; a name that nobody put into the table
below stops the build. What is loaded by name at run time is not in any header and is listed by hand.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable

from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from wheels import Wheel

from airlock_shared.errors import UsageError
from airlock_shared.host.machine import Library

PACKAGES = {
    "ld-linux-x86-64.so.2": "libc6",
    "ld-linux-aarch64.so.1": "libc6",
    "libc.so.6": "libc6",
    "libdl.so.2": "libc6",
    "libm.so.6": "libc6",
    "libpthread.so.0": "libc6",
    "librt.so.1": "libc6",
    "libutil.so.1": "libc6",
    "libgcc_s.so.1": "libgcc-s1",
    "libstdc++.so.6": "libstdc++6",
    "libudev.so.1": "libudev1",
    "libusb-1.0.so.0": "libusb-1.0-0",
    "libz.so.1": "zlib1g",
}
AT_RUN_TIME = (Library("libzbar.so.0", "libzbar0", "pyzbar", optional=True),)  # ctypes; zxing-cpp decodes without it

_HEADING = """\
# What the offline half needs of the system, for Debian 12. Later releases may add t64 to a package's name.
# soname, package, required or optional, needed by; between them a tab.
"""


def needed(wheels: Iterable[Wheel]) -> list[Library]:
    """Return the system's libraries that the wheels need. Raises ``UsageError`` for one of an unknown package."""
    carried: set[str] = set()
    asked: dict[str, set[str]] = {}
    for wheel in wheels:
        with zipfile.ZipFile(wheel.path) as archive:
            for name in archive.namelist():
                carried.add(name.rpartition("/")[2])
                for soname in _needed(archive.read(name)) if ".so" in name else ():
                    asked.setdefault(soname, set()).add(wheel.name)
    outside = {soname: by for soname, by in sorted(asked.items()) if soname not in carried}
    unknown = sorted(set(outside) - set(PACKAGES))
    if unknown:
        raise UsageError(f"nobody knows the Debian package of {', '.join(unknown)}", do="add it to libraries.py")
    found = [Library(soname, PACKAGES[soname], ", ".join(sorted(by)), False) for soname, by in outside.items()]
    return [*found, *(library for library in AT_RUN_TIME if any(w.name == library.needed_by for w in wheels))]


def text(libraries: Iterable[Library]) -> str:
    """Return the file SYSTEM-LIBRARIES, which ``preflight`` reads too."""
    rows = ((one.soname, one.package, "optional" if one.optional else "required", one.needed_by) for one in libraries)
    return _HEADING + "".join("\t".join(row) + "\n" for row in rows)


def _needed(data: bytes) -> list[str]:
    if not data.startswith(b"\x7fELF"):
        return []
    sections = ELFFile(io.BytesIO(data)).iter_sections()
    return [
        str(tag.needed)  # type: ignore[attr-defined]
        for section in sections
        if isinstance(section, DynamicSection)
        for tag in section.iter_tags()
        if tag.entry.d_tag == "DT_NEEDED"
    ]
