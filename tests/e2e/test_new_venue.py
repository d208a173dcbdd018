"""The page for who has a new venue: its commands, letter by letter, from the meta document to a rehearsed ceremony."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from commands import FinishedCommand, other_screen, run_command
from e2e.conftest import OFFLINE, ONLINE, ROOT, start_ledger, stop_ledger
from third_venue.venue import ThirdVenue, third_venue

PAGE = ROOT / "docs/guides/new-venue.md"
PROGRAMS = {"airlock-online": ONLINE, "airlock-offline": OFFLINE}


def commands() -> Iterator[str]:
    """Yield what the page tells to type, each command on one line."""
    for block in re.findall(r"```\n(.*?)```", PAGE.read_text(), re.DOTALL):
        yield from block.replace("\\\n", "").splitlines()


def typed(command: str, folder: Path, env: dict[str, str]) -> FinishedCommand:
    """Run a command as a shell does; what asks is told Yes, and the two words of the other machine's screen."""
    if (program := command.partition(" ")[0]) not in PROGRAMS:
        return run_command("bash", "-c", command, env=env, cwd=folder)
    listed = subprocess.run(["bash", "-c", f"printf '%s\\n' {command}"], capture_output=True, text=True, check=True)
    words = listed.stdout.split("\n")[1:-1]
    screen = other_screen((*words[:1], folder / words[1]))
    return run_command(PROGRAMS[program], *words, typed="Yes\n" * 6, env=env, cwd=folder, screen=screen)


@pytest.fixture
def venue() -> Iterator[ThirdVenue]:
    """Yield a public test network: it has the chain id of the main one."""
    with third_venue(chain=8453) as running:
        yield running


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "home").mkdir()
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    return {"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}


def test_every_command_of_the_page_does_what_the_page_says(
    tmp_path: Path, venue: ThirdVenue, env: dict[str, str]
) -> None:
    ledger, ended = start_ledger(), {}
    try:
        for line in commands():
            if line.startswith(("export PATH", "airlock-software-ledger")):
                continue
            line = line.replace("https://venue.example", venue.url).replace(
                "https://node.example", venue.address("node")
            )
            told = typed(line.replace("--emulator 9999", f"--emulator {ledger.port}"), tmp_path, env)
            assert told.code == 0, (line, told.out, told.err)
            ended[line.split()[1]] = told
    finally:
        stop_ledger(ledger)
    assert "DelegateReq under" in ended["venue"].out
    assert "Nothing is wrong." in ended["venue"].err
    assert "TEST NETWORK sepolia-fork: signed by the software Ledger alone" in ended["deployment"].out
    assert "TEST NETWORK sepolia-fork: signed by the software Ledger alone" in " ".join(ended["sign"].err.split())
    assert "CONFIRMED" in ended["submit"].out + ended["submit"].err
    assert venue.delegates


def test_the_page_is_linked_from_the_first_screen_of_the_readme() -> None:
    assert "(docs/guides/new-venue.md)" in "".join((ROOT / "README.md").read_text().splitlines()[:24])
