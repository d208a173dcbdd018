"""Hold two states of the program side by side: what do they say to the same cases?

``python tests/differential/run.py --before COMMIT [--count 5000] [--seed 1] [--part sign ...]`` takes the older state
out of git, has each state observe its own vectors (with ``--same-vectors`` both this state's) and the same drawn alterations
(``observe.py``), and compares exit codes, screens, verdicts, digests, records and reports byte for byte. ``intended.toml``
lists the differences that are meant: each says why, and either which cases it takes out or which text it makes equal on both
sides. Exit codes: 0 nothing else differs, 1 something does, 2 the older state cannot be had.
"""

import argparse
import difflib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
SOURCES = ("shared/src", "offline/src", "offline/rehearsal/src", "online/src", "online/rehearsal/src", "tests")
SHOWN = 12  # differences that are printed whole


class Intended(NamedTuple):
    """A difference that is meant: why, in which cases, and what both sides then have (no pattern: the case is left out)."""

    why: str
    cases: str
    pattern: str = ""
    becomes: str = ""


def read_intended(path: Path = HERE / "intended.toml") -> list[Intended]:
    return [Intended(**entry) for entry in tomllib.loads(path.read_text()).get("intended", [])]


def take_out(commit: str, to: Path) -> None:
    """Write the files of a commit into a folder. Raises ``CalledProcessError`` where git does not have it."""
    words = ["git", "archive", commit, "shared", "offline", "online", "tests"]
    packed = subprocess.run(words, cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=BytesIO(packed)) as archive:
        archive.extractall(to, filter="data")


def observe(state: Path, output: Path, words: list[str]) -> dict[str, dict[str, Any]]:
    path = os.pathsep.join(str(state / source) for source in SOURCES)
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"}
    script = state / "tests/differential/observe.py"  # its own: what it asks has other names there
    subprocess.run([sys.executable, str(script), str(output), *words], env=environment, check=True)
    with output.open() as lines:
        return {seen.pop("case"): seen for seen in map(json.loads, lines)}


def unified(seen: dict[str, Any] | None) -> list[str]:
    if seen is None:
        return ["there is no such case"]
    return [f"{name}: {line}" for name, value in seen.items() for line in _lines(value)]


def _lines(value: Any) -> list[str]:
    if isinstance(value, str):
        return value.splitlines()
    return json.dumps(value, indent=1).splitlines()


def as_meant(case: str, lines: list[str], intended: list[Intended]) -> list[str] | None:
    """Return the lines with what is meant made equal; None where the whole case is meant to differ."""
    text = "\n".join(lines)
    for entry in intended:
        if re.search(entry.cases, case):
            if not entry.pattern:
                return None
            text = re.sub(entry.pattern, entry.becomes, text, flags=re.MULTILINE)
    return text.splitlines()


def main() -> int:
    """Run both states, print how they differ, and return the exit code."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--before", required=True, help="a commit whose documents have the same structure")
    arguments.add_argument("--count", type=int, default=5000)
    arguments.add_argument("--seed", default="1")
    arguments.add_argument("--part", action="append", default=[])
    arguments.add_argument("--same-vectors", action="store_true", help="where fixtures were renewed: both read the new")
    given = arguments.parse_args()
    parts = [word for part in given.part for word in ("--part", part)]
    words = ["--count", str(given.count), "--seed", given.seed, *parts]
    with TemporaryDirectory(prefix="airlock-differential-") as name, ThreadPoolExecutor(2) as pool:
        folder = Path(name)
        try:
            take_out(given.before, folder / "before")
        except subprocess.CalledProcessError as error:
            print(f"{given.before} is not in this repository: {error.stderr.decode().strip()}", file=sys.stderr)
            return 2
        if given.same_vectors:
            shutil.rmtree(folder / "before/tests/vectors")
            shutil.copytree(ROOT / "tests/vectors", folder / "before/tests/vectors")
        states = [(folder / "before", folder / "before.jsonl", words), (ROOT, folder / "now.jsonl", words)]
        before, now = pool.map(lambda state: observe(*state), states)
    return compare(before, now, read_intended())


def compare(before: dict[str, dict[str, Any]], now: dict[str, dict[str, Any]], intended: list[Intended]) -> int:
    """Print the differences that nobody meant, and return 1 where there is one."""
    differing, left_out = [], 0
    for case in {**before, **now}:
        one, other = (as_meant(case, unified(seen.get(case)), intended) for seen in (before, now))
        if one is None:
            left_out += 1
        elif one != other:
            differing.append((case, one, other or []))
    for case, one, other in differing[:SHOWN]:
        print("\n".join(difflib.unified_diff(one, other, f"before: {case}", "now", lineterm="", n=1)))
    codes = Counter(seen["code"] for seen in now.values())
    parts = Counter(case.partition(":")[0] for case, _, _ in differing)
    print(f"{len(now)} cases, exit codes {dict(sorted(codes.items()))}; left out as meant {left_out}")
    print(f"{len(differing)} differ{': ' if parts else ''}{', '.join(f'{part} {n}' for part, n in parts.items())}")
    return int(bool(differing))


if __name__ == "__main__":
    sys.exit(main())
