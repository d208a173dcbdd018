"""``verify.sh`` and ``install.sh`` by themselves, over a small made-up kit and a Python that only says what it is asked."""

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from airlock_offline.installation import PROGRAMS, examine_kit
from airlock_shared.errors import UsageError
from airlock_shared.text.safe import grouped
from commands import FinishedCommand, run_command
from kit.conftest import ROOT, Kit, sum_up

OPEN = "its mode lets others write, or changes who runs it"
YES = "#!/bin/sh\necho EVIL >&2\nexit 0\n"
FILES = {
    "program/airlock-offline": "#!/bin/sh\necho version\n", "program/packages.py": "", "KIT": "name=small\npython=3.11\n",
    "INSTALLED": "", "SYSTEM-LIBRARIES": "", "requirements.txt": "", "udev/a.rules": "#\n", "guides/kit.md": "#\n",
    "share/man/man1/airlock-offline.1": "#\n",
    "wheels/pip-1-py3-none-any.whl": "pip",
}  # fmt: skip


@pytest.fixture
def small(tmp_path: Path) -> Kit:
    folder = tmp_path / "medium"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    for name in ("verify.sh", "install.sh"):
        shutil.copyfile(ROOT / "offline/kit" / name, folder / name)
    for name in FILES | dict.fromkeys(PROGRAMS, ""):
        (folder / name).chmod(0o755 if name in PROGRAMS else 0o644)
    for path in (folder, *(each for each in folder.rglob("*") if each.is_dir())):
        path.chmod(0o755)
    made = sum_up(folder)
    (folder / "MANIFEST").chmod(0o644)
    return made


def python(folder: Path, first: str = "") -> Path:
    """Write a stand-in for Python that does what install.sh asks of one; ``first`` runs before the first answer."""
    path = folder / "python"
    path.write_text(
        f'#!/bin/sh\necho "$*" >>{folder}/asked\ncase $* in\n'
        f"*' interpreter') {first or ':'}; echo {path} ;;\n"
        '*" name "*) for last; do :; done; shift 5; mv "$1" "$last" ;;\nesac\n'
    )
    path.chmod(0o755)
    return path


def install(kit: Kit, typed: str, first: str = "") -> tuple[FinishedCommand, Path]:
    machine = kit.folder.parent / "it's a machine"
    machine.mkdir(exist_ok=True)
    stand_in = python(kit.folder.parent, first)
    ended = run_command("env", "-i", "sh", kit.folder / "install.sh", typed, machine / "new", stand_in)
    return ended, machine


def _chmod(name: str, mode: int) -> Callable[[Path], None]:
    return lambda folder: (folder / name).chmod(mode)


@pytest.mark.parametrize(
    ("spoil", "path", "what"),
    [
        (_chmod("program/airlock-offline", 0o4755), "program/airlock-offline", OPEN),
        (_chmod("KIT", 0o2644), "KIT", OPEN),
        (_chmod("KIT", 0o664), "KIT", OPEN),
        (_chmod("KIT", 0o646), "KIT", OPEN),
        (_chmod("wheels", 0o1755), "wheels", OPEN),
        (_chmod("wheels", 0o775), "wheels", OPEN),
        (_chmod(".", 0o777), ".", OPEN),
        (_chmod("KIT", 0o744), "KIT", "executable"),
        (_chmod("MANIFEST", 0o755), "MANIFEST", "executable"),
        (_chmod("install.sh", 0o644), "install.sh", "not executable"),
        (lambda folder: os.link(folder / "KIT", folder.parent / "other"), "KIT", "a hard link"),
        (lambda folder: (folder / "wheels/empty").mkdir(), "wheels/empty", "a folder that is not in the list"),
        (
            lambda folder: (folder / "a\x1b[2J\nKIT: fine").mkdir(),
            "a\x1b[2J\nKIT: fine",
            "a folder that is not in the list",
        ),
        (lambda folder: (folder / "KIT").write_text("name=other\n"), "KIT", "changed"),
        (lambda folder: (folder / "added").write_text(""), "added", "not in the list"),
        (lambda folder: (folder / "INSTALLED").unlink(), "INSTALLED", "missing"),
        (lambda folder: (folder / "link").symlink_to("KIT"), "link", "a symbolic link"),
    ],
)
def test_whatever_differs_is_refused_by_both(spoil: Callable[[Path], None], path: str, what: str, small: Kit) -> None:
    for typed in (small.fingerprint, small.fingerprint.upper(), f" {grouped(small.fingerprint)}\n"):
        assert small.verify(fingerprint=typed)[:2] == (0, "")
        assert examine_kit(small.folder, typed) == ()
    spoil(small.folder)
    ended = small.verify()
    assert (ended.code, "KIT-FILE: " in ended.err) == (3, True), ended.err
    said = {"a symbolic link": "neither a file nor a folder"}.get(what, what)
    assert "executable" in what or f": {said}\n" in ended.err, ended.err
    assert "\x1b" not in ended.err
    assert "\nKIT: fine" not in ended.err
    assert {(one.check, one.path, one.what) for one in examine_kit(small.folder, small.fingerprint)} == {
        ("KIT-FILE", path, what)
    }


