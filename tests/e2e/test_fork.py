"""A deployment with the chain id and contracts of another, as a fork of the main network has: told wherever it is used."""

import json

from e2e.conftest import BothMachines, Ledger

NOTE = "NOTE: a signature for rehearsal is valid at fork too"


def test_a_fork_is_told_where_a_deployment_is_fetched_pinned_and_signed_for(desk: BothMachines, ledger: Ledger) -> None:
    builder = json.loads(desk.path("deployment.json").read_text())["base_urls"]["builder"]
    fetched = desk.online("deployment", "fetch", "--name", "fork", "--builder", builder, "-o", desk.path("fork.json"))
    assert "NOTE: a signature for fork is valid at rehearsal too" in " ".join(fetched.err.split())
    pinned = desk.offline("trust", desk.path("fork.json"), typed="Yes\n")
    assert "NOTE: a signature for fork is valid at rehearsal too" in " ".join(pinned.err.split())
    plan, requests = desk.prepare("market-close")
    ended = desk.sign(ledger, plan, requests, desk.path("out.json"), typed="no\n")
    assert NOTE in " ".join(ended.err.split())
