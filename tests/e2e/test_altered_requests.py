"""Requests altered at random, through the installed ``sign``: an exit code of ours, no stack trace, the record complete."""

from __future__ import annotations

import json
import os
import random
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from airlock_offline.home import OfflineHome
from airlock_offline.ledger.apdu import parse_path
from airlock_shared.documents.deployment import parse_deployment
from airlock_software_ledger.keys import TEST_SEED, derive
from commands import run_command
from draws import draws
from e2e.conftest import OFFLINE, Ledger, start_ledger, stop_ledger
from offline.altered_requests import altered_documents
from offline.signing_world import DESK_PATHS, FOLDERS, document, ended_of, plan_text, rehearsal_text, require_complete
from shared.make_payloads import DESK, NOW_MS, TREASURY, plan_fingerprint, seal

SEED = os.environ.get("AIRLOCK_ALTERED_SEED", "812")
COUNT = draws(25, 200)
_DAY_MS = 86_400_000


@pytest.fixture
def open_ledger() -> Iterator[Ledger]:
    """Start a software Ledger that signs transactions with data, and authorizations."""
    started = start_ledger("--blind-signing", "--smart-accounts")
    yield started
    stop_ledger(started)


def _own(text: str) -> str:
    """Return a text in which the accounts of the vectors' plans are the software Ledger's."""
    for theirs, path in ((TREASURY, "m/44'/60'/0'/0/0"), (DESK, DESK_PATHS[1])):
        own = derive(TEST_SEED, parse_path(path)).address
        text = text.replace(theirs, own).replace(theirs[2:].lower(), own[2:].lower())
    return text


def _moved(value: Any, by_ms: int) -> Any:
    """Return a value in which every time about the vectors' own is moved."""
    if isinstance(value, dict):
        return {name: _moved(member, by_ms) for name, member in value.items()}
    if isinstance(value, list):
        return [_moved(member, by_ms) for member in value]
    if isinstance(value, str) and value.isdecimal() and abs(int(value) - NOW_MS) < _DAY_MS:
        return str(int(value) + by_ms)
    return value


def test_requests_altered_at_random_are_signed_or_refused_by_the_installed_command(
    tmp_path: Path, open_ledger: Ledger
) -> None:
    print(f"AIRLOCK_ALTERED_SEED={SEED}")
    fresh, home, output = tmp_path / "fresh", tmp_path / "home", tmp_path / "out.json"
    emulator = ("--emulator", open_ledger.port)
    now_ms = time.time_ns() // 1_000_000
    OfflineHome(fresh).pin(parse_deployment(rehearsal_text().encode()), rehearsal_text().encode(), now_ms)
    watch = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now_ms // 1000))
    stated = run_command(OFFLINE, "--home", fresh, "preflight", "--time", watch, "--uncertainty", 60, *emulator)
    assert stated.code == 0, stated.err
    before = len(OfflineHome(fresh).transcript.entries())
    honest = {}
    for folder in FOLDERS:
        plan = _own(plan_text(folder))
        (tmp_path / f"{folder}.toml").write_text(plan)
        honest[folder] = _moved(json.loads(_own(json.dumps(document(folder)))), now_ms - NOW_MS)
        honest[folder]["header"]["plan"] = plan_fingerprint(plan)
        for item in honest[folder]["requests"]:
            if "message" in item["payload"]:
                seal(item["payload"])
    results = Counter[str]()
    for made in altered_documents(random.Random(SEED), COUNT, honest):
        (tmp_path / "requests.json").write_bytes(made.data)
        shutil.rmtree(home, ignore_errors=True)
        shutil.copytree(fresh, home)
        output.unlink(missing_ok=True)
        words = (
            "sign",
            tmp_path / "requests.json",
            "--plan",
            tmp_path / f"{made.folder}.toml",
            "-o",
            output,
            *emulator,
        )
        told = run_command(OFFLINE, "--home", home, *words, typed="Yes\n" * 40)
        ended = ended_of(told.code, told.err, home, before, output)
        require_complete(ended, made.steps)
        results.update((ended.results or {}).values())
    assert min(results["signed"], results["refused"]) > 10, results
