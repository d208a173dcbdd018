"""The kit: what is in it, that it comes out the same, and that no byte of it changes unnoticed."""

from __future__ import annotations

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
from airlock_shared.errors import UsageError
from airlock_shared.text.words import grouped, spoken_rows
from commands import run_command
from kit.conftest import OWN, ROOT, Kit, build, changed, clone, kit_in
from workspace.test_requirements import OFFLINE_CLOSURE

CAMERA = {"numpy", "opencv-python-headless"}
OURS = {"airlock-shared", "airlock-offline"}
WORKSPACE = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXCLUDED = set(WORKSPACE["tool"]["uv"]["exclude-dependencies"])


def _packages(kit: Kit) -> dict[str, str]:
    """Return the hash of each package of the kit's requirements."""
    lines = (kit.folder / "requirements.txt").read_text().splitlines()
    return {line.split("==")[0]: line.split(" --hash=sha256:")[1] for line in lines}


def test_make_offline_kit_as_the_readme_says_gives_the_same_kit_whatever_umask_date_modes_and_empty_folders(
    kit: Kit, tmp_path: Path
) -> None:
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
    ],
    ids=["added", "added-to-the-builder", "changed", "missing", "executable", "no-history"],
)
def test_from_a_tree_that_differs_from_its_commit_nothing_is_built(
    change: Callable[[Path], object], said: str, tmp_path: Path
) -> None:
    workspace = clone(tmp_path / "workspace")
    change(workspace)
    ended = build(tmp_path / "out", workspace, GIT_CEILING_DIRECTORIES=str(tmp_path))
    assert (ended.code, said in ended.err) == (2, True), ended.err
    assert list((tmp_path / "out").iterdir()) == []


def test_it_holds_the_closure_of_the_signing_machine_and_nothing_else(kit: Kit) -> None:
    packages = _packages(kit)
    assert set(packages) - CAMERA == (OFFLINE_CLOSURE - {"flit-core"}) | OURS
    wheels = {hashlib.sha256(path.read_bytes()).hexdigest(): path for path in (kit.folder / "wheels").iterdir()}
    (pip,) = set(wheels) - set(packages.values())
    assert wheels[pip].name.startswith("pip-")
    assert len(wheels) == len(packages) + 1
    assert all(path.suffix == ".whl" for path in wheels.values())


def test_the_network_bluetooth_and_nfc_packages_of_ledgerblue_are_in_no_part_of_it(kit: Kit) -> None:
    assert {"bleak", "websocket-client", "nfcpy", "ndeflib", "requests"} <= EXCLUDED
    bill = json.loads((kit.folder / "sbom.cdx.json").read_text())
    wheels = {path.name.split("-")[0].replace("_", "-").lower() for path in (kit.folder / "wheels").iterdir()}
    assert wheels & EXCLUDED == set()
    assert {one["name"] for one in bill["components"]} & EXCLUDED == set()
    assert set(_packages(kit)) & EXCLUDED == set()


def test_the_bill_names_every_wheel_with_its_hash_and_what_it_carries(kit: Kit) -> None:
    bill = json.loads((kit.folder / "sbom.cdx.json").read_text())
    stated = {one["name"]: one["hashes"][0]["content"] for one in bill["components"]}
    assert {name: stated[name] for name in _packages(kit)} == _packages(kit)
    assert set(stated) == set(_packages(kit)) | {"pip"}
    (hidapi,) = (one for one in bill["components"] if one["name"] == "hidapi")
    assert any("libusb" in carried["name"] for carried in hidapi["components"])
    asked = {one["ref"]: one.get("dependsOn", []) for one in bill["dependencies"]}
    (ledgerblue,) = (refs for ref, refs in asked.items() if ref.startswith("pkg:pypi/ledgerblue@"))
    assert not any(name in ref for ref in ledgerblue for name in EXCLUDED)


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


# ---- verify.sh, and the same judgement in Python --------------------------------------------------------------------


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_a_whole_kit_is_accepted_by_both(kit: Kit) -> None:
    for typed in (kit.fingerprint, kit.fingerprint.upper(), f" {grouped(kit.fingerprint)}\n"):
        ended = kit.verify(fingerprint=typed)
        assert (ended.code, ended.out) == (0, ""), ended.err
        assert examine_kit(kit.folder, typed) == ()


