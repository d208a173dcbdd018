"""What the scripts of a desk rely on is there still: no command, option, check id, exit code or format was taken away.

``commands.json`` was read from an earlier state with ``command_trees.py``. What is new stands in ``SINCE``, what has another
name, without anything else changed, in ``RENAMED``.
"""

from __future__ import annotations

import json
import re
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
RENAMED = {"STATION": "CHECKPOINT", "--station": "--checkpoint", '"course"': '"workflow"'}
BEFORE: dict[str, Any] = json.loads(
    re.sub("|".join(RENAMED), lambda found: RENAMED[found[0]], (ROOT / "tests/workspace/commands.json").read_text())
)
SOURCES = [ROOT / half for half in ("shared/src", "online/src", "online/rehearsal/src", "offline/src")]
SINCE: dict[str, set[str]] = {
    "commands": {
        "airlock-offline ceremony compare --by",
        "airlock-online ceremony compare --by",
        "airlock-online rehearse air-gapped --channel",
    },
    "checks": set(),
    "exit_codes": set(),
    "formats": set(),
}
"""What was added since then, a command for all below it; nothing that was there before.

What went is no more in ``commands.json``: ``ceremony confirm``, since ``ceremony compare --by`` does the same;
``--as gif`` and ``--as sheet``, since no guide, page or decision names them.
"""

PROGRAMS = {"airlock-online": online, "airlock-offline": offline, "airlock-software-ledger": software_ledger}


def _rows(node: dict[str, Any], words: str) -> Iterator[tuple[str, object]]:
    """Yield a command and each of its parameters, by their words."""
    yield words, "command" if "commands" not in node else "group"
    for name, parameter in node["parameters"].items():
        yield f"{words} {name}", parameter
    for name, member in node.get("commands", {}).items():
        yield from _rows(member, f"{words} {name}")


THEN = {words: row for name, node in BEFORE["commands"].items() for words, row in _rows(node, name)}
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
    added = now - then
    assert {words for words in added if words.rpartition(" ")[0] not in added} == SINCE[what]
