"""From a commit to what people carry: a folder, a tar of it, and the paper with both fingerprints.

The kit of the offline half and the bundle of the online half are made by this; each says in a ``Package`` what is its own.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import archive
import committed
import wheels
from committed import Source

from airlock_shared.errors import AirlockError, ExitCode, UsageError


class Package(NamedTuple):
    """What is packed: its name, the workspace's parts that it needs, the files that may be run, what fills the folder.

    ``title`` stands above the fingerprint on the paper; ``make`` is the target that makes it.
    """

    name: str
    make: str
    title: str
    parts: tuple[str, ...]
    programs: frozenset[str]
    fill: Callable[[Path, wheels.Target, Source], None]


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
        do=f"make {package.make} KIT_OUT=dist KIT_PYTHON=3.11 KIT_MACHINE=x86_64",
    )


def _pack(package: Package, root: Path, out: Path, target: wheels.Target) -> None:
    """Make the folder, its tar and the paper, and print the paper. Raises ``AirlockError``."""
    name = f"{package.name}-{target.tag}-{target.machine}"
    results = [out / name, out / f"{name}.tar", out / f"{name}.fingerprint.txt"]
    there = [path for path in results if os.path.lexists(path)]
    if there:
        raise UsageError(f"{there[0]} exists already, and nothing is overwritten", do="move it away, or set KIT_OUT")
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{name}.", dir=out) as place:
        source = committed.take(root, Path(place) / "source", package.parts)
        folder, tar, paper = (Path(place) / path.name for path in results)
        folder.mkdir()
        package.fill(folder, target, source)
        archive.settle(folder, package.programs, source.epoch_s)
        archive.pack(folder, tar, source.epoch_s)
        paper.write_text(archive.fingerprints(folder, tar, source.commit, package.title))
        for made, result in zip((folder, tar, paper), results, strict=True):
            made.rename(result)
    sys.stdout.write(results[2].read_text())
    say(f"Written: {results[0]} and {results[1].name}")
