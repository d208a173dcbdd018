"""A whole rehearsal signed by what a kit installed, with the network unshared: ceremonies, seal, report."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from airlock_shared.host.files import read_transcript
from airlock_shared.wire.strict_json import parse_json
from commands import run_command
from kit.conftest import UNSHARED, Installed

ONLINE = Path(sys.executable).parent / "airlock-online"


def test_a_whole_rehearsal_is_signed_by_what_the_kit_installed(installed: Installed, tmp_path: Path) -> None:
    folder = tmp_path / "rehearsal"
    offline = installed.folder / "bin/airlock-offline"
    ended = run_command(*UNSHARED, ONLINE, "rehearse", "--yes", "--folder", folder, "--offline-command", offline)
    assert ended.code == 0, ended.out[-2000:] + ended.err
    assert len(re.findall(r"fingerprint +equal on both machines", ended.out)) == 6
    assert re.findall(r"  outcome +(\w+)", ended.out).count("FILLED") == 1
    looked_at = [
        entry.data for entry in read_transcript(folder / "offline/home/transcript.jsonl") if entry.event == "preflight"
    ]
    assert [(one["installed"]["kit"][:20], one["installed"]["findings"]) for one in looked_at] == [
        ("airlock-offline-kit-", [])
    ] * 2
    report = parse_json((folder / "offline/market-close.evidence/report.json").read_bytes())
    assert (report["complete"], report["rehearsal"]) == (True, True)
