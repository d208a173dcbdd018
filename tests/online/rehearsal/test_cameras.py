"""The simulated cameras of a rehearsed day by pictures."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from airlock_rehearsal import day as day_module
from airlock_rehearsal.day import Day


def test_a_page_is_brought_again_when_somebody_removed_its_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes, place = tmp_path / "online/x.ceremony/codes", tmp_path / "offline/pictures/requests"
    codes.mkdir(parents=True)
    place.parent.mkdir(parents=True)
    (codes / "hand-over-0a.html").touch()
    (codes / "hand-over-0a.json").write_text(json.dumps({"files": {"requests.json": ""}}))
    brought: list[bool] = []

    def photograph(words: list[object], **_how: object) -> subprocess.CompletedProcess[bytes]:
        Path(str(words[-1])).mkdir(parents=True)
        return subprocess.CompletedProcess([], 0)

    def sleep(_seconds: float) -> None:
        brought.append(place.exists())
        if len(brought) == 4:
            raise KeyboardInterrupt
        if len(brought) == 3:
            shutil.rmtree(place)

    monkeypatch.setattr(day_module, "sleep", sleep)
    monkeypatch.setattr(subprocess, "run", photograph)
    with pytest.raises(KeyboardInterrupt):
        day_module._photograph(Day(tmp_path, Path("online"), Path("offline"), "flex", "market-close", "qr"))
    assert brought == [False, True, True, True]
