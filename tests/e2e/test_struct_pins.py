"""What is pinned is compared whole: what of it a Ledger refuses is told, and what changed on the disk is not in force."""

import json

from commands import FinishedCommand
from e2e.conftest import BothMachines, Ledger
from plans import TRADER, plan_head

LEAVES = {"trader": "trader", "until": "deadlineMs", "nonce": "nonce", "fee": "raw", "tick": "raw"}


def _trust(desk: BothMachines, text: str) -> FinishedCommand:
    """Fetch the deployment again with a struct of the venue alone, and pin it in the place of the first."""
    rest = {"domain": "trading", "signer_rule": "trader-only", "route": "relayer"}
    struct = {"encode_type": text, "leaves": LEAVES, **rest}
    profile, own = desk.path("venue.json"), desk.path("own.json")
    profile.write_text(json.dumps({"format": "airlock/venue-signed@1", "structs": {"MoveReq": struct}}))
    desk.fetch(own, "--venue-profile", profile).done()
    return desk.offline("trust", own, "--json", typed="Yes\n")


WIDE = "MoveReq(address trader,uint256 until,uint256 nonce,uint24 fee,int40 tick)"
PLAN = f"""{plan_head("move-2026", deadline_at_most="30m")}
[[steps]]
id = "move"
action = "custom"
signer = "treasury"
fields = {{ struct = "MoveReq", trader = "{TRADER}", fee = "1", tick = "-1" }}
"""
FIELDS_LINE = PLAN.count("\n")


def _check(desk: BothMachines, text: str = PLAN) -> FinishedCommand:
    desk.path("move.plan.toml").write_text(text)
    return desk.offline("plan", "check", desk.path("move.plan.toml"), "--json")


def test_widths_that_the_ledger_refuses_are_told_when_the_struct_is_pinned_and_when_a_plan_is_checked(
    desk: BothMachines,
) -> None:
    assert "the deployment has no such struct" in _check(desk).out
    ended = _trust(desk, WIDE)
    assert (ended.code, ended.json()["refused_by_ledger"]) == (0, ["MoveReq.tick (int40)"])
    said = " ".join(ended.err.split())
    assert "takes signed integers of 8, 16, 32, 64, 128, 256 bits alone, and not MoveReq.tick (int40)" in said
    assert "Raw messages" not in said
    checked = _check(desk)
    assert checked.code == 2, checked.err
    [mistake] = checked.json()["mistakes"]
    assert (mistake["check"], mistake["line"], mistake["got"]) == (
        "PLAN-WIDTH", FIELDS_LINE, "MoveReq.tick (int40)"
    )  # fmt: skip
    by_hashes = PLAN.replace("\n[[steps]]", 'show = "hashes"\n\n[[steps]]')
    assert _check(desk, by_hashes).code == 0
    assert _check(desk, PLAN.replace('"MoveReq"', '"OtherReq"')).code == 2


# ---- a fork of the main network: the chain id and contracts of another deployment -----------------------------------


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
