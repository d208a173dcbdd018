"""The table of endpoints has everything that the specification names, and names only commands and tests that are there."""

from __future__ import annotations

import re
from pathlib import Path

import airlock_online.clients.rpc
from airlock_online.cli.main import program
from airlock_shared.venue.actions import ACTIONS
from airlock_shared.venue.services import SERVICES
from workspace.endpoints import DONE, ENDPOINTS, GENERIC, SPEC_LIST
from workspace.test_claims import _missing, _parts

ROWS = {(row.service, row.path) for row in ENDPOINTS}


def named_by_the_specification() -> list[tuple[str, str, str]]:
    lines = [line.split() for line in SPEC_LIST.read_text().splitlines() if not line.startswith("#")]
    return [(service, method, path) for service, method, path in lines]


def test_every_endpoint_of_the_specification_is_in_the_table() -> None:
    methods = {(row.service, row.path, method) for row in ENDPOINTS for method in row.method.split(", ")}
    missing = [
        (service, method, path)
        for service, method, path in named_by_the_specification()
        if (service, path) not in ROWS or (method != "ANY" and (service, path, method) not in methods)
    ]
    assert missing == []


def test_every_endpoint_of_an_action_is_in_the_table() -> None:
    paths = {action.path for action in ACTIONS.values() if action.path}
    assert sorted(path for path in paths if ("builder", path) not in ROWS) == []


def test_every_json_rpc_method_that_is_asked_is_in_the_table_and_no_other() -> None:
    asked = set(re.findall(r'"(eth_\w+)"', Path(airlock_online.clients.rpc.__file__).read_text()))
    assert asked == {row.path for row in ENDPOINTS if row.service == "rpc"}


def test_every_command_that_the_table_names_is_in_the_program() -> None:
    assert {row.command for row in ENDPOINTS} <= set(program.table)


def test_every_test_that_the_table_names_is_there() -> None:
    assert _missing(_parts(row.test) for row in ENDPOINTS) == []
    assert [row.path for row in ENDPOINTS if "::test_" not in row.test] == []


def test_what_is_not_done_is_reached_by_call() -> None:
    assert {row.state for row in ENDPOINTS} <= {DONE, GENERIC}
    assert {row.service for row in ENDPOINTS} == set(SERVICES)
    assert [row.path for row in ENDPOINTS if (row.state == GENERIC) is not (row.command == "call")] == []
