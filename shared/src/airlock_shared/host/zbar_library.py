"""Whether the system's zbar may read codes: below 0.23.93 a hostile code overflows it, unless Debian has repaired it.

CVE-2023-40889 and CVE-2023-40890 were reported of 0.23.90. Debian repaired them without a new release of zbar, in
0.23.92-7+deb12u1 (bookworm) and 0.23.90-1+deb11u1 (bullseye), DSA-5614-1: so the library's own version cannot tell, and the
status that dpkg keeps of the installed package decides. What nobody can tell is left out; codes are read without it.
"""

from __future__ import annotations

import ctypes
import re
from pathlib import Path
from typing import Any

SONAME = "libzbar.so.0"
PACKAGES = ("libzbar0", "libzbar0t64")
STATUS = "var/lib/dpkg/status"
REPAIRED_SINCE = (0, 23, 93)
REPAIRED_BY_DEBIAN = re.compile(r"(0\.23\.92)-7\+deb12u[1-9][0-9]*|(0\.23\.90)-1\+deb11u[1-9][0-9]*")
UPGRADE = "on Debian, apt-get install --only-upgrade libzbar0 brings a repaired one"
_MAX_STATUS_BYTES = 64 << 20


def why_left_out(library: Any, root: Path = Path("/")) -> str:
    """Return why a loaded zbar must not read codes, empty when it may; dpkg's status is looked up below ``root``."""
    version = _version(library)
    if version >= REPAIRED_SINCE:
        return ""
    told = ".".join(map(str, version))
    package = _packaged(root / STATUS)
    repaired = REPAIRED_BY_DEBIAN.fullmatch(package)
    if repaired and told in repaired.groups():
        return ""
    source = package or "from a package that dpkg does not know"
    return f"a hostile code may overflow zbar {told} ({source}; CVE-2023-40889)"


def _version(library: Any) -> tuple[int, int, int]:
    """Ask the library itself, by all the three numbers of its C interface; pyzbar declares two of them."""
    numbers = [ctypes.c_uint() for _ in range(3)]
    library.zbar_version(*(ctypes.byref(number) for number in numbers))
    major, minor, patch = (number.value for number in numbers)
    return major, minor, patch


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
