"""Take one defence out of the program at a time, and see that a test notices.

``mutants.toml`` holds the mutants: which text of which file becomes which other text, and which tests must fail then. Each
is applied to a copy of the sources and tests in a temporary folder, which stands first on ``PYTHONPATH``; the tree itself is
never touched. Afterwards the tests that noticed run in an unchanged copy: where one fails there too it shows nothing, its
mutants are tried again without it, and the run ends with 2.

``python tests/mutation/run.py [--drawn-by SEED] [ID-PART ...]`` runs all, or those whose id holds one of the words; with a
seed, a fortieth of them, the same for the same seed. Exit codes: 0 all killed, 1 at least one survived, 2 a mutant does
not fit the sources or a test fails without any.
"""

import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Sequence
from compileall import compile_dir
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
MUTANTS = Path(__file__).with_name("mutants.toml")
SOURCES = ("shared/src", "offline/src", "offline/rehearsal/src", "online/src", "online/rehearsal/src")
COPIED = (*SOURCES, "offline/kit", "online/bundle", "shared/packing", "tests", "docs", "pyproject.toml")
TIMEOUT_S, PRISTINE_TIMEOUT_S = 200, 3600  # of one mutant's tests; of all their tests without any
NO_TESTS_FAILED, TESTS_FAILED = 0, 1  # pytest's exit codes


class Mutant(NamedTuple):
    """One defence taken out: in ``file`` the text ``old``, which is there once, becomes ``new``; ``tests`` must notice."""

    id: str
    claim: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


class FinishedTests(NamedTuple):
    """A run of pytest: its exit code, what it said, and the tests that failed in it; all of them where it did not end."""

    code: int
    said: str
    failed: tuple[str, ...] = ()


def read_mutants(path: Path = MUTANTS) -> list[Mutant]:
    """Return the mutants of a file. A test's name without a slash is short for one of the file's ``[tests]``."""
    table = tomllib.loads(path.read_text())
    short: dict[str, str] = table["tests"]
    mutants = [
        Mutant(**{**entry, "tests": tuple(short.get(test, test) for test in entry["tests"])})
        for entry in table["mutant"]
    ]
    ids = [mutant.id for mutant in mutants]
    assert len(set(ids)) == len(ids), f"a mutant's id appears twice: {sorted(i for i in ids if ids.count(i) > 1)}"
    return mutants


def why_unfit(mutant: Mutant, root: Path = ROOT) -> str:
    """Return why a mutant cannot be applied, empty when it can."""
    path = root / mutant.file
    if not path.is_file():
        return f"{mutant.file} is not there"
    found = path.read_text().count(mutant.old)
    if found != 1:
        return f"its text is {found} times in {mutant.file}"
    return "" if mutant.old != mutant.new else "it changes nothing"


def copy_workspace(to: Path) -> None:
    """Copy what the tests need, without environments and caches."""
    ignore = shutil.ignore_patterns("__pycache__", ".*", "mutation")
    for name in COPIED:
        source, target = ROOT / name, to / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=ignore)
        else:
            shutil.copy(source, target)


def compile_once(copy: Path) -> None:
    """Compile the sources of a copy: its copies keep their times, and only a mutant's file is compiled again."""
    for name in SOURCES:
        compile_dir(copy / name, quiet=1, invalidation_mode=PycInvalidationMode.TIMESTAMP)


def forget_compiled(path: Path) -> None:
    """Remove what was compiled of a source that was changed: it may be as long as before, and of the same second."""
    for compiled in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
        compiled.unlink()


def run_tests(copy: Path, tests: Sequence[str], *options: str, timeout_s: int = TIMEOUT_S) -> FinishedTests:
    """Run tests in a copy, whose sources stand before the installed ones."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "AIRLOCK_"))}
    environment |= {"PYTHONPATH": os.pathsep.join(str(copy / name) for name in SOURCES), "PYTHONDONTWRITEBYTECODE": "1"}
    words = [sys.executable, "-m", "pytest", "-q", "-rfE", "--no-header", "-p", "no:cacheprovider", *options, *tests]
    pipe, same = subprocess.PIPE, subprocess.STDOUT
    with subprocess.Popen(words, cwd=copy, env=environment, stdout=pipe, stderr=same, text=True) as running:
        try:
            said, _ = running.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:  # a test that no longer ends has noticed too
            running.send_signal(signal.SIGINT)  # pytest ends what its tests started
            with suppress(subprocess.TimeoutExpired):
                running.communicate(timeout=60)
            running.kill()
            return FinishedTests(TESTS_FAILED, f"stopped after {timeout_s} s", tuple(tests))
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+::.+?)(?: - .*)?$", said, re.MULTILINE)
    return FinishedTests(running.returncode, said, tuple(failed))


def imported_from(copy: Path) -> str:
    """Return from where a process with the copy's environment imports, so that a survivor is never the original."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(str(copy / name) for name in SOURCES)}
    script = (
        "import airlock_shared as s, airlock_online as n, airlock_offline as f; print(*(m.__file__ for m in (s, n, f)))"
    )
    return subprocess.check_output([sys.executable, "-c", script], cwd=copy, env=environment, text=True)


