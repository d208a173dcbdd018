"""Installing from the kit: without a network, into a new folder, whole or not at all; and what changes later is found."""

import shutil
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from airlock_shared.host.files import read_transcript
from airlock_shared.text.safe import spoken_rows
from airlock_shared.wire.strict_json import parse_json
from commands import FinishedCommand, run_command
from kit.conftest import UNSHARED, Installed, Kit, changed, sum_up
from rehearsed import require_all_played

ONLINE = Path(sys.executable).parent / "airlock-online"


def _install(kit: Kit, folder: Path, python: Path | str) -> FinishedCommand:
    return run_command("env", "-i", "sh", kit.folder / "install.sh", kit.fingerprint, folder, python)


def test_it_says_what_was_installed_and_what_to_do_next(installed: Installed, kit: Kit) -> None:
    assert " ".join(" ".join(spoken_rows(kit.fingerprint)).split()) in " ".join(installed.said.split())
    for word in ("udev", "SYSTEM-LIBRARIES", "preflight"):
        assert word in installed.said


def test_it_runs_through_a_link_and_ignores_pythons_variables(installed: Installed, tmp_path: Path) -> None:
    link = tmp_path / "airlock"
    link.symlink_to(installed.folder / "bin/airlock-offline")
    (tmp_path / "click.py").write_text("raise SystemExit('the wrong click')")
    assert run_command("env", "-i", "-C", tmp_path, f"PYTHONPATH={tmp_path}", link, "--version").code == 0


def test_a_whole_rehearsal_is_signed_by_what_the_kit_installed(installed: Installed, tmp_path: Path) -> None:
    """With the network unshared: ceremonies, seal, report."""
    folder = tmp_path / "rehearsal"
    offline = installed.folder / "bin/airlock-offline"
    ended = run_command(*UNSHARED, ONLINE, "rehearse", "--yes", "--folder", folder, "--offline-command", offline)
    assert ended.code == 0, ended.out[-2000:] + ended.err
    require_all_played(f"{ended.out}\n{ended.err}", by_codes=False)
    looked_at = [
        entry.data for entry in read_transcript(folder / "offline/home/transcript.jsonl") if entry.event == "preflight"
    ]
    assert [(one["installed"]["kit"][:20], one["installed"]["findings"]) for one in looked_at] == [
        ("airlock-offline-kit-", [])
    ] * 2
    report = parse_json((folder / "offline/market-close.evidence/report.json").read_bytes())
    assert (report["complete"], report["rehearsal"]) == (True, True)


def test_every_kind_of_installed_file_is_looked_at(installed: Installed, kit: Kit) -> None:
    site = f"lib/{next((installed.folder / 'lib').iterdir()).name}/site-packages"
    compiled = next((installed.folder / site / "airlock_offline/signing/__pycache__").glob("review.*.pyc"))
    native = next((installed.folder / site).glob("coincurve/*.so"))
    names = {
        "bin/airlock-offline", "pyvenv.cfg", f"{site}/airlock_shared/ethereum/eip712.py", f"{site}/eth_account/account.py",
        str(compiled.relative_to(installed.folder)), str(native.relative_to(installed.folder)),
        next(str(p.relative_to(installed.folder)) for p in (installed.folder / site).glob("click-*.dist-info/METADATA")),
        "share/airlock-offline/KIT", "share/airlock-offline/SYSTEM-LIBRARIES", "share/airlock-offline/guides/kit.md",
        "share/airlock-offline/udev/70-airlock-ledger.rules",
        "share/man/man1/airlock-offline.1", "share/bash-completion/completions/airlock-offline",
    }  # fmt: skip
    added = (
        "evil.pth",
        "sitecustomize.py",
        "airlock_shared/ethereum/eip712.pyc",
        "airlock_shared/__pycache__/x.cpython-311.pyc",
    )
    with ExitStack() as stack:
        for name in names:
            stack.enter_context(changed(installed.folder / name))
        for name in added:
            path = installed.folder / site / name
            path.write_bytes(b"#")
            stack.callback(path.unlink)
        link = installed.folder / site / "linked"
        link.symlink_to("/tmp")
        stack.callback(link.unlink)
        missing, elsewhere = installed.folder / site / "click/core.py", installed.folder.parent / "core.py"
        missing.rename(elsewhere)
        stack.callback(elsewhere.rename, missing)
        ended = kit.verify(installed.folder, installed.python)
    expected = names | {f"{site}/{name}" for name in (*added, "linked", "click/core.py")}
    lines = [line for line in ended.err.splitlines() if line.startswith("KIT-INSTALLED: ")]
    assert {line.split(": ")[1] for line in lines} == expected
    assert ended.code == 3
    assert installed.examine().out == ""


