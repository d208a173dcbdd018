"""Wheels that are carried: fetched by the hashes of the pinned files, for the target and not for this machine, and our own.

Our own are packed without compression, so that their bytes do not depend on the compressor of the machine that builds them.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from contextlib import chdir
from pathlib import Path
from typing import NamedTuple

from flit_core import buildapi  # type: ignore[import-untyped]
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename

from airlock_shared.errors import ServiceError, UsageError

NEWEST_GLIBC = 28  # the minor of 2.N, manylinux_2_28: Debian 10 and everything since
_LEGACY = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}  # by the minor
_NO_WHEEL = "No matching distribution found"


class NoWheel(UsageError):
    """A package has no wheel for the target, and nothing is ever built from source."""


class Target(NamedTuple):
    """What the kit is for: Python's version such as 3.11, and the machine such as x86_64."""

    python: str
    machine: str

    @property
    def tag(self) -> str:
        """Python's tag, such as cp311."""
        return f"cp{self.python.replace('.', '')}"

    def platforms(self) -> list[str]:
        """Return every platform tag whose wheels run there."""
        oldest = 5 if self.machine == "x86_64" else 17
        minors = range(NEWEST_GLIBC, oldest - 1, -1)
        tags = [f"manylinux_2_{minor}_{self.machine}" for minor in minors]
        return [*tags, *(f"{name}_{self.machine}" for minor, name in _LEGACY.items() if minor >= oldest)]

    def markers(self) -> dict[str, str]:
        """Return what a requirement's marker sees there."""
        return {
            "implementation_name": "cpython", "implementation_version": f"{self.python}.0", "os_name": "posix",
            "platform_machine": self.machine, "platform_python_implementation": "CPython", "platform_release": "",
            "platform_system": "Linux", "platform_version": "", "python_full_version": f"{self.python}.0",
            "python_version": self.python, "sys_platform": "linux",
        }  # fmt: skip


class Pin(NamedTuple):
    """A pinned package: its name and version, and the hashes of its files."""

    name: str
    version: str
    hashes: tuple[str, ...]


class Wheel(NamedTuple):
    """A wheel of the kit, and the oldest glibc that it runs on, as the minor of 2.N; 0 for pure Python."""

    path: Path
    name: str
    version: str
    sha256: str
    glibc: int


def read_pins(requirements: Path, target: Target) -> dict[str, Pin]:
    """Return what a pinned file asks for on the target, by name. Raises ``UsageError`` when a line is not pinned."""
    pins: dict[str, Pin] = {}
    uncommented = re.sub(r"^\s*#.*\n", "", requirements.read_text(), flags=re.MULTILINE)
    for line in uncommented.replace("\\\n", " ").splitlines():
        text, *hashes = re.split(r"\s+--hash=sha256:", line.strip())
        requirement = Requirement(text)
        pinned = re.fullmatch(r"==([^=*]+)", str(requirement.specifier))
        if not pinned or not hashes:
            raise UsageError(f"{requirements.name}: {text} is not pinned by hash", do="renew the file: make lock")
        if requirement.marker is None or requirement.marker.evaluate(target.markers()):
            name = canonicalize_name(requirement.name)
            pins[name] = Pin(name, pinned[1], tuple(hashes))
    return pins


def fetch(pins: Iterable[Pin], target: Target, folder: Path) -> None:
    """Fetch the pinned wheels, by hash and without building any, from where pip is configured to look.

    Raises ``NoWheel`` when there is none for the target, ``ServiceError`` when the registry does not answer.
    """
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        for pin in pins:
            file.write(f"{pin.name}=={pin.version} {' '.join(f'--hash=sha256:{digest}' for digest in pin.hashes)}\n")
        file.flush()
        words = ["download", "--quiet", "--disable-pip-version-check", "--no-input", "--require-hashes", "--no-deps",
                 "--only-binary", ":all:", "--implementation", "cp", "--python-version", target.python,
                 *(word for abi in (target.tag, "abi3", "none") for word in ("--abi", abi)),
                 *(word for tag in target.platforms() for word in ("--platform", tag)),
                 "--dest", str(folder), "--requirement", file.name]  # fmt: skip
        ended = subprocess.run([sys.executable, "-m", "pip", *words], capture_output=True, text=True, check=False)  # noqa: S603
    if ended.returncode and _NO_WHEEL in ended.stderr:
        missing = re.findall(rf"{_NO_WHEEL} for (\S+)", ended.stderr)
        raise NoWheel(
            f"there is no wheel of {', '.join(missing)} for {target.tag} on {target.machine}",
            do="choose another KIT_PYTHON or KIT_MACHINE",
        )
    if ended.returncode:
        said = "\n".join(line for line in ended.stderr.splitlines() if "WARNING" not in line)
        raise ServiceError(
            f"the wheels could not be fetched:\n{said.strip()}", do="check pip's configuration and network"
        )


def build_member(source: Path, folder: Path, epoch_s: int) -> None:
    """Build one of our own packages, the same bytes from the same sources wherever it is built."""
    with tempfile.TemporaryDirectory() as name, chdir(source):
        os.environ["SOURCE_DATE_EPOCH"] = str(epoch_s)  # how flit is told the date of the files
        built = Path(name) / buildapi.build_wheel(name)
        with zipfile.ZipFile(built) as packed, zipfile.ZipFile(folder / built.name, "x") as plain:
            for entry in packed.infolist():
                data = packed.read(entry)
                entry.compress_type = zipfile.ZIP_STORED
                plain.writestr(entry, data)


def read_wheels(folder: Path) -> list[Wheel]:
    """Return the wheels of a folder, by name."""
    wheels = []
    for path in sorted(folder.glob("*.whl")):
        name, version, _, tags = parse_wheel_filename(path.name)
        platforms = [tag.platform for tag in tags]
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        wheels.append(Wheel(path, name, str(version), digest, min(map(_glibc, platforms))))
    return sorted(wheels, key=lambda wheel: wheel.name)


def _glibc(platform: str) -> int:
    numbered = re.match(r"manylinux_2_(\d+)_", platform)
    named = {name: minor for minor, name in _LEGACY.items()}
    return int(numbered[1]) if numbered else named.get(platform.split("_", 1)[0], 0)


def requirements(wheels: Iterable[Wheel]) -> str:
    """Return the file that the kit is installed from: exactly these wheels, one hash each."""
    return "".join(f"{wheel.name}=={wheel.version} --hash=sha256:{wheel.sha256}\n" for wheel in wheels)


def split_camera(base: Mapping[str, Pin], camera: Mapping[str, Pin]) -> list[Pin]:
    """Return what the camera needs beyond the rest. Raises ``UsageError`` when the two files pin different versions."""
    crossed = sorted(name for name in base if name in camera and base[name].version != camera[name].version)
    if crossed:
        raise UsageError(f"the two pinned files differ in {', '.join(crossed)}", do="renew them together: make lock")
    return [pin for name, pin in camera.items() if name not in base]
