"""Builds the kit that carries the offline half to a machine without a network: ``make offline-kit``.

One folder, a tar of it and its fingerprints, the same bytes from the same commit wherever it is built. Everything in it
comes from the pinned files by hash or from that commit; docs/reference/kit.md says what is in it and what it is for.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import libraries
import lists
import packing
import sums
import wheels
from committed import Source

import airlock_offline
from airlock_offline.installation import INSTALLED, PROGRAMS

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ("install.sh", "verify.sh", "program/airlock-offline", "program/packages.py")
GUIDES = "docs/guides"
REFERENCE = (
    *("by-hand", "configuration", "delegate-keys", "eip-7702", "hardware", "kit", "led-run", "ledger", "outcomes"),
    *("referral-codes", "review-screen"),
)
PAGES = (  # for people without a network, beside the guides
    *(f"docs/reference/{name}.md" for name in REFERENCE),
    *(f"docs/reference/generated/{name}.md" for name in ("checks", "errors", "exit-codes", "when-it-goes-wrong")),
)
PACKED = ("shared", "offline", GUIDES, *PAGES)  # what of the workspace is in a kit
_LINK = re.compile(r"\[([^]]+)\]\(([^)#:]+)(#[^)]*)?\)")


def fill(kit: Path, packages: list[wheels.Wheel], target: wheels.Target, source: Source) -> None:
    """Add what a kit has for the signing machine alone; the list of what is installed last, it speaks of all the rest."""
    (kit / "SYSTEM-LIBRARIES").write_text(libraries.text(libraries.needed(packages)))
    folder = kit / "guides"
    guides = source.folder / GUIDES
    shutil.copytree(guides, folder)
    places = {path.resolve(): path.relative_to(guides) for path in guides.rglob("*")}
    places |= {(source.folder / page).resolve(): Path(Path(page).name) for page in PAGES}

    for page, place in places.items():
        if page.suffix == ".md":
            (folder / place).write_text(_relink(page, places), encoding="utf-8")
    (kit / INSTALLED).write_text(sums.sums(lists.installed(kit, packages, target.python)))


def _relink(page: Path, places: Mapping[Path, Path]) -> str:
    """Return the text of a page that stands at the top of the folder, its links made to lead to ``places``."""

    def link(found: re.Match[str]) -> str:
        place = places.get((page.parent / found[2]).resolve())
        return f"[{found[1]}]({place.as_posix()}{found[3] or ''})" if place else found[1]

    return _LINK.sub(link, page.read_text(encoding="utf-8"))


KIT = packing.Package(
    "offline",
    "kit",
    airlock_offline.__version__,
    "The kit (SHA-256 of its MANIFEST): what verify.sh and install.sh ask for",
    PACKED,
    PROGRAMS,
    SCRIPTS,
    ("udev", "share"),  # the rule, and the manual page and completions
    "requirements-camera.txt",
    fill,
)

if __name__ == "__main__":
    sys.exit(packing.run(KIT, ROOT, sys.argv[1:]))
