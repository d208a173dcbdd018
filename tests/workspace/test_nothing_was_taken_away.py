"""What the scripts of a desk rely on is there still: no command, option, check id, exit code or format was taken away.

``commands.json`` was read from an earlier state with ``command_trees.py``. What is new stands in ``SINCE``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from airlock_offline.cli.main import program as offline
from airlock_online.cli.main import program as online
from airlock_shared.checks.catalogue import CHECKS_BY_ID
from airlock_shared.errors import ExitCode
from airlock_software_ledger.server import program as software_ledger
from workspace.command_trees import formats, tree

ROOT = Path(__file__).parents[2]
BEFORE: dict[str, Any] = json.loads((ROOT / "tests/workspace/commands.json").read_text())
SOURCES = [ROOT / half for half in ("shared/src", "online/src", "online/rehearsal/src", "offline/src")]
SINCE: dict[str, set[str]] = {  # what was added since then, and nothing that was there before
    "commands": {
        "airlock-software-ledger --version",
        "airlock-offline plan show --html",
        "airlock-online plan show --html",
        "airlock-offline report make --pdf",
        "airlock-offline delegate check SOURCES",
        "airlock-online delegate proof SOURCES",
        "airlock-offline explain",
        "airlock-offline explain --json",
        "airlock-offline explain CODE",
        "airlock-offline preflight --hardware-record",
        "airlock-offline ceremony confirm --file",
        "airlock-online ceremony confirm --file",
        "airlock-online prepare --steps",
        "airlock-offline forget --ceremony",
        "airlock-online forget --ceremony",
        "airlock-offline forget",
        "airlock-offline forget --json",
        "airlock-offline forget --transcript",
        "airlock-online forget",
        "airlock-online forget --json",
        "airlock-online deployment fetch --device-metadata",
        "airlock-online deployment fetch --venue-profile",
        "airlock-online deployment fetch --test-network",
        "airlock-online rehearse --ceremony",
        "airlock-online rehearse air-gapped",
        "airlock-online rehearse air-gapped --ceremony",
        "airlock-online rehearse air-gapped --model",
        "airlock-online rehearse air-gapped --offline-command",
        "airlock-online rehearse air-gapped FOLDER",
        "airlock-online venue",
        "airlock-online venue check",
        "airlock-online venue check FOLDER",
        "airlock-online venue check URL",
        "airlock-online venue check --json",
        "airlock-online resolve --tracking-id",
        "airlock-online follow --tracking-id",
        "airlock-online resolve --transaction",
        "airlock-online resolve --search",
        "airlock-online resolve --note",
        "airlock-online resolve --by",
        "airlock-offline ceremony codes",
        "airlock-offline ceremony codes --json",
        "airlock-offline ceremony codes --output",
        "airlock-offline ceremony codes --plan",
        "airlock-offline ceremony codes SOURCES",
        "airlock-offline ceremony scan",
        "airlock-offline ceremony scan --file",
        "airlock-offline ceremony scan --json",
        "airlock-offline ceremony scan --output",
        "airlock-offline ceremony scan --plan",
        "airlock-offline ceremony scan SOURCES",
        "airlock-offline ceremony run --qr",
        "airlock-online ceremony codes",
        "airlock-online ceremony codes --json",
        "airlock-online ceremony codes --output",
        "airlock-online ceremony codes --plan",
        "airlock-online ceremony codes SOURCES",
        "airlock-online ceremony scan",
        "airlock-online ceremony scan --file",
        "airlock-online ceremony scan --json",
        "airlock-online ceremony scan --output",
        "airlock-online ceremony scan --plan",
        "airlock-online ceremony scan SOURCES",
        "airlock-online ceremony run --qr",
        "airlock-offline ceremony begin --people",
        "airlock-offline ceremony carry",
        "airlock-offline ceremony carry --json",
        "airlock-offline ceremony carry --output",
        "airlock-offline ceremony carry SOURCES",
        "airlock-offline ceremony compare",
        "airlock-offline ceremony compare --file",
        "airlock-offline ceremony compare --json",
        "airlock-offline ceremony compare --plan",
        "airlock-offline ceremony compare STATION",
        "airlock-offline ceremony course",
        "airlock-offline ceremony course --exchange",
        "airlock-offline ceremony course --folder",
        "airlock-offline ceremony course --json",
        "airlock-offline ceremony course PLAN_FILE",
        "airlock-offline ceremony end --when-complete",
        "airlock-offline ceremony gather",
        "airlock-offline ceremony gather --json",
        "airlock-offline ceremony gather --output",
        "airlock-offline ceremony gather --plan",
        "airlock-offline ceremony run",
        "airlock-offline ceremony run --dry-run",
        "airlock-offline ceremony run --emulator",
        "airlock-offline ceremony run --exchange",
        "airlock-offline ceremony run --json",
        "airlock-offline ceremony run --ledger",
        "airlock-offline ceremony run --model",
        "airlock-offline ceremony run PLAN_FILE",
        "airlock-offline preflight --watch",
        "airlock-offline trust --plan",
        "airlock-online ceremony begin --people",
        "airlock-online ceremony carry",
        "airlock-online ceremony carry --json",
        "airlock-online ceremony carry --output",
        "airlock-online ceremony carry SOURCES",
        "airlock-online ceremony compare",
        "airlock-online ceremony compare --file",
        "airlock-online ceremony compare --json",
        "airlock-online ceremony compare --plan",
        "airlock-online ceremony compare STATION",
        "airlock-online ceremony course",
        "airlock-online ceremony course --exchange",
        "airlock-online ceremony course --folder",
        "airlock-online ceremony course --json",
        "airlock-online ceremony course PLAN_FILE",
        "airlock-online ceremony end --when-complete",
        "airlock-online ceremony gather",
        "airlock-online ceremony gather --json",
        "airlock-online ceremony gather --output",
        "airlock-online ceremony gather --plan",
        "airlock-online ceremony run",
        "airlock-online ceremony run --dry-run",
        "airlock-online ceremony run --exchange",
        "airlock-online ceremony run --json",
        "airlock-online ceremony run PLAN_FILE",
    },
    "checks": {
        "AIRGAP-SECCOMP",
        "AUTH-CHAIN",
        "AUTH-CONTRACT",
        "AUTH-FORM",
        "AUTH-ORDER",
        "DIGEST-LEDGER",
        "DIGEST-OPINION",
        "DOC-VENUE",
        "NONCE-REPLACES",
        "PIN-HEAD",
        "PLAN-OWN-LIMIT",
        "PLAN-PATH",
        "PLAN-PEOPLE",
        "PLAN-WIDTH",
        "ROLE-WORDS",
    },
    "exit_codes": set(),
    "formats": {
        "airlock/hand-over@1",
        "airlock/hardware-record@1",
        "airlock/kept-payload@1",
        "airlock/people@1",
        "airlock/venue-services@1",
        "airlock/venue-signed@1",
    },
}
READ_SINCE = {f"airlock-offline {command} --model" for command in ("sign", "transcript seal", "delegate prove")}
"""Options whose default was a guess, and whose value is now read from the device (ADR 35): left out, they work as before."""

PROGRAMS = {"airlock-online": online, "airlock-offline": offline, "airlock-software-ledger": software_ledger}


def _rows(node: dict[str, Any], words: str) -> Iterator[tuple[str, object]]:
    """Yield a command and each of its parameters, by their words."""
    yield words, "command" if "commands" not in node else "group"
    for name, parameter in node["parameters"].items():
        yield f"{words} {name}", parameter
    for name, member in node.get("commands", {}).items():
        yield from _rows(member, f"{words} {name}")


def _without_guess(words: str, row: Any) -> Any:
    return {key: value for key, value in row.items() if key != "default"} if words in READ_SINCE else row


THEN = {
    words: _without_guess(words, row) for name, node in BEFORE["commands"].items() for words, row in _rows(node, name)
}
NOW = {words: row for name, program in PROGRAMS.items() for words, row in _rows(tree(program, name), name)}


def _is_kept(then: object, now: object) -> bool:
    """Tell whether a parameter is as it was; it may have more choices."""
    if (
        isinstance(then, dict)
        and isinstance(now, dict)
        and set(then.get("choices") or ()) <= set(now.get("choices") or ())
    ):
        then, now = then | {"choices": ()}, now | {"choices": ()}
    return then == now


def test_every_command_option_and_argument_is_as_it_was_and_in_its_place() -> None:
    assert len(THEN) > 250
    assert {words: NOW.get(words) for words, row in THEN.items() if not _is_kept(row, NOW.get(words))} == {}
    assert _is_kept({"choices": ["a"], "default": "a"}, {"choices": ["a", "b"], "default": "a"})
    assert not _is_kept({"choices": ["a", "b"]}, {"choices": ["a"]})


def test_every_check_id_exit_code_and_format_is_as_it_was() -> None:
    assert sorted(set(BEFORE["checks"]) - set(CHECKS_BY_ID)) == []
    assert {name: code for name, code in BEFORE["exit_codes"].items() if ExitCode.__members__.get(name) != code} == {}
    assert sorted(set(BEFORE["formats"]) - set(formats(SOURCES))) == []


@pytest.mark.parametrize(
    ("what", "then", "now"),
    [
        ("commands", set(THEN), set(NOW)),
        ("checks", set(BEFORE["checks"]), set(CHECKS_BY_ID)),
        ("exit_codes", set(BEFORE["exit_codes"]), set(ExitCode.__members__)),
        ("formats", set(BEFORE["formats"]), set(formats(SOURCES))),
    ],
    ids=SINCE,
)
def test_what_was_added_since_is_listed(what: str, then: set[str], now: set[str]) -> None:
    assert now - then == SINCE[what]
