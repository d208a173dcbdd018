"""The kit: what is in it, that it comes out the same, and that no byte of it changes unnoticed."""

import hashlib
import json
import os
import shutil
import sys
import tarfile
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from airlock_offline.installation import examine_kit
from airlock_shared.text.safe import grouped, spoken_rows
from commands import run_command
from kit.conftest import OWN, ROOT, Kit, build, changed, clone, kit_in
from workspace.test_requirements import OFFLINE_CLOSURE

CAMERA = {"numpy", "opencv-python-headless"}
OURS = {"airlock-shared", "airlock-offline"}
WORKSPACE = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXCLUDED = set(WORKSPACE["tool"]["uv"]["exclude-dependencies"])


def test_make_offline_kit_gives_the_same_kit_whatever_umask_date_modes_and_folders(kit: Kit, tmp_path: Path) -> None:
    left_out = ("PYTHON", "MAKE", "MFLAGS")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
    before = os.umask(0o077)
    try:
        workspace = clone(tmp_path / "elsewhere" / "workspace")
        for path in sorted((workspace / "shared/src").rglob("*.py"), reverse=True):  # another order of folders' entries
            path.rename(path.with_suffix(".moved"))
            path.with_suffix(".moved").rename(path)
        (workspace / "shared/src/airlock_shared/empty").mkdir()
        (workspace / "docs/guides/empty").mkdir()
        (workspace / "shared/src/airlock_shared/errors.py").chmod(0o600)
        ended = run_command(
            "make",
            "offline-kit",
            f"PYTHON={sys.executable}",
            *([] if OWN == "3.11" else [f"KIT_PYTHON={OWN}"]),
            cwd=workspace,
            env={**environment, "SOURCE_DATE_EPOCH": "1", "TZ": "Asia/Tokyo"},
        )
    finally:
        os.umask(before)
    assert ended.code == 0, ended.err
    assert "make offline-kit" in (workspace / "README.md").read_text()
    (folder,) = (path for path in (workspace / "dist").iterdir() if path.is_dir())
    other = kit_in(folder)
    assert other.fingerprint == kit.fingerprint
    assert other.paper.read_bytes() == kit.paper.read_bytes()
    assert hashlib.sha256(other.tar.read_bytes()).digest() == hashlib.sha256(kit.tar.read_bytes()).digest()
    assert other.paper.read_text() in ended.out
    assert other.verify().code == 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda tree: (tree / "shared/src/airlock_shared/added.py").write_text(""), "airlock_shared/added.py"),
        (lambda tree: (tree / "offline/kit/added.py").write_text(""), "offline/kit/added.py"),
        (lambda tree: (tree / "docs/guides/custodian.md").write_text("x"), "docs/guides/custodian.md"),
        (lambda tree: (tree / "offline/udev/70-airlock-ledger.rules").unlink(), "70-airlock-ledger.rules"),
        (lambda tree: (tree / "offline/requirements.txt").chmod(0o755), "offline/requirements.txt"),
        (lambda tree: shutil.rmtree(tree / ".git"), "no commit"),
        (lambda tree: (tree / "online/src/airlock_online/added.py").write_text(""), "airlock_online/added.py"),
    ],
    ids=["added", "added-to-the-builder", "changed", "missing", "executable", "no-history", "bundle"],
)
def test_from_a_changed_tree_nothing_is_built(change: Callable[[Path], object], said: str, tmp_path: Path) -> None:
    workspace = clone(tmp_path / "workspace")
    change(workspace)
    what = "online/bundle" if said.startswith("airlock_online") else "offline/kit"
    ended = build(tmp_path / "out", workspace, what, GIT_CEILING_DIRECTORIES=str(tmp_path))
    assert (ended.code, said in ended.err) == (2, True), ended.err
    assert list((tmp_path / "out").iterdir()) == []