def test_a_kit_that_agrees_with_itself_but_not_with_the_paper_is_refused(small: Kit) -> None:
    (small.folder / "KIT").write_text("name=other\n")
    forged = sum_up(small.folder)
    ended = forged.verify(fingerprint=small.fingerprint)
    assert (ended.code, "KIT-MANIFEST" in ended.err) == (3, True)
    assert forged.fingerprint in ended.err
    assert small.fingerprint in ended.err
    (finding,) = examine_kit(forged.folder, small.fingerprint)
    assert (finding.check, finding.got, finding.expected) == ("KIT-MANIFEST", forged.fingerprint, small.fingerprint)


@pytest.mark.parametrize("typed", ["", "d", "0" * 63, "0" * 65, "g" * 64, "-" + "0" * 63])
def test_without_a_whole_fingerprint_nothing_is_verified_and_nothing_installed(typed: str, small: Kit) -> None:
    ended = run_command("sh", small.folder / "verify.sh", *([typed] if typed else []))
    assert (ended.code, "fingerprint" in ended.err) == (2, True)
    with pytest.raises(UsageError, match="64 hex digits"):
        examine_kit(small.folder, typed)
    ended, machine = install(small, typed)
    assert (ended.code, list(machine.iterdir())) == (2, []), ended.err


def test_a_python_that_is_not_there_is_said_before_the_installation_is_examined(small: Kit) -> None:
    ended = small.verify(small.folder.parent, "/nowhere/python")
    assert (ended.code, "there is no /nowhere/python" in ended.err) == (2, True), ended.err


def test_nothing_is_installed_into_the_kit_itself(small: Kit) -> None:
    ended = run_command("sh", small.folder / "install.sh", small.fingerprint, "new", cwd=small.folder)
    assert (ended.code, "is within the kit" in ended.err) == (2, True), ended.err


def test_nothing_is_taken_from_a_medium_that_is_swapped_after_the_copy(small: Kit) -> None:
    swap = f"find {small.folder} -type f -exec cp /dev/null {{}} \\; ; cp /bin/false {small.folder}/program/airlock-offline"
    ended, machine = install(small, small.fingerprint, swap)
    assert ended.code == 0, ended.err
    assert "/it'\\''s a machine/new'/share/airlock-offline/udev/*.rules" in ended.err
    assert (small.folder / "KIT").read_text() == ""
    assert (machine / "new/share/airlock-offline/KIT").read_text() == FILES["KIT"]
    assert (machine / "new/bin/airlock-offline").read_text() == FILES["program/airlock-offline"]
    assert (machine / "new/share/airlock-offline/FINGERPRINT").read_text() == f"{small.fingerprint}\n"
    assert [path.name for path in machine.iterdir()] == ["new"]
    assert str(small.folder) not in (small.folder.parent / "asked").read_text()


@pytest.mark.parametrize("shell", [each for each in ("dash", "bash") if shutil.which(each)])
def test_a_script_that_is_swapped_while_it_runs_goes_on_as_it_was(shell: str, small: Kit) -> None:
    machine = small.folder.parent / "machine"
    machine.mkdir()
    script = small.folder / "install.sh"
    evil = "echo EVIL >&2; exit 0\\n" * 2000
    stand_in = python(small.folder.parent, f"printf '{evil}' >{script}")
    ended = run_command("env", "-i", shell, script, small.fingerprint, machine / "new", stand_in)
    assert (ended.code, "EVIL" in ended.err) == (0, False), ended.err
    assert script.read_text().startswith("echo EVIL")


@pytest.mark.parametrize("forged", ["changed", "says yes", "says yes and summed up", "links elsewhere"])
def test_a_changed_kit_installs_nothing(forged: str, small: Kit) -> None:
    verify = small.folder / "verify.sh"
    if forged == "changed":
        (small.folder / "requirements.txt").write_text("click")
    elif forged == "links elsewhere":
        verify.rename(small.folder.parent / "verify.sh")
        verify.symlink_to("../verify.sh")
    else:
        verify.write_text(YES)
    if forged.endswith("summed up"):
        sum_up(small.folder)
    ended, machine = install(small, small.fingerprint)
    assert (ended.code, "EVIL" in ended.err, "KIT-" in ended.err) == (3, False, True), ended.err
    assert list(machine.iterdir()) == []


def test_the_copy_is_nobody_elses_while_it_is_used(small: Kit) -> None:
    seen = small.folder.parent / "seen"
    ended, _ = install(small, small.fingerprint, f"stat -c %a {small.folder.parent}/it*/new.part.* >{seen}")
    assert (ended.code, seen.read_text()) == (0, "700\n"), ended.err


def test_a_python_without_the_types_of_today_is_told_which_one_is_needed(small: Kit) -> None:
    """A type made of types fails in CPython 3.8: it must not stand where the program is read."""
    program = small.folder / "program/packages.py"
    shutil.copyfile(ROOT / "offline/kit/program/packages.py", program)
    (small.folder / "KIT").write_text("python=3.99\n")
    script = "import collections.abc as abc, runpy, sys; abc.Callable.__class_getitem__ = None; sys.argv.pop(0); "
    script += "runpy.run_path(sys.argv[0], run_name='__main__')"
    ended = run_command(sys.executable, "-c", script, program, "interpreter")
    assert "the kit is for CPython 3.99" in ended.err