def test_one_changed_byte_in_any_file_is_refused_by_both_with_its_name(thin: Kit, kit: Kit) -> None:
    paths = _files(thin.folder)
    assert [p.relative_to(thin.folder) for p in paths] == [p.relative_to(kit.folder) for p in _files(kit.folder)]
    for path in paths:
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


def _say(kit: Kit) -> tuple[str, set[tuple[str, str]]]:
    """Return what verify.sh says, and what Python finds."""
    ended = kit.verify()
    assert ended.code == 3, ended.err
    return ended.err, {(one.path, one.what) for one in examine_kit(kit.folder, kit.fingerprint)}


def test_a_file_that_is_not_listed_is_refused(thin: Kit) -> None:
    (thin.folder / "wheels/requests-9-py3-none-any.whl").write_bytes(b"")
    said, found = _say(thin)
    assert "KIT-FILE: wheels/requests-9-py3-none-any.whl: not in the list" in said
    assert found == {("wheels/requests-9-py3-none-any.whl", "not in the list")}


def _setuid(folder: Path) -> None:
    (folder / "program/airlock-offline").chmod(0o4755)


def _open_to_all(folder: Path) -> None:
    (folder / "KIT").chmod(0o666)


def _open_folder(folder: Path) -> None:
    (folder / "wheels").chmod(0o1777)


def _runnable(folder: Path) -> None:
    (folder / "KIT").chmod(0o755)


def _not_runnable(folder: Path) -> None:
    (folder / "verify.sh").chmod(0o644)


def _hard_link(folder: Path) -> None:
    os.link(folder / "KIT", folder.parent / "elsewhere")


def _empty_folder(folder: Path) -> None:
    (folder / "wheels/empty").mkdir()


def _named_folder(folder: Path) -> None:
    (folder / "a\x1b[2J\nKIT: fine").mkdir()


OPEN = "its mode lets others write, or changes who runs it"
UNLISTED = "a folder that is not in the list"


@pytest.mark.parametrize(
    ("spoil", "path", "what"),
    [
        (_setuid, "program/airlock-offline", OPEN),
        (_open_to_all, "KIT", OPEN),
        (_open_folder, "wheels", OPEN),
        (_runnable, "KIT", "executable"),
        (_not_runnable, "verify.sh", "not executable"),
        (_hard_link, "KIT", "a hard link"),
        (_empty_folder, "wheels/empty", UNLISTED),
        (_named_folder, "a\x1b[2J\nKIT: fine", UNLISTED),
    ],
)
def test_what_no_hash_says_is_refused_by_both(spoil: Callable[[Path], None], path: str, what: str, thin: Kit) -> None:
    assert thin.verify().code == 0
    assert examine_kit(thin.folder, thin.fingerprint) == ()
    spoil(thin.folder)
    said, found = _say(thin)
    assert found == {(path, what)}
    assert "executable" in what or f": {what}\n" in said
    assert "KIT-FILE: " in said
    assert "\x1b" not in said
    assert "\nKIT: fine" not in said


def test_a_link_is_refused_even_to_the_same_bytes(thin: Kit) -> None:
    rule = thin.folder / "udev/70-airlock-ledger.rules"
    elsewhere = thin.folder.parent / "rule"
    rule.rename(elsewhere)
    rule.symlink_to(elsewhere)
    said, found = _say(thin)
    assert "KIT-FILE: udev/70-airlock-ledger.rules: neither a file nor a folder" in said
    assert ("udev/70-airlock-ledger.rules", "a symbolic link") in found


def test_a_kit_that_agrees_with_itself_but_not_with_the_paper_is_refused(thin: Kit, kit: Kit) -> None:
    ended = thin.verify(fingerprint=kit.fingerprint)
    assert (ended.code, "KIT-MANIFEST" in ended.err) == (3, True)
    assert thin.fingerprint in ended.err
    assert kit.fingerprint in ended.err
    (finding,) = examine_kit(thin.folder, kit.fingerprint)
    assert (finding.check, finding.got, finding.expected) == ("KIT-MANIFEST", thin.fingerprint, kit.fingerprint)


@pytest.mark.parametrize("typed", ["", "d", "0" * 63, "0" * 65, "g" * 64, "-" + "0" * 63])
def test_without_a_whole_fingerprint_nothing_is_verified(typed: str, thin: Kit) -> None:
    ended = run_command("sh", thin.folder / "verify.sh", *([typed] if typed else []))
    assert ended.code == 2
    assert "fingerprint" in ended.err
    with pytest.raises(UsageError, match="64 hex digits"):
        examine_kit(thin.folder, typed)
