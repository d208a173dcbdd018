"""A rehearsal has a chain of its own; what a venue says of itself makes none, and where else a signature counts is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from airlock_offline.cli.main import program
from airlock_offline.home import OfflineHome
from airlock_shared.documents.deployment import parse_deployment, valid_elsewhere
from airlock_shared.errors import Refusal
from shared.world import DEPLOYMENT_TEXT, to_bytes

REAL_CHAIN = 8453


def document(chain_id: int, **members: Any) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(DEPLOYMENT_TEXT.replace("84532", str(chain_id)))
    return made | members


def trust(folder: Path, made: dict[str, Any]) -> Result:
    (folder / "deployment.json").write_bytes(to_bytes(made))
    return CliRunner().invoke(
        program, ["--home", str(folder / "home"), "trust", str(folder / "deployment.json")], input="Yes\n"
    )


@pytest.mark.parametrize("chain_id", [REAL_CHAIN, 1, 84532, 31338])
def test_a_rehearsal_on_a_chain_that_is_not_its_own_is_not_pinned(tmp_path: Path, chain_id: int) -> None:
    refused = trust(tmp_path, document(chain_id, rehearsal=True)).exception
    assert isinstance(refused, Refusal)
    assert (refused.check, refused.got) == ("PIN-REHEARSAL", f"chain id {chain_id}")
    assert not (tmp_path / "home/pins").exists()


def test_a_fork_of_the_main_network_is_told_when_it_is_pinned(tmp_path: Path) -> None:
    main, fork = (document(31337, rehearsal=True, name=name) for name in ("main", "fork"))
    OfflineHome(tmp_path / "home").pin(parse_deployment(to_bytes(main)), to_bytes(main), 0)
    ended = trust(tmp_path, fork)
    assert "NOTE: a signature for fork is valid at main too" in " ".join(ended.output.split())


def test_where_else_a_signature_is_valid_is_told_by_chain_and_contract() -> None:
    main = parse_deployment(to_bytes(document(REAL_CHAIN, name="main")))
    fork = parse_deployment(to_bytes(document(REAL_CHAIN, name="fork")))
    elsewhere = parse_deployment(to_bytes(document(84532, name="elsewhere")))
    moved = fork._replace(domains={n: d._replace(contract=b"\x01" * 20) for n, d in fork.domains.items()})
    assert valid_elsewhere(fork, [main, fork, elsewhere]) == [
        "NOTE: a signature for fork is valid at main too: the same chain id and contract."
    ]
    assert valid_elsewhere(moved, [main]) == []
