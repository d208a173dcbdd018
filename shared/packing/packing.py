"""From a commit to what people carry: a folder, a tar of it, and the paper with both fingerprints.

The kit of the offline half and the bundle of the online half are made by this; each says in a ``Package`` what is its own.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import archive
import committed
import licences
import sbom
import sums
import wheels
from committed import Source

from airlock_shared.errors import AirlockError, ExitCode, UsageError


class Package(NamedTuple):
    """What is packed: ``what`` (kit or bundle) of which half, with its scripts and the workspace's other parts.

    ``title`` stands above the fingerprint on the paper, and ``programs`` are the files that may be run. ``folders`` are
    copied from the half's own, and ``camera`` is pinned file of wheels that it may do without. ``fill`` adds what is
    its own.
    """

    half: str
    what: str
    version: str
    title: str
    parts: tuple[str, ...]
    programs: frozenset[str]
    scripts: tuple[str, ...]
    folders: tuple[str, ...]
    camera: str = ""
    fill: Callable[[Path, list[wheels.Wheel], wheels.Target, Source], None] = lambda *_: None


def run(package: Package, root: Path, words: list[str]) -> int:
    """Pack into the folder ``words[0]`` for Python ``words[1]`` on the machine ``words[2]``; return the exit code."""
    try:
        _pack(package, root, *_read(package, words))
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


def say(text: str) -> None:
    """Write talk to stderr."""
    sys.stderr.write(f"{text}\n")


def _read(package: Package, words: list[str]) -> tuple[Path, wheels.Target]:
    if len(words) == 3 and re.fullmatch(r"3\.[0-9]{1,2}", words[1]) and re.fullmatch(r"[a-z][a-z0-9_]+", words[2]):
        return Path(words[0]).absolute(), wheels.Target(words[1], words[2])
    raise UsageError(
        f"not a folder, a Python and a machine: {' '.join(words)}",
        do=f"make {package.half}-{package.what} KIT_OUT=dist KIT_PYTHON=3.11 KIT_MACHINE=x86_64",
    )


def _pack(package: Package, root: Path, out: Path, target: wheels.Target) -> None:
    """Make the folder, its tar and the paper, and print the paper. Raises ``AirlockError``."""
    name = f"airlock-{package.half}-{package.what}-{package.version}-{target.tag}-{target.machine}"
    results = [out / name, out / f"{name}.tar", out / f"{name}.fingerprint.txt"]
    there = [path for path in results if os.path.lexists(path)]
    if there:
        raise UsageError(f"{there[0]} exists already, and nothing is overwritten", do="move it away, or set KIT_OUT")
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{name}.", dir=out) as place:
        source = committed.take(root, Path(place) / "source", package.parts)
        folder, tar, paper = (Path(place) / path.name for path in results)
        folder.mkdir()
        _fill(package, folder, target, source)
        archive.settle(folder, package.programs, source.epoch_s)
        archive.pack(folder, tar)
        paper.write_text(archive.fingerprints(folder, tar, source.commit, package.title))
        for made, result in zip((folder, tar, paper), results, strict=True):
            made.rename(result)
    sys.stdout.write(results[2].read_text())
    say(f"Written: {results[0]} and {results[1].name}")


def _fill(package: Package, folder: Path, target: wheels.Target, source: Source) -> None:
    """Put everything into the folder; the list of all the rest last."""
    half = source.folder / package.half
    for name in package.scripts:
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(half / package.what / name, folder / name)
    camera = _gather(package, folder / "wheels", target, source)
    everything = wheels.read_wheels(folder / "wheels")
    packages = [wheel for wheel in everything if wheel.name != "pip"]  # it installs and is not installed
    (folder / "requirements.txt").write_text(wheels.requirements(packages))
    values = {
        "name": folder.name, "version": package.version, "python": target.python, "machine": target.machine,
        "glibc": f"2.{max(wheel.glibc for wheel in packages)}", **camera, "source": source.commit,
    }  # fmt: skip
    (folder / package.what.upper()).write_text("".join(f"{key}={value}\n" for key, value in values.items()))
    licences.write(everything, folder / "licences")
    root = f"airlock-{package.half}"
    bill = sbom.text(folder.name, package.version, root, everything, target, source.epoch_s)
    (folder / "sbom.cdx.json").write_text(bill)
    for name in package.folders:
        shutil.copytree(half / name, folder / name)
    package.fill(folder, packages, target, source)
    (folder / sums.MANIFEST).write_text(sums.sums(sums.hash_tree(folder)))


def _gather(package: Package, folder: Path, target: wheels.Target, source: Source) -> dict[str, str]:
    """Fetch the pinned wheels, and build our own; return what the description says of the camera's."""
    folder.mkdir()
    half = source.folder / package.half
    base = wheels.read_pins(half / "requirements.txt", target)
    tools = wheels.read_pins(source.folder / "shared/packing/requirements.txt", target)
    del base["flit-core"]  # it builds our own packages here
    say(f"Fetching {len(base) + 1} wheels ...")
    wheels.fetch((*base.values(), tools["pip"]), target, folder)
    told = {}
    if package.camera:
        camera = wheels.split_camera(base, wheels.read_pins(half / package.camera, target))
        say(f"Fetching the camera's: {', '.join(pin.name for pin in camera)} ...")
        try:
            wheels.fetch(camera, target, folder)
        except wheels.NoWheel as error:
            say(f"Without the camera: {error.what}")
            camera = []
        told = {"camera": "yes" if camera else "no"}
    for member in ("shared", package.half):
        wheels.build_member(source.folder / member, folder, source.epoch_s)
    return told
