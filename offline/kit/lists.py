"""The list INSTALLED of the files that installing a kit gives, in the form of ``sha256sum``."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable
from pathlib import Path

from sums import hash_tree, sha256
from wheels import Wheel

from airlock_offline.installation import PAPERS
from airlock_shared.errors import UsageError

_NEVER_KEPT = re.compile(r"[^/]+\.dist-info/RECORD|docs/.*|(.+/)?tests/.*")
"""Removed by ``install.sh``: RECORD names the folder of the installation, and INSTALLED stands for it; ``docs`` is put
beside the packages by several of them, by mistake, each over the other's; the packages' own tests run nowhere."""


COPIED = {
    "program/airlock-offline": "bin/airlock-offline",
    "share": "share",
    **{name: f"{PAPERS}/{name}" for name in ("KIT", "SYSTEM-LIBRARIES", "udev", "guides")},
}
"""What ``install.sh`` copies out of the kit, from and to, besides installing the wheels."""


def installed(kit: Path, wheels: Iterable[Wheel], python: str) -> dict[str, str]:
    """Return the SHA-256 of every file of an installation, by path: from the wheels, and what the kit copies itself."""
    site = f"lib/python{python}/site-packages"
    files: dict[str, str] = {}
    for wheel in wheels:
        kept = {}
        with zipfile.ZipFile(wheel.path) as archive:
            names = [name for name in archive.namelist() if not name.endswith("/")]
            for name in names:
                place = _place(name, site, wheel)
                if place and not _NEVER_KEPT.fullmatch(name):
                    kept[place] = sha256(archive.read(name))
        (metadata,) = {name.split("/")[0] for name in names if re.match(r"[^/]+\.dist-info/METADATA$", name)}
        kept[f"{site}/{metadata}/INSTALLER"] = sha256(b"pip\n")
        kept[f"{site}/{metadata}/REQUESTED"] = sha256(b"")
        for path, digest in kept.items():
            if files.setdefault(path, digest) != digest:
                raise UsageError(f"two packages bring {path}", do="leave one of them out of the closure")
    tree = hash_tree(kit)
    for source, target in COPIED.items():
        for path, digest in tree.items():
            if path == source or path.startswith(f"{source}/"):
                files[target + path.removeprefix(source)] = digest
    return files


def _place(name: str, site: str, wheel: Wheel) -> str:
    top, _, rest = name.partition("/")
    if not top.endswith(".data"):
        return f"{site}/{name}"
    scheme, _, below = rest.partition("/")
    if scheme == "scripts":
        return ""
    if scheme in ("purelib", "platlib"):
        return f"{site}/{below}"
    raise UsageError(f"{wheel.path.name} brings {scheme}", do="see whether the signing machine needs them")