def try_mutant(mutant: Mutant, pristine: Path, left_out: Iterable[str]) -> FinishedTests:
    """Return how its tests end, without those left out, in a copy in which the mutant was applied."""
    with tempfile.TemporaryDirectory(prefix="airlock-mutant-") as name:
        copy = Path(name) / "workspace"
        shutil.copytree(pristine, copy, copy_function=os.link)  # two thousand files, of which one changes
        path = copy / mutant.file
        text = path.read_text()
        path.unlink()
        path.write_text(text.replace(mutant.old, mutant.new))
        forget_compiled(path)
        return run_tests(copy, mutant.tests, "-x", *(f"--deselect={test}" for test in left_out))


def _reported(mutant: Mutant, ended: FinishedTests) -> FinishedTests:
    """Say what became of a mutant: it is killed when a test failed, and not merely pytest itself."""
    word = {TESTS_FAILED: "killed  ", NO_TESTS_FAILED: "SURVIVED"}.get(ended.code, "ERROR   ")
    print(f"{word} {mutant.id:<28} {mutant.claim}", flush=True)
    if ended.code != TESTS_FAILED:
        print("\n".join(f"         {line}" for line in ended.said.strip().splitlines()[-12:]), flush=True)
    return ended


def _check_first(mutants: Iterable[Mutant], pristine: Path) -> list[str]:
    """Return what stands in the way: mutants that do not fit, foreign imports."""
    wrong = [f"{mutant.id}: {why}" for mutant in mutants if (why := why_unfit(mutant, pristine))]
    if any(not place.startswith(str(pristine)) for place in imported_from(pristine).split()):
        wrong.append("the copies are not what is imported")
    return wrong


def failing_anyway(tests: Iterable[str], pristine: Path) -> set[str]:
    """Return the tests that fail without any mutant, each run with all cases of its function. A part on each processor."""
    every, parts = sorted({test.partition("[")[0] for test in tests}), os.cpu_count() or 1
    shares = filter(None, (every[at::parts] for at in range(parts)))
    with ThreadPoolExecutor(parts) as pool:
        return set().union(*pool.map(lambda share: _failing(share, pristine), shares))


def _failing(tests: Sequence[str], pristine: Path) -> tuple[str, ...]:
    ended = run_tests(pristine, tests, "--tb=no", timeout_s=PRISTINE_TIMEOUT_S)
    could = ended.code in (NO_TESTS_FAILED, TESTS_FAILED) and bool(ended.failed) == (ended.code == TESTS_FAILED)
    assert could, f"pytest could not run the tests:\n{ended.said[-2000:]}"
    return ended.failed


def try_mutants(mutants: Sequence[Mutant], pristine: Path, left_out: Iterable[str] = ()) -> dict[Mutant, FinishedTests]:
    """Try mutants, one on each processor, and say what becomes of each; without the tests that are left out."""
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        ended = pool.map(lambda mutant: try_mutant(mutant, pristine, left_out), mutants)
        return {mutant: _reported(mutant, end) for mutant, end in zip(mutants, ended, strict=True)}


def drawn(mutants: Sequence[Mutant], seed: str) -> list[Mutant]:
    """Return a fortieth of the mutants, at least one, drawn by a seed, in the order of the file."""
    places = random.Random(seed).sample(range(len(mutants)), -(-len(mutants) // 40))
    return [mutants[place] for place in sorted(places)]


def main(arguments: list[str]) -> int:
    """Run the mutants that the command line asks for."""
    parser = argparse.ArgumentParser(description="Take one defence out at a time, and see that a test notices.")
    parser.add_argument("--drawn-by", metavar="SEED", default="", help="run a fortieth of them, drawn by this seed")
    parser.add_argument("words", metavar="ID-PART", nargs="*", help="run those whose id holds one of these")
    asked = parser.parse_args(arguments)
    mutants = [m for m in read_mutants() if not asked.words or any(word in m.id for word in asked.words)]
    if asked.drawn_by:
        mutants = drawn(mutants, asked.drawn_by)
        print(f"seed {asked.drawn_by}: {' '.join(mutant.id for mutant in mutants)}", flush=True)
    with tempfile.TemporaryDirectory(prefix="airlock-mutation-") as name:
        pristine = Path(name).resolve() / "workspace"
        copy_workspace(pristine)
        compile_once(pristine)
        if wrong := _check_first(mutants, pristine):
            print("\n".join(wrong), file=sys.stderr)
            return 2
        ended = try_mutants(mutants, pristine)
        left_out = failing_anyway((test for end in ended.values() for test in end.failed), pristine)
        print("".join(f"fails without a mutant: {test}\n" for test in sorted(left_out)), end="", flush=True)
        ended |= try_mutants([mutant for mutant in mutants if left_out & {*ended[mutant].failed}], pristine, left_out)
    killed = sum(end.code == TESTS_FAILED for end in ended.values())
    print(f"{len(mutants)} mutants, {killed} killed, {len(mutants) - killed} survived")
    return 1 if killed < len(mutants) else 2 if left_out else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
