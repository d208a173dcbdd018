"""What is recorded of the kernel, when a browser is begun, and that a filter which does not hold is not claimed."""

from __future__ import annotations

from pathlib import Path

import pytest

from airlock_offline.confinement.command import UNCONFINED, Confinement
from airlock_offline.home import OfflineHome
from offline.confined import confined, require_seccomp

FULL = Confinement(True, "", 7, "")


@pytest.mark.parametrize("found", [FULL._replace(landlock=0), FULL._replace(seccomp=False), UNCONFINED])
def test_what_the_kernel_does_not_enforce_is_recorded(tmp_path: Path, found: Confinement) -> None:
    state = OfflineHome(tmp_path)
    state.confinement = found
    state.record_unenforced(1)
    [entry] = state.transcript.entries()
    assert (entry.event, entry.data) == ("kernel-not-enforced", found.as_json())


def test_where_it_enforces_all_nothing_is_recorded(tmp_path: Path) -> None:
    state = OfflineHome(tmp_path)
    state.confinement = FULL
    state.record_unenforced(1)
    assert state.transcript.entries() == []


@pytest.mark.parametrize(("words", "expected"), [((), "True"), (("--pdf",), "False")])
def test_a_process_that_may_start_a_browser_is_begun_when_it_is_asked_for(
    tmp_path: Path, words: tuple[str, ...], expected: str
) -> None:
    script = "import click\nprint(click.get_current_context().find_root().obj.printing is None)"
    given = ("--home", tmp_path / "home", "report", "make", "--plan", tmp_path / "p", "-o", tmp_path / "out", *words)
    assert confined(script, *given, name="report.make_command").stdout == f"{expected}\n"


def test_a_filter_that_does_not_hold_is_not_claimed(tmp_path: Path) -> None:
    require_seccomp()
    before = "from airlock_offline.confinement import filter as f\nf.install_filter = lambda *_: None"
    script = "import click\nprint(click.get_current_context().find_root().obj.confinement)"
    said = confined(script, "--home", tmp_path / "home", "digest", tmp_path / "x", before=before).stdout
    assert "seccomp=False" in said
    assert "still allowed a socket" in said
