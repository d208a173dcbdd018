"""Builds the kit that carries the offline half to a machine without a network: ``make offline-kit``.

One folder, a tar of it and its fingerprints, the same bytes from the same commit wherever it is built. Everything in it
comes from the pinned files by hash or from that commit; docs/reference/kit.md says what is in it and what it is for.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import archive
import committed
import libraries
import licences
import lists
import sbom
import wheels
from committed import Source

import airlock_offline
from airlock_offline.installation.manifest import DESCRIPTION, INSTALLED, MANIFEST
from airlock_shared.errors import AirlockError, ExitCode, UsageError

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ("install.sh", "verify.sh", "program/airlock-offline", "program/packages.py")
GUIDES = "docs/guides"
PAGES = (  # for people without a network, beside the guides
    *(f"docs/reference/{name}.md" for name in ("configuration", "kit", "ledger")),
    *(f"docs/reference/generated/{name}.md" for name in ("checks", "errors", "exit-codes", "when-it-goes-wrong")),
)
PACKED = ("shared", "offline", GUIDES, *PAGES)  # what of the workspace is in a kit
_LINK = re.compile(r"\[([^]]+)\]\(([^)#:]+)(#[^)]*)?\)")


def main(words: list[str]) -> int:
    """Build a kit into the folder ``words[0]`` for Python ``words[1]`` on the machine ``words[2]``; return the exit code."""
    try:
        build(*_read(words))
    except AirlockError as error:
        say(f"{error.what}\n  do:       {error.do}")
        return int(error.exit_code)
    except OSError as error:
        say(f"{error.filename or words[0]}: {error.strerror}\n  do:       check the folder and the free space")
        return int(ExitCode.USAGE)
    except KeyboardInterrupt:
        say("Interrupted. Nothing was left behind.")
        return int(ExitCode.INTERRUPTED)
    return 0


def _read(words: list[str]) -> tuple[Path, wheels.Target]:
    if len(words) == 3 and re.fullmatch(r"3\.[0-9]{1,2}", words[1]) and re.fullmatch(r"[a-z][a-z0-9_]+", words[2]):
        return Path(words[0]).absolute(), wheels.Target(words[1], words[2])
    raise UsageError(
        f"not a folder, a Python and a machine: {' '.join(words)}",
        do="make offline-kit KIT_OUT=dist KIT_PYTHON=3.11 KIT_MACHINE=x86_64",
    )


def say(text: str) -> None:
    """Write talk to stderr."""
    sys.stderr.write(f"{text}\n")


def build(out: Path, target: wheels.Target) -> None:
    """Build the kit, its tar and the paper with the fingerprints, and print the paper. Raises ``AirlockError``."""
    name = f"airlock-offline-kit-{airlock_offline.__version__}-{target.tag}-{target.machine}"
    results = [out / name, out / f"{name}.tar", out / f"{name}.fingerprint.txt"]
    there = [path for path in results if os.path.lexists(path)]
    if there:
        raise UsageError(f"{there[0]} exists already, and nothing is overwritten", do="move it away, or set KIT_OUT")
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{name}.", dir=out) as place:
        source = committed.take(ROOT, Path(place) / "source", PACKED)
        kit, tar, paper = (Path(place) / path.name for path in results)
        kit.mkdir()
        fill(kit, target, source)
        archive.settle(kit, source.epoch_s)
        archive.pack(kit, tar, source.epoch_s)
        paper.write_text(archive.fingerprints(kit, tar, source.commit))
        for made, result in zip((kit, tar, paper), results, strict=True):
            made.rename(result)
    sys.stdout.write(results[2].read_text())
    say(f"Written: {results[0]} and {results[1].name}")


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
        sbom.text(kit.name, airlock_offline.__version__, everything, target, source.epoch_s)
    )
    for name in ("udev", "share"):  # the rule, and the manual page and completions
        shutil.copytree(source.folder / "offline" / name, kit / name)
    _write_guides(source.folder, kit / "guides")
    (kit / INSTALLED).write_text(lists.sums(lists.installed(kit, packages, target.python)))
    (kit / MANIFEST).write_text(lists.sums(lists.hash_tree(kit)))


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
        for name in ("offline/requirements.txt", "offline/requirements-camera.txt", "offline/kit/requirements.txt")
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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
