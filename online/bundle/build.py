"""Builds what the online half is installed from: ``make online-bundle``. docs/reference/kit.md says what is in it."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import packing

ROOT = Path(__file__).resolve().parents[2]
INSTALL, LAUNCHER = "install.sh", "program/airlock-online"

BUNDLE = packing.Package(
    "online",  # the rehearsal is not among its wheels: nothing real needs it
    "bundle",
    tomllib.loads((ROOT / "online/pyproject.toml").read_text())["project"]["version"],
    "The bundle (SHA-256 of its MANIFEST): what install.sh asks for",
    ("shared", "online"),
    frozenset({INSTALL, LAUNCHER}),
    (INSTALL, LAUNCHER, "Containerfile"),
    ("share",),
)

if __name__ == "__main__":
    sys.exit(packing.run(BUNDLE, ROOT, sys.argv[1:]))