def test_it_holds_the_closure_of_the_signing_machine_by_hash_and_nothing_else(kit: Kit) -> None:
    lines = (kit.folder / "requirements.txt").read_text().splitlines()
    packages = {line.split("==")[0]: line.split(" --hash=sha256:")[1] for line in lines}
    assert set(packages) - CAMERA == (OFFLINE_CLOSURE - {"flit-core"}) | OURS
    wheels = {hashlib.sha256(path.read_bytes()).hexdigest(): path.name for path in (kit.folder / "wheels").iterdir()}
    (pip,) = set(wheels) - set(packages.values())
    assert wheels[pip].startswith("pip-")
    assert len(wheels) == len(packages) + 1
    assert all(name.endswith(".whl") for name in wheels.values())
    bill = json.loads((kit.folder / "sbom.cdx.json").read_text())
    stated = {one["name"]: one["hashes"][0]["content"] for one in bill["components"]}
    assert stated == packages | {"pip": pip}
    (hidapi,) = (one for one in bill["components"] if one["name"] == "hidapi")
    assert any("libusb" in carried["name"] for carried in hidapi["components"])
    assert {"bleak", "websocket-client", "nfcpy", "ndeflib", "requests"} <= EXCLUDED  # of ledgerblue: in no part of it
    assert {name.split("-")[0].replace("_", "-").lower() for name in wheels.values()} & EXCLUDED == set()
    assert set(stated) & EXCLUDED == set()
    asked = {one["ref"]: one.get("dependsOn", []) for one in bill["dependencies"]}
    (ledgerblue,) = (refs for ref, refs in asked.items() if ref.startswith("pkg:pypi/ledgerblue@"))
    assert not any(name in ref for ref in ledgerblue for name in EXCLUDED)


def test_the_bill_of_materials_keeps_the_schema_of_cyclonedx(kit: Kit) -> None:
    python = ROOT / ".venvs/erc7730/bin/python"  # whose packages include jsonschema
    if not python.exists():
        pytest.skip("Python 3.12 is not here")
    (schemas,) = (ROOT / ".venvs/kit/lib").glob("python*/site-packages/cyclonedx/schema/_res")
    script = """
import json, pathlib, sys, jsonschema, referencing
read = lambda path: json.loads(pathlib.Path(path).read_text())
named = lambda uri: referencing.Resource.from_contents(read(sys.argv[1] + "/" + uri.rpartition("/")[2]))
schema, bill = read(sys.argv[1] + "/bom-1.6.SNAPSHOT.schema.json"), read(sys.argv[2])
kept = jsonschema.Draft7Validator(schema, registry=referencing.Registry(retrieve=named))
print(*(error.message for error in kept.iter_errors(bill)), sep="\\n")
del bill["components"][0]["name"]
assert [error.message for error in kept.iter_errors(bill)] == ["'name' is a required property"]
"""
    assert run_command(python, "-I", "-c", script, schemas, kit.folder / "sbom.cdx.json").out == "\n"


def test_the_systems_libraries_are_named_with_their_packages(kit: Kit) -> None:
    rows = [line.split("\t") for line in (kit.folder / "SYSTEM-LIBRARIES").read_text().splitlines()[2:]]
    found = {row[0]: (row[1], row[2]) for row in rows}
    assert found["libstdc++.so.6"] == ("libstdc++6", "required")
    assert found["libzbar.so.0"] == ("libzbar0", "optional")
    assert all(len(row) == 4 and row[3] for row in rows)


def test_the_tar_is_the_folder_and_nobodys(kit: Kit) -> None:
    with tarfile.open(kit.tar) as archive:
        entries = archive.getmembers()
        names = [entry.name for entry in entries]
        assert names == sorted(names, key=lambda name: Path(name).parts)
        assert {(entry.uid, entry.gid, entry.uname, entry.gname) for entry in entries} == {(0, 0, "", "")}
        assert len({entry.mtime for entry in entries}) == 1
        files = {entry.name: archive.extractfile(entry) for entry in entries if entry.isfile()}
        for name, file in files.items():
            assert file is not None
            assert file.read() == (kit.folder.parent / name).read_bytes(), name
    assert len(files) == sum(1 for path in kit.folder.rglob("*") if path.is_file())


def test_the_paper_says_both_fingerprints_in_hex_and_words(kit: Kit) -> None:
    paper = " ".join(kit.paper.read_text().split())
    for digest in (kit.fingerprint, hashlib.sha256(kit.tar.read_bytes()).hexdigest()):
        assert " ".join(" ".join((grouped(digest), *spoken_rows(digest))).split()) in paper


def test_one_changed_byte_in_any_file_is_refused_by_both_with_its_name(thin: Kit, kit: Kit) -> None:
    assert kit.verify().code == 0
    for path in sorted(path for path in thin.folder.rglob("*") if path.is_file()):
        name = path.relative_to(thin.folder).as_posix()
        with changed(path, at=20 if name == "verify.sh" else None):  # in its comment, so that it still runs
            ended = thin.verify()
            (finding,) = examine_kit(thin.folder, thin.fingerprint)
        check = "KIT-MANIFEST" if name == "MANIFEST" else "KIT-FILE"
        assert ended.code == 3, name
        assert check in ended.err
        assert name == "MANIFEST" or f"KIT-FILE: {name}: changed\n" in ended.err
        assert (finding.check, finding.path) == (check, name)
        assert finding.got in ended.err
        assert finding.expected in ended.err
    assert thin.verify().code == 0