def _preflight(installed: Installed, *words: object) -> set[str]:
    """Return the kit's checks by which ``preflight`` refuses this machine."""
    ended = installed.run("preflight", *words)
    refused = [line for line in ended.err.splitlines() if line.startswith("REFUSED: ")]
    return {check for line in refused for check in line[9:].split(", ") if check.startswith("KIT-")}


def test_preflight_refuses_a_changed_installation_and_a_changed_kit(installed: Installed, kit: Kit) -> None:
    medium = ("--kit", kit.folder, "--fingerprint", kit.fingerprint)
    assert _preflight(installed, *medium) == set()
    with changed(next((installed.folder / "lib").glob("*/site-packages/airlock_shared/text/safe.py"))):
        assert _preflight(installed) == {"KIT-INSTALLED"}
    with changed(installed.folder / "share/airlock-offline/INSTALLED"):
        assert _preflight(installed) == {"KIT-MANIFEST"}
    for name in ("install.sh", "requirements.txt", f"wheels/{next((kit.folder / 'wheels').glob('click-*')).name}"):
        with changed(kit.folder / name):
            assert _preflight(installed, *medium) == {"KIT-FILE"}, name
    with changed(kit.folder / "MANIFEST"):
        assert _preflight(installed, *medium) == {"KIT-MANIFEST"}


def test_an_installation_agreeing_with_itself_is_refused_by_the_kit(installed: Installed, thin: Kit, kit: Kit) -> None:
    """Whoever writes all the lists anew has another fingerprint, and the paper has the old one."""
    papers = installed.folder / "share/airlock-offline"
    kept = {name: (papers / name).read_bytes() for name in ("MANIFEST", "FINGERPRINT")}
    (papers / "MANIFEST").write_bytes((thin.folder / "MANIFEST").read_bytes())
    (papers / "FINGERPRINT").write_text(thin.fingerprint)
    try:
        ended = kit.verify(installed.folder, installed.python)
    finally:
        for name, data in kept.items():
            (papers / name).write_bytes(data)
    assert (ended.code, "KIT-MANIFEST: share/airlock-offline/MANIFEST" in ended.err) == (3, True), ended.err


def test_examining_runs_nothing_installed_beside_its_python(installed: Installed, kit: Kit, tmp_path: Path) -> None:
    assert run_command(installed.python, "-m", "venv", "--without-pip", tmp_path / "around").code == 0
    site = next((tmp_path / "around/lib").glob("*/site-packages"))
    for name in ("evil.pth", "sitecustomize.py"):
        (site / name).write_text("import sys; sys.stderr.write('EVIL')\n")
    python = tmp_path / "around/bin/python3"
    assert "EVIL" in run_command(python, "-I", "-c", "").err
    ended = kit.verify(installed.folder, python)
    assert (ended.code, "EVIL" in ended.err) == (0, False), ended.err


def test_another_python_in_the_installation_is_refused(installed: Installed, kit: Kit) -> None:
    link = installed.folder / "bin/python3"
    target = link.readlink()
    link.unlink()
    link.symlink_to("/bin/sh")
    try:
        ended = kit.verify(installed.folder, installed.python)
    finally:
        link.unlink()
        link.symlink_to(target)
    assert (ended.code, "KIT-INSTALLED: bin/python3: another Python" in ended.err) == (3, True), ended.err


@pytest.mark.parametrize("name", ["INT", "TERM", "HUP"])
def test_stopped_half_way_it_leaves_nothing_behind(name: str, thin: Kit, installed: Installed, tmp_path: Path) -> None:
    machine, python = tmp_path / "machine", tmp_path / "python"
    machine.mkdir()
    python.write_text(
        f'#!/bin/sh\ncase "$*" in *" interpreter") echo "$0" ;; *pip*) ls {machine}; kill -{name} $PPID ;; esac\n'
    )
    python.chmod(0o755)
    ended = _install(thin, machine / "new", python)
    assert "new.part." in ended.err  # it was under way
    assert ended.code == (130 if name == "INT" else 143)
    assert list(machine.iterdir()) == []


def test_what_differs_from_the_list_leaves_nothing_behind(kit: Kit, installed: Installed, tmp_path: Path) -> None:
    machine, folder = tmp_path / "machine", tmp_path / kit.folder.name
    machine.mkdir()
    shutil.copytree(kit.folder, folder, copy_function=shutil.copy2)
    listed = (
        (folder / "INSTALLED")
        .read_text()
        .replace("/airlock_shared/ethereum/eip712.py\n", "/airlock_shared/eip713.py\n")
    )
    for name in ("INSTALLED", "MANIFEST"):
        (folder / name).unlink()
    (folder / "INSTALLED").write_text(listed)
    ended = _install(sum_up(folder), machine / "new", installed.python)
    assert ended.code == 3, ended.err
    assert "airlock_shared/ethereum/eip712.py: not in the list" in ended.err
    assert "airlock_shared/eip713.py: missing" in ended.err
    assert list(machine.iterdir()) == []
