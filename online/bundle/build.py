"""Builds what the online half is installed from: ``make online-bundle``. docs/reference/bundle.md says what is in it."""

from __future__ import annotations

import shutil
import sys
import tomllib
from pathlib import Path

import licences
import packing
import sbom
import sums
import wheels
from committed import Source
from packing import say

ROOT = Path(__file__).resolve().parents[2]
VERSION = tomllib.loads((ROOT / "online/pyproject.toml").read_text())["project"]["version"]
INSTALL, LAUNCHER = "install.sh", "program/airlock-online"
DESCRIPTION = "BUNDLE"


def fill(bundle: Path, target: wheels.Target, source: Source) -> None:
    """Put everything into the bundle's folder; the list last, because it speaks of all the rest."""
    for name in (INSTALL, LAUNCHER, "Containerfile"):
        (bundle / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(source.folder / "online/bundle" / name, bundle / name)
    _gather(bundle / "wheels", target, source)
    everything = wheels.read_wheels(bundle / "wheels")
    packages = [wheel for wheel in everything if wheel.name != "pip"]  # it installs and is not installed
    (bundle / "requirements.txt").write_text(wheels.requirements(packages))
    values = {
        "name": bundle.name, "version": VERSION, "python": target.python, "machine": target.machine,
        "glibc": f"2.{max(wheel.glibc for wheel in packages)}", "source": source.commit,
    }  # fmt: skip
    (bundle / DESCRIPTION).write_text("".join(f"{key}={value}\n" for key, value in values.items()))
    licences.write(everything, bundle / "licences")
    bill = sbom.text(bundle.name, VERSION, "airlock-online", everything, target, source.epoch_s)
    (bundle / "sbom.cdx.json").write_text(bill)
    shutil.copytree(source.folder / "online/share", bundle / "share")
    (bundle / sums.MANIFEST).write_text(sums.sums(sums.hash_tree(bundle)))


def _gather(folder: Path, target: wheels.Target, source: Source) -> None:
    """Fetch the pinned wheels, and build our own two. The rehearsal is not among them: nothing real needs it."""
    folder.mkdir()
    pins, tools = (
        wheels.read_pins(source.folder / name, target)
        for name in ("online/requirements.txt", "shared/packing/requirements.txt")
    )
    del pins["flit-core"]  # it builds our own packages here
    say(f"Fetching {len(pins) + 1} wheels ...")
    wheels.fetch((*pins.values(), tools["pip"]), target, folder)
    for member in ("shared", "online"):
        wheels.build_member(source.folder / member, folder, source.epoch_s)


BUNDLE = packing.Package(
    f"airlock-online-bundle-{VERSION}",
    "online-bundle",
    "The bundle (SHA-256 of its MANIFEST): what install.sh asks for",
    ("shared", "online"),
    frozenset({INSTALL, LAUNCHER}),
    fill,
)

if __name__ == "__main__":
    sys.exit(packing.run(BUNDLE, ROOT, sys.argv[1:]))
