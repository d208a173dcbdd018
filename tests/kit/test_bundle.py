"""The bundle of the online half: made as the kit is, installed from itself alone, into a place on the PATH."""

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from commands import FinishedCommand, run_command
from kit.conftest import OWN, ROOT, UNSHARED, built, installer_python, kit_in, sum_up
from workspace.test_requirements import pinned_packages

BUNDLE = ROOT / "online/bundle"
OURS = {"airlock-shared", "airlock-online"}
REHEARSAL_ALONE = {"py-evm", "starlette", "uvicorn", "airlock-rehearsal", "airlock-offline"}


def _install(folder: Path, prefix: Path, *, fingerprint: str = "", **variables: str) -> FinishedCommand:
    given = [f"{name}={value}" for name, value in variables.items()]
    words = [fingerprint or kit_in(folder).fingerprint, prefix, installer_python()]
    return run_command(*UNSHARED, "env", "-i", *given, "sh", folder / "install.sh", *words)


@pytest.fixture(scope="session")
def bundle(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("bundle"), source, "online/bundle").folder


@pytest.fixture(scope="session")
def prefix(bundle: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("machine") / "local"
    (folder.parent / "home").symlink_to(".")  # homes are behind links on some machines
    ended = _install(bundle, folder, PATH=f"{folder.parent}/home/local/bin:/usr/bin:/bin")
    assert (ended.code, ended.out) == (0, f"{folder}/bin/airlock-online\n"), ended.err
    assert "By your PATH" not in ended.err
    return folder


def test_it_holds_the_closure_of_the_online_half_by_hash_and_not_the_rehearsal(bundle: Path) -> None:
    lines = (bundle / "requirements.txt").read_text().splitlines()
    names = {line.split("==")[0] for line in lines}
    assert names == pinned_packages("online/requirements.txt") - {"flit-core", "tzdata"} | OURS
    assert not names & REHEARSAL_ALONE
    hashes = {hashlib.sha256(path.read_bytes()).hexdigest() for path in (bundle / "wheels").iterdir()}
    assert all(line.split(" --hash=sha256:")[1] in hashes for line in lines)
    assert len(hashes) == len(lines) + 1  # and pip
    components = json.loads((bundle / "sbom.cdx.json").read_text())["components"]
    assert {component["name"] for component in components} == names | {"pip"}
    assert "airlock-online 0.1.0: Apache-2.0" in (bundle / "licences/LIST").read_text()


def test_make_online_bundle_is_a_target() -> None:
    said = run_command("make", "-n", "-C", ROOT, "online-bundle", "KIT_OUT=/tmp/x").out
    assert "online/bundle/build.py /tmp/x 3.11 x86_64" in said


def _run(prefix: Path, *words: object, **variables: str) -> FinishedCommand:
    """Run the program by its bare name from the PATH, without a network and with nothing of this environment."""
    path = f"PATH={prefix}/bin:/usr/bin:/bin"
    given = [f"{name}={value}" for name, value in variables.items()]
    return run_command(*UNSHARED, "env", "-i", path, f"HOME={prefix.parent}", *given, "airlock-online", *words)


def test_the_program_runs_by_its_name_with_nothing_around_it(prefix: Path, tmp_path: Path) -> None:
    (tmp_path / "airlock_online").mkdir()
    (tmp_path / "airlock_online/__init__.py").write_text("raise SystemExit('another one')")
    plan = ROOT / "tests/vectors/plans/good/every-struct.toml"
    assert _run(prefix, "--version").out == "airlock-online, version 0.1.0\n"
    ended = _run(prefix, "plan", "show", plan, PYTHONPATH=str(tmp_path))
    assert (ended.code, "Every struct once" in ended.out) == (0, True), ended.err
    ended = _run(prefix, "rehearse")
    assert (ended.code, "the rehearsal is not installed" in ended.err) == (2, True)


FILES = {
    "BUNDLE": f"name=small\nversion=0\npython={OWN}\nmachine=x86_64\nglibc=2.0\n", "requirements.txt": "",
    "share/man/man1/a.1": "#\n", "program/airlock-online": "#!/bin/sh\necho version\n", "wheels/pip-1-py3-none-any.whl": "",
}  # fmt: skip
PIP = 'import sys, pathlib; pathlib.Path({said!r}).write_text(" ".join(sys.argv[1:]))'


@pytest.fixture
def small(tmp_path: Path) -> Path:
    folder = tmp_path / "small"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    shutil.copyfile(BUNDLE / "install.sh", folder / "install.sh")
    wheel = folder / "wheels/pip-1-py3-none-any.whl"
    wheel.unlink()
    (wheel / "pip").mkdir(parents=True)  # a folder in place of an archive: Python runs its __main__ all the same
    (wheel / "pip/__main__.py").write_text(PIP.format(said=str(tmp_path / "asked")))
    sum_up(folder)
    return folder


def test_what_pip_is_asked_is_by_hash_and_from_no_registry(small: Path, tmp_path: Path) -> None:
    ended = _install(small, tmp_path / "to")
    assert ended.code == 0, ended.err
    assert "By your PATH airlock-online is not this program" in ended.err
    asked = (tmp_path / "asked").read_text().split()
    for word in ("--isolated", "--no-index", "--require-hashes", "--no-deps", "--only-binary", "--no-cache-dir"):
        assert word in asked
    assert not [word for word in asked if "://" in word or word.startswith("airlock")]  # nothing to be looked up


def _with_another(folder: Path) -> None:
    (folder / "x").write_text("")
    sum_up(folder)


SPOILT: dict[str, tuple[Callable[[Path], object], str]] = {
    "a changed program": (
        lambda folder: (folder / "program/airlock-online").write_text("x"),
        "BUNDLE-FILE: not as listed",
    ),
    "a missing file": (lambda folder: (folder / "requirements.txt").unlink(), "BUNDLE-FILE: not as listed"),
    "an unlisted file": (lambda folder: (folder / "wheels/x.whl").write_text(""), "not in the list"),
    "a link": (lambda folder: (folder / "link").symlink_to("BUNDLE"), "neither a file nor a folder"),
    "no list": (lambda folder: (folder / "MANIFEST").unlink(), "BUNDLE-MANIFEST: MANIFEST is missing"),
    "a list made anew": (_with_another, "BUNDLE-MANIFEST: the list of this bundle does not match"),
}


@pytest.mark.parametrize("name", SPOILT)
def test_what_is_not_as_listed_installs_nothing(name: str, small: Path, tmp_path: Path) -> None:
    spoil, said = SPOILT[name]
    fingerprint = kit_in(small).fingerprint
    spoil(small)
    ended = _install(small, tmp_path / "to", fingerprint=fingerprint)
    assert (ended.code, said in ended.err) == (3, True), ended.err
    assert [path for path in (tmp_path / "to").rglob("*") if not path.is_dir()] == []
    assert list((tmp_path / "to/lib").iterdir()) == []
    assert not (tmp_path / "asked").exists()


@pytest.mark.parametrize("name", ["to", "a b|&"])
@pytest.mark.parametrize("place", ["bin/airlock-online", "share/man/man1/a.1", "lib/small"])
def test_a_link_that_is_there_already_is_not_replaced(place: str, name: str, small: Path, tmp_path: Path) -> None:
    there = tmp_path / name / place
    there.parent.mkdir(parents=True)
    there.symlink_to("nowhere")
    ended = _install(small, tmp_path / name)
    assert (ended.code, f"{there} exists already" in ended.err) == (2, True), ended.err
    assert [path for path in (tmp_path / name).rglob("*") if not path.is_dir()] == [there]


def test_where_it_cannot_stand_nothing_is_installed(small: Path, tmp_path: Path) -> None:
    (tmp_path / "to").mkdir()
    (tmp_path / "to/share").write_text("")
    before = set(small.rglob("*"))
    for folder, said in ((tmp_path / "to", "share/man/man1 cannot be written"), (small / "to", "is within the bundle")):
        ended = _install(small, folder)
        assert (ended.code, said in ended.err) == (2, True), ended.err
    assert (list((tmp_path / "to/lib").iterdir()), set(small.rglob("*"))) == ([], before)


def test_stopped_half_way_it_leaves_nothing_behind(small: Path, tmp_path: Path) -> None:
    (small / "wheels/pip-1-py3-none-any.whl/pip/__main__.py").write_text("import time; time.sleep(60)")
    sum_up(small)
    typed = ["sh", str(small / "install.sh"), kit_in(small).fingerprint, str(tmp_path / "to"), str(installer_python())]
    with subprocess.Popen(typed, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stderr is not None
        while "Installing" not in process.stderr.readline():
            pass
        time.sleep(0.2)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(20) == 130
    assert list((tmp_path / "to/lib").iterdir()) == []


def _instructions() -> list[tuple[str, str]]:
    """Return the container file's instructions with their words; comments are none."""
    text = re.sub(r"(?m)^#.*\n", "", (BUNDLE / "Containerfile").read_text()).replace("\\\n", " ")
    found = [line.partition(" ") for line in text.splitlines() if line]
    return [(word, rest) for word, _, rest in found]


def test_the_container_file_is_read_and_names_no_image_that_would_be_looked_up() -> None:
    known = {"ARG", "FROM", "COPY", "RUN", "ENV", "USER", "VOLUME", "WORKDIR", "ENTRYPOINT"}
    words = _instructions()
    assert {word for word, _ in words} == known
    assert [rest.split()[0] for word, rest in words if word == "FROM"] == ["${BASE}"] * 2
    assert [rest for word, rest in words if word == "ARG"] == ["BASE", "FINGERPRINT", "PYTHON=/usr/local/bin/python3"]
    assert ("USER", "1000:1000") in words
    assert json.loads(dict(words)["ENTRYPOINT"]) == ["/opt/airlock/bin/airlock-online"]
    assert not re.search(r"https?:|curl|wget|apt|pip ", " ".join(rest for _, rest in words))
