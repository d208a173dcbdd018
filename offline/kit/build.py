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
import licences
import lists
import packing
import sbom
import sums
import wheels
from committed import Source
from packing import say

import airlock_offline
from airlock_offline.installation.manifest import DESCRIPTION, INSTALLED, PROGRAMS

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ("install.sh", "verify.sh", "program/airlock-offline", "program/packages.py")
GUIDES = "docs/guides"
PAGES = (  # for people without a network, beside the guides
    *(f"docs/reference/{name}.md" for name in ("configuration", "hardware", "kit", "ledger")),
    *(f"docs/reference/generated/{name}.md" for name in ("checks", "errors", "exit-codes", "when-it-goes-wrong")),
)
PACKED = ("shared", "offline", GUIDES, *PAGES)  # what of the workspace is in a kit
_LINK = re.compile(r"\[([^]]+)\]\(([^)#:]+)(#[^)]*)?\)")


def fill(kit: Path, target: wheels.Target, source: Source) -> None:
    """Put everything into the kit's folder; the two lists last, because they speak of all the rest."""
    for name in SCRIPTS:
        (kit / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(source.folder / "offline/kit" / name, kit / name)
    camera = _gather(kit / "wheels", target, source)
    everything = wheels.read_wheels(kit / "wheels")
    packages = [wheel for wheel in everything if wheel.name != "pip"]  # it installs and is not installed
    (kit / "requirements.txt").write_text(wheels.requirements(packages))
    (kit / DESCRIPTION).write_text(_description(kit.name, target, source, packages, camera=camera))
    (kit / "SYSTEM-LIBRARIES").write_text(libraries.text(libraries.needed(packages)))
    licences.write(everything, kit / "licences")
    (kit / "sbom.cdx.json").write_text(
        sbom.text(kit.name, airlock_offline.__version__, "airlock-offline", everything, target, source.epoch_s)
    )
    for name in ("udev", "share"):  # the rule, and the manual page and completions
        shutil.copytree(source.folder / "offline" / name, kit / name)
    _write_guides(source.folder, kit / "guides")
    (kit / INSTALLED).write_text(sums.sums(lists.installed(kit, packages, target.python)))
    (kit / sums.MANIFEST).write_text(sums.sums(sums.hash_tree(kit)))


def _write_guides(workspace: Path, folder: Path) -> None:
    """Write guides and pages into one folder. A link to what is not in the kit keeps its text alone."""
    guides = workspace / GUIDES
    shutil.copytree(guides, folder)
    places = {path.resolve(): path.relative_to(guides) for path in guides.rglob("*")}
    places |= {(workspace / page).resolve(): Path(Path(page).name) for page in PAGES}

    for source, place in places.items():
        if source.suffix == ".md":
            (folder / place).write_text(_relink(source, places), encoding="utf-8")


def _relink(page: Path, places: Mapping[Path, Path]) -> str:
    """Return the text of a page that stands at the top of the folder, its links made to lead to ``places``."""

    def link(found: re.Match[str]) -> str:
        place = places.get((page.parent / found[2]).resolve())
        return f"[{found[1]}]({place.as_posix()}{found[3] or ''})" if place else found[1]

    return _LINK.sub(link, page.read_text(encoding="utf-8"))


def _gather(folder: Path, target: wheels.Target, source: Source) -> bool:
    """Fetch and build the wheels; return whether those of the camera are among them."""
    folder.mkdir()
    base, more, tools = (
        wheels.read_pins(source.folder / name, target)
        for name in ("offline/requirements.txt", "offline/requirements-camera.txt", "shared/packing/requirements.txt")
    )
    del base["flit-core"]  # it builds our own packages here
    say(f"Fetching {len(base) + 1} wheels ...")
    wheels.fetch((*base.values(), tools["pip"]), target, folder)
    camera = wheels.split_camera(base, more)
    say(f"Fetching the camera's: {', '.join(pin.name for pin in camera)} ...")
    try:
        wheels.fetch(camera, target, folder)
    except wheels.NoWheel as error:
        say(f"Without the camera: {error.what}")
        camera = []
    for member in ("shared", "offline"):
        wheels.build_member(source.folder / member, folder, source.epoch_s)
    return bool(camera)


def _description(
    name: str, target: wheels.Target, source: Source, packages: list[wheels.Wheel], *, camera: bool
) -> str:
    values = {
        "name": name, "version": airlock_offline.__version__, "python": target.python, "machine": target.machine,
        "glibc": f"2.{max(wheel.glibc for wheel in packages)}", "camera": "yes" if camera else "no",
        "source": source.commit,
    }  # fmt: skip
    return "".join(f"{key}={value}\n" for key, value in values.items())


KIT = packing.Package(
    f"airlock-offline-kit-{airlock_offline.__version__}",
    "offline-kit",
    "The kit (SHA-256 of its MANIFEST): what verify.sh and install.sh ask for",
    PACKED,
    PROGRAMS,
    fill,
)

if __name__ == "__main__":
    sys.exit(packing.run(KIT, ROOT, sys.argv[1:]))
